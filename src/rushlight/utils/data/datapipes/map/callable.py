"""The step that applies a function."""

from __future__ import annotations

from collections.abc import Callable

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..columns import check_function
from ..datapipe import MapDataPipe

__all__ = ["MapperMapDataPipe", "default_fn"]


def default_fn(data: Item) -> Item:
    """The item itself."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[Item]):
    """A function of each item."""

    def __init__(self, datapipe: Source, fn: Callable[[Item], Item] = default_fn) -> None:
        self.datapipe = datapipe
        check_function(fn)
        self.fn = fn

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getitem__(self, index: Item) -> Item:
        return self.fn(self.datapipe[index])
