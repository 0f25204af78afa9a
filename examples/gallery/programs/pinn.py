"""A physics-informed network for the heat equation.

Second derivatives by autograd.grad, then LBFGS.
"""

import torch
from torch import nn


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def main():
    torch.manual_seed(11)
    torch.set_default_dtype(torch.float64)
    try:
        net = nn.Sequential(
            nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1)
        )
        inside = torch.rand(200, 2).requires_grad_()
        x0 = torch.rand(50, 1)
        initial = torch.cat([x0, torch.zeros_like(x0)], 1)
        edges = torch.cat([torch.randint(0, 2, (50, 1)).double(), torch.rand(50, 1)], 1)

        def loss_of():
            u = net(inside)
            first = derivative(u, inside)
            u_t, u_xx = first[:, 1:], derivative(first[:, :1], inside)[:, :1]
            return (
                (u_t - 0.1 * u_xx).square().mean()
                + (net(initial) - torch.sin(torch.pi * x0)).square().mean()
                + net(edges).square().mean()
            )

        adam = torch.optim.Adam(net.parameters(), lr=5e-3)
        for _ in range(20):
            adam.zero_grad()
            loss = loss_of()
            loss.backward()
            adam.step()
        numbers = {"after Adam": loss.item()}
        lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=15, line_search_fn="strong_wolfe")

        def closure():
            lbfgs.zero_grad()
            loss = loss_of()
            loss.backward()
            return loss

        lbfgs.step(closure)
        numbers["after LBFGS"] = loss_of().item()
        return numbers
    finally:
        torch.set_default_dtype(torch.float32)
