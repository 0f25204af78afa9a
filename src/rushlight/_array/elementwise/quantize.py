"""Numbers rounded to a grid of few levels, as integers of few bits would hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array


def _levels(
    x: Any, scale: Array | float, zero_point: Array | int, low: int, high: int
) -> tuple[Array, Array]:
    """The values on the grid, and where they lay between its ends.

    A whole zero is added to what has been rounded, another one before.
    """
    wide = np.float64 if x.dtype == np.float64 else np.float32
    scale = np.asarray(scale, np.float32)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / scale
        level = x.astype(wide) * inverse
        if np.asarray(zero_point).dtype.kind == "i":
            level = np.rint(level) + zero_point
        else:
            level = np.rint(level + np.asarray(zero_point, np.float32))
        # What is no number goes where the processor's conversion to an integer puts it: below.
        level = np.where(np.isnan(level), -np.inf, level)
        inside = (level >= low) & (level <= high)
        held = np.clip(level, low, high)
        steps = (held - zero_point).astype(np.float32)
        steps += np.float32(0)  # makes -0 a zero, as integers have only one
        return (steps * scale).astype(x.dtype), inside


def fake_quantize(
    x: Array, scale: Array | float, zero_point: Array | int, low: int, high: int
) -> tuple[Array, ...]:
    """One grid for all elements."""
    return _levels(x, scale, zero_point, low, high)


def fake_quantize_channels(
    x: Array, scale: Array, zero_point: Array, axis: int, low: int, high: int
) -> tuple[Array, ...]:
    """A grid for each index of an axis."""
    shape = [1] * x.ndim
    shape[axis] = -1
    return _levels(x, scale.reshape(shape), zero_point.reshape(shape), low, high)
