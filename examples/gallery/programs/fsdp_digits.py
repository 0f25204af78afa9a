"""A network of convolutions in pieces on two processes, in the manner of PyTorch's FSDP example.

`FullyShardedDataParallel` by a policy of size; losses added up over ranks.
"""

import functools

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn, optim
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

NEEDS = ["mpi4py", "mpich"]
RANKS = 2
RTOL = 1e-6


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, 1), nn.Conv2d(8, 16, 3, 1)
        self.dropout = nn.Dropout(0.25)
        self.fc1, self.fc2 = nn.Linear(16 * 16, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = torch.flatten(self.dropout(F.max_pool2d(x, 3)), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def pictures(count, seed):
    """Pictures of blots, whose place is their class."""
    made = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=made)
    x = 0.3 * torch.randn(count, 1, 16, 16, generator=made)
    for picture, label in zip(x, labels.tolist()):
        row, column = divmod(label, 4)
        picture[0, 4 * row : 4 * row + 5, 4 * column : 4 * column + 4] += 1.0
    return TensorDataset(x, labels)


def train(model, loader, sampler, optimizer, epoch):
    model.train()
    told, losses = torch.zeros(2), []
    sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y, reduction="sum")
        loss.backward()
        optimizer.step()
        told[0] += loss.item()
        told[1] += len(x)
        losses.append(loss.item())
    dist.all_reduce(told, op=dist.ReduceOp.SUM)
    return [*losses, (told[0] / told[1]).item()]


def test(model, loader):
    model.eval()
    told = torch.zeros(3)
    with torch.no_grad():
        for x, y in loader:
            scores = model(x)
            told[0] += F.nll_loss(scores, y, reduction="sum").item()
            told[1] += scores.argmax(dim=1, keepdim=True).eq(y.view(-1, 1)).sum().item()
            told[2] += len(x)
    dist.all_reduce(told, op=dist.ReduceOp.SUM)
    return [(told[0] / told[2]).item(), told[1].item()]


def fit(strategy):
    torch.manual_seed(1)
    data, held = pictures(256, 0), pictures(64, 1)
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    tested = DataLoader(held, batch_size=32, sampler=DistributedSampler(held, shuffle=False))
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1000)
    model = FSDP(
        Net(), auto_wrap_policy=policy, sharding_strategy=strategy, use_orig_params=True,
        device_id=torch.device("cpu"),
    )  # fmt: skip
    optimizer = optim.Adadelta(model.parameters(), lr=0.5)
    schedule = StepLR(optimizer, step_size=1, gamma=0.7)
    losses, tests = [], []
    for epoch in range(2):
        losses += train(model, loader, sampler, optimizer, epoch)
        tests += test(model, tested)
        schedule.step()
    # Its whole state dictionary ends PyTorch 2.13 on the CPU with a fault of memory.
    with FSDP.summon_full_params(model, writeback=False):
        state = [value.detach().norm() for value in model.parameters()]
    return losses, tests, state


def main():
    if not dist.is_initialized():
        dist.init_process_group("gloo")
    results = {}
    for strategy in (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP):
        losses, tests, state = fit(strategy)
        results |= {
            f"{strategy.name}.losses": losses, f"{strategy.name}.tests": tests,
            f"{strategy.name}.state": state,
        }  # fmt: skip
    return results
