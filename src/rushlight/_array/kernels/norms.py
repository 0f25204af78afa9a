"""Group and batch norm by kernels; each function gives None where none applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import batch_norm_columns, formulas
from .launch import Kernel, plain, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Array, RawType

__all__ = [
    "batch_norm", "batch_norm_backward", "group_norm", "group_norm_backward",
]  # fmt: skip

_MOMENTS = Kernel(formulas.row_moments, "f", "s")
_CENTRED = Kernel(formulas.centred_rows, "f", "r", "r", "r")
_SCALED = Kernel(formulas.scaled_rows, "f", "r")
_PRODUCTS = Kernel(formulas.row_products, "f", "f", "r")
_CENTRED_BACK = Kernel(formulas.centred_gradient, "f", "f", "r", "r", "r", "r")

# Rows of a channel shorter than this leave most lanes empty.
_SHORT = 16


def _moments(x: Array, rows: int, columns: int) -> tuple[Any, Any] | None:
    """The mean of each row and the sum of squares about it, in float64."""
    dtype = x.dtype
    mean, squares = np.empty(rows, dtype), np.empty(rows, dtype)
    if not _MOMENTS.rows(dtype, rows, columns, (x, 1 / columns), (mean, squares)):
        return None
    return mean.astype(np.float64), squares.astype(np.float64)


def _by_row(values: Array, samples: int, dtype: RawType) -> Array:
    """A value for each channel as one for each row of (samples · channels, L)."""
    return np.ascontiguousarray(np.broadcast_to(values, (samples, *values.shape[-1:])), dtype)


def _takes(x: Array, *parameters: Array | None) -> bool:
    return bool(
        plain(x, *parameters)
        and x.ndim > 2
        and x.size >= _SHORT * x.shape[0] * x.shape[1]
        and ready()
    )


def batch_norm(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array | None,
    var: Any,
    training: bool,
    eps: float,
) -> tuple[Array, ...] | None:
    """See `channels.batch_norm`."""
    if not _takes(x, weight, bias, mean, var):
        if batch_norm_columns.suits(x) and plain(x, weight, bias, mean, var) and ready():
            return batch_norm_columns.batch_norm(x, weight, bias, mean, var, training, eps)
        return None
    samples, channels = x.shape[:2]
    rows = samples * channels
    columns = x.size // rows
    dtype = x.dtype
    if training:
        moments = _moments(x, rows, columns)
        if moments is None:
            return None
        means, squares = (v.reshape(samples, channels) for v in moments)
        centre = means.sum(0) / samples
        moved = means - centre
        spread = squares.sum(0) + columns * (moved * moved).sum(0)
        inverse = 1 / np.sqrt(spread / (samples * columns) + eps)
        kept = (centre.astype(dtype), inverse.astype(dtype))
    else:
        centre = mean
        inverse = 1 / np.sqrt(var.astype(np.float64) + eps)
        kept = (np.empty(0, dtype), np.empty(0, dtype))
    scale = inverse if weight is None else inverse * weight
    out = np.empty(x.shape, dtype)
    shift = np.zeros(channels) if bias is None else bias
    given = (x, *(_by_row(v, samples, dtype) for v in (centre, scale, shift)))
    return (out, *kept) if _CENTRED.rows(dtype, rows, columns, given, (out,)) else None


def batch_norm_backward(
    g: Array,
    x: Array,
    weight: Array | None,
    mean: Array | None,
    var: Any,
    centre: Any,
    inverse: Array,
    training: bool,
    eps: float,
    need: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None] | None:
    """See `channels.batch_norm_backward`."""
    if type(g) is not np.ndarray or g.dtype is not x.dtype:
        return None
    if not _takes(x, weight, mean, var):
        if not (batch_norm_columns.suits(x) and plain(x, weight, mean, var) and ready()):
            return None
        if not training:
            centre, inverse = mean, 1 / np.sqrt(var.astype(np.float64) + eps)
        g = np.ascontiguousarray(g)
        return batch_norm_columns.batch_norm_backward(g, x, weight, centre, inverse, training, need)
    g = np.ascontiguousarray(g)
    samples, channels = x.shape[:2]
    rows = samples * channels
    columns = x.size // rows
    dtype = x.dtype
    if not training:
        centre = mean
        inverse = 1 / np.sqrt(var.astype(np.float64) + eps)
    centres = _by_row(centre, samples, dtype)
    sums, products = np.empty((samples, channels), dtype), np.empty((samples, channels), dtype)
    wanted = need[1] or need[2] or training
    if wanted and not _PRODUCTS.rows(dtype, rows, columns, (g, x, centres), (sums, products)):
        return None
    total, along = sums.sum(0, dtype=np.float64), products.sum(0, dtype=np.float64)
    scale = inverse if weight is None else inverse * weight
    out = None
    if need[0]:
        out = np.empty(x.shape, dtype)
        scales = _by_row(scale, samples, dtype)
        if training:
            count = samples * columns
            slope = scale * along * np.square(inverse, dtype=np.float64) / count
            parts = (_by_row(v, samples, dtype) for v in (slope, scale * total / count))
            given = (g, x, centres, scales, *parts)
            done = _CENTRED_BACK.rows(dtype, rows, columns, given, (out,))
        else:
            done = _SCALED.rows(dtype, rows, columns, (g, scales), (out,))
        if not done:
            return None
    return (
        out,
        (along * inverse).astype(dtype) if need[1] else None,
        total.astype(dtype) if need[2] else None,
    )


def group_norm(
    x: Array, groups: int, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, ...] | None:
    """See `channels.group_norm`."""
    if not _takes(x, weight, bias):
        return None
    samples, channels = x.shape[:2]
    dtype = x.dtype
    length = x.size // (samples * groups)
    moments = _moments(x, samples * groups, length)
    if moments is None:
        return None
    mean, squares = moments
    inverse = 1 / np.sqrt(squares / length + eps)
    inner = channels // groups
    means = np.repeat(mean.astype(dtype), inner)
    scale = np.repeat(inverse.astype(dtype), inner).reshape(samples, channels)
    if weight is not None:
        scale = scale * weight
    shift = np.zeros(channels) if bias is None else bias
    out = np.empty(x.shape, dtype)
    given = (x, means, scale, _by_row(shift, samples, dtype))
    rows = samples * channels
    if not _CENTRED.rows(dtype, rows, x.size // rows, given, (out,)):
        return None
    kept = (samples, groups)
    return out, mean.astype(dtype).reshape(kept), inverse.astype(dtype).reshape(kept)


def group_norm_backward(
    g: Array,
    x: Array,
    groups: int,
    mean: Array,
    inverse: Array,
    weight: Array | None,
    need: Sequence[bool],
) -> Any:
    """See `channels.group_norm_backward`."""
    if not _takes(x, weight, mean, inverse) or type(g) is not np.ndarray or g.dtype is not x.dtype:
        return None
    g = np.ascontiguousarray(g)
    samples, channels = x.shape[:2]
    rows = samples * channels
    columns = x.size // rows
    inner = channels // groups
    dtype = x.dtype
    shape = (samples, groups, inner)
    centres = np.repeat(mean.reshape(-1), inner)
    sums, products = np.empty(shape, dtype), np.empty(shape, dtype)
    if not _PRODUCTS.rows(dtype, rows, columns, (g, x, centres), (sums, products)):
        return None
    inverses = inverse.reshape(samples, groups).astype(np.float64)
    scales = np.ones((groups, inner), dtype) if weight is None else weight.reshape(groups, inner)
    out = None
    if need[0]:
        # r (g w - mean(g w) - d r² mean(g w d)), d = x - mean.
        share = inverses / (inner * columns)
        level = share * np.einsum("ngi,gi->ng", sums, scales)
        along = share * inverses * inverses * np.einsum("ngi,gi->ng", products, scales)
        by_row = np.multiply(inverse.reshape(samples, groups, 1), scales)
        parts = [np.repeat(v.astype(dtype).reshape(-1), inner) for v in (along, level)]
        out = np.empty(x.shape, dtype)
        if not _CENTRED_BACK.rows(dtype, rows, columns, (g, x, centres, by_row, *parts), (out,)):
            return None
    flat = np.einsum("ngi,ng->gi", products, inverses).reshape(-1)
    return (
        out,
        flat.astype(dtype) if need[1] else None,
        sums.sum(0, dtype=np.float64).reshape(-1).astype(dtype) if need[2] else None,
    )
