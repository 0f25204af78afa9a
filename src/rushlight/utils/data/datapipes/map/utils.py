"""The first step: any sequence or mapping."""

from __future__ import annotations

import copy
import warnings

from ..annotations import Item, Source
from ..datapipe import MapDataPipe

__all__ = ["SequenceWrapperMapDataPipe"]


class SequenceWrapperMapDataPipe(MapDataPipe[Item]):
    """The items of a sequence, which is copied first."""

    def __init__(self, sequence: Source, deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware of in-place "
                    "modification would affect source data",
                    stacklevel=2,
                )

    def __getitem__(self, index: Item) -> Item:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)
