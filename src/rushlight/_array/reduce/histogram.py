"""Histograms over one and over several dimensions, with the edges of their bins."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from ..._base import errors
from ..shape.create import linspace
from ..types import from_raw
from .reduce import name_of

if TYPE_CHECKING:
    from ..annotations import Array


def edges_of(x: Array, bins: int, low: float, high: float, place: int) -> Array:
    """The edges of `bins` equal bins from `low` to `high`; one unit wide where these are equal.

    Raises:
        RuntimeError: for no bins, and for a range that is empty or not finite.
    """
    if bins <= 0:
        raise RuntimeError(
            f"torch.histogram(): bins must be > 0, but got {bins} for dimension {place}"
        )
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
            f"dimension {place}"
        )
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(
            f"torch.histogramdd: dimension {place}'s range [{low:g}, {high:g}] is not finite"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return linspace(low, high, bins + 1, from_raw(x.dtype))


def data_range(column: Array) -> tuple[float, float]:
    """The smallest and the largest element; 0 and 1 where there is none."""
    return (float(column.min()), float(column.max())) if column.size else (0.0, 1.0)


def check_type(rows: Array) -> None:
    """Raises NotImplementedError for integers and complex numbers."""
    if rows.dtype.kind in "biuc":
        raise NotImplementedError(errors.not_implemented("histogram_cpu", name_of(rows.dtype)))


def check_range_type(rows: Array) -> None:
    """Raises NotImplementedError for what has no range here: the same, and 16-bit floats."""
    if rows.size and (rows.dtype.kind in "biuc" or rows.dtype.itemsize == 2):
        raise NotImplementedError(errors.not_implemented("histogramdd", name_of(rows.dtype)))


def counts(rows: Array, edges: list[Array], weight: Array | None, density: bool) -> Array:
    """How many rows of a matrix (or how much weight) fall between the edges of each dimension.

    The last bin includes its upper edge.
    """
    stored = rows.dtype
    if stored.itemsize == 2:
        rows, edges = rows.astype(np.float32), [e.astype(np.float32) for e in edges]
    shape = tuple(len(e) - 1 for e in edges)
    flat = np.zeros(len(rows), np.int64)
    inside = np.ones(len(rows), bool)
    for d, edge in enumerate(edges):
        column = rows[:, d]
        inside &= (column >= edge[0]) & (column <= edge[-1])
        found = np.searchsorted(edge, column, "right") - 1
        flat = flat * shape[d] + np.clip(found, 0, shape[d] - 1)
    parts = None if weight is None else weight.reshape(-1)[inside].astype(np.float64)
    total = np.bincount(flat[inside], parts, int(np.prod(shape))).reshape(shape)
    if density:
        total = total / total.sum()
        for d, edge in enumerate(edges):
            inner = [1] * len(edges)
            inner[d] = -1
            total = total / np.diff(edge.astype(np.float64)).reshape(inner)
    return total.astype(stored)
