"""A VQ-VAE: nearest codes, the straight-through estimator, commitment loss, EMA codebook."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

NEEDS = ("scikit-learn",)


class Quantizer(nn.Module):
    def __init__(self, codes, dim, decay=0.9):
        super().__init__()
        self.decay = decay
        embed = torch.randn(codes, dim)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.zeros(codes))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        ids = torch.cdist(flat, self.embed).argmin(1)
        if self.training:
            onehot = F.one_hot(ids, len(self.embed)).type(flat.dtype)
            self.cluster_size.data.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
            self.embed_avg.data.mul_(self.decay).add_(
                onehot.T @ flat.detach(), alpha=1 - self.decay
            )
            n = self.cluster_size.sum()
            size = (self.cluster_size + 1e-5) / (n + len(self.embed) * 1e-5) * n
            self.embed.data.copy_(self.embed_avg / size.unsqueeze(1))
        quantized = F.embedding(ids, self.embed).view_as(x)
        commit = F.mse_loss(quantized.detach(), x)
        return x + (quantized - x).detach(), commit, ids


def main():
    torch.manual_seed(13)
    data = torch.tensor(load_digits().data[:512] / 16).float()
    encoder = nn.Sequential(nn.Linear(64, 64), nn.ELU(), nn.Linear(64, 32))
    decoder = nn.Sequential(nn.Linear(32, 64), nn.ELU(), nn.Linear(64, 64))
    quantizer = Quantizer(32, 8)
    optimizer = torch.optim.NAdam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
    losses = []
    for _ in range(3):
        for x in data.split(128):
            z, commit, ids = quantizer(encoder(x).view(len(x), 4, 8))
            loss = F.mse_loss(decoder(z.flatten(1)), x) + 0.25 * commit
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return {"first": losses[0], "last": losses[-1], "codes used": ids.unique().numel()}
