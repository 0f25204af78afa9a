"""Data-parallel training of two processes, with snapshots, in the manner of PyTorch's examples.

Started by torchrun: a trainer with a distributed sampler, which saves and goes on from its file.
"""

import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

NEEDS = ["mpi4py", "mpich"]
RANKS = 2
RTOL = 1e-6


class Lines(Dataset):
    def __init__(self, size):
        made = torch.Generator().manual_seed(5)
        self.x = torch.rand(size, 20, generator=made)
        self.y = self.x.sum(1, keepdim=True).sin()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


class Trainer:
    def __init__(self, model, data, optimizer, every, path):
        self.rank = int(os.environ["LOCAL_RANK"])
        self.data, self.optimizer, self.every, self.path = data, optimizer, every, path
        self.epochs_run, self.losses = 0, []
        if os.path.exists(path):
            kept = torch.load(path, map_location="cpu", weights_only=True)
            model.load_state_dict(kept["model"])
            optimizer.load_state_dict(kept["optimizer"])
            self.epochs_run = kept["epochs_run"]
        self.model = DDP(model)

    def run_epoch(self, epoch):
        self.data.sampler.set_epoch(epoch)
        for x, y in self.data:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            self.losses.append(mean.item() / dist.get_world_size())

    def save(self, epoch):
        if self.rank == 0:
            state = {
                "model": self.model.module.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "epochs_run": epoch + 1,
            }
            torch.save(state, self.path)
        dist.barrier()

    def train(self, epochs):
        for epoch in range(self.epochs_run, epochs):
            self.run_epoch(epoch)
            if (epoch + 1) % self.every == 0:
                self.save(epoch)


def parts():
    data = Lines(512)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(20, 64), nn.GELU(), nn.Linear(64, 64), nn.Tanh())
    model.append(nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(data, batch_size=32, shuffle=False, sampler=DistributedSampler(data))
    return model, loader, optimizer


def main():
    if not dist.is_initialized():
        dist.init_process_group(backend="gloo")
    places = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(places, src=0)
    path = os.path.join(places[0], "snapshot.pt")
    model, data, optimizer = parts()
    first = Trainer(model, data, optimizer, 2, path)
    first.train(4)
    model, data, optimizer = parts()  # a start after a fault: all comes from the snapshot
    second = Trainer(model, data, optimizer, 2, path)
    began = second.epochs_run
    second.train(6)
    return {
        "losses": first.losses + second.losses, "began": began,
        "state": [p.detach().norm() for p in model.parameters()],
    }  # fmt: skip
