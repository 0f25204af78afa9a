"""Orders, seeds, batches and errors of loaders of data."""

import collections
import random

import numpy as np
import torch
from observation import outcome

data = torch.utils.data
DataLoader = data.DataLoader
get_worker_info = data.get_worker_info


class _Drawing(data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        info = get_worker_info()
        return (
            index,
            -1 if info is None else info.seed,
            torch.rand(()).item(),
            random.random(),
            float(np.random.rand()),
        )


class _Stream(data.IterableDataset):
    def __init__(self, count, shares=True):
        self.count = count
        self.shares = shares

    def __iter__(self):
        info = get_worker_info()
        if info is None or not self.shares:
            return iter(range(self.count))
        return iter(range(info.id, self.count, info.num_workers))


class _Long(_Stream):
    def __len__(self):
        return 4


def _first(error):
    lines = str(error).splitlines()
    return [lines[0], lines[-1]] if lines else []


def samplers_draw_the_same() -> None:
    for seed in (0, 7):
        g = torch.Generator().manual_seed(seed)
        for sampler in (
            data.RandomSampler(range(10), generator=g),
            data.RandomSampler(range(10), replacement=True, generator=g),
            data.RandomSampler(range(10), replacement=True, num_samples=45, generator=g),
            data.RandomSampler(range(10), num_samples=25, generator=g),
            data.RandomSampler(range(10), num_samples=3, generator=g),
            data.SubsetRandomSampler([3, 1, 4, 1, 5], generator=g),
            data.WeightedRandomSampler([0.1, 0.0, 3.0, 1.5], 12, generator=g),
            data.WeightedRandomSampler([0.1, 0.2, 3.0, 1.5], 4, replacement=False, generator=g),
            data.SequentialSampler(range(4)),
            data.BatchSampler(data.RandomSampler(range(7), generator=g), 3, False),
            data.BatchSampler(data.RandomSampler(range(7), generator=g), 3, True),
        ):
            print(type(sampler).__name__, len(sampler), list(sampler), list(sampler))
    torch.manual_seed(3)
    sampler = data.RandomSampler(range(10))
    print(list(sampler), list(sampler), torch.rand(1))


def samplers_refuse_alike() -> None:
    for action in (
        lambda: data.RandomSampler(range(3), replacement=3),
        lambda: data.RandomSampler(range(3), num_samples=-1),
        lambda: data.RandomSampler([]),
        lambda: data.RandomSampler(range(3), num_samples=1.5),
        lambda: data.WeightedRandomSampler([1.0], 0),
        lambda: data.WeightedRandomSampler([1.0], True),
        lambda: data.WeightedRandomSampler([[1.0]], 2),
        lambda: data.WeightedRandomSampler([1.0], 2, replacement=5),
        lambda: list(data.WeightedRandomSampler([1.0, 0.0], 2, replacement=False)),
        lambda: data.BatchSampler([1, 2], 0, False),
        lambda: data.BatchSampler([1, 2], True, False),
        lambda: data.BatchSampler([1, 2], 2, 1),
        lambda: data.BatchSampler([1, 2], 1.5, False),
        lambda: list(data.BatchSampler(range(5), 2, False)),
        lambda: data.DistributedSampler(range(5), 2, 3),
        lambda: list(data.DistributedSampler(range(5), 2, 1, shuffle=False)),
        lambda: list(data.DistributedSampler(range(5), 2, 1, seed=4)),
        lambda: list(data.DistributedSampler(range(5), 2, 0, drop_last=True)),
        lambda: [list(s) for s in data.random_split(range(10), [0.3, 0.3, 0.4])],
        lambda: [list(s) for s in data.random_split(range(7), [3, 4], torch.Generator().manual_seed(1))],
        lambda: data.random_split(range(7), [3, 5]),
        lambda: data.random_split(range(7), [0.3, 0.9]),
        lambda: [list(s) for s in data.random_split(range(3), [0.9, 0.1])],
        lambda: data.random_split(range(3), [-0.5, 1.5]),
        lambda: data.TensorDataset(torch.ones(2), torch.ones(3)),
        lambda: data.StackDataset(),
        lambda: data.StackDataset([1], a=[2]),
        lambda: data.StackDataset([1], [2, 3]),
        lambda: data.ConcatDataset([]),
        lambda: data.ConcatDataset([_Stream(3)]),
        lambda: data.ConcatDataset([[1, 2], [3]])[-4],
        lambda: data.ConcatDataset([[1, 2], [3]])[-1],
        lambda: data.Subset(range(5), [1, 3])[1],
        lambda: len(data.ChainDataset([_Long(3), _Long(2)])),
        lambda: list(data.ChainDataset([_Stream(3), [5]])),
        lambda: data.Dataset()[0],
        lambda: len(_Stream(3)),
        lambda: (data.TensorDataset(torch.ones(2)) + data.TensorDataset(torch.zeros(2)))[3],
    ):
        outcome(action)


def workers_draw_from_the_same_seeds() -> None:
    for workers in (0, 1, 2):
        for generator in (None, torch.Generator().manual_seed(5)):
            torch.manual_seed(0)
            random.seed(0)
            np.random.seed(0)
            loader = DataLoader(_Drawing(), batch_size=2, shuffle=True, num_workers=workers, generator=generator)
            for _ in range(2):
                for batch in loader:
                    print(workers, [[round(x, 5) for x in row.tolist()] for row in batch])
            print(torch.rand(1).item() if generator is None else torch.rand(1, generator=generator).item())


def persistent_workers_keep_their_streams() -> None:
    torch.manual_seed(0)
    loader = DataLoader(_Drawing(), batch_size=3, num_workers=2, persistent_workers=True)
    for _ in range(3):
        print([[round(x, 5) for x in batch[2].tolist()] for batch in loader])


def initialised_workers() -> None:
    def init(worker):
        torch.manual_seed(100 + worker)
        info = get_worker_info()
        info.dataset.note = worker
        print(info.id)

    torch.manual_seed(0)
    loader = DataLoader(_Drawing(), batch_size=2, num_workers=2, worker_init_fn=init)
    print([[round(x, 5) for x in batch[2].tolist()] for batch in loader])
    print(get_worker_info())


def streams_with_workers() -> None:
    for workers in (0, 1, 2, 3):
        for shares in (True, False):
            for size in (None, 2, 4):
                for drop in (False, True):
                    if size is None and drop:
                        continue
                    loader = DataLoader(_Stream(7, shares), batch_size=size, num_workers=workers, drop_last=drop)
                    print(workers, shares, size, drop, [b if isinstance(b, int) else b.tolist() for b in loader])
    loader = DataLoader(_Long(7), batch_size=2, num_workers=2)
    print(len(loader))
    print([b.tolist() for b in loader])
    loader = DataLoader(_Long(7), batch_size=None)
    print(len(loader), list(loader))


class _Failing(data.Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 2:
            raise self.error
        return index


class _Wide(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class _WithMessage(Exception):
    def __init__(self, message="none"):
        super().__init__(message)
        self.message = message


def errors_of_workers() -> None:
    for workers in (0, 2):
        for error in (ValueError("bad"), KeyError("k"), IndexError(3), StopIteration("over"), _Wide(1, 2), RuntimeError("several\nlines"),
                      _WithMessage("mine"), AssertionError(), OSError(2, "no file"), UnicodeDecodeError("utf-8", b"x", 0, 1, "why")):
            seen = []
            batches = iter(DataLoader(_Failing(error), num_workers=workers))
            for _ in range(6):
                try:
                    seen.append(next(batches).item())
                except StopIteration:
                    seen.append("end")
                except Exception as caught:
                    seen.append((type(caught).__name__, _first(caught)))
            print(workers, seen)


def batches_of_things() -> None:
    Pair = collections.namedtuple("Pair", "a b")
    for batch in (
        [1, 2], [1.5, 2], [True, False], ["a", "b"], [b"a", b"b"], [None, None], [{"a": 1}, {"a": 2}], [{"a": 1}, {"b": 2}],
        [(1, 2), (3, 4)], [[1, 2], [3, 4]], [[1, 2], [3]], [(1,), (2, 3)], [Pair(1, "x"), Pair(2, "y")], [np.float32(1), np.float32(2)],
        [np.ones(2), np.zeros(2)], [np.array("x"), np.array("y")], [np.array(["x"])], [torch.ones(2), torch.ones(3)], [object(), object()],
        [{1}, {2}], [1, "a"], [torch.ones(1), 1], [collections.OrderedDict(a=1), collections.OrderedDict(a=2)], [collections.defaultdict(list, a=1)],
        [range(2), range(2)], [np.int64(3), np.int64(4)], [1 + 2j, 3j], [torch.ones(2, requires_grad=True)] * 2, [[], []], [(), ()], [{}, {}],
        [torch.tensor(1), torch.tensor(2.0)], [np.bool_(True), np.bool_(False)], [2**70, 1], [np.datetime64("2020")], [bytearray(b"x")],
    ):
        outcome(lambda: data.default_collate(batch))
    for value in (1, "a", np.ones(2), np.float32(3), [np.ones(1), "x"], (np.ones(1), 2), {"a": np.ones(1)}, Pair(np.ones(1), 2), None, np.array("x"), {1}):
        outcome(lambda: data.default_convert(value))


def options_of_loaders() -> None:
    d = list(range(5))
    for options in (
        {"batch_size": 0}, {"batch_size": -1}, {"batch_size": 1.5}, {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"num_workers": 1, "prefetch_factor": -1},
        {"persistent_workers": True}, {"shuffle": True, "sampler": [0]}, {"batch_sampler": [[0]], "batch_size": 2}, {"batch_sampler": [[0]], "shuffle": True},
        {"batch_size": None, "drop_last": True}, {"multiprocessing_context": "fork"}, {"num_workers": 1, "multiprocessing_context": "x"},
        {"num_workers": 1, "multiprocessing_context": 3}, {"pin_memory": True}, {"batch_size": None, "shuffle": True, "generator": torch.Generator().manual_seed(0)},
        {"batch_sampler": [[0, 1], [4]]}, {"sampler": [4, 4]}, {"collate_fn": list, "batch_size": 2}, {"drop_last": True, "batch_size": 2}, {"shuffle": 3},
        {"batch_size": True}, {"num_workers": 1, "in_order": False}, {"num_workers": 2, "prefetch_factor": 1, "batch_size": 2},
    ):
        outcome(lambda: [b.tolist() if hasattr(b, "tolist") else b for b in DataLoader(d, **options)])
        outcome(lambda: len(DataLoader(d, **options)))
    loader = DataLoader(d, batch_size=2)
    for name in ("batch_size", "sampler", "drop_last", "dataset", "batch_sampler", "persistent_workers"):
        outcome(setattr, loader, name, 3)
    print(loader.num_workers, loader.prefetch_factor, loader.pin_memory, loader.timeout, loader.generator, loader.multiprocessing_context)
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}, {"shuffle": False}):
        outcome(lambda: list(DataLoader(_Stream(3), **options)))
