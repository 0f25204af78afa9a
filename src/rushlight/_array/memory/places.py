"""Where arrays lie in memory: from which address, in whose memory, how far apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._native.ufunc_loops import FIELDS
from .dense_layout import is_dense

if TYPE_CHECKING:
    from ..annotations import Array


def owner(array: Array) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def first_byte(array: Any) -> int:
    """Where the elements of an array or of a NumPy number begin, also where there are none."""
    return int(array.__array_interface__["data"][0])


def address(array: Array) -> int:
    """The address of the first element; 0 where there is none."""
    return first_byte(array) if array.size else 0


def storage_offset(array: Array) -> int:
    """How many elements lie before the first of an array in the memory that it is part of."""
    whole = owner(array)
    if whole is array or not array.size:  # its own memory begins with it
        return 0
    return (address(array) - address(whole)) // array.itemsize


def element_strides(array: Array) -> tuple[int, ...]:
    """The strides in elements."""
    size = array.itemsize
    return tuple([s // size for s in array.strides])


def overlap(a: Array, b: Array) -> int:
    """Whether one memory has elements of both arrays, where neither leaves gaps; 2 where they are
    the same elements in the same order."""
    if owner(a) is not owner(b) or not a.size or not b.size or not (is_dense(a) and is_dense(b)):
        return 0
    start, begin = address(a), address(b)
    if start >= begin + b.nbytes or begin >= start + a.nbytes:
        return 0
    return 1 + (start == begin and a.nbytes == b.nbytes and a.strides == b.strides)


def put(array: Array, result: object) -> bool:
    """Writes a result of the same type and shape into an array; False, with nothing written, where
    it is another, or elements of the array share memory."""
    if type(result) is not np.ndarray or result.dtype is not array.dtype:
        return False
    if result.shape != array.shape or 0 in array.strides:
        return False
    array[...] = result
    return True


if FIELDS is not None:  # the same in C: an array's interface is a dictionary, which takes 1.5 us
    owner, address = FIELDS.owner, FIELDS.address
    storage_offset, element_strides = FIELDS.storage_offset, FIELDS.element_strides
    overlap, put = FIELDS.overlap, FIELDS.put
