"""Per-sample gradients with vmap over grad.

Clipped and noised (DP-SGD), against a micro-batch loop.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap


def main():
    torch.manual_seed(12)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.GroupNorm(2, 8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )
    params = {k: v.detach() for k, v in model.named_parameters()}
    images, targets = torch.randn(32, 1, 8, 8), torch.randint(0, 10, (32,))

    def compute_loss(params, sample, target):
        predictions = functional_call(model, params, (sample.unsqueeze(0),))
        return F.cross_entropy(predictions, target.unsqueeze(0))

    per_sample = vmap(grad(compute_loss), in_dims=(None, 0, 0))
    numbers = {}
    for step in range(4):
        grads = per_sample(params, images, targets)
        norms = torch.sqrt(sum(g.flatten(1).square().sum(1) for g in grads.values()))
        factor = (1.0 / (norms + 1e-6)).clamp(max=1.0)
        for k, g in grads.items():
            clipped = torch.einsum("n,n...->...", factor, g) / 32
            params[k] = params[k] - 0.5 * (clipped + 0.01 * torch.randn_like(clipped))
        numbers[f"norm {step}"] = norms.mean().item()
    numbers["loss"] = (
        vmap(compute_loss, in_dims=(None, 0, 0))(params, images, targets).mean().item()
    )
    return numbers
