"""A transformer whose layers are sharded one by one over two processes (`fully_shard`).

In the manner of PyTorch's second FSDP example: a mesh, prefetching said by hand, clipping over
shards, a checkpoint of the whole that a new model takes, and its sharded copy.
"""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn.functional as F
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    set_model_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

NEEDS = ["mpi4py", "mpich"]
RANKS = 2
RTOL = 1e-6
WIDTH, HEADS, LAYERS, WORDS, LENGTH = 32, 4, 3, 16, 12


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x):
        b, t, _ = x.size()
        q, k, v = (
            w(x).view(b, t, HEADS, WIDTH // HEADS).transpose(1, 2)
            for w in (self.wq, self.wk, self.wv)
        )
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).contiguous().view(b, t, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.feed_forward = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        h = x + self.attention(self.attention_norm(x))
        return h + self.feed_forward(self.ffn_norm(h))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.output = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens):
        h = self.tok(tokens) + self.pos(torch.arange(tokens.size(1)))
        for layer in self.layers:
            h = layer(h)
        return self.output(self.norm(h))


def sharded(mesh, prefetch):
    model = Transformer()
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    if prefetch:
        for i, layer in enumerate(model.layers):
            layer.set_modules_to_forward_prefetch(list(model.layers[i + 1 : i + 3]))
            layer.set_modules_to_backward_prefetch(list(model.layers[max(i - 2, 0) : i][::-1]))
    return model


def train(model, rank, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    made, losses, norms = torch.Generator().manual_seed(rank), [], []
    for _ in range(steps):
        tokens = torch.randint(0, WORDS, (4, LENGTH), generator=made)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        norms.append(norm.full_tensor() if isinstance(norm, DTensor) else norm)
        optimizer.step()
        optimizer.zero_grad()
        told = loss.detach().clone()
        dist.all_reduce(told)
        losses.append(told / dist.get_world_size())
    return losses, norms


def main():
    if not dist.is_initialized():
        dist.init_process_group("gloo")
    rank, mesh = dist.get_rank(), init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(0)
    model = sharded(mesh, prefetch=True)
    losses, norms = train(model, rank, 6)
    whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
    state = get_model_state_dict(model, options=whole)
    torch.manual_seed(7)
    again = sharded(mesh, prefetch=False)
    loading = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(again, dict(state), options=loading)
    more, _ = train(again, rank, 3)
    places = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(places, src=0)
    folder = os.path.join(places[0], "checkpoint")
    dcp.save({"model": again.state_dict()}, checkpoint_id=folder)
    third = sharded(mesh, prefetch=False)
    held = third.state_dict()
    dcp.load({"model": held}, checkpoint_id=folder)
    third.load_state_dict(held)
    last, _ = train(third, rank, 2)
    return {
        "losses": losses, "norms": norms, "again": more, "last": last,
        "rows": [p.to_local().shape[0] for p in model.parameters()],
        "state": [value.norm() for value in state.values()] if rank == 0 else [],
    }  # fmt: skip
