"""Padding with an array's own elements; negative borders crop.

A padding lists two numbers for each dimension, the last dimension first, as PyTorch has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native import ufunc_loops
from .gather import index_add

if TYPE_CHECKING:
    from ..annotations import Array

Padding = tuple[int, ...]


def places(extent: int, before: int, after: int, mode: str) -> Array:
    """Which element of an axis each element of the padded axis is."""
    return _lenders(np.arange(-before, extent + after), extent, before, after, mode)


def _lenders(at: Array, extent: int, before: int, after: int, mode: str) -> Array:
    """Which element of an axis stands at some places, counted from its first one."""
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
_LARGE = 4096  # elements from which thick borders are made apart


def _borders_are_less(x: Array, padding: Padding) -> bool:
    """Whether the middle is better copied by itself than all elements by their places."""
    if min(padding) < 0 or not x.size:
        return False
    return max(padding) <= _THIN or (
        x.size >= _LARGE
        and all(
            4 * (before + after) <= extent
            for extent, before, after in zip(x.shape[::-1], padding[::2], padding[1::2])
        )
    )


def _borrow(x: Array, padding: Padding, mode: str) -> Array:
    """`x` with borders of its own elements, by "reflect", "replicate" or "circular"."""
    if max(padding) and _borders_are_less(x, padding):
        return _add_borders(x, padding, mode)
    out = x
    for axis, at in _axes(x.ndim, x.shape, padding, mode):
        out = out.take(at, axis=axis)
    return x.copy() if out is x else out


borrow: Final = ufunc_loops.copy(_borrow, "Wpm")


def _borders(
    shape: tuple[int, ...], padding: Padding, mode: str
) -> Iterator[tuple[int, int, Array, Array]]:
    """For each axis that has borders, the last one first: it, how many elements come before, which
    elements of the padded axis are borrowed, and from which ones of the axis."""
    for k in range(len(padding) // 2):
        axis = len(shape) - 1 - k
        before, after, extent = padding[2 * k], padding[2 * k + 1], shape[axis]
        if before or after:
            at = np.concatenate([np.arange(-before, 0), np.arange(extent, extent + after)])
            yield axis, before, at + before, _lenders(at, extent, before, after, mode)


def _add_borders(x: Array, padding: Padding, mode: str) -> Array:
    """The middle in one copy, then the borders of each axis, from what is there already."""
    shape, middle = list(x.shape), [slice(None)] * x.ndim
    borders = list(_borders(x.shape, padding, mode))
    for axis, before, borrowers, _ in borders:
        middle[axis] = slice(before, before + shape[axis])
        shape[axis] += len(borrowers)
    out = np.empty(shape, x.dtype)
    out[tuple(middle)] = x
    for axis, before, borrowers, lenders in borders:
        region: list[Any] = [*middle]
        region[axis] = slice(None)
        part = np.moveaxis(out[tuple(region)], axis, 0)
        if len(borrowers) <= 2 * _THIN:
            for place, lender in zip(borrowers.tolist(), lenders.tolist(), strict=True):
                part[place] = part[before + lender]
        else:
            part[borrowers] = part[before + lenders]
        middle[axis] = slice(None)
    return out


def borrow_backward(g: Array, shape: tuple[int, ...], padding: Padding, mode: str) -> Array:
    """The gradient of `borrow` for an input of `shape`."""
    if min(padding) < 0 or not g.size:
        for axis, at in reversed(_axes(len(shape), shape, padding, mode)):
            smaller = g.shape[:axis] + (shape[axis],) + g.shape[axis + 1 :]
            g = index_add(np.zeros(smaller, g.dtype), axis, at, g)
        return g
    for axis, before, borrowers, lenders in reversed(list(_borders(shape, padding, mode))):
        lines = np.moveaxis(g, axis, 0)
        middle = np.moveaxis(lines[before : before + shape[axis]], 0, axis)
        g = np.array(middle, order="C")  # a copy always: `g` is not ours
        given = np.moveaxis(g, axis, 0)
        if len(borrowers) <= 2 * _THIN:
            for place, lender in zip(borrowers.tolist(), lenders.tolist(), strict=True):
                given[lender] += lines[place]
            continue
        for side in (slice(None, before), slice(before, None)):
            if len(borrowers[side]) and mode == "replicate":
                given[lenders[side][0]] += lines[borrowers[side]].sum(0)
            else:  # no element is borrowed twice on one side: see the checks of `pad`
                given[lenders[side]] += lines[borrowers[side]]
    return g
