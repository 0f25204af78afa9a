"""Padding with an array's own elements; negative borders crop.

A padding lists two numbers for each dimension, the last dimension first, as PyTorch has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gather import index_add

__all__ = ["borrowed", "borrowed_backward", "places"]

Padding = tuple[int, ...]


def places(extent: int, before: int, after: int, mode: str) -> Any:
    """Which element of an axis each element of the padded axis is."""
    at = np.arange(-before, extent + after)
    if mode == "reflect":
        at = np.abs(at)
        return np.where(at >= extent, 2 * (extent - 1) - at, at)
    if mode == "replicate":
        return np.clip(at, 0, extent - 1)
    # What is cropped on one side isn't there to be borrowed on the other.
    first, last = max(-before, 0), extent - max(-after, 0)
    return (at - first) % (last - first) + first


def _axes(ndim: int, shape: tuple[int, ...], padding: Padding, mode: str) -> list[tuple[int, Any]]:
    found = []
    for k in range(len(padding) // 2):
        axis = ndim - 1 - k
        before, after = padding[2 * k], padding[2 * k + 1]
        if before or after:
            found.append((axis, places(shape[axis], before, after, mode)))
    return found


def borrowed(x: Any, padding: Padding, mode: str) -> Any:
    """`x` with borders of its own elements, by "reflect", "replicate" or "circular"."""
    out = x
    for axis, at in _axes(x.ndim, x.shape, padding, mode):
        out = out.take(at, axis=axis)
    return out.copy() if out is x else out


def borrowed_backward(g: Any, shape: tuple[int, ...], padding: Padding, mode: str) -> Any:
    """The gradient of `borrowed` for an input of `shape`."""
    for axis, at in reversed(_axes(len(shape), shape, padding, mode)):
        smaller = g.shape[:axis] + (shape[axis],) + g.shape[axis + 1 :]
        g = index_add(np.zeros(smaller, g.dtype), axis, at, g)
    return g
