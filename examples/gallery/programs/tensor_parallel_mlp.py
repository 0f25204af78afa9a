"""Layers cut into columns and rows over two processes, in the manner of PyTorch's examples.

Tensor parallelism with replicated and with sharded activations (sequence parallelism).
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

NEEDS = ["mpi4py", "mpich"]
RANKS = 2
RTOL = 1e-6


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj, self.relu = nn.Linear(10, 32), nn.ReLU()
        self.out_proj = nn.Linear(32, 6)

    def forward(self, x):
        return self.out_proj(self.relu(self.in_proj(x)))


def train(plan, seed_of_data):
    torch.manual_seed(0)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = parallelize_module(Toy(), mesh, plan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, foreach=True)
    made, losses = torch.Generator().manual_seed(seed_of_data), []
    for _ in range(8):
        x = torch.rand(16, 10, generator=made)
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses, [p.full_tensor().detach().norm() for p in model.parameters()]


def main():
    if not dist.is_initialized():
        dist.init_process_group("gloo")
    same = {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()}
    cut = {
        "in_proj": ColwiseParallel(input_layouts=Shard(0)),
        "out_proj": RowwiseParallel(output_layouts=Shard(0)),
    }
    losses, state = train(same, 3)  # all ranks have the same rows
    more, other = train(cut, 5 + dist.get_rank())  # each has its own
    told = torch.tensor(more)
    dist.all_reduce(told)
    return {"losses": losses, "state": state, "cut": told, "cut.state": other}
