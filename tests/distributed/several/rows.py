"""Sparse gradients where ranks have read other rows, or none; what differs from PyTorch's gloo."""

from __future__ import annotations

import json
import sys

import rushlight as torch
import rushlight.distributed as dist
from rushlight import nn


class Two(nn.Module):
    """Two tables, of which one isn't always read."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Embedding(6, 2, sparse=True)
        self.second = nn.Embedding(6, 2, sparse=True)

    def forward(self, x: torch.Tensor, both: bool) -> torch.Tensor:
        y: torch.Tensor = self.first(x)
        return y + self.second(x) if both else y


def error_of(call: object) -> str:
    try:
        call()  # type: ignore[operator]
    except RuntimeError as error:
        return str(error)
    return "none"


def rows(both: bool) -> object:
    net = Two()
    model = nn.parallel.DistributedDataParallel(net, find_unused_parameters=True)
    model(torch.tensor([rank, 5]), both).sum().backward()
    grad = net.second.weight.grad
    return None if grad is None else [grad._indices().tolist(), grad._values().tolist()]


def dense() -> str:
    net = Two()
    model = nn.parallel.DistributedDataParallel(net)
    loss = model(torch.tensor([rank, 5]), True).sum() + net.first.weight.square().sum()
    return error_of(loss.backward)


def mismatched() -> str:
    x = torch.sparse_coo_tensor([[1]], [2.0], (5 + rank,))
    return error_of(lambda: dist.all_reduce(x))


def of_other_type() -> str:
    x = torch.sparse_coo_tensor([[1]], [2.0], (5,), dtype=[torch.float32, torch.float64][rank])
    return error_of(lambda: dist.all_reduce(x))


def halves() -> object:
    x = torch.sparse_coo_tensor([[1, rank]], [0.5, 1.0], (5,), dtype=torch.float16)
    dist.all_reduce(x)
    return x.to_dense().tolist()


dist.init_process_group("gloo")
rank = dist.get_rank()
seen = {
    "rank": rank, "both": rows(True), "one": rows(rank == 1), "none": rows(False),
    "shapes": mismatched(), "types": of_other_type(), "halves": halves(),
}  # fmt: skip
dist.barrier()
seen["dense"] = dense()
sys.stdout.write(json.dumps(seen) + "\n")
sys.stdout.flush()
dist.destroy_process_group()
