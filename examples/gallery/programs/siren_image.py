"""A SIREN that fits an image and its gradients.

Sine activations, gradients of outputs with respect to inputs.
"""

import math

import torch
from torch import nn


class Sine(nn.Module):
    def __init__(self, n, m, first=False, w0=30.0):
        super().__init__()
        self.w0, self.linear = w0, nn.Linear(n, m)
        with torch.no_grad():
            bound = 1 / n if first else math.sqrt(6 / n) / w0
            self.linear.weight.uniform_(-bound, bound)

    def forward(self, x):
        return torch.sin(self.w0 * self.linear(x))


def main():
    torch.manual_seed(23)
    side = torch.linspace(-1, 1, 24)
    coords = (
        torch.stack(torch.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2).requires_grad_()
    )
    with torch.no_grad():
        image = torch.exp(-4 * coords.square().sum(-1, keepdim=True)) * torch.cos(6 * coords[:, :1])
    net = nn.Sequential(Sine(2, 48, first=True), Sine(48, 48), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    losses = []
    for _ in range(15):
        out = net(coords)
        gradient = torch.autograd.grad(out, coords, torch.ones_like(out), create_graph=True)[0]
        loss = (out - image).square().mean() + 1e-4 * gradient.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"first": losses[0], "last": losses[-1]}
