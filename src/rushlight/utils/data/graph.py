"""Which steps a pipe of data consists of."""

from __future__ import annotations

import io
import pickle
import warnings

from .datapipes.annotations import Item, Source
from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

DataPipe = IterDataPipe[Item] | MapDataPipe[Item]
#: By the address of a step: the step, and those that it reads.
DataPipeGraph = dict[int, tuple[DataPipe, "DataPipeGraph"]]


class _Finder(pickle._Pickler):
    """Notes the steps that a step holds; looks into neither them nor the data."""

    def __init__(self, root: object, seen: set[int]) -> None:
        super().__init__(io.BytesIO(), protocol=2)
        self.root = root
        self.seen = seen
        self.found: list[Item] = []

    def persistent_id(self, obj: object) -> object:
        """What stands for a step."""
        if isinstance(obj, (IterDataPipe, MapDataPipe)) and obj is not self.root:
            if id(obj) not in self.seen and not any(obj is other for other in self.found):
                self.found.append(obj)
            return "a step"
        return None


def _find_held(datapipe: Source, seen: set[int]) -> list[Item]:
    finder = _Finder(datapipe, seen)
    for value in vars(datapipe).values():
        try:
            finder.dump(value)
        except Exception:  # what can't be pickled is no step
            continue
    return finder.found


def traverse_dps(datapipe: DataPipe) -> DataPipeGraph:
    """The graph of a pipe's steps.

    Raises:
        RuntimeError: for what is no pipe.
    """
    return _traverse(datapipe, set())


def _traverse(datapipe: DataPipe, seen: set[int]) -> DataPipeGraph:
    if not isinstance(datapipe, (IterDataPipe, MapDataPipe)):
        raise RuntimeError(
            f"Expected `IterDataPipe` or `MapDataPipe`, but {type(datapipe)} is found"
        )
    if id(datapipe) in seen:
        return {}
    seen = {*seen, id(datapipe)}
    below: DataPipeGraph = {}
    for step in _find_held(datapipe, seen):
        below.update(_traverse(step, set(seen)))
    return {id(datapipe): (datapipe, below)}


def traverse(datapipe: DataPipe, only_datapipe: bool | None = None) -> DataPipeGraph:
    """`traverse_dps` under its former name. Deprecated."""
    text = (
        "`traverse` function is deprecated and will be removed after 1.13. Please use "
        "`traverse_dps` instead."
    )
    if not only_datapipe:
        text += " And, the behavior will be changed to the equivalent of `only_datapipe=True`."
    warnings.warn(text, FutureWarning, stacklevel=2)
    return traverse_dps(datapipe)
