"""Distances between all pairs of rows of one matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array


def pairs(count: int) -> tuple[Array, Array]:
    """The rows of all pairs, in the order of the upper triangle."""
    return np.triu_indices(count, 1)


def pdist(x: Array, p: float) -> Array:
    """The p-norms of the differences of all pairs of rows."""
    first, second = pairs(x.shape[0])
    if not x.shape[1]:
        return np.zeros(first.size, x.dtype)
    d = np.abs(x[first] - x[second])
    if p == 0:
        return (d != 0).sum(1).astype(x.dtype)
    if p == 1:
        return d.sum(1)
    if p == 2:
        return np.sqrt(np.square(d, d).sum(1))
    if p == np.inf:
        return d.max(1)
    return np.power(np.power(d, p).sum(1), 1 / p).astype(x.dtype, copy=False)


def pdist_backward(g: Array, x: Array, p: float, out: Array) -> Array:
    """The gradient for the rows."""
    first, second = pairs(x.shape[0])
    result = np.zeros(x.shape, x.dtype)
    if p == 0 or not out.size:
        return result
    d = x[first] - x[second]
    size = out[:, None]
    with np.errstate(all="ignore"):
        if p == 1:
            share = np.sign(d)
        elif p == 2:
            share = np.where(size == 0, 0, d / size)
        elif p == np.inf:
            share = np.sign(d) * (np.abs(d) == size)
        elif p < 1:
            away = np.abs(d)
            share = np.sign(d) * np.power(away, p - 1) * np.power(size, 1 - p)
            share = np.where((size == 0) | ((away == 0) & (p < 1)), 0, share)
        else:
            share = d * np.power(np.abs(d), p - 2) / np.power(size, p - 1)
            share = np.where((size == 0) | (d == 0), 0, share)
    share = (g[:, None] * share).astype(x.dtype, copy=False)
    np.add.at(result, first, share)
    np.subtract.at(result, second, share)
    return result
