"""Batch norm of (N, C), or of (N, C, L) with few L, by kernels down columns; None where none
applies.

Each of the C · L columns gets its channel's numbers, and sums over L are left to the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import FLOAT64
from . import formulas
from .launch import Kernel, chunks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Array, RawType

__all__ = ["batch_norm", "batch_norm_backward", "suits"]

_TOTALS = Kernel(formulas.column_totals, "f")
_MOMENTS = Kernel(formulas.column_moments, "f", "c")
_PRODUCTS = Kernel(formulas.column_products, "f", "f", "c")
_CENTRED = Kernel(formulas.centred_rows, "f", "c", "c", "c")
_CENTRED_BACK = Kernel(formulas.centred_gradient, "f", "f", "c", "c", "c", "c")
_SCALED = Kernel(formulas.scaled_rows, "f", "c")

# Rows of (C, L) shorter than this leave most lanes empty.
_SHORT = 16


def suits(x: Array) -> bool:
    """Whether rows are long enough, and more than one."""
    return bool(x.ndim > 1 and x.shape[0] > 1 and x.size >= _SHORT * x.shape[0])


def _repeat_for_columns(values: Array, length: int, dtype: RawType) -> Array:
    """A number for each channel as one for each column."""
    return np.repeat(values.astype(dtype, copy=False), length)


def _sums(kernel: Kernel, given: tuple[Array, ...], rows: int, columns: int, count: int) -> Any:
    """The sums of columns, in float64, as (count, columns); or None."""
    parts = np.empty((count, chunks_of(rows, columns), columns), given[0].dtype)
    if not kernel.rows(parts.dtype, rows, columns, given, tuple(parts)):
        return None
    return np.add.reduce(parts, 1, FLOAT64)


def batch_norm(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Any,
    var: Any,
    training: bool,
    eps: float,
) -> Any:
    """See `channels.batch_norm`."""
    rows, channels = x.shape[:2]
    columns = x.size // rows
    length = columns // channels
    dtype = x.dtype
    kept = (np.empty(0, dtype), np.empty(0, dtype))
    if training:
        totals = _sums(_TOTALS, (x,), rows, columns, 1)
        if totals is None:
            return None
        centre = totals.reshape(channels, length).sum(1) / (rows * length)
        squares = _sums(_MOMENTS, (x, _repeat_for_columns(centre, length, dtype)), rows, columns, 1)
        if squares is None:
            return None
        # What the rounding of the mean adds to the squares.
        moved = centre.astype(dtype) - centre
        variance = squares.reshape(channels, length).sum(1) / (rows * length) - moved * moved
        inverse = 1 / np.sqrt(variance + eps)
        kept = (centre.astype(dtype), inverse.astype(dtype))
    else:
        centre, inverse = mean, 1 / np.sqrt(var.astype(FLOAT64) + eps)
    scale = inverse if weight is None else inverse * weight
    shift = np.zeros(channels) if bias is None else bias
    given = (x, *(_repeat_for_columns(v, length, dtype) for v in (centre, scale, shift)))
    out = np.empty(x.shape, dtype)
    return (out, *kept) if _CENTRED.rows(dtype, rows, columns, given, (out,)) else None


def batch_norm_backward(
    g: Array,
    x: Array,
    weight: Array | None,
    centre: Array,
    inverse: Array,
    training: bool,
    need: Sequence[bool],
) -> Any:
    """See `channels.batch_norm_backward`; the statistics are those that were used."""
    rows, channels = x.shape[:2]
    columns = x.size // rows
    length = columns // channels
    dtype = x.dtype
    centres = _repeat_for_columns(centre, length, dtype)
    total = along = np.zeros(channels)
    if need[1] or need[2] or training:
        sums = _sums(_PRODUCTS, (g, x, centres), rows, columns, 2)
        if sums is None:
            return None
        total, along = sums.reshape(2, channels, length).sum(2)
    scale = inverse.astype(FLOAT64)
    out = None
    if need[0]:
        out = np.empty(x.shape, dtype)
        factor = scale if weight is None else scale * weight
        spread = _repeat_for_columns(factor, length, dtype)
        if training:
            count = rows * length
            slope = factor * along * scale * scale / count
            parts = (_repeat_for_columns(v, length, dtype) for v in (slope, factor * total / count))
            done = _CENTRED_BACK.rows(dtype, rows, columns, (g, x, centres, spread, *parts), (out,))
        else:
            done = _SCALED.rows(dtype, rows, columns, (g, spread), (out,))
        if not done:
            return None
    return (
        out,
        (along * scale).astype(dtype) if need[1] else None,
        total.astype(dtype) if need[2] else None,
    )
