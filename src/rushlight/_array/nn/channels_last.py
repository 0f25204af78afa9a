"""Arrays whose channels lie last in memory: results are laid out as their sources are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

__all__ = ["follow_layout"]


def follow_layout(y: Array, *sources: Array) -> Array:
    """`y` with its channels last in memory where a source of its number of dimensions has that."""
    if y.ndim not in (4, 5):
        return y
    for x in sources:
        if not x.flags.c_contiguous and _channels_last(x):
            moved = np.ascontiguousarray(y.transpose(0, *range(2, y.ndim), 1))
            return moved.transpose(0, y.ndim - 1, *range(1, y.ndim - 1))
    return y


def _channels_last(x: Array) -> bool:
    return bool(x.transpose(0, *range(2, x.ndim), 1).flags.c_contiguous)
