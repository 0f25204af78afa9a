"""A Kolmogorov-Arnold network.

B-splines on a grid as learnable edges, least squares for refinement.
"""

import torch
import torch.nn.functional as F
from torch import nn


class KANLinear(nn.Module):
    def __init__(self, n, m, grid=5, order=3):
        super().__init__()
        h = 2 / grid
        knots = (torch.arange(-order, grid + order + 1) * h - 1).expand(n, -1).contiguous()
        self.register_buffer("grid", knots)
        self.order = order
        self.base = nn.Parameter(torch.empty(m, n))
        self.spline = nn.Parameter(0.1 * torch.randn(m, n, grid + order))
        nn.init.kaiming_uniform_(self.base, a=5**0.5)

    def b_splines(self, x):
        x, grid = x.unsqueeze(-1), self.grid
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.order + 1):
            bases = (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[
                :, :, :-1
            ] + (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:(-k)]) * bases[:, :, 1:]
        return bases.contiguous()

    def forward(self, x):
        return F.linear(F.silu(x), self.base) + F.linear(
            self.b_splines(x).flatten(1), self.spline.flatten(1)
        )


def main():
    torch.manual_seed(29)
    x = torch.rand(200, 2) * 2 - 1
    y = torch.exp(torch.sin(torch.pi * x[:, :1]) + x[:, 1:] ** 2)
    net = nn.Sequential(KANLinear(2, 5), KANLinear(5, 1))
    optimizer = torch.optim.Adamax(net.parameters(), lr=2e-2)
    losses = []
    for _ in range(25):
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    basis = net[0].b_splines(x)[:, 0]
    fit = torch.linalg.lstsq(basis, y).solution
    return {
        "first": losses[0],
        "last": losses[-1],
        "least squares": (basis @ fit - y).square().mean().item(),
    }
