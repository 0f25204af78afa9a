"""A mixture-density network and a Bayesian one: distributions, rsample, KL, logsumexp."""

import torch
import torch.distributions as D
from torch import nn


class BayesLinear(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(m, n) * 0.3)
        self.rho = nn.Parameter(torch.full((m, n), -3.0))

    def forward(self, x):
        posterior = D.Normal(self.mu, nn.functional.softplus(self.rho))
        self.kl = D.kl_divergence(posterior, D.Normal(0.0, 1.0)).sum()
        return x @ posterior.rsample().T


def main():
    torch.manual_seed(19)
    y = torch.rand(256, 1) * 20 - 10
    x = (torch.sin(0.75 * y) * 7 + y * 0.5 + torch.randn(256, 1)) / 10
    net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 15))
    optimizer = torch.optim.RAdam(net.parameters(), lr=2e-2)
    losses = []
    for _ in range(20):
        logits, mu, sigma = net(x).chunk(3, -1)
        mixture = D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(mu * 10, sigma.exp()))
        loss = -mixture.log_prob(y.squeeze(-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    layers = [BayesLinear(1, 16), BayesLinear(16, 1)]
    bayes = torch.optim.Adam([p for layer in layers for p in layer.parameters()], lr=1e-2)
    for _ in range(15):
        out = layers[1](layers[0](x).relu())
        elbo = -D.Normal(out, 0.5).log_prob(y / 10).sum() + sum(layer.kl for layer in layers) / 10
        bayes.zero_grad()
        elbo.backward()
        bayes.step()
    return {"first": losses[0], "last": losses[-1], "elbo": elbo.item()}
