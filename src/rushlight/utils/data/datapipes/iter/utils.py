"""The first step: any iterable."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator

from ..annotations import Item
from ..columns import length_of
from ..datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe[Item]):
    """The items of an iterable, which each iterator copies first."""

    def __init__(self, iterable: Iterable[Item], deepcopy: bool = True) -> None:
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self) -> Iterator[Item]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware of in-place "
                    "modification would affect source data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        return length_of(self, self.iterable)
