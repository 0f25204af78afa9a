"""How a list of items becomes a batch."""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any

from ...._array.memory import collation as batches
from ...._base import dtypes
from ...._base.memory_format import strided
from ...._tensor.tensor import Tensor
from ....nn._ground import f

if TYPE_CHECKING:
    from ...._array.annotations import Array


__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

# The kinds of NumPy's types that hold no numbers: text, bytes, objects.
np_str_obj_array_pattern = re.compile(r"[SaUO]")

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _of_same_kind(old: Any, items: Any) -> object:
    """`items` in a container of the same class, or in a plain one where that can't be made."""
    if isinstance(old, Mapping):
        if isinstance(old, MutableMapping):
            made = copy.copy(old)
            made.update(items)
            return made
        return type(old)(items)  # type: ignore[call-arg]
    if isinstance(old, MutableSequence):
        made_list = copy.copy(old)
        for place, item in enumerate(items):
            made_list[place] = item
        return made_list
    return type(old)(items)


def default_convert(data: object) -> Any:
    """`data` with its NumPy arrays and scalars as tensors; containers stay what they are.

    Parameters:
        data: any value.
    Returns: the same with tensors; a tuple comes back as a list, unless it has named fields.
    Raises: TypeError: for arrays of types that tensors haven't.
    Example:
        >>> import numpy as np
        >>> torch.utils.data.default_convert({"x": np.array([1, 2])})
        {'x': tensor([1, 2])}
    """
    if isinstance(data, Tensor):
        return data
    if batches.is_array(data):
        if batches.is_text(data):
            return data
        return f.as_tensor(data)
    if isinstance(data, Mapping):
        items: Any = {key: default_convert(value) for key, value in data.items()}
        try:
            return _of_same_kind(data, items)
        except TypeError:
            return items
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        items = [default_convert(value) for value in data]
        try:
            return _of_same_kind(data, items)
        except TypeError:
            return items
    return data


_Collate = Callable[..., Any]
_Table = dict[type | tuple[type, ...], _Collate]


def collate(batch: Sequence[Any], *, collate_fn_map: _Table | None = None) -> Any:
    """A batch of items: as the table says for their class, else by their structure.

    Raises:
        TypeError: for items that nothing is known about.
        RuntimeError: where sequences of items have different lengths.
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for entry, function in collate_fn_map.items():
            if isinstance(first, entry):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        items: Any = {
            key: collate([item[key] for item in batch], collate_fn_map=collate_fn_map)
            for key in first
        }
        try:
            return _of_same_kind(first, items)
        except TypeError:
            return items
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(collate(row, collate_fn_map=collate_fn_map)
                      for row in zip(*batch)))  # fmt: skip
    if isinstance(first, collections.abc.Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        rows = [collate(row, collate_fn_map=collate_fn_map) for row in zip(*batch)]
        if not isinstance(first, tuple):
            with contextlib.suppress(TypeError):
                return _of_same_kind(first, rows)
        return rows
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: _Table | None = None) -> Tensor:
    """Tensors stacked along a new first dimension.

    Raises:
        RuntimeError: for sparse and nested tensors.
    """
    first = batch[0]
    if first.is_nested or first.layout is not strided:
        kind = "nested" if first.is_nested else "sparse"
        raise RuntimeError(
            f"Batches of {kind} tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately."
        )
    return f.stack(batch, 0)


def collate_numpy_array_fn(
    batch: Sequence[Array], *, collate_fn_map: _Table | None = None
) -> Tensor:
    """NumPy arrays as tensors, stacked.

    Raises:
        TypeError: for arrays of text or objects.
    """
    if batches.is_text(batch[0]):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([f.as_tensor(item) for item in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(
    batch: Sequence[object], *, collate_fn_map: _Table | None = None
) -> Tensor:
    """NumPy scalars as one tensor."""
    return f.as_tensor(batch)


def collate_float_fn(batch: Sequence[object], *, collate_fn_map: _Table | None = None) -> Tensor:
    """Floats as one tensor of float64."""
    return f.tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Sequence[object], *, collate_fn_map: _Table | None = None) -> Tensor:
    """Integers as one tensor."""
    return f.tensor(batch)


def collate_str_fn(
    batch: Sequence[object], *, collate_fn_map: _Table | None = None
) -> Sequence[object]:
    """Text as it is, in a list."""
    return batch


default_collate_fn_map: _Table = {
    Tensor: collate_tensor_fn,
    batches.ARRAY: collate_numpy_array_fn,
    batches.SCALARS: collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: list[object]) -> Any:
    """A batch of items: tensors stacked, numbers made tensors, containers gone through.

    Parameters:
        batch: the examples, a list: tensors, arrays, numbers, or collections of them.
    Returns: a tensor of all with a first dimension more, or the same collection of such.
    Raises:
        TypeError: for what can't be stacked.
        RuntimeError: for collections of different lengths.
    Example:
        >>> torch.utils.data.default_collate([1, 2, 3])
        tensor([1, 2, 3])
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
