"""A tiny denoising diffusion model: a U-Net with group norm, SiLU and time embeddings on digits."""

import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

NEEDS = ("scikit-learn",)


def timestep_embedding(t, dim):
    freqs = torch.exp(-math.log(10000) * torch.arange(dim // 2) / (dim // 2))
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.cos(), args.sin()], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, cin, cout, time):
        super().__init__()
        self.n1, self.n2 = nn.GroupNorm(4, cin), nn.GroupNorm(4, cout)
        self.c1, self.c2 = nn.Conv2d(cin, cout, 3, padding=1), nn.Conv2d(cout, cout, 3, padding=1)
        self.t = nn.Linear(time, cout)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, t):
        h = self.c1(F.silu(self.n1(x))) + self.t(F.silu(t))[:, :, None, None]
        return self.c2(F.silu(self.n2(h))) + self.skip(x)


class UNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 64))
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.down, self.middle = ResBlock(width, width, 64), ResBlock(width, 2 * width, 64)
        self.pool = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.last = ResBlock(3 * width, width, 64)
        self.out = nn.Sequential(
            nn.GroupNorm(4, width), nn.SiLU(), nn.Conv2d(width, 1, 3, padding=1)
        )

    def forward(self, x, t):
        t = self.time(timestep_embedding(t, 32))
        a = self.down(self.stem(x), t)
        b = self.middle(self.pool(a), t)
        return self.out(self.last(torch.cat([self.up(b), a], 1), t))


def main():
    torch.manual_seed(9)
    data = torch.tensor(load_digits().images[:192] / 8 - 1).float().unsqueeze(1)
    betas = torch.linspace(1e-4, 0.05, 50)
    bar = torch.cumprod(1 - betas, 0)
    model = UNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    ema = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
    )
    losses = []
    for _ in range(2):
        for x in data.split(64):
            t = torch.randint(0, 50, (len(x),))
            noise = torch.randn_like(x)
            noisy = (
                bar[t].sqrt()[:, None, None, None] * x
                + (1 - bar[t]).sqrt()[:, None, None, None] * noise
            )
            loss = F.mse_loss(model(noisy, t), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update_parameters(model)
            losses.append(loss.item())
    with torch.no_grad():
        x = torch.randn(4, 1, 8, 8)
        for i in range(49, 39, -1):
            eps = ema(x, torch.full((4,), i))
            x = (x - betas[i] / (1 - bar[i]).sqrt() * eps) / (1 - betas[i]).sqrt() + betas[
                i
            ].sqrt() * torch.randn_like(x)
    return {"first": losses[0], "last": losses[-1], "sample": x.std().item()}
