"""torch.utils.data: order, seeds, workers and errors of loaders."""

import random

import numpy
import torch
from observation import near, outcome

data = torch.utils.data
BatchSampler = data.BatchSampler
DataLoader = data.DataLoader
Dataset = data.Dataset
DistributedSampler = data.DistributedSampler
IterableDataset = data.IterableDataset
RandomSampler = data.RandomSampler
SubsetRandomSampler = data.SubsetRandomSampler
TensorDataset = data.TensorDataset
WeightedRandomSampler = data.WeightedRandomSampler
get_worker_info = data.get_worker_info
random_split = data.random_split


class Draws(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, index):
        info = get_worker_info()
        seed = None if info is None else (info.id, info.num_workers, info.seed)
        # Python's and NumPy's streams are seeded in workers only.
        drawn = [torch.rand(()).item(), *((random.random(), numpy.random.rand()) if info else ())]
        return index, str(seed), [round(x, 5) for x in drawn]


class Counts(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return iter(range(5 if info is None else 5 * (info.id + 1)))


class Fails(Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 5

    def __getitem__(self, index):
        if index == 2:
            raise self.error
        return index


def _show(loader, epochs=2) -> None:
    for _ in range(epochs):
        for batch in loader:
            print(batch)
        print(torch.rand(2))


def loaders_in_this_process() -> None:
    for options in ({}, {"shuffle": True}, {"batch_size": 3, "shuffle": True, "drop_last": True}, {"batch_size": None},
                    {"sampler": [3, 1]}, {"batch_sampler": [[3, 1], [0]]}):  # fmt: skip
        torch.manual_seed(7)
        _show(DataLoader(Draws(), **options))
    _show(DataLoader(range(6), shuffle=True, generator=torch.Generator().manual_seed(4)))


def loaders_with_workers() -> None:
    for options in ({"num_workers": 2}, {"num_workers": 2, "batch_size": 2, "shuffle": True, "prefetch_factor": 1},
                    {"num_workers": 1, "persistent_workers": True}, {"num_workers": 2, "batch_size": None}):  # fmt: skip
        torch.manual_seed(9)
        _show(DataLoader(Draws(), **options))


def loaders_of_iterables() -> None:
    for options in ({}, {"batch_size": 2}, {"batch_size": 2, "drop_last": True}, {"num_workers": 2, "batch_size": 3},
                    {"num_workers": 2, "batch_size": None, "persistent_workers": True}):  # fmt: skip
        torch.manual_seed(9)
        _show(DataLoader(Counts(), **options))


def errors_of_workers_come_back() -> None:
    for error in (ValueError("no"), KeyError("k"), IndexError(), StopIteration()):
        for workers in (0, 2):
            batches, seen = iter(DataLoader(Fails(error), num_workers=workers)), []
            for _ in range(7):
                try:
                    seen.append(next(batches).item())
                except StopIteration:
                    seen.append("stop")
                    break
                except Exception as found:
                    seen.append((type(found).__name__, str(found).split("\n")[:2]))
            print(seen)


def samplers_draw_the_same() -> None:
    torch.manual_seed(3)
    for sampler in (
        RandomSampler(range(50), num_samples=70),
        RandomSampler(range(5), replacement=True, num_samples=70),
        SubsetRandomSampler([4, 5, 6, 7]),
        WeightedRandomSampler([0.1, 0.5, 0.4], 20),
        WeightedRandomSampler([0.1, 0.5, 0.4], 2, replacement=False),
        BatchSampler(range(7), 3, True),
        DistributedSampler(range(10), 3, 1),
        DistributedSampler(range(10), 3, 2, shuffle=False, drop_last=True),
        DistributedSampler(range(2), 5, 4, seed=3),
    ):
        print(type(sampler).__name__, list(sampler), len(sampler), near(torch.rand(())))
    print([list(part.indices) for part in random_split(range(11), [0.3, 0.3, 0.4])])
    print([list(part) for part in random_split(range(10), [3, 7])])


def options_that_exclude_one_another() -> None:
    rows = TensorDataset(torch.arange(4))
    for options in ({"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"persistent_workers": True},
                    {"shuffle": True, "sampler": [0]}, {"batch_size": None, "drop_last": True}, {"batch_size": 0},
                    {"batch_size": 2, "batch_sampler": [[0]]}, {"multiprocessing_context": "fork"},
                    {"num_workers": 1, "multiprocessing_context": "x"}, {"num_workers": 1, "prefetch_factor": -1}):  # fmt: skip
        print(options)
        outcome(lambda options=options: DataLoader(rows, **options))
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        outcome(lambda options=options: DataLoader(Counts(), **options))
    outcome(lambda: setattr(DataLoader(rows), "batch_size", 3))
