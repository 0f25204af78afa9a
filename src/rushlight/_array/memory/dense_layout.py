"""How results are laid out that are like another array: dense, in the order of its memory."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import errors
from ..._native.ufunc_loops import FRESH
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


def in_memory_order(array: Array) -> Array:
    """The array with its dimensions from the widest apart in memory to the closest."""
    if array.flags.c_contiguous:
        return array
    return array.transpose(sorted(range(array.ndim), key=lambda d: -array.strides[d]))


def empty_like(array: Array, raw: RawType | type) -> Array:
    """An array of `array`'s shape and layout and of NumPy type `raw`, elements not set.

    Where strides leave the order of the dimensions open it is PyTorch's, not NumPy's.
    """
    try:
        if array.flags.c_contiguous:
            return keep_open_steps(np.empty_like(array, dtype=raw, subok=False), array)
        if not _repeats_strides(array):
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
    if not _repeats_strides(array):
        return array.astype(raw)
    made = empty_like(array, raw)
    np.copyto(made, array, casting="unsafe")
    return made


def bits_of(raw: RawType) -> RawType:
    """A NumPy type of the same size whose arrays lend their buffers: those of ml_dtypes don't."""
    kind = raw.kind
    if kind in "VW" or (kind == "f" and raw.itemsize == 1):
        return _BITS[raw.itemsize]
    return raw


_BITS: Final = {size: np.dtype(f"u{size}") for size in (1, 2, 4)}


def keep_open_steps(made: Array, array: Array) -> Array:
    """A new row-major array with the strides of another, which sizes of 1 leave open."""
    if 1 not in array.shape or array.ndim < 4:
        return made
    strides = array.strides
    if made.itemsize != array.itemsize:
        strides = tuple([s // array.itemsize * made.itemsize for s in strides])
    if made.strides == strides or not made.size:
        return made
    bits = bits_of(made.dtype)
    if bits is made.dtype:
        return np.ndarray(made.shape, made.dtype, made, 0, strides)
    return np.ndarray(made.shape, bits, made.view(bits), 0, strides).view(made.dtype)


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
    return from_channel_rows(np.empty(prod(shape), raw), shape)


def channel_rows(x: Array) -> Array:
    """A view of (N, C, …) with its channels last."""
    return x.transpose(0, *range(2, x.ndim), 1)


def from_channel_rows(rows: Array, shape: Sequence[int]) -> Array:
    """Rows of all channels, one for each place of each sample, as (N, C, …): a view."""
    moved = rows.reshape(shape[0], *shape[2:], shape[1])
    return moved.transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


def copy_in_format(x: Array) -> Array:
    """A dense copy: its channels last where the array's steps suggest so, else in C order."""
    if x.flags.c_contiguous or not suggests_channels_last(x):
        return x.copy("C")
    made = empty_channels_last(x.shape, x.dtype)
    made[...] = x
    return made


def _repeats_strides(array: Array) -> bool:
    strides = array.strides
    return 0 in strides or len(set(strides)) < len(strides) or 1 in array.shape


def _order(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    return common_order(shape, [strides])


def common_order(shape: tuple[int, ...], operands: Sequence[tuple[int, ...]]) -> list[int]:
    """The dimensions from the outermost to the innermost, for operands with such strides.

    Dimensions change places with the inner ones that have larger strides, in the first operand
    that tells the two apart. One that is expanded (a stride of 0) tells nothing: a pair of which
    nobody tells anything is passed over, so this is no sort.
    """
    order = list(range(len(shape)))[::-1]  # from the innermost on
    for last in range(1, len(order)):
        outer = last
        for inner in range(last - 1, -1, -1):
            a, b = order[inner], order[outer]
            for strides in operands:
                if not strides[a] or not strides[b]:
                    continue
                if (strides[a], shape[a]) > (strides[b], shape[b]):
                    order[inner], order[outer] = b, a
                    outer = inner
                elif strides[a] == strides[b]:
                    continue
                break
            else:
                continue
            if outer != inner:
                break
    return order[::-1]


def order_like(result: Array, operands: Sequence[object]) -> Array:
    """The result of an elementwise operation, laid out in the order of its operands' memory.

    Where operands disagree NumPy's are in C order, and PyTorch's as the first one is.
    """
    if result.ndim < 2 or (FRESH is not None and FRESH.is_in_order(result, operands)):
        return result
    for x in operands:
        if isinstance(x, np.ndarray) and not x.flags.c_contiguous:
            break
    else:
        return result
    arrays = [x for x in operands if isinstance(x, np.ndarray) and x.ndim]
    own = result.strides
    if len(arrays) < 2 or all(x.strides == own for x in arrays) or not result.size:
        return result  # NumPy goes by a single operand, too
    return order_by(result, tuple([(x.shape, x.strides) for x in arrays]))


def order_by(result: Array, operands: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]) -> Array:
    """A result laid out in the order of operands that have these shapes and strides."""
    expected, sizes, back = _plan(result.shape, result.itemsize, operands)
    if expected == result.strides:
        return result
    made = np.empty(sizes, result.dtype).transpose(back)
    made[...] = result
    return made


@lru_cache(1024)
def _plan(shape: tuple[int, ...], step: int, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Strides of a result for operands' shapes and strides; its sizes in memory, and the way back.

    `step` is the size of an element.
    """
    ndim = len(shape)
    strides: list[tuple[int, ...]] = []
    for sizes, steps in operands:
        whole = zip(steps, sizes, shape[ndim - len(sizes) :])
        steps = tuple([s if n == m else 0 for s, n, m in whole])
        strides.append((0,) * (ndim - len(sizes)) + steps)
    order = common_order(shape, strides)
    expected = [0] * ndim
    for d in reversed(order):
        expected[d] = step
        step *= shape[d]
    back = sorted(range(ndim), key=order.__getitem__)
    return tuple(expected), [shape[d] for d in order], back
