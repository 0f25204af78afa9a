"""What steps that put items together share, over iterators and over maps."""

from __future__ import annotations

from collections.abc import Callable

from .annotations import Item, Source
from .columns import length_of
from .datapipe import DataChunk


class Batches:
    """How many items a batch has, what it becomes, and how many batches there are."""

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

    def __len__(self) -> int:
        whole = length_of(self, self.datapipe)
        return whole // self.batch_size if self.drop_last else -(-whole // self.batch_size)
