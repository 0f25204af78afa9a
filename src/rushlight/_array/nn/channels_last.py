"""Arrays whose channels lie last in memory: results are laid out as their sources are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..memory.dense_layout import (
    channel_rows,
    empty_channels_last,
    from_channel_rows,
    suggests_channels_last,
)
from ..types import in_order_copy, is_channels_last

if TYPE_CHECKING:
    from ..annotations import Array


def follow_layout(y: Array, *sources: Array, filled: bool = False) -> Array:
    """`y` with its channels last in memory where a source of its number of dimensions has that.

    Else `y`, in row-major order. See Note [What lies channels-last] in `memory.dense_layout`.
    `filled`: sources that fill their memory are what they can be, row-major before channels-last,
    whatever is left open.
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
        if x.ndim == ndim and suggests_channels_last(x):
            return _channels_last(y)
    return y if y.flags.c_contiguous else np.ascontiguousarray(y)


def follow_sample(y: Array, x: Array) -> Array:
    """`y`, one sample (C, D, H, W), with its channels last where `x` fills its memory like that."""
    if x.flags.c_contiguous or not x.transpose(1, 2, 3, 0).flags.c_contiguous:
        return y
    return _channels_last(y[None])[0]


def _channels_last(y: Array) -> Array:
    rows = channel_rows(y)
    if not rows.flags.c_contiguous:
        return from_channel_rows(in_order_copy(rows), y.shape)
    moved = empty_channels_last(y.shape, y.dtype)
    if moved.strides == y.strides:
        return y
    moved[...] = y
    return moved
