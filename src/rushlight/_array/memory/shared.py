"""Memory that several processes see: arrays over files that have no name.

A block is a file that exists as long as somebody has it open (`memfd_create`, or a temporary file
that is deleted at once), so nothing is left behind by a process that dies.
"""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D
from ..types import from_raw, owner, to_raw
from .storage_views import storage_of, strides_of, view_into

if TYPE_CHECKING:
    from ..annotations import Array


class Block(mmap.mmap):
    """Mapped memory that knows the file it comes from, which can be sent to other processes."""

    fd: int

    def __del__(self) -> None:
        fd = self.__dict__.pop("fd", None)
        if fd is not None:
            os.close(fd)


def open_block(fd: int, size: int) -> Block:
    """The memory of a file that another process has sent; the descriptor is this block's now."""
    block = Block(fd, max(size, 1))
    block.fd = fd
    return block


def _fresh(size: int) -> Block:
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("rushlight")
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, max(size, 1))
    return open_block(fd, size)


def block_of(array: Array) -> Block | None:
    """The shared memory that an array is a view of, if it is."""
    base = owner(array).base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, Block) else None


def is_shared(array: Array) -> bool:
    """Whether other processes can see an array's memory."""
    return block_of(array) is not None


def share(array: Array) -> Array:
    """The same values in shared memory, with the same strides; the array itself if it is there."""
    if is_shared(array):
        return array
    flat, offset = storage_of(array)
    if array.size and not np.may_share_memory(flat, array):
        # The memory isn't a plain run: the elements go over in the order in which they lie.
        order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
        lying = np.ascontiguousarray(array.transpose(order))
        return _move(lying.reshape(-1)).reshape(lying.shape).transpose(np.argsort(order))
    return view_into(_move(flat), offset, array.shape, strides_of(array))


def _move(flat: Any) -> Array:
    copy = np.frombuffer(_fresh(flat.nbytes), flat.dtype, flat.size)
    copy[...] = flat
    return copy


def geometry(array: Array) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """How an array lies in its shared memory: its elements, where it starts, shape and strides."""
    flat, offset = storage_of(array)
    return flat.size, offset, array.shape, strides_of(array)


def dtype_of(array: Array) -> D.dtype:
    """The element type."""
    return from_raw(array.dtype)


def view_block(
    block: Block, dtype: D.dtype, lying: tuple[int, int, tuple[int, ...], tuple[int, ...]]
) -> Array:
    """The array that lies in shared memory in the way that `geometry` has told."""
    count, offset, shape, strides = lying
    return view_into(np.frombuffer(block, to_raw(dtype), count), offset, shape, strides)
