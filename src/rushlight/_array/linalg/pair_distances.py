"""Distances between all pairs of rows of one matrix.

Note [Blocks of pairs]
Some rows are compared with all later ones at a time: a block of differences stays in the cache, and
no list of pairs is made. Coordinates come first, so that loops go over many rows, however few
coordinates there are. Which pairs of a block count, those above its diagonal do, `_above` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

_BLOCK: Final = 1 << 15  # differences at a time


def _blocks(x: Array) -> Iterator[tuple[slice, slice, slice, Array]]:
    """Rows, the later ones, the places of their pairs, and the differences (coordinates, rows,
    later ones), as a new array. See Note [Blocks of pairs]."""
    count, width = x.shape
    turned, place, start = np.ascontiguousarray(x.T), 0, 0
    while start < count - 1:
        later = count - 1 - start
        rows = min(max(1, _BLOCK // (width * later)), later)
        stop, end = start + rows, place + rows * later - rows * (rows - 1) // 2
        differences = turned[:, start:stop, None] - turned[:, None, start + 1 :]
        yield slice(start, stop), slice(start + 1, count), slice(place, end), differences
        start, place = stop, end


def _above(rows: slice, later: slice) -> Array:
    """Which pairs of rows and later ones are in the upper triangle."""
    return np.tri(later.stop - later.start, rows.stop - rows.start, 0, np.bool_).T


def pdist(x: Array, p: float) -> Array:
    """The p-norms of the differences of all pairs of rows."""
    count, width = x.shape
    out = np.zeros(count * (count - 1) // 2, x.dtype)
    if not width:
        return out
    for rows, later, places, d in _blocks(x):
        if p == 2:
            found = np.sqrt(np.add.reduce(np.multiply(d, d, d), 0))
        elif p == 0:
            found = np.add.reduce(d != 0, 0, x.dtype)
        else:
            np.abs(d, d)
            if p == 1:
                found = np.add.reduce(d, 0)
            elif p == np.inf:
                found = np.maximum.reduce(d, 0)
            else:
                found = np.power(np.add.reduce(np.power(d, p, d), 0), 1 / p)
        out[places] = found[_above(rows, later)]
    return out


def pdist_backward(g: Array, x: Array, p: float, out: Array) -> Array:
    """The gradient for the rows."""
    result = np.zeros(x.shape[::-1], x.dtype)
    if p == 0 or not out.size or not result.size:
        return np.zeros(x.shape, x.dtype)
    with np.errstate(all="ignore"):
        for rows, later, places, d in _blocks(x):
            there = _above(rows, later)
            size, weight = np.zeros(there.shape, x.dtype), np.zeros(there.shape, x.dtype)
            size[there], weight[there] = out[places], g[places]
            share = _weigh(d, size, weight, p)
            result[:, rows] += np.add.reduce(share, 2)
            result[:, later] -= np.add.reduce(share, 1)
    return np.ascontiguousarray(result.T)


def _weigh(d: Array, size: Array, weight: Array, p: float) -> Array:
    """The gradient for differences of p-norm `size`: zero where that is zero."""
    if p == 1:
        return np.sign(d) * weight
    if p == 2:
        return np.multiply(d, np.where(size == 0, 0, weight / size), d)
    if p == np.inf:
        return np.sign(d) * (np.abs(d) == size) * weight
    away = np.abs(d)
    if p < 1:
        share = np.sign(d) * np.power(away, p - 1) * np.power(size, 1 - p)
    else:
        share = d * np.power(away, p - 2) / np.power(size, p - 1)
    return np.where((size == 0) | (away == 0), 0, share) * weight
