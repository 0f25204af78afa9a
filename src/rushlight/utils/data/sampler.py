"""Samplers: the order in which a dataset's items are read, and how they are put in batches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Generic, TypeVar

from ..._base import dtypes
from ...nn._ground import f
from ...random import Generator

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

Key = TypeVar("Key", covariant=True)


class Sampler(Generic[Key]):
    """An iterable of keys of a dataset, or of lists of them; its length is how many it gives."""

    def __iter__(self) -> Iterator[Key]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, … up to the length of the dataset."""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def draw_seed(generator: Generator | None = None) -> int:
    """A seed drawn from a generator, as a number of 63 bits."""
    return int(f.empty((), dtype=dtypes.int64).random_(generator=generator).item())


class RandomSampler(Sampler[int]):
    """All keys in random order, or with `replacement` independent draws of them.

    Without a `generator` each run takes a seed from the default one and then draws from a
    generator of its own, so what else is drawn meanwhile doesn't change the order.

    Raises:
        TypeError: for a `replacement` that is no bool.
        ValueError: for a `num_samples` that is no positive integer.
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                "num_samples should be a positive integer value, but got "
                f"num_samples={self.num_samples}"
            )

    @property
    def num_samples(self) -> int:
        """How many keys a run gives: by default as many as the dataset has items by then."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(draw_seed())
        if self.replacement:
            for start in range(0, self.num_samples, 32):
                several = (min(32, self.num_samples - start),)
                yield from f.randint(
                    high=count, size=several, dtype=dtypes.int64, generator=generator
                ).tolist()
            return
        for _ in range(self.num_samples // count):
            yield from f.randperm(count, generator=generator).tolist()
        yield from f.randperm(count, generator=generator).tolist()[: self.num_samples % count]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given keys in random order."""

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for place in f.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Keys drawn with given weights, which needn't sum to one.

    Raises:
        ValueError: for weights that are no vector, a `num_samples` that is no positive integer, or
            a `replacement` that is no bool.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        held = f.as_tensor(weights, dtype=dtypes.float64)
        if held.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(held.shape)}"
            )
        self.weights = held
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = f.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The keys of another sampler in lists of `batch_size`; the last may be shorter or dropped.

    Raises:
        ValueError: for a `batch_size` that is no positive integer or a `drop_last` that is no bool.
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        keys = iter(self.sampler)
        while batch := list(itertools.islice(keys, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
