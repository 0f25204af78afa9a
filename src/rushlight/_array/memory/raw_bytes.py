"""The bytes behind an array, for those who look at memory itself."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D
from ..types import empty, owner
from .dense_layout import in_memory_order

if TYPE_CHECKING:
    from ..annotations import Array, RawType


def bytes_of(array: Array) -> Array:
    """All bytes of the memory that an array is a view of, as a flat array over them."""
    whole = in_memory_order(owner(array))
    if whole.flags.c_contiguous:
        return whole.reshape(-1).view(np.uint8)
    flat = np.ascontiguousarray(array)
    return flat.reshape(-1).view(np.uint8)


def fresh(count: int) -> Array:
    """Bytes that nobody has written."""
    return empty((count,), np.uint8)


def from_numbers(values: list[int] | list[float], dtype: RawType) -> Array:
    """The bytes of numbers of a raw type."""
    return np.array(list(values), dtype).reshape(-1).view(np.uint8)


def from_buffer(buffer: Any, count: int, offset: int, dtype: D.dtype) -> Array:
    """A copy of `count` elements of a buffer from a byte on; `count` below 0: all that follow.

    Raises:
        ValueError: for counts and offsets beyond the end.
    """
    size, length = dtype.itemsize, memoryview(buffer).nbytes
    if not 0 <= offset <= length:
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({offset}) , but got "
            f"{length}"
        )
    if count < 0:
        if (length - offset) % size:
            raise ValueError(f"buffer size ({length}) must be a multiple of element size ({size})")
        count = (length - offset) // size
    elif offset + count * size > length:
        raise ValueError(
            f"buffer has only {length - offset} elements after offset {offset}, but specified a "
            f"size of {count}"
        )
    return np.frombuffer(buffer, np.uint8)[offset : offset + count * size].copy()


def swap_octets(octets: Array, size: int) -> Array:
    """The bytes with those of each element in the other order."""
    return np.ascontiguousarray(octets.reshape(-1, size)[:, ::-1]).reshape(-1)


def little_endian() -> bool:
    """Whether this machine puts the low byte first."""
    return bool(np.little_endian)


def view_as(data: Array, dtype: RawType) -> Array:
    """The bytes as elements of a raw type; what is left over is left out."""
    size = np.dtype(dtype).itemsize
    return data[: data.size // size * size].view(dtype)


def map_file(path: str, together: bool, count: int) -> Array:
    """The first bytes of a file, read when they are first looked at.

    What is written to them goes to the file, and to all who map it, where `together`; else it stays
    here. A file that is mapped together and too short, or not there, grows.

    Raises:
        RuntimeError: where the file can't be opened, or is too short.
    """
    try:
        if together and not os.path.exists(path):
            open(path, "xb").close()
        file = open(path, "r+b" if together else "rb")  # noqa: SIM115  (closed below)
    except OSError as error:
        how = "read-write" if together else "read-only"
        raise RuntimeError(
            f"unable to open file <{path}> in {how} mode: {error.strerror} ({error.errno})"
        ) from None
    with file:
        size = os.fstat(file.fileno()).st_size
        if size < count and not together:
            raise RuntimeError(
                f"file <{path}> size <{size}> is smaller than the required mapping size <{count}>"
            )
        if size < count:
            file.truncate(count)
        if count == 0:
            return fresh(0)
        access = mmap.ACCESS_WRITE if together else mmap.ACCESS_COPY
        return np.frombuffer(mmap.mmap(file.fileno(), count, access=access), np.uint8)
