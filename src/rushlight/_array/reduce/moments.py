"""Variance and mean.

Float32 and float64 are computed in their own precision with sums that end in float64, float16 and
bfloat16 in float32. Results are new ndarrays of the input's dtype unless it says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import kernels
from .row_sums import (
    LONG_ROW,
    gather_rows,
    lift,
    ones,
    reduced_axes,
    row_blocks,
    row_dot,
    row_sum,
)

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array

_BLOCK = 32768  # elements of the scratch rows, where a row has more than `LONG_ROW`


def var_mean(
    x: Array,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 1,
    keepdims: bool = False,
) -> tuple[Array, Array]:
    """The variance and the mean along `axis`, in two passes.

    The variance divides by the number of elements less `correction` (by 0 where that is negative).
    Special: var of one element with correction 1 -> nan; of none -> nan.
    """
    raw = lift(np.asarray(x))
    axes = reduced_axes(raw.ndim, axis)
    rows, shape = gather_rows(raw, axes)
    count = rows.shape[1]
    sums = np.empty(rows.shape[0], np.float64)
    squares = np.empty(rows.shape[0], np.float64)
    with np.errstate(all="ignore"):
        known = _sums_of_one_row(rows) if len(rows) == 1 and count >= kernels.LEAST else None
        if known is not None:
            centre, sums, squares = known
        else:
            centre = np.divide(row_sum(rows).astype(np.float64), count)
            starts = row_blocks(rows.shape[0], min(count, LONG_ROW))
            for start in starts:
                part = slice(start, start + starts.step)
                sums[part], squares[part] = _centred_sums(rows[part], centre[part, None])
        # The sum of squares about c is that about the mean plus n (mean - c)².
        squared_deviations = squares - np.divide(sums * sums, count)
        squared_deviations = np.where(squared_deviations < 0, 0.0, squared_deviations)
        mean = centre + np.divide(sums, count)
        variance = np.divide(squared_deviations, max(count - correction, 0.0))
    if keepdims:
        shape = tuple(1 if a in axes else n for a, n in enumerate(raw.shape))
    return variance.reshape(shape).astype(x.dtype), mean.reshape(shape).astype(x.dtype)


def _sums_of_one_row(row: Array) -> tuple[Array, Array, Array] | None:
    """A centre, and the sums of x - centre and of its square, by a kernel."""
    flat = row.reshape(-1)
    first = kernels.elementwise.sum_deviations(flat, 0.0)
    if first is None:
        return None
    centre = first[0] / flat.size
    found = kernels.elementwise.sum_deviations(flat, centre)
    return found and (np.array([centre]), np.array(found[:1]), np.array(found[1:]))


def _centred_sums(rows: Array, centre: Array) -> tuple[Array, Array]:
    """The sums over each row of x - centre and of its square, in float64."""
    count = rows.shape[1]
    sums = np.zeros(rows.shape[0], np.float64)
    squares = np.zeros(rows.shape[0], np.float64)
    long = max(LONG_ROW, _BLOCK // max(rows.shape[0], 1))
    scratch = np.empty((rows.shape[0], min(count, long)), np.float64)
    for start in range(0, count, long):
        piece = rows[:, start : start + long]
        moved = scratch[:, : piece.shape[1]]
        np.copyto(moved, piece)
        np.subtract(moved, centre, moved)
        sums += moved @ ones(moved.shape[1], np.dtype(np.float64))
        squares += row_dot(moved, moved)
    return sums, squares


def var(
    x: Array,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 1,
    keepdims: bool = False,
) -> Array:
    """The variance along `axis`: see `var_mean`."""
    return var_mean(x, axis, correction, keepdims)[0]


def std(
    x: Array,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 1,
    keepdims: bool = False,
) -> TensorLike:
    """The square root of the variance along `axis`: see `var_mean`."""
    raw = lift(np.asarray(x))
    return np.sqrt(np.asarray(var_mean(raw, axis, correction, keepdims)[0])).astype(x.dtype)
