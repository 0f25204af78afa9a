"""How results are laid out that are like another array: dense, in the order of its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._base import errors
from .out_of_memory import refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Array, RawType


def span(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> int:
    """How many elements of `size` bytes lie between the first and the last of a strided array.

    Raises:
        RuntimeError: for strides of another number or below zero, and for too many bytes.
    """
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(strides)})"
        )
    if 0 in shape:
        return 0
    count = 1 + sum([(n - 1) * s for n, s in zip(shape, strides)])
    if count * size >= 2**63 or any(s < 0 for s in strides):
        raise RuntimeError(errors.storage_overflow(shape, strides))
    return count


def is_dense(array: Array) -> bool:
    """Whether the elements fill their memory without gaps or overlap, in some order."""
    if array.flags.c_contiguous:
        return True
    expected = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape)):
        if n != 1:
            if stride != expected:
                return False
            expected *= n
    return True


def empty_like(array: Array, raw: RawType | type) -> Array:
    """An array of `array`'s shape and layout and of NumPy type `raw`, elements not set.

    Where several elements share memory the order of the dimensions is PyTorch's, not NumPy's.
    """
    try:
        if array.flags.c_contiguous:
            return keep_open_steps(np.empty_like(array, dtype=raw, subok=False), array)
        if not _is_spread(array.strides):
            return np.empty_like(array, dtype=raw, subok=False)
        order = _order(array.shape, array.strides)
        made = np.empty([array.shape[d] for d in order], raw)
    except (MemoryError, ValueError) as error:
        raise refusal(error, array.shape) from None
    return made.transpose(sorted(range(array.ndim), key=order.__getitem__))


def copy(array: Array, raw: RawType | type) -> Array:
    """A copy with elements of NumPy type `raw`, laid out like `empty_like`."""
    if array.flags.c_contiguous:
        return keep_open_steps(array.astype(raw), array)
    if not _is_spread(array.strides):
        return array.astype(raw)
    made = empty_like(array, raw)
    np.copyto(made, array, casting="unsafe")
    return made


def keep_open_steps(made: Array, array: Array) -> Array:
    """A new row-major array with the strides of another, which sizes of 1 leave open."""
    if 1 not in array.shape or array.ndim < 4:
        return made
    strides = array.strides
    if made.itemsize != array.itemsize:
        strides = tuple([s // array.itemsize * made.itemsize for s in strides])
    if made.strides == strides or not made.size:
        return made
    if made.dtype.kind != "V":
        return np.ndarray(made.shape, made.dtype, made, 0, strides)
    whole = made.view(np.uint16)  # bfloat16 doesn't lend its buffer
    return np.ndarray(made.shape, np.uint16, whole, 0, strides).view(made.dtype)


def copy_laid_out_like(array: Array, like: Array) -> Array:
    """A copy of `array` laid out like another of its shape."""
    made = empty_like(like, array.dtype)
    made[...] = array
    return made


def suggests_channels_last(x: Array) -> bool:
    """Whether results of `x` have their channels last in memory.

    Note [What lies channels-last]
    As in PyTorch it is the strides of four or five dimensions that say so, whether or not there are
    gaps between the elements: the steps rise from the channels over the places, the last place
    first, to the batch. Where sizes of 1 leave it open (one channel of one place, one sample
    selected from several), it is row-major.
    """
    shape, strides = x.shape, x.strides
    if len(strides) not in (4, 5) or strides[1] > strides[-1] or not strides[1]:
        return False
    least = 0
    for axis in (1, *range(len(shape) - 1, 1, -1), 0):
        size, step = shape[axis], strides[axis]
        if not size or step < least or (axis == 0 and least == strides[1]):
            return False
        least = step * size
    return True


def empty_channels_last(shape: Sequence[int], raw: RawType) -> Array:
    """An array of 4 or 5 dimensions whose second one is the innermost, elements not set."""
    made = np.empty((shape[0], *shape[2:], shape[1]), raw)
    return made.transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


def copied_in_format(x: Array) -> Array:
    """A dense copy: its channels last where the array's steps suggest so, else in C order."""
    if x.flags.c_contiguous or not suggests_channels_last(x):
        return x.copy("C")
    made = empty_channels_last(x.shape, x.dtype)
    made[...] = x
    return made


def _is_spread(strides: tuple[int, ...]) -> bool:
    return 0 in strides or len(set(strides)) < len(strides)


def _order(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """The dimensions from the outermost to the innermost.

    Dimensions change places with the inner ones that have larger strides. One that is expanded
    goes with any other, and is passed over.
    """
    order = list(range(len(shape)))[::-1]  # from the innermost on
    for last in range(1, len(order)):
        outer = last
        for inner in range(last - 1, -1, -1):
            a, b = order[inner], order[outer]
            if not strides[a] or not strides[b]:
                continue
            if (strides[a], shape[a]) > (strides[b], shape[b]):
                order[inner], order[outer] = b, a
                outer = inner
            elif strides[a] < strides[b]:
                break
    return order[::-1]
