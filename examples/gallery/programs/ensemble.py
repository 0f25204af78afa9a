"""An ensemble of networks trained at once.

Stack_module_state, vmap over models, SGD on stacked weights.
"""

import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state


def main():
    torch.manual_seed(17)
    models = [nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)) for _ in range(5)]
    params, buffers = stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")
    x = torch.randn(64, 2)
    y = (x[:, :1] * x[:, 1:]).sin()

    def call(p, b, data):
        return functional_call(base, (p, b), (data,))

    optimizer = torch.optim.SGD(params.values(), lr=0.1, momentum=0.9, nesterov=True)
    losses = []
    for _ in range(20):
        out = torch.vmap(call, in_dims=(0, 0, None))(params, buffers, x)
        each = (out - y).square().mean((1, 2))
        optimizer.zero_grad()
        each.sum().backward()
        optimizer.step()
        losses.append(each.detach())
    return {
        "first": losses[0].mean().item(),
        "last": losses[-1].mean().item(),
        "spread": losses[-1].std().item(),
    }
