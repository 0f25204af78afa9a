"""Steps that join several pipes, and split one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..columns import check_function, length_of
from ..datapipe import IterDataPipe

__all__ = [
    "ConcaterIterDataPipe", "DemultiplexerIterDataPipe", "ForkerIterDataPipe",
    "MultiplexerIterDataPipe", "ZipperIterDataPipe",
]  # fmt: skip


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe[Item]):
    """The items of one pipe after those of another."""

    def __init__(self, *datapipes: Source) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Item]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return sum(length_of(self, pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe[Item]):
    """Tuples of an item of each pipe, until the shortest ends."""

    def __init__(self, *datapipes: Source) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__()
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Item]:
        yield from zip(*[iter(pipe) for pipe in self.datapipes])

    def __len__(self) -> int:
        return min(length_of(self, pipe) for pipe in self.datapipes)


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe[Item]):
    """An item of each pipe in turn, until the shortest ends."""

    def __init__(self, *datapipes: Source) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Item]:
        for items in zip(*[iter(pipe) for pipe in self.datapipes]):
            yield from items

    def __len__(self) -> int:
        return min(length_of(self, pipe) for pipe in self.datapipes) * len(self.datapipes)


class _Child(IterDataPipe[Item]):
    """One of the pipes that a pipe is split into; the others begin again with it."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: Source, instance_id: int) -> None:
        self.main_datapipe = main_datapipe
        self.instance_id = instance_id

    def __iter__(self) -> Iterator[Item]:
        main, number = self.main_datapipe, self.instance_id
        if main.begun[number]:
            main.begin()
        main.begun[number] = True
        run = main.runs
        while True:
            if main.runs != run:
                raise RuntimeError(
                    f"This iterator has been invalidated, because a new iterator has been created "
                    f"from one of the ChildDataPipes of {type(main).__name__}."
                )
            waiting = main.waiting[number]
            while not waiting:
                if not main.pull():
                    return
            yield waiting.popleft()

    def __len__(self) -> int:
        return length_of(self, self.main_datapipe)


class _Split(IterDataPipe[Item]):
    """A pipe that is read once for several; what some haven't taken yet waits for them."""

    def __init__(self, datapipe: Source, num_instances: int, buffer_size: int) -> None:
        self.main_datapipe = datapipe
        self.num_instances = num_instances
        self.buffer_size = buffer_size
        self.runs = 0
        self.begin()

    def begin(self) -> None:
        """Reads the source anew."""
        self.runs += 1
        self.source: Iterator[Item] | None = None
        self.waiting: list[deque[Item]] = [deque() for _ in range(self.num_instances)]
        self.begun = [False] * self.num_instances

    def find_takers(self, item: Item) -> list[int]:
        """The children that an item is for."""
        raise NotImplementedError

    def pull(self) -> bool:
        """Reads one more item; False at the end."""
        if self.source is None:
            self.source = iter(self.main_datapipe)
        for item in self.source:
            for number in self.find_takers(item):
                self.waiting[number].append(item)
            if 0 <= self.buffer_size < self.held():
                raise BufferError(self.overflow)
            return True
        return False

    overflow = ""

    def held(self) -> int:
        """The items that wait, but for one that is about to be taken."""
        return max(map(len, self.waiting)) - 1

    def __getstate__(self) -> Item:
        kept = dict(super().__getstate__())
        kept.update(source=None, waiting=[deque() for _ in self.waiting])
        return kept


class _Forked(_Split):
    @property
    def overflow(self) -> str:  # type: ignore[override]
        return f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient."

    def find_takers(self, item: Item) -> list[int]:
        return list(range(self.num_instances))

    def __len__(self) -> int:
        return length_of(self, self.main_datapipe)


class _Demultiplexed(_Split):
    def __init__(
        self, datapipe: Source, num_instances: int, buffer_size: int,
        classifier_fn: Callable[[Item], int | None], drop_none: bool,
    ) -> None:  # fmt: skip
        super().__init__(datapipe, num_instances, buffer_size)
        self.classifier_fn = classifier_fn
        self.drop_none = drop_none

    @property
    def overflow(self) -> str:  # type: ignore[override]
        return (
            f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is "
            "insufficient."
        )

    def find_takers(self, item: Item) -> list[int]:
        number = self.classifier_fn(item)
        if number is None and self.drop_none:
            return []
        if number is None or not 0 <= number < self.num_instances:
            raise ValueError(
                f"Output of the classification fn should be between 0 and {self.num_instances - 1}."
                f" {number} is returned."
            )
        return [number]

    def held(self) -> int:
        return sum(map(len, self.waiting)) - 1


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Item]):
    """Several pipes that each give all items of one."""

    def __new__(
        cls, datapipe: Source, num_instances: int, buffer_size: int = 1000, copy: Item = None
    ) -> Item:
        if num_instances < 1:
            raise ValueError(
                f"Expected `num_instances` larger than 0, but {num_instances} is found"
            )
        if num_instances == 1:
            return datapipe
        main = _Forked(datapipe, num_instances, buffer_size)
        return [_Child(main, number) for number in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Item]):
    """Several pipes among which a function shares the items of one."""

    def __new__(
        cls, datapipe: Source, num_instances: int, classifier_fn: Callable[[Item], int | None],
        drop_none: bool = False, buffer_size: int = 1000,
    ) -> Item:  # fmt: skip
        if num_instances < 1:
            raise ValueError(
                f"Expected `num_instances` larger than 0, but {num_instances} is found"
            )
        check_function(classifier_fn)
        main = _Demultiplexed(datapipe, num_instances, buffer_size, classifier_fn, drop_none)
        return [_Child(main, number) for number in range(num_instances)]
