"""The step that puts items together."""

from __future__ import annotations

from .._decorator import functional_datapipe
from ..annotations import Item
from ..batches import Batches
from ..datapipe import MapDataPipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(Batches, MapDataPipe[Item]):
    """Batches of so many items."""

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
