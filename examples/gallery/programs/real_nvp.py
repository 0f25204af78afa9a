"""A normalizing flow of affine couplings (RealNVP) on two moons.

With torch.distributions as base.
"""

import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.distributions import MultivariateNormal

NEEDS = ("scikit-learn",)


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 2))

    def forward(self, x):
        kept = x * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x * s.exp() + t), s.sum(-1)

    def inverse(self, z):
        kept = z * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (z - t) * (-s).exp()


def main():
    torch.manual_seed(0)
    data = torch.tensor(make_moons(400, noise=0.05, random_state=0)[0], dtype=torch.float32)
    flows = nn.ModuleList(
        Coupling(torch.tensor([float(i % 2), float(1 - i % 2)])) for i in range(4)
    )
    prior = MultivariateNormal(torch.zeros(2), torch.eye(2))
    optimizer = torch.optim.Adam(flows.parameters(), lr=5e-3)
    losses = []
    for _ in range(25):
        z, logdet = data, torch.zeros(len(data))
        for flow in flows:
            z, ld = flow(z)
            logdet += ld
        loss = -(prior.log_prob(z) + logdet).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        x = prior.sample((50,))
        for flow in reversed(flows):
            x = flow.inverse(x)
    return {"first": losses[0], "last": losses[-1], "mean of samples": x.mean().item()}
