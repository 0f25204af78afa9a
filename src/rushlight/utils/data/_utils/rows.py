"""Batches of a `TensorDataset` read at once: the rows that were ordered, from each tensor.

Reading items one by one and stacking them gives the same tensors, for some microseconds an item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...._array.memory.collation import take_rows
from ...._core.mode import current
from ...._core.storage import new_tensor
from ...._tensor.tensor import Tensor
from ..dataset import Subset, TensorDataset
from .collate import collate_tensor_fn, default_collate, default_collate_fn_map

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["rows_of"]

# As these classes define it: a program may have put another function there.
_ITEM: Final = (TensorDataset.__getitem__, Subset.__getitem__, Subset.__getitems__)


def rows_of(
    dataset: object, keys: Sequence[int], collate: Callable[[object], object]
) -> list[Any] | None:
    """The batch of those items; None where it must be put together item by item.

    That is for other datasets, ways to collate and keys; and where operations are recorded, seen by
    somebody, or not those of plain tensors.
    """
    if collate is not default_collate or type(keys) is not list or set(map(type, keys)) != {int}:
        return None
    while type(dataset) is Subset:
        if type(dataset.indices) is not list:
            return None
        try:
            keys = [dataset.indices[key] for key in keys]
        except IndexError:
            return None
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset or current().slow or set(map(type, keys)) != {int}:
        return None
    if (TensorDataset.__getitem__, Subset.__getitem__, Subset.__getitems__) != _ITEM:
        return None
    if default_collate_fn_map.get(Tensor) is not collate_tensor_fn or "__getitem__" in vars(
        dataset
    ):
        return None
    for tensor in dataset.tensors:
        if type(tensor) is not Tensor or not tensor._plain or tensor.requires_grad:
            return None
    found = take_rows([tensor._raw for tensor in dataset.tensors], keys)
    return None if found is None else [new_tensor(array) for array in found]
