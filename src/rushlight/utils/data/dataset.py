"""Datasets: what has items by number, what only runs once through, and datasets made of others."""

from __future__ import annotations

import itertools
import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from ..._tensor.tensor import Tensor
from ...nn._ground import f
from ...random import Generator, default_generator

if TYPE_CHECKING:
    from collections.abc import Sized

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

# PyTorch looks this one up here.
randperm = f.randperm

Item = TypeVar("Item", covariant=True)


class Dataset(Generic[Item]):
    """Items by key: subclasses define `__getitem__`, and mostly `__len__`.

    One that also defines `__getitems__(keys)` is asked for a whole batch at once.
    """

    def __getitem__(self, index: Any) -> Item:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Item]) -> ConcatDataset[Item]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Item], Iterable[Item]):
    """Items that come one after the other: subclasses define `__iter__`.

    With several workers each runs through its own copy: let `__iter__` ask `get_worker_info`.
    """

    def __add__(self, other: Dataset[object]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors read row by row: item i is the tuple of their i-th entries."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Datasets side by side: item i is the tuple (or, by keyword, the dictionary) of items i."""

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: object) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or"
                "``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        given = args or tuple(kwargs.values())
        if not given:
            raise ValueError("At least one dataset should be passed")
        self._length = len(given[0])
        if any(len(dataset) != self._length for dataset in given):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: object) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[object]) -> list[object]:
        """Several items, each dataset being asked once where it can be."""
        if isinstance(self.datasets, dict):
            names: list[str] | None = list(self.datasets)
            parts = [_batch_of(dataset, indices) for dataset in self.datasets.values()]
        else:
            names, parts = None, [_batch_of(dataset, indices) for dataset in self.datasets]
        rows = zip(*parts, strict=True)
        return list(rows) if names is None else [dict(zip(names, row)) for row in rows]

    def __len__(self) -> int:
        return self._length


def _batch_of(dataset: Any, indices: list[object]) -> list[object]:
    """The items of one dataset.

    Raises:
        ValueError: where `__getitems__` gives another number of items.
    """
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    items: list[Any] = dataset.__getitems__(indices)
    if len(items) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}"
        )
    return items


class ConcatDataset(Dataset[Item]):
    """Datasets one after the other; `cumulative_sizes` says where each ends."""

    datasets: list[Dataset[Item]]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The running sums of the lengths."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        super().__init__()
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Item:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of `cumulative_sizes`."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Dataset[object]]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            self._check(dataset)
            yield from dataset  # type: ignore[misc]

    def __len__(self) -> int:
        total = 0
        for dataset in self.datasets:
            self._check(dataset)
            total += len(dataset)  # type: ignore[arg-type]
        return total

    @staticmethod
    def _check(dataset: object) -> None:
        if not isinstance(dataset, IterableDataset):
            raise AssertionError("ChainDataset only supports IterableDataset")


class Subset(Dataset[Item]):
    """The items of a dataset whose keys stand in `indices`."""

    dataset: Dataset[Item]
    indices: Sequence[int]

    def __init__(self, dataset: Dataset[Item], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: int) -> Item:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Item]:
        """Several items, asked of the dataset at once where it can be."""
        chosen = [self.indices[index] for index in indices]
        several = getattr(self.dataset, "__getitems__", None)
        if callable(several):
            return several(chosen)
        return [self.dataset[index] for index in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[Item],
    lengths: Sequence[int | float],
    generator: Generator | None = default_generator,
) -> list[Subset[Item]]:
    """Subsets of the given lengths that share out a dataset at random.

    Lengths that sum to 1 are fractions: each is rounded down, and the items that are left go one
    each to the first subsets.

    Raises:
        ValueError: for fractions outside [0, 1], and where the lengths don't sum to the dataset's.

    Parameters:
        dataset: the dataset that is parted.
        lengths: how many examples each part gets, or fractions that add up to one.
        generator: the random numbers; the default generator's by default.
    Returns: a list of subsets.
    Example:
        >>> [len(part) for part in torch.utils.data.random_split(range(10), [0.7, 0.3])]
        [7, 3]
    """
    items = len(cast("Sized", dataset))
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts: list[int] = []
        for place, fraction in enumerate(lengths):
            if fraction < 0 or fraction > 1:
                raise ValueError(f"Fraction at index {place} is not between 0 and 1")
            counts.append(math.floor(items * fraction))
        for extra in range(items - sum(counts)):
            counts[extra % len(counts)] += 1
        for place, count in enumerate(counts):
            if count == 0:
                warnings.warn(
                    f"Length of split at index {place} is 0. "
                    f"This might result in an empty dataset.",
                    stacklevel=2,
                )
        lengths = counts
    total: Any = sum(lengths)
    if total != items:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(total, generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [
        Subset(dataset, order[int(end - length) : int(end)]) for end, length in zip(ends, lengths)
    ]
