"""Normalisation by channel: batch norm and group norm, with their gradients.

A channel is axis 1. Float16 and bfloat16 are computed in float32.

Note [Sums by channel]
An array (N, C, L) is summed over N and L by two products with ones, first along L, which BLAS does
faster than NumPy's `sum` over two axes; (N, C) by one.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..reduce.row_sums import lift, ones
from ..types import FLOAT32

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments, TensorLike
    from ..annotations import Array, RawType

_LONG = 8192


def smallest_step(dtype: RawType) -> float:
    """The distance from 1 to the next number of a floating point dtype."""
    if dtype is FLOAT32:
        return 2.0**-23  # which NumPy looks up
    return 2.0**-7 if dtype.kind == "V" else float(np.finfo(dtype).eps)


def _split(x: Array) -> Any:
    """`x` as (N, C) or as (N, C, L)."""
    if x.ndim == 2:
        return x
    return np.ascontiguousarray(x).reshape(x.shape[0], x.shape[1], prod(x.shape[2:]))


def _column(values: Any, x: TensorLike) -> Array:
    """One value a channel, shaped so that it broadcasts over `x`."""
    return values if x.ndim == 2 else values[:, None]


def _sum(x: Array) -> Any:
    """The sum of each channel. See Note [Sums by channel]."""
    if x.ndim == 3:
        x = x @ ones(x.shape[2], x.dtype) if x.shape[2] <= _LONG else np.add.reduce(x, axis=2)
    if x.shape[0] == 1:
        return x[0]
    if x.shape[0] <= _LONG:
        return ones(x.shape[0], x.dtype) @ x
    return np.add.reduce(x, axis=0)


def _dot(a: Array, b: Array) -> Any:
    """The inner product of each channel of two arrays."""
    if a.ndim == 3:
        return _sum(np.vecdot(a, b))
    return _sum(np.multiply(a, b))


def batch_norm(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array | None,
    var: Array | None,
    training: bool,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Each channel with mean 0 and variance 1, scaled and shifted; its mean; 1/deviation.

    In training the statistics are the batch's, else `mean` and `var`; then the two further results
    are empty. Shapes: x (N, C, …); the others (C,).
    """
    if x.size >= kernels.LEAST - 1 << 3:
        found = kernels.norms.batch_norm(x, weight, bias, mean, var, training, eps)
        if found is not None:
            return found
    raw = _split(lift(x))
    if training:
        count = raw.size // (raw.shape[1] or 1)
        centre = np.true_divide(_sum(raw), count)
        out = np.subtract(raw, _column(centre, raw))
        inverse = _inverse_deviation(_dot(out, out) / count, eps)
        kept = (centre.astype(raw.dtype, copy=False), inverse)
    else:
        centre = lift(mean).astype(raw.dtype, copy=False)
        inverse = _inverse_deviation(lift(var), eps).astype(raw.dtype, copy=False)
        out = np.subtract(raw, _column(centre, raw))
        kept = (np.empty(0, raw.dtype), np.empty(0, raw.dtype))
    scale = inverse if weight is None else inverse * lift(weight)
    np.multiply(out, _column(scale, raw), out)
    if bias is not None:
        np.add(out, _column(lift(bias), raw), out)
    return out.reshape(x.shape).astype(x.dtype, copy=False), *kept


def _inverse_deviation(var: Array, eps: float) -> Array:
    found = np.sqrt(var + eps)
    return np.reciprocal(found, found)


def move_towards(running: Array | None, value: Array, momentum: float) -> None:
    """Moves a running statistic, if there is one, towards the batch's by `momentum`, in place."""
    if running is not None:
        running *= 1 - momentum
        running += (momentum * value).astype(running.dtype, copy=False)


def batch_norm_backward(
    g: Any,
    x: Any,
    weight: Array | None,
    mean: Array | None,
    var: object,
    centre: Any,
    inverse: object,
    training: bool,
    eps: float,
    need: Any,
) -> tuple[Any, Any, Any]:
    """The gradients for input, weight and bias; None for those not needed."""
    if x.size >= kernels.LEAST - 1 << 3:
        found = kernels.norms.batch_norm_backward(
            g, x, weight, mean, var, centre, inverse, training, eps, need
        )
        if found is not None:
            return found
    raw, g_raw = _split(lift(x)), _split(lift(g))
    if not training:
        centre = lift(mean).astype(raw.dtype, copy=False)
        inverse = _inverse_deviation(lift(var), eps).astype(raw.dtype, copy=False)
    scale = inverse if weight is None else inverse * lift(weight)
    out = d_weight = d_bias = total = None
    if need[2] or (need[0] and training):
        d_bias = total = _sum(g_raw)
    if need[1] or (need[0] and training):
        d = np.subtract(raw, _column(centre, raw))
        along = _dot(g_raw, d)
        d_weight = along * inverse
        if need[0] and training:
            # dx = w r (g - mean(g) - d r² mean(g d))
            count = raw.size // (raw.shape[1] or 1)
            np.multiply(d, _column(along * inverse * inverse / count, raw), d)
            np.add(d, _column(total / count, raw), d)
            out = np.subtract(g_raw, d, d)
            np.multiply(out, _column(scale, raw), out)
    if need[0] and not training:
        out = np.multiply(g_raw, _column(scale, raw))
    parameter = raw.dtype if weight is None else weight.dtype
    return (
        None if out is None else out.reshape(x.shape).astype(x.dtype, copy=False),
        d_weight.astype(parameter, copy=False) if need[1] and d_weight is not None else None,
        d_bias.astype(parameter, copy=False) if need[2] and d_bias is not None else None,
    )


def _groups(x: Array, groups: int) -> Array:
    """`x` in order, with a row for each group."""
    rows = x.shape[0] * groups
    return np.ascontiguousarray(lift(x)).reshape(rows, x.size // (rows or 1))


def _by_channel(x: Array, shape: tuple[int, ...]) -> Array:
    """An array in order as (N, C, L)."""
    return x.reshape(shape[0], shape[1], prod(shape[2:]))


def group_norm(
    layer_norm: AnyCallable, x: Array, groups: int, weight: Array | None, bias: Array | None,
    eps: float,
) -> Arguments:  # fmt: skip
    """Each group of channels with mean 0 and variance 1, scaled and shifted by channel.

    The further results are the means and 1/deviations, (N, groups).
    """
    found = None
    if x.size >= kernels.LEAST - 1 << 3:
        found = kernels.norms.group_norm(x, groups, weight, bias, eps)
    if found is None:
        rows = _groups(x, groups)
        out, mean, inverse = layer_norm(rows, rows.shape[1:], None, None, eps)
        wide = _by_channel(out, x.shape)
        if weight is not None:
            np.multiply(wide, lift(weight)[:, None], wide)
        if bias is not None:
            np.add(wide, lift(bias)[:, None], wide)
        found = wide.astype(x.dtype, copy=False), mean, inverse
    shapes = x.shape, (x.shape[0], groups), (x.shape[0], groups)
    return [r.reshape(shape) for r, shape in zip(found, shapes)]


def group_norm_backward(
    gradients: AnyCallable, g: Array, x: Array, groups: int, mean: Array, inverse: Array,
    weight: Array | None, eps: float, need: Arguments,
) -> tuple[Array | None, ...]:  # fmt: skip
    """The gradients of `group_norm` for input, weight and bias, by those of `layer_norm`."""
    if x.size >= kernels.LEAST - 1 << 3:
        found: Any = kernels.norms.group_norm_backward(g, x, groups, mean, inverse, weight, need)
        if found is not None:
            return found
    rows, wide = _groups(x, groups), _by_channel(np.ascontiguousarray(lift(g)), x.shape)
    mean, inverse = mean.reshape(-1, 1), inverse.reshape(-1, 1)
    d_x = d_weight = d_bias = None
    if need[0]:
        scaled = wide if weight is None else wide * lift(weight)[:, None]
        by_row = scaled.reshape(rows.shape), rows, mean, inverse, None, rows.shape[1:]
        d_x = gradients(*by_row, eps, (True, False, False))[0]
        d_x = d_x.reshape(x.shape).astype(x.dtype, copy=False)
    parameter = x.dtype if weight is None else weight.dtype
    if need[1]:
        hat = (rows - mean) * inverse
        d_weight = _dot(wide, hat.reshape(wide.shape)).astype(parameter, copy=False)
    if need[2]:
        d_bias = _sum(wide).astype(parameter, copy=False)
    return d_x, d_weight, d_bias
