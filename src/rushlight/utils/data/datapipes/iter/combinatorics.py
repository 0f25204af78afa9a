"""Steps that give items in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ...sampler import Sampler, SequentialSampler, draw_seed
from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..columns import length_of
from ..datapipe import IterDataPipe

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe[Item]):
    """What a sampler over the source gives."""

    def __init__(
        self,
        datapipe: Source,
        sampler: Item = SequentialSampler,
        sampler_args: tuple[Item, ...] | None = None,
        sampler_kwargs: dict[str, Item] | None = None,
    ) -> None:
        if not hasattr(type(datapipe), "__len__"):
            raise TypeError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler_args = () if sampler_args is None else sampler_args
        self.sampler_kwargs = {} if sampler_kwargs is None else sampler_kwargs
        self.sampler: Sampler[Item] = sampler(
            *self.sampler_args, data_source=datapipe, **self.sampler_kwargs
        )

    def __iter__(self) -> Iterator[Item]:
        return iter(self.sampler)

    def __len__(self) -> int:
        sampler: Item = self.sampler
        return len(sampler)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe[Item]):
    """Items in an order that is drawn, within a buffer."""

    def __init__(
        self, datapipe: Source, *, buffer_size: int = 10000, unbatch_level: int = 0
    ) -> None:
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if not unbatch_level else datapipe.unbatch(
            unbatch_level=unbatch_level
        )  # fmt: skip
        self.buffer_size = buffer_size
        self._buffer: list[Item] = []
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> ShufflerIterDataPipe:
        """Whether the order is drawn at all."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> ShufflerIterDataPipe:
        """The number that the next order follows from."""
        self._seed = seed
        return self

    def reset(self) -> None:
        """Begins an order."""
        self._buffer = []
        if self._enabled:
            self._rng.seed(draw_seed(None) if self._seed is None else self._seed)
            self._seed = None

    def __iter__(self) -> Iterator[Item]:
        if not self._enabled:
            yield from self.datapipe
            return
        for item in self.datapipe:
            if len(self._buffer) < self.buffer_size:
                self._buffer.append(item)
                continue
            place = self._rng.randint(0, len(self._buffer) - 1)
            given, self._buffer[place] = self._buffer[place], item
            yield given
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self) -> int:
        return length_of(self, self.datapipe)
