"""Arrays whose channels lie last in memory: results are laid out as their sources are.

Note [What lies channels-last]
As in PyTorch it is the strides that say so, whether or not there are gaps between the elements: the
steps rise from the channels over the places, the last place first, to the batch. Where sizes of 1
leave it open (one channel of one place, one sample selected from several), it is row-major.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..types import is_channels_last

if TYPE_CHECKING:
    from ..annotations import Array

__all__ = ["follow_layout", "follow_sample", "suggests_channels_last"]


def follow_layout(y: Array, *sources: Array, filled: bool = False) -> Array:
    """`y` with its channels last in memory where a source of its number of dimensions has that.

    Else `y`, in row-major order. See Note [What lies channels-last]. `filled`: sources that fill
    their memory are what they can be, row-major before channels-last, whatever is left open.
    """
    ndim = y.ndim
    if ndim != 4 and ndim != 5:
        return y
    if filled:
        if sources[0].flags.c_contiguous:
            return y
        if is_channels_last(sources[0]):
            return _channels_last(y)
    for x in sources:
        strides = x.strides
        if len(strides) == ndim and strides[1] <= strides[-1] and _rises(x.shape, strides):
            return _channels_last(y)
    return y if y.flags.c_contiguous else np.ascontiguousarray(y)


def follow_sample(y: Array, x: Array) -> Array:
    """`y`, one sample (C, D, H, W), with its channels last where `x` fills its memory like that."""
    if x.flags.c_contiguous or not x.transpose(1, 2, 3, 0).flags.c_contiguous:
        return y
    return _channels_last(y[None])[0]


def suggests_channels_last(x: Array) -> bool:
    """Whether results of `x` (4-d or 5-d) have their channels last in memory."""
    strides = x.strides
    return len(strides) in (4, 5) and strides[1] <= strides[-1] and _rises(x.shape, strides)


def _rises(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    least, channels = 0, strides[1]
    if not channels:
        return False
    for axis in (1, *range(len(shape) - 1, 1, -1), 0):
        size, step = shape[axis], strides[axis]
        if not size or step < least or (axis == 0 and least == channels):
            return False
        least = step * size if size > 1 else step
    return True


def _channels_last(y: Array) -> Array:
    n, c, *places = y.shape
    moved = np.empty((n, *places, c), y.dtype).transpose(0, y.ndim - 1, *range(1, y.ndim - 1))
    if moved.strides == y.strides:
        return y
    moved[...] = y
    return moved
