"""Steps that put items together, and take them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..batches import Batches
from ..columns import check_function
from ..datapipe import DataChunk, IterDataPipe

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(Batches, IterDataPipe[Item]):
    """Batches of so many items."""

    def __iter__(self) -> Iterator[Item]:
        batch: list[Item] = []
        for item in self.datapipe:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Item]):
    """The items of batches, through so many levels; -1 for all."""

    def __init__(self, datapipe: Source, unbatch_level: int = 1) -> None:
        self.datapipe = datapipe
        self.unbatch_level = unbatch_level

    def __iter__(self) -> Iterator[Item]:
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Item, level: int) -> Iterator[Item]:
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level == 0 or (level == -1 and not isinstance(element, (list, DataChunk))):
            yield element
        elif isinstance(element, (list, DataChunk)):
            for item in element:
                yield from self._dive(item, level if level == -1 else level - 1)
        else:
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[Item]):
    """Lists of items that have one key, as far as a buffer holds them."""

    def __init__(
        self,
        datapipe: Source,
        group_key_fn: Callable[[Item], Item],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        check_function(group_key_fn)
        self.datapipe = datapipe
        self.group_key_fn = group_key_fn
        self.keep_key = keep_key
        self.max_buffer_size = buffer_size
        self.group_size = group_size
        self.guaranteed_group_size = None
        if group_size is not None and buffer_size is not None:
            if not 0 < group_size <= buffer_size:
                raise AssertionError("group_size must be > 0 and <= buffer_size")
            self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError(
                    "guaranteed_group_size must be > 0 and <= group_size and group_size must be set"
                )
            self.guaranteed_group_size = guaranteed_group_size
        self.drop_remaining = drop_remaining
        self.wrapper_class = DataChunk

    def _wrap(self, key: Item, items: list[Item]) -> Item:
        made: Item = self.wrapper_class(items)
        return (key, made) if self.keep_key else made

    def _evict(self, groups: dict[Item, list[Item]]) -> tuple[Item, list[Item] | None]:
        """The largest group goes, if it is as large as was promised."""
        key = max(groups, key=lambda k: len(groups[k]))
        size = self.guaranteed_group_size
        if size is not None and len(groups[key]) < size and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(groups[key]))
        items = groups.pop(key)
        return key, items if size is None or len(items) >= size else None

    def __iter__(self) -> Iterator[Item]:
        groups: dict[Item, list[Item]] = defaultdict(list)
        held = 0
        for item in self.datapipe:
            key = self.group_key_fn(item)
            groups[key].append(item)
            held += 1
            if self.group_size is not None and self.group_size == len(groups[key]):
                yield self._wrap(key, groups.pop(key))
                held -= self.group_size
            if held == self.max_buffer_size:
                before = sum(map(len, groups.values()))
                largest, items = self._evict(groups)
                held -= before - sum(map(len, groups.values()))
                if items is not None:
                    yield self._wrap(largest, items)
        for key, items in groups.items():
            yield self._wrap(key, items)
