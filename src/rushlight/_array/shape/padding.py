"""Padding with an array's own elements; negative borders crop.

A padding lists two numbers for each dimension, the last dimension first, as PyTorch has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .gather import index_add

if TYPE_CHECKING:
    from ..annotations import Array

Padding = tuple[int, ...]


def places(extent: int, before: int, after: int, mode: str) -> Array:
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


# Elements of a border up to which each is copied by itself: a slice of all other axes.
_THIN = 16


def _thin(padding: Padding) -> bool:
    return all(0 <= n <= _THIN for n in padding)


def borrow(x: Array, padding: Padding, mode: str) -> Array:
    """`x` with borders of its own elements, by "reflect", "replicate" or "circular"."""
    axes = _axes(x.ndim, x.shape, padding, mode)
    if not axes:
        return x.copy()
    if _thin(padding) and x.size:
        return _add_borders(x, axes, padding)
    out = x
    for axis, at in axes:
        out = out.take(at, axis=axis)
    return out


def _border(axis: int, ndim: int, padding: Padding, extent: int) -> tuple[int, list[int]]:
    """How many elements come before, and which ones of the padded axis are borrowed."""
    k = 2 * (ndim - 1 - axis)
    before, after = padding[k], padding[k + 1]
    return before, [*range(before), *range(before + extent, before + extent + after)]


def _add_borders(x: Array, axes: list[tuple[int, Any]], padding: Padding) -> Array:
    """The middle in one copy, then the borders of each axis, from what is there already."""
    shape, middle = list(x.shape), [slice(None)] * x.ndim
    for axis, at in axes:
        before, _ = _border(axis, x.ndim, padding, x.shape[axis])
        shape[axis], middle[axis] = at.size, slice(before, before + x.shape[axis])
    out = np.empty(shape, x.dtype)
    out[tuple(middle)] = x
    for axis, at in axes:
        before, borrowers = _border(axis, x.ndim, padding, x.shape[axis])
        region: list[Any] = [*middle]
        region[axis] = slice(None)
        part = np.moveaxis(out[tuple(region)], axis, 0)
        for place in borrowers:
            part[place] = part[before + at[place]]
        middle[axis] = slice(None)
    return out


def borrow_backward(g: Array, shape: tuple[int, ...], padding: Padding, mode: str) -> Array:
    """The gradient of `borrow` for an input of `shape`."""
    thin = _thin(padding) and g.size
    for axis, at in reversed(_axes(len(shape), shape, padding, mode)):
        if thin:
            before, borrowers = _border(axis, len(shape), padding, shape[axis])
            lines = np.moveaxis(g, axis, 0)
            middle = np.moveaxis(lines[before : before + shape[axis]], 0, axis)
            g = np.array(middle, order="C")  # a copy always: `g` is not ours
            given = np.moveaxis(g, axis, 0)
            for place in borrowers:
                given[at[place]] += lines[place]
        else:
            smaller = g.shape[:axis] + (shape[axis],) + g.shape[axis + 1 :]
            g = index_add(np.zeros(smaller, g.dtype), axis, at, g)
    return g
