"""A vision transformer on digits.

Patches by unfold, a class token, nn.MultiheadAttention, mixup, label smoothing.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

NEEDS = ("scikit-learn",)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * dim, dim)
        )

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.proj = nn.Linear(4, dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.empty(1, 17, dim))
        self.blocks = nn.ModuleList(Block(dim, 4) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, 10)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def forward(self, x):
        x = self.proj(F.unfold(x, 2, stride=2).transpose(1, 2))
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def main():
    torch.manual_seed(5)
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    labels = torch.tensor(labels)
    model = ViT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
    scheduler = torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4),
            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12),
        ],
        milestones=[4],
    )
    losses = []
    for i in range(16):
        x, y = images[i * 64 : i * 64 + 64], F.one_hot(labels[i * 64 : i * 64 + 64], 10).float()
        lam = torch.distributions.Beta(2.0, 2.0).sample()
        order = torch.randperm(64)
        out = model(lam * x + (1 - lam) * x[order])
        loss = F.cross_entropy(out, lam * y + (1 - lam) * y[order], label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        accuracy = (model(images[1200:]).argmax(1) == labels[1200:]).float().mean()
    return {
        "first": losses[0],
        "last": losses[-1],
        "accuracy": accuracy.item(),
        "lr": scheduler.get_last_lr()[0],
    }
