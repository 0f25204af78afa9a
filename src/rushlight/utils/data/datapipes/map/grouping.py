"""The step that puts items together."""

from __future__ import annotations

from collections.abc import Callable

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..datapipe import DataChunk, MapDataPipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe[Item]):
    """Batches of so many items."""

    def __init__(
        self, datapipe: Source, batch_size: int, drop_last: bool = False,
        wrapper_class: Callable[[list[Item]], Item] = DataChunk,
    ) -> None:  # fmt: skip
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe = datapipe
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index: int) -> Item:
        start = index * self.batch_size
        items = []
        try:
            for place in range(start, start + self.batch_size):
                items.append(self.datapipe[place])
        except IndexError as error:
            if not items or self.drop_last:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(items)

    def __len__(self) -> int:
        whole = len(self.datapipe)
        return whole // self.batch_size if self.drop_last else -(-whole // self.batch_size)
