"""A GPT in the manner of minGPT that learns to sort.

Masked softmax by hand, a trainer with callbacks.
"""

import math
from collections import defaultdict

import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import Dataset
from torch.utils.data.dataloader import DataLoader


class NewGELU(nn.Module):
    def forward(self, x):
        return (
            0.5
            * x
            * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))
        )


class Attention(nn.Module):
    def __init__(self, width, heads, block):
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.register_buffer("bias", torch.tril(torch.ones(block, block)).view(1, 1, block, block))
        self.heads = heads

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (
            t.view(B, T, self.heads, C // self.heads).transpose(1, 2)
            for t in self.c_attn(x).split(C, dim=2)
        )
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = (F.softmax(att, dim=-1) @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class Block(nn.Module):
    def __init__(self, width, heads, block):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads, block)
        self.mlp = nn.ModuleDict(
            dict(  # noqa: C408
                c_fc=nn.Linear(width, 4 * width), c_proj=nn.Linear(4 * width, width), act=NewGELU()
            )
        )
        m = self.mlp
        self.mlpf = lambda x: m.c_proj(m.act(m.c_fc(x)))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlpf(self.ln_2(x))


class SortDataset(Dataset):
    def __init__(self, length=6, num_digits=3):
        self.length, self.num_digits = length, num_digits

    def __len__(self):
        return 2000

    def __getitem__(self, idx):
        inp = torch.randint(self.num_digits, size=(self.length,), dtype=torch.long)
        cat = torch.cat((inp, torch.sort(inp)[0]), dim=0)
        x, y = cat[:-1].clone(), cat[1:].clone()
        y[: self.length - 1] = -1
        return x, y


class Trainer:
    def __init__(self, model, dataset):
        self.model, self.dataset, self.callbacks = model, dataset, defaultdict(list)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95))

    def run(self, iterations):
        loader = DataLoader(
            self.dataset,
            sampler=torch.utils.data.RandomSampler(
                self.dataset, replacement=True, num_samples=int(1e10)
            ),
            shuffle=False,
            batch_size=16,
        )
        data_iter = iter(loader)
        for self.iter_num in range(iterations):
            x, y = next(data_iter)
            logits = self.model(x)
            self.loss = F.cross_entropy(
                logits.view(-1, logits.size(-1)), y.view(-1), ignore_index=-1
            )
            self.model.zero_grad(set_to_none=True)
            self.loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            for callback in self.callbacks["on_batch_end"]:
                callback(self)


class Model(nn.Module):
    def __init__(self, vocab, block, width=24, heads=3, layers=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(block, width)
        self.h = nn.Sequential(*[Block(width, heads, block) for _ in range(layers)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, idx):
        pos = torch.arange(idx.size(1)).unsqueeze(0)
        return self.lm_head(self.ln_f(self.h(self.wte(idx) + self.wpe(pos))))


def main():
    torch.manual_seed(3407)
    trainer = Trainer(Model(3, 11), SortDataset())
    losses = []
    trainer.callbacks["on_batch_end"].append(lambda t: losses.append(t.loss.item()))
    trainer.run(25)
    return {"first": losses[0], "last": losses[-1], "mean": sum(losses) / len(losses)}
