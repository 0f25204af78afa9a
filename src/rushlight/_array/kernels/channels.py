"""Sums by channel of (N, C, L), by kernels: along rows of L, or down columns where L is short.

Down columns each of the C · L columns gets its channel's numbers, and sums over L are left to the
end. Each sum is in float64, or None where no kernel applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..types import FLOAT64
from . import formulas
from .launch import Kernel, chunks_of

if TYPE_CHECKING:
    from ..annotations import Array

# Rows shorter than this leave most lanes empty.
SHORT = 16

_ROW_MOMENTS = Kernel(formulas.row_moments, "f", "s")
_ROW_PRODUCTS = Kernel(formulas.row_products, "f", "f", "r")
_TOTALS = Kernel(formulas.column_totals, "f")
_MOMENTS = Kernel(formulas.column_moments, "f", "c")
_PRODUCTS = Kernel(formulas.column_products, "f", "f", "c")


def row_moments(x: Array, rows: int, columns: int) -> tuple[Array, Array] | None:
    """The mean of each row and the sum of squares about it, in float64."""
    dtype = x.dtype
    mean, squares = np.empty(rows, dtype), np.empty(rows, dtype)
    if not _ROW_MOMENTS.rows(dtype, rows, columns, (x, 1 / columns), (mean, squares)):
        return None
    return mean.astype(FLOAT64), squares.astype(FLOAT64)


class ByRow:
    """A row for each channel of each sample."""

    centred = Kernel(formulas.centred_rows, "f", "r", "r", "r")
    centred_back = Kernel(formulas.centred_gradient, "f", "f", "r", "r", "r", "r")
    scaled = Kernel(formulas.scaled_rows, "f", "r")

    def __init__(self, x: Array) -> None:
        self.shape = x.shape[:2]
        self.dtype = x.dtype
        self.rows = x.shape[0] * x.shape[1]
        self.columns = x.size // self.rows
        self.count = x.size // x.shape[1]

    def repeat(self, values: Array) -> Array:
        """A value for each channel as one for each row."""
        if self.shape[0] == 1:
            return np.ascontiguousarray(values, self.dtype).reshape(1, -1)
        wide = np.empty((self.shape[0], *values.shape[-1:]), self.dtype)
        wide[...] = values
        return wide

    def moments(self, x: Array) -> tuple[Array, Array] | None:
        """The mean and variance of each channel."""
        moments = row_moments(x, self.rows, self.columns)
        if moments is None:
            return None
        means, squares = (v.reshape(self.shape) for v in moments)
        mean = means.sum(0) / self.shape[0]
        moved = means - mean
        total = squares.sum(0) + self.columns * (moved * moved).sum(0)
        return mean, total / self.count

    def row_products(self, g: Array, x: Array, centres: Array) -> Array | None:
        """The sums over each row of g, and of g (x - centre), in the array's type."""
        sums, given = np.empty((2, *self.shape), self.dtype), (g, x, centres)
        done = _ROW_PRODUCTS.rows(self.dtype, self.rows, self.columns, given, tuple(sums))
        return sums if done else None

    def products(self, g: Array, x: Array, centres: Array) -> Array | None:
        """The sums of g, and of g (x - centre)."""
        sums = self.row_products(g, x, centres)
        return None if sums is None else sums.sum(1, dtype=FLOAT64)


class ByColumn:
    """A row for each sample: some columns for each channel."""

    centred = Kernel(formulas.centred_rows, "f", "c", "c", "c")
    centred_back = Kernel(formulas.centred_gradient, "f", "f", "c", "c", "c", "c")
    scaled = Kernel(formulas.scaled_rows, "f", "c")

    def __init__(self, x: Array) -> None:
        self.dtype = x.dtype
        self.rows, self.channels = x.shape[:2]
        self.columns = x.size // self.rows
        self.length = self.columns // self.channels
        self.count = self.rows * self.length

    def repeat(self, values: Array) -> Array:
        """A value for each channel as one for each column."""
        return np.repeat(values.astype(self.dtype, copy=False), self.length)

    def moments(self, x: Array) -> tuple[Array, Array] | None:
        """The mean and variance of each channel."""
        totals = self._sums(_TOTALS, (x,), 1)
        if totals is None:
            return None
        mean = totals[0] / self.count
        squares = self._sums(_MOMENTS, (x, self.repeat(mean)), 1)
        if squares is None:
            return None
        # What the rounding of the mean adds to the squares.
        moved = mean.astype(self.dtype) - mean
        return mean, squares[0] / self.count - moved * moved

    def products(self, g: Array, x: Array, centres: Array) -> Array | None:
        """The sums of g, and of g (x - centre)."""
        return self._sums(_PRODUCTS, (g, x, centres), 2)

    def _sums(self, kernel: Kernel, given: tuple[Array, ...], count: int) -> Array | None:
        parts = np.empty((count, chunks_of(self.rows, self.columns), self.columns), self.dtype)
        if not kernel.rows(self.dtype, self.rows, self.columns, given, tuple(parts)):
            return None
        columns = np.add.reduce(parts, 1, FLOAT64)
        return columns.reshape(count, self.channels, self.length).sum(2)
