"""Group and batch norm by kernels; each function gives None where none applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..memory.dense_layout import channel_rows, from_channel_rows
from ..types import FLOAT64, in_order_copy, is_channels_last
from .channels import SHORT, ByColumn, ByRow, row_moments
from .launch import plain, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Array


def _way(x: Array, *given: Array | None) -> ByRow | ByColumn | None:
    """How kernels go over an array, if they do."""
    if x.ndim < 2 or not plain(x, *given) or not ready():
        return None
    if x.ndim > 2 and x.size >= SHORT * x.shape[0] * x.shape[1]:
        return ByRow(x)
    return ByColumn(x) if x.shape[0] > 1 and x.size >= SHORT * x.shape[0] else None


def _lies_by_channels(x: Array) -> bool:
    """Whether the places of an array are rows of all channels, side by side."""
    return not x.flags.c_contiguous and is_channels_last(x)


def batch_norm(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array | None,
    var: Array | None,
    training: bool,
    eps: float,
) -> tuple[Array, ...] | None:
    """See `batch_norm.batch_norm`."""
    if _lies_by_channels(x):
        rows = channel_rows(x).reshape(-1, x.shape[1])
        found = batch_norm(rows, weight, bias, mean, var, training, eps)
        return None if found is None else (from_channel_rows(found[0], x.shape), *found[1:])
    way = _way(x, weight, bias, mean, var)
    if way is None:
        return None
    dtype = x.dtype
    kept = (np.empty(0, dtype), np.empty(0, dtype))
    centre: Any = mean
    variance: Any = var
    if training:
        moments = way.moments(x)
        if moments is None:
            return None
        centre, variance = moments
    inverse = 1 / np.sqrt(variance.astype(FLOAT64, copy=False) + eps)
    if training:
        kept = (centre.astype(dtype), inverse.astype(dtype))
    scale = inverse if weight is None else inverse * weight
    shift = np.zeros(len(scale)) if bias is None else bias
    given = (x, *map(way.repeat, (centre, scale, shift)))
    out = np.empty(x.shape, dtype)
    done = way.centred.rows(dtype, way.rows, way.columns, given, (out,))
    return (out, *kept) if done else None


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
    """See `batch_norm.batch_norm_backward`."""
    if type(g) is not np.ndarray or g.dtype is not x.dtype:
        return None
    if _lies_by_channels(x):
        rows, slopes = channel_rows(x).reshape(-1, x.shape[1]), channel_rows(g)
        slopes = slopes if slopes.flags.c_contiguous else in_order_copy(slopes)
        found = batch_norm_backward(
            slopes.reshape(rows.shape), rows, weight, mean, var, centre, inverse, training, eps,
            need,
        )  # fmt: skip
        if found is None or found[0] is None:
            return found
        return from_channel_rows(found[0], x.shape), *found[1:]
    way = _way(x, weight, mean, var)
    if way is None:
        return None
    g = np.ascontiguousarray(g)
    dtype = x.dtype
    if not training:
        centre, inverse = mean, 1 / np.sqrt(var.astype(FLOAT64) + eps)
    centres = way.repeat(centre)
    total = along = np.zeros(len(inverse))
    if need[1] or need[2] or training:
        products = way.products(g, x, centres)
        if products is None:
            return None
        total, along = products
    scale = inverse.astype(FLOAT64)
    out = None
    if need[0]:
        out = np.empty(x.shape, dtype)
        factor = scale if weight is None else scale * weight
        scales = way.repeat(factor)
        if training:
            slope = factor * along * scale * scale / way.count
            parts = map(way.repeat, (slope, factor * total / way.count))
            given = (g, x, centres, scales, *parts)
            done = way.centred_back.rows(dtype, way.rows, way.columns, given, (out,))
        else:
            done = way.scaled.rows(dtype, way.rows, way.columns, (g, scales), (out,))
        if not done:
            return None
    return (
        out,
        (along * scale).astype(dtype) if need[1] else None,
        total.astype(dtype) if need[2] else None,
    )


def group_norm(
    x: Array, groups: int, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, ...] | None:
    """See `batch_norm.group_norm`."""
    way = _way(x, weight, bias)
    if type(way) is not ByRow:
        return None
    samples, channels = x.shape[:2]
    dtype = x.dtype
    length = x.size // (samples * groups)
    moments = row_moments(x, samples * groups, length)
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
    given = (x, means, scale, way.repeat(shift))
    if not way.centred.rows(dtype, way.rows, way.columns, given, (out,)):
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
) -> tuple[Array | None, ...] | None:
    """See `batch_norm.group_norm_backward`."""
    way = _way(x, weight, mean, inverse)
    if type(way) is not ByRow or type(g) is not np.ndarray or g.dtype is not x.dtype:
        return None
    g = np.ascontiguousarray(g)
    samples, channels = x.shape[:2]
    inner = channels // groups
    dtype = x.dtype
    shape = (samples, groups, inner)
    centres = np.repeat(mean.reshape(-1), inner)
    found = way.row_products(g, x, centres)
    if found is None:
        return None
    sums, products = found.reshape(2, *shape)
    inverses = inverse.reshape(samples, groups).astype(np.float64)
    scales = np.ones((groups, inner), dtype) if weight is None else weight.reshape(groups, inner)
    out = None
    if need[0]:
        # r (g w - mean(g w) - d r² mean(g w d)), d = x - mean.
        share = inverses / (inner * way.columns)
        level = share * np.einsum("ngi,gi->ng", sums, scales)
        along = share * inverses * inverses * np.einsum("ngi,gi->ng", products, scales)
        by_row = np.multiply(inverse.reshape(samples, groups, 1), scales)
        parts = [np.repeat(v.astype(dtype).reshape(-1), inner) for v in (along, level)]
        out = np.empty(x.shape, dtype)
        if not way.centred_back.rows(
            dtype, way.rows, way.columns, (g, x, centres, by_row, *parts), (out,)
        ):
            return None
    flat = np.einsum("ngi,ng->gi", products, inverses).reshape(-1)
    return (
        out,
        flat.astype(dtype) if need[1] else None,
        sums.sum(0, dtype=np.float64).reshape(-1).astype(dtype) if need[2] else None,
    )
