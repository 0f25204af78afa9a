"""Arrays without data: shape, strides and element type, behind which nothing is stored.

Note [Reserved addresses]
NumPy has no array without memory, and views, strides and contiguity of "meta" tensors must be those
of full ones. So a large array without data lies in pages that are reserved and never written: the
system maps all of them to one page of zeros when they are read, and to nothing before. Small ones
are ordinary zeros. Nobody writes to either.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import errors
from .dense_layout import span

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_SMALL: Final = 1 << 16  # bytes up to which memory is cheaper than a reservation


class MetaArray(np.ndarray[Any, Any]):
    """An array that stands for its shape, strides and element type only."""

    __slots__ = ()


class Wrapped(MetaArray):
    """The array of a tensor whose class keeps its data elsewhere; nobody may read it."""

    __slots__ = ()


def meta_array(shape: tuple[int, ...], dtype: RawType | type) -> Array:
    """An array without data in C order."""
    kind = np.dtype(dtype)
    if len(shape) > 64:
        raise RuntimeError(errors.too_many_dimensions(len(shape)))
    count = 1
    for size in shape:
        count *= size
    try:
        return _zeros(count, kind).reshape(shape).view(MetaArray)
    except (OverflowError, ValueError) as error:
        raise RuntimeError(errors.storage_overflow(shape)) from error


def _zeros(count: int, kind: RawType) -> Array:
    """Flat zeros which nobody writes to; see Note [Reserved addresses]."""
    size = count * kind.itemsize
    if size <= _SMALL:
        return np.zeros(count, kind)
    if sys.platform == "win32":  # no reservations there; NumPy's zeros are committed, not touched
        return np.zeros(count, kind)
    import mmap  # takes longer than the rest of this file

    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    try:
        pages = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ)
    except OSError:
        raise RuntimeError(errors.no_memory(size)) from None
    return np.frombuffer(pages, np.uint8, size).view(kind)


def meta_like(array: Array) -> Array:
    """An array without data shaped, typed and laid out like `array`."""
    if type(array) is MetaArray:
        return array
    if array.flags.c_contiguous or not array.size or 0 in array.strides:
        return meta_array(array.shape, array.dtype)
    order = sorted(range(array.ndim), key=lambda d: (-array.strides[d], d))
    back = sorted(range(array.ndim), key=order.__getitem__)
    dense = meta_array(tuple(array.shape[d] for d in order), array.dtype).transpose(back)
    if dense.strides == array.strides:
        return dense
    return meta_array(array.shape, array.dtype)


def ones_like(array: Array) -> Array:
    """Ones shaped like an array, without data for one without."""
    if type(array) is MetaArray:
        return meta_array(array.shape, array.dtype)
    return np.ones(array.shape, array.dtype)


def with_strides(shape: tuple[int, ...], strides: tuple[int, ...], dtype: RawType) -> Array:
    """An array without data with strides of one's own, which are counted in elements."""
    kind = np.dtype(dtype)
    count = span(shape, strides, kind.itemsize)
    steps = tuple(step * kind.itemsize for step in strides)
    made = np.ndarray(shape, kind, _zeros(max(count, 1), kind), 0, steps)
    return made.view(MetaArray)


def bytes_of(array: Array) -> Array:
    """MetaArray bytes, as many as lie behind an array."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return meta_array((owner.size * owner.itemsize,), np.uint8)


def corner(array: Array, sizes: tuple[int, ...]) -> Array:
    """The first elements along each dimension, as zeros of their own."""
    shape = tuple(min(size, least) for size, least in zip(array.shape, sizes, strict=True))
    return np.zeros(shape, array.dtype)
