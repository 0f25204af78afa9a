"""Data parallelism that a program starts itself: two forked processes, a store of files.

The steps of PyTorch's introduction: a toy model, accumulation without synchronisation, a checkpoint
that rank 0 writes, parameters that a forward doesn't use, and a communication hook.
"""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn, optim
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel as DDP

NEEDS = ["mpi4py", "mpich"]
RTOL = 1e-6


class Toy(nn.Module):
    def __init__(self, branch=False):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(10, 5)
        self.spare = nn.Linear(10, 5) if branch else None

    def forward(self, x, spare=False):
        x = self.relu(self.net1(x))
        return self.spare(x) if spare else self.net2(x)


def steps(model, count, rank, **options):
    """The losses of some steps, of batches that differ between ranks."""
    loss_of = nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    made, losses = torch.Generator().manual_seed(rank), []
    for step in range(count):
        x, y = torch.randn(20, 10, generator=made), torch.randn(20, 5, generator=made)
        if options.get("every") and (step + 1) % options["every"]:
            with model.no_sync():
                loss = loss_of(model(x), y)
                loss.backward()
        else:
            loss = loss_of(model(x, spare=options.get("spare", False) and step % 2 == 0), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def work(rank, size, folder):
    """What each process does; rank 0 leaves the results in a file."""
    where = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=size)
    torch.manual_seed(rank)  # DDP gives all ranks the parameters of rank 0
    model = DDP(Toy())
    told = {"basic": steps(model, 6, rank), "accumulated": steps(model, 6, rank, every=3)}
    path = os.path.join(folder, "model.checkpoint")
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    again = DDP(Toy())
    again.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    told["again"] = steps(again, 3, rank)
    unused = DDP(Toy(branch=True), find_unused_parameters=True)
    told["unused"] = steps(unused, 4, rank, spare=True)
    hooked = DDP(Toy())
    hooked.register_comm_hook(None, default_hooks.allreduce_hook)
    told["hooked"] = steps(hooked, 3, rank)
    everyone = [None] * size
    dist.all_gather_object(everyone, told)
    told = {name: [x for one in everyone for x in one[name]] for name in told}
    told["state"] = [p.detach().norm() for m in (model, unused) for p in m.parameters()]
    if rank == 0:
        torch.save(told, os.path.join(folder, "told"))
    dist.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(work, args=(2, folder), nprocs=2, join=True, start_method="fork")
        return torch.load(os.path.join(folder, "told"))
