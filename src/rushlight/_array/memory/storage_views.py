"""The memory behind arrays, as files and pickles see it: whole storages and views into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D
from ..types import address, byte_strides, owner, to_raw
from .dense_layout import in_memory_order

if TYPE_CHECKING:
    from ..annotations import Array, RawType


def storage_of(array: Array) -> tuple[Any, int]:
    """The flat memory that `array` is a view of, and the element at which it starts.

    An array whose memory isn't a plain run of elements is copied into one. Memory that was made
    for another type is seen as the array's own: a complex array's, from its real part.
    """
    whole = in_memory_order(owner(array))
    if not whole.flags.c_contiguous or any(s < 0 or s % array.itemsize for s in array.strides):
        return np.ascontiguousarray(array).reshape(-1), 0
    flat = whole.reshape(-1)
    if whole.dtype != array.dtype:
        if whole.nbytes % array.itemsize or whole.dtype.hasobject:
            return np.ascontiguousarray(array).reshape(-1), 0
        flat = flat.view(array.dtype)
    start = address(array) - address(whole) if array.size else 0
    if start % array.itemsize:
        return np.ascontiguousarray(array).reshape(-1), 0
    return flat, start // array.itemsize


def strides_of(array: Array) -> tuple[int, ...]:
    """Strides in elements."""
    return byte_strides(array)


def bytes_of(flat: Array) -> Any:
    """The bytes of a flat array."""
    if not flat.size:
        return b""
    octets: Any = np.ascontiguousarray(flat).view(np.uint8)
    return memoryview(octets)


def is_array(value: Array) -> bool:
    """Whether a value is an array."""
    return isinstance(value, np.ndarray)


def identity_of(flat: Any) -> tuple[int, int, RawType]:
    """What tells a flat array from others, and is the same for all that see the same memory."""
    return address(flat), flat.nbytes, flat.dtype


def writable_bytes(flat: Any) -> Any:
    """The memory of a flat array, for who reads a file into it."""
    return memoryview(flat.view(np.uint8)) if flat.size else memoryview(bytearray())


def swap_bytes(flat: Array) -> Array:
    """The flat array, whose bytes were in the other order, in place."""
    return flat.byteswap(inplace=True)


def flatten(array: Array) -> Array:
    """The elements in C order, flat."""
    return np.ascontiguousarray(array).reshape(-1)


def is_little_endian() -> bool:
    """Whether this machine puts the low byte first."""
    return bool(np.little_endian)


def map_part(memory: Any, start: int, count: int, dtype: D.dtype, swap: bool) -> Array:
    """A flat array over a part of a mapped file; copied where it doesn't lie at its own size."""
    raw = to_raw(dtype)
    flat = np.frombuffer(memory, np.uint8, count * raw.itemsize, start)
    if swap or address(flat) % raw.itemsize:
        made = unset(count, dtype)
        made.view(np.uint8)[:] = flat
        return swap_bytes(made) if swap else made
    return flat.view(raw)


def view_into(flat: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """The view of a flat storage with this geometry.

    Raises:
        ValueError: where it would reach outside the storage.
    """
    last = offset
    for n, s in zip(shape, strides):
        if n < 0 or s < 0:
            raise ValueError("negative size or stride in a stored tensor")
        if n == 0:
            return np.empty(shape, flat.dtype)
        last += (n - 1) * s
    if offset < 0 or last >= len(flat):
        raise ValueError(
            f"a stored tensor of shape {list(shape)} reaches element {last} of a "
            f"storage of {len(flat)}"
        )
    size = flat.itemsize
    return np.ndarray(shape, flat.dtype, flat, offset * size, [s * size for s in strides])


def with_pending(array: Any, conjugate: bool, negative: bool) -> Array:
    """The array conjugated or negated, where a file says that this is still to be done."""
    if conjugate:
        array = np.conjugate(array)
    return np.negative(array) if negative else array


def like(array: Any) -> Array:
    """An array of the same shape and type, contiguous, whose elements are set later."""
    return np.empty(array.shape, array.dtype)


def copy_elements(into: Array, array: Array) -> None:
    """Sets all elements."""
    into[...] = array


def retype(flat: Array, dtype: D.dtype) -> Array:
    """The same bytes as elements of another type."""
    return flat.view(to_raw(dtype))


def unset(count: int, dtype: D.dtype) -> Array:
    """A flat array whose elements are set later."""
    return np.empty(count, to_raw(dtype))


def little_endian(flat: Array) -> Array:
    """The flat array with its bytes in little-endian order."""
    return flat.astype(flat.dtype.newbyteorder("<")) if not np.little_endian else flat


def count_of(flat: Array, untyped: bool) -> int:
    """The elements of a flat array, or its bytes."""
    return int(flat.nbytes) if untyped else len(flat)


def same_memory(flat: Array, array: Array) -> bool:
    """Whether `array` lies inside the memory of a flat array."""
    start = address(array) - address(flat)
    return bool(array.size > 0 and 0 <= start < flat.nbytes)
