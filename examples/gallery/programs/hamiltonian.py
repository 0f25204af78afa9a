"""A Hamiltonian network.

The vector field is a gradient, so training needs second derivatives (torch.func).
"""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap


def main():
    torch.manual_seed(4)
    net = nn.Sequential(nn.Linear(2, 32), nn.Softplus(), nn.Linear(32, 1))
    params = {k: v.detach().clone().requires_grad_() for k, v in net.named_parameters()}
    symplectic = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])

    def energy(p, state):
        return functional_call(net, p, (state,)).squeeze()

    field = vmap(grad(energy, argnums=1), in_dims=(None, 0))
    states = torch.randn(100, 2)
    truth = torch.stack([states[:, 1], -torch.sin(states[:, 0])], 1)
    optimizer = torch.optim.Adam(params.values(), lr=1e-2)
    losses = []
    for _ in range(25):
        loss = ((field(params, states) @ symplectic.T) - truth).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"first": losses[0], "last": losses[-1]}
