"""Exact Gaussian-process regression.

Cholesky, triangular solves and log-determinants with gradients.
"""

import math

import torch


def kernel(a, b, log_scale, log_length):
    return torch.exp(2 * log_scale) * torch.exp(
        -0.5 * (torch.cdist(a, b) / torch.exp(log_length)) ** 2
    )


def main():
    torch.manual_seed(21)
    x = torch.linspace(0, 1, 40, dtype=torch.float64)[:, None]
    y = torch.sin(6 * math.pi * x[:, 0]) + 0.2 * torch.randn(40, dtype=torch.float64)
    scale, length, noise = (
        torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in range(3)
    )
    optimizer = torch.optim.Adam([scale, length, noise], lr=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        K = kernel(x, x + 1e-9, scale, length) + torch.exp(2 * noise) * torch.eye(
            40, dtype=torch.float64
        )
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(y[:, None], L)
        loss = 0.5 * (y @ alpha[:, 0]) + L.diagonal().log().sum() + 20 * math.log(2 * math.pi)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        points = torch.rand(10, 1, dtype=torch.float64)
        cross = kernel(points, x, scale, length)
        mean = cross @ torch.cholesky_solve(y[:, None], L)
        v = torch.linalg.solve_triangular(L, cross.T, upper=False)
        variance = torch.exp(2 * scale) - v.square().sum(0)
    return {
        "loss": loss.item(),
        "scale": scale.item(),
        "length": length.item(),
        "noise": noise.item(),
        "mean": mean.mean().item(),
        "variance": variance.mean().item(),
    }
