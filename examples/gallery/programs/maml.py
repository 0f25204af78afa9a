"""Model-agnostic meta-learning of sines: gradients through an inner step, with functional_call."""

import torch
from torch import nn
from torch.func import functional_call


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    meta = torch.optim.Adam(net.parameters(), lr=1e-2)
    numbers = {}
    for iteration in range(12):
        meta.zero_grad()
        total = 0.0
        for _ in range(4):
            amplitude, phase = torch.rand(1) * 4.9 + 0.1, torch.rand(1) * 3.14159
            x = torch.rand(20, 1) * 10 - 5
            y = amplitude * torch.sin(x + phase)
            fast = dict(net.named_parameters())
            for _ in range(2):
                inner = nn.functional.mse_loss(functional_call(net, fast, (x[:10],)), y[:10])
                grads = torch.autograd.grad(inner, fast.values(), create_graph=True)
                fast = {k: p - 0.05 * g for (k, p), g in zip(fast.items(), grads)}
            total = total + nn.functional.mse_loss(functional_call(net, fast, (x[10:],)), y[10:])
        (total / 4).backward()
        meta.step()
        if iteration % 4 == 0:
            numbers[f"meta loss {iteration}"] = total.item() / 4
    numbers["norm"] = torch.cat([p.flatten() for p in net.parameters()]).norm().item()
    return numbers
