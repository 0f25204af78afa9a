"""A GPT of characters on two processes, in the manner of minGPT's data-parallel trainer.

Snapshots through a buffer, a distributed sampler, autocast and a scaler that are turned off on the
CPU, clipped gradients, two groups of weight decay; then it goes on from its snapshot.
"""

import io
import os
import tempfile
from dataclasses import asdict, dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

NEEDS = ["mpi4py", "mpich"]
RANKS = 2
RTOL = 1e-6
TEXT = (
    "the rank that waits for all the others waits no longer than the others wait for it; "
    "what each of them has seen is added in their order, and every one of them goes on. "
) * 4


@dataclass
class GPTConfig:
    vocab_size: int
    block_size: int = 16
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 32


@dataclass
class TrainerConfig:
    path: str
    max_epochs: int = 1
    batch_size: int = 16
    grad_norm_clip: float = 1.0
    save_every: int = 1
    use_amp: bool = False


class Characters(Dataset):
    def __init__(self, text, block):
        letters = sorted(set(text))
        self.index = {letter: i for i, letter in enumerate(letters)}
        self.text, self.block, self.vocab_size = text, block, len(letters)

    def __len__(self):
        return len(self.text) - self.block

    def __getitem__(self, at):
        codes = [self.index[letter] for letter in self.text[at : at + self.block + 1]]
        return torch.tensor(codes[:-1], dtype=torch.long), torch.tensor(codes[1:], dtype=torch.long)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.attn = nn.MultiheadAttention(config.n_embd, config.n_head, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(),
            nn.Linear(4 * config.n_embd, config.n_embd),
        )  # fmt: skip
        mask = torch.full((config.block_size, config.block_size), float("-inf")).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        y = self.ln1(x)
        t = x.size(1)
        x = x + self.attn(y, y, y, attn_mask=self.mask[:t, :t], need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.block_size = config.block_size
        self.tok_emb = nn.Embedding(config.vocab_size, config.n_embd)
        self.pos_emb = nn.Parameter(torch.zeros(1, config.block_size, config.n_embd))
        self.blocks = nn.Sequential(*[Block(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.apply(self._init)

    def _init(self, module):
        if isinstance(module, nn.Linear | nn.Embedding):
            module.weight.data.normal_(mean=0.0, std=0.05)
            if isinstance(module, nn.Linear) and module.bias is not None:
                module.bias.data.zero_()

    def forward(self, idx, targets=None):
        x = self.tok_emb(idx) + self.pos_emb[:, : idx.size(1)]
        logits = self.head(self.ln_f(self.blocks(x)))
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss


def make_optimizer(model):
    decay, keep = [], []
    for parameter in model.parameters():
        (decay if parameter.dim() == 2 else keep).append(parameter)
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": keep, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))


class Trainer:
    def __init__(self, config, model, data):
        self.config = config
        self.local_rank, self.global_rank = int(os.environ["LOCAL_RANK"]), int(os.environ["RANK"])
        self.loader = DataLoader(
            data, batch_size=config.batch_size, shuffle=False, drop_last=True,
            sampler=DistributedSampler(data, seed=3),
        )  # fmt: skip
        self.epochs_run, self.losses = 0, []
        self.optimizer = make_optimizer(model)
        self.scaler = torch.amp.GradScaler("cpu", enabled=config.use_amp)
        self.model = model
        self._load()
        self.model = DDP(self.model)

    def _load(self):
        if not os.path.exists(self.config.path):
            return
        with open(self.config.path, "rb") as file:
            kept = torch.load(file, map_location="cpu", weights_only=True)
        self.model.load_state_dict(kept["model_state"])
        self.optimizer.load_state_dict(kept["optimizer_state"])
        self.epochs_run = kept["finished_epoch"] + 1

    def _save(self, epoch):
        raw = self.model.module if hasattr(self.model, "module") else self.model
        kept = {
            "model_state": raw.state_dict(), "optimizer_state": self.optimizer.state_dict(),
            "finished_epoch": epoch, "config": asdict(self.config),
        }  # fmt: skip
        buffer = io.BytesIO()
        torch.save(kept, buffer)
        with open(self.config.path, "wb") as file:
            file.write(buffer.getvalue())

    def _batch(self, source, targets, train):
        with (
            torch.set_grad_enabled(train),
            torch.amp.autocast("cpu", dtype=torch.bfloat16, enabled=self.config.use_amp),
        ):
            _, loss = self.model(source, targets)
        if train:
            self.optimizer.zero_grad(set_to_none=True)
            self.scaler.scale(loss).backward()
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_norm_clip)
            self.scaler.step(self.optimizer)
            self.scaler.update()
        return loss.item()

    def train(self):
        for epoch in range(self.epochs_run, self.config.max_epochs):
            self.loader.sampler.set_epoch(epoch)
            for source, targets in self.loader:
                self.losses.append(self._batch(source, targets, True))
            if self.local_rank == 0 and epoch % self.config.save_every == 0:
                self._save(epoch)
            dist.barrier()


def main():
    if not dist.is_initialized():
        dist.init_process_group(backend="gloo")
    places = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(places, src=0)
    data = Characters(TEXT, 16)
    config = TrainerConfig(os.path.join(places[0], "gpt_snapshot.pt"))
    losses = []
    for epochs in (1, 2):  # the second goes on from the snapshot of the first
        torch.manual_seed(epochs)
        config.max_epochs = epochs
        trainer = Trainer(config, GPT(GPTConfig(data.vocab_size)), data)
        trainer.train()
        losses += trainer.losses
    told = torch.tensor(losses)
    everyone = [torch.empty_like(told) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, told)
    state = [p.detach().norm() for p in trainer.model.module.parameters()]
    return {"losses": [x for one in everyone for x in one.tolist()], "state": state}
