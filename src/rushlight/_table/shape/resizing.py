"""Memory that gets larger under the tensors that look at it.

Note [Memory that moves]
An array can't grow where it lies while others look at it, so its elements move to larger memory and
every tensor and storage that looked at the old one is shown the new one at the same place. Who that
is, the collector of garbage knows. What NumPy (or a buffer's owner) looks at can't follow and is
marked as fixed when it is handed over; PyTorch refuses to resize the same memory.
"""

from __future__ import annotations

import gc
import sys
from math import prod
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.memory import shared
from ..._array.memory.exported import is_fixed
from ..._array.shape import as_strided as windows
from ..._array.shape.create import marked
from ..._base import errors
from ..._base.determinism import Determinism
from ..._core.storage import TensorBase

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._tensor.tensor import Tensor

__all__ = ["STORAGES", "grown", "resized"]

#: The class of storages, which is handed in: each shows memory as `_data`.
STORAGES: Final[list[type]] = []

NOT_RESIZABLE: Final = "Trying to resize storage that is not resizable"


def resized(t: Any, size: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """The array of `t` in another shape over the same memory, which grows where it must.

    Raises:
        RuntimeError: where somebody else looks at memory that would have to grow.
        NotImplementedError: for a view without elements, of which NumPy doesn't tell the place.
    """
    array = t._raw
    start = _start(array)
    if not (start or array.size) and t._view is not None and T.owner(array).size and 0 not in size:
        raise NotImplementedError(
            "resize_: a view without elements can't be resized here, for its place in memory isn't "
            "known; take the view again with the elements that it shall have"
        )
    wanted = 0
    if 0 not in size:
        wanted = start + 1 + sum((n - 1) * s for n, s in zip(size, strides, strict=True))
    if prod(size) * array.itemsize >= 2**63 or wanted * array.itemsize >= 2**63:
        raise RuntimeError(errors.NUMEL_OVERFLOW)
    item, before = int(array.itemsize), int(T.owner(array).nbytes)
    fresh = wanted * item > before
    if fresh:
        del array
        grown(t, wanted * item)
        array = t._raw
    octets = windows.storage(array).reshape(-1).view("u1")
    if fresh and Determinism.filling:
        first = -(-before // item)
        marked(T.array_over((wanted - first,), array.dtype, octets, first * item, (item,)))
    return T.array_over(size, array.dtype, octets, start * item, [s * item for s in strides])


def _start(array: Array) -> int:
    whole = T.owner(array)
    if whole is array:
        return 0
    return (_address(array) - _address(whole)) // int(array.itemsize)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def grown(t: Tensor, count: int) -> None:
    """Gives the memory behind a tensor so many bytes, for all that look at it.

    Raises:
        RuntimeError: where it is fixed.
    """
    raw = t._raw
    whole = T.owner(raw)
    if is_fixed(whole) or shared.is_shared(raw):
        raise RuntimeError(NOT_RESIZABLE)
    # References to the array (or to its owner and to it) that are the tensor's and ours.
    alone = sys.getrefcount(whole) <= 4 if whole is raw else (
        sys.getrefcount(whole) <= 3 and sys.getrefcount(raw) <= 3
    )  # fmt: skip
    begin = _address(whole)
    moved = T.zero_bytes(count)
    old = windows.storage(raw).reshape(-1).view("u1")
    moved[: old.size] = old
    holders = [t] if alone else _holders(whole)
    for holder in holders:
        if isinstance(holder, TensorBase):
            holder._raw = _view_from(holder._raw, moved, begin)
        else:
            data = holder._data
            at = _address(data) - begin
            holder._data = moved[at:] if at + data.size == old.size else moved[at : at + data.size]


def _view_from(array: Array, moved: Array, begin: int) -> Array:
    at = _address(array) - begin
    return T.array_over(array.shape, array.dtype, moved, at, array.strides)


def _holders(whole: Array) -> list[Any]:
    """The tensors and storages that look at some memory."""
    kinds = (TensorBase, *STORAGES)
    found = []
    for thing in gc.get_objects():
        if isinstance(thing, kinds):
            array = getattr(thing, "_raw" if isinstance(thing, TensorBase) else "_data", None)
            if type(array) is T.ndarray and T.owner(array) is whole:
                found.append(thing)
    return found
