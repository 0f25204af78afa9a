"""Variance, mean and layer normalisation.

Float32 and float64 are computed in their own precision with sums that end in float64, float16 and
bfloat16 in float32. Results are new ndarrays of the input's dtype unless it says otherwise.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from rushlight._array import kernels
from rushlight._array.reduce.softmax import (
    LONG_ROW,
    gathered_rows,
    lifted,
    ones,
    reduced_axes,
    row_blocks,
    row_dot,
    row_sum,
    vecdot,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import TensorLike
    from ..annotations import Array, RawType

__all__ = ["layer_norm", "layer_norm_backward", "std", "var", "var_mean"]


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
    raw = lifted(np.asarray(x))
    axes = reduced_axes(raw.ndim, axis)
    rows, shape = gathered_rows(raw, axes)
    count = rows.shape[1]
    sums = np.empty(rows.shape[0], np.float64)
    squares = np.empty(rows.shape[0], np.float64)
    with np.errstate(all="ignore"):
        centre = np.divide(row_sum(rows).astype(np.float64), count)
        starts = row_blocks(rows.shape[0], min(count, LONG_ROW))
        for start in starts:
            part = slice(start, start + starts.step)
            sums[part], squares[part] = _centred_sums(rows[part], centre[part, None])
        # The sum of squares about c is that about the mean plus n (mean - c)².
        spread = squares - np.divide(sums * sums, count)
        spread = np.where(spread < 0, 0.0, spread)
        mean = centre + np.divide(sums, count)
        variance = np.divide(spread, max(count - correction, 0.0))
    if keepdims:
        shape = tuple(1 if a in axes else n for a, n in enumerate(raw.shape))
    return variance.reshape(shape).astype(x.dtype), mean.reshape(shape).astype(x.dtype)


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
        squares += vecdot(moved, moved)
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
    raw = lifted(np.asarray(x))
    return np.sqrt(np.asarray(var_mean(raw, axis, correction, keepdims)[0])).astype(x.dtype)


def layer_norm(
    x: Array,
    normalized: int,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    """`x` normalised over its last `normalized` axes, scaled and shifted; the means; 1/deviations.

    Shapes: weight and bias as the normalised axes; means and 1/deviations as `x` with ones for
    them.
    Dtypes: the means and 1/deviations are float32 for a float16 input.
    """
    if x.size >= kernels.LEAST:
        found = kernels.norms.layer_norm(x, normalized, weight, bias, eps)
        if found is not None:
            return found
    raw = lifted(np.asarray(x))
    kept = raw.ndim - normalized
    length = prod(raw.shape[kept:])
    rows = np.ascontiguousarray(raw).reshape(-1 if raw.size else prod(raw.shape[:kept]), length)
    out = np.empty_like(rows)
    mean = np.empty((rows.shape[0], 1), raw.dtype)
    rstd = np.empty((rows.shape[0], 1), raw.dtype)
    scale = None if weight is None else _flat(weight, raw.dtype)
    offset = None if bias is None else _flat(bias, raw.dtype)
    starts = row_blocks(*rows.shape)
    with np.errstate(all="ignore"):
        for start in starts:
            part = slice(start, start + starts.step)
            piece = out[part]
            np.divide(row_sum(rows[part], True)[:, None], length, mean[part], casting="same_kind")
            np.subtract(rows[part], mean[part], piece)
            deviation = np.sqrt(row_dot(piece, piece)[:, None] / length + eps)
            np.divide(1.0, deviation, rstd[part])
            np.multiply(piece, rstd[part], piece)
            if scale is not None:
                np.multiply(piece, scale, piece)
            if offset is not None:
                np.add(piece, offset, piece)
    shape = raw.shape[:kept] + (1,) * normalized
    return (
        out.reshape(raw.shape).astype(x.dtype, copy=False),
        mean.reshape(shape),
        rstd.reshape(shape),
    )


def _flat(x: Array, dtype: RawType) -> Array:
    return np.ascontiguousarray(x, dtype).reshape(-1)


def rms_norm(
    x: Array, shape: tuple[int, ...], weight: Array | None, eps: float
) -> tuple[Array, Array]:
    """`x` over the root mean square of its last axes, scaled; and one over that, with ones for
    them."""
    kept = x.shape[: x.ndim - len(shape)] + (1,) * len(shape)
    if x.size >= kernels.LEAST:
        found = kernels.rms_norm.rms_norm(x, len(shape), weight, eps)
        if found is not None:
            return found[0], found[1].reshape(kept)
    rows = x.reshape(prod(kept), prod(shape))
    inverse = 1 / np.sqrt(row_dot(rows, rows) / rows.shape[1] + eps)
    inverse = inverse.astype(x.dtype, copy=False).reshape(kept)
    out = np.multiply(x, inverse)
    return out if weight is None else np.multiply(out, weight, out), inverse


def rms_norm_backward(
    g: Array, x: Array, inverse: Array, weight: Array | None, need: Sequence[bool]
) -> tuple[Array, Array | None]:
    """The gradients of `rms_norm` for input and weight."""
    g, inverse = np.ascontiguousarray(g), inverse.reshape(-1)
    if x.size >= kernels.LEAST:
        found = kernels.rms_norm.rms_norm_backward(g, x, inverse, weight, need)
        if found is not None:
            return found
    rows = x.reshape(inverse.size, -1)
    hat, slope = rows * inverse[:, None], g.reshape(rows.shape)
    d_weight = None if weight is None else row_sum((slope * hat).T).reshape(weight.shape)
    if weight is not None:
        slope = slope * weight.reshape(-1)
    along = row_dot(slope, hat)[:, None] / rows.shape[1]
    return (inverse[:, None] * (slope - hat * along)).reshape(x.shape), d_weight


def layer_norm_backward(
    g: Array,
    x: Array,
    normalized: int,
    mean: Array,
    rstd: Array,
    weight: Array | None = None,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[Array | None, Array | None, Array | None]:
    """The gradients of `layer_norm` for input, weight and bias; None for those not needed."""
    if x.size >= kernels.LEAST:
        found = kernels.norms.layer_norm_backward(g, x, normalized, mean, rstd, weight, need)
        if found is not None:
            return found
    raw = lifted(np.asarray(x))
    dtype = raw.dtype
    kept = raw.ndim - normalized
    length = prod(raw.shape[kept:])
    count = prod(raw.shape[:kept])
    rows = np.ascontiguousarray(raw).reshape(count, length)
    g_rows = np.ascontiguousarray(g, dtype).reshape(count, length)
    means = np.ascontiguousarray(mean, dtype).reshape(count, 1)
    inverse = np.ascontiguousarray(rstd, dtype).reshape(count, 1)
    need_x, need_weight, need_bias = need
    scale = ones(length, dtype) if weight is None else _flat(weight, dtype)
    out = np.empty_like(rows) if need_x else None
    # Over many blocks the parameters' gradients add up in float64.
    d_weight, d_bias = np.zeros(length), np.zeros(length)
    starts = row_blocks(*rows.shape)
    step = min(starts.step, max(count, 1))
    centred, product = np.empty((step, length), dtype), np.empty((step, length), dtype)
    for start in starts:
        part = slice(start, start + starts.step)
        g_part, r = g_rows[part], inverse[part]
        if need_bias:
            d_bias += ones(len(r), dtype) @ g_part
        if not (need_x or need_weight):
            continue
        d, h = centred[: len(r)], product[: len(r)]
        np.subtract(rows[part], means[part], d)
        np.multiply(g_part, d, h)
        if need_weight:
            d_weight += r[:, 0] @ h
        if out is None:
            continue
        # dx = r (g w - mean(g w) - d r² mean(g w d)); every sum over a row is a product with w.
        along = (h @ scale)[:, None] * (r * r / length)
        level = (g_part @ scale)[:, None] / length
        np.multiply(d, along, d)
        np.add(d, level, d)
        piece = out[part]
        if weight is None:
            np.subtract(g_part, d, piece)
        else:
            np.multiply(g_part, scale, piece)
            np.subtract(piece, d, piece)
        np.multiply(piece, r, piece)
    shape = raw.shape[kept:]
    parameter = dtype if weight is None else weight.dtype
    return (
        None if out is None else out.reshape(raw.shape).astype(x.dtype, copy=False),
        d_weight.reshape(shape).astype(parameter) if need_weight else None,
        d_bias.reshape(shape).astype(parameter) if need_bias else None,
    )
