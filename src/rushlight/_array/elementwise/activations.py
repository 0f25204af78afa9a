"""The logistic function, its relatives and the activations made of them, in few array passes.

Note [Halves]
PyTorch computes float16 and bfloat16 kernels of several steps in float32 and rounds once. So do
these.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, Final

import numpy as np

from .. import kernels
from ..number import number_like, typed
from ..types import single
from . import blocked as blocks
from .blocked import INF, LARGE, clip, fits, mapped
from .masks import anywhere, where

FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)
# A 0-d array of the right type costs half of what a Python number does.
ZERO: Final[dict[Any, Any]] = {d: np.zeros((), d) for d in (FLOAT32, FLOAT64)}
ONE: Final[dict[Any, Any]] = {d: np.ones((), d) for d in (FLOAT32, FLOAT64)}
_TWENTY: Final[dict[Any, Any]] = {d: np.full((), 20, d) for d in (FLOAT32, FLOAT64)}
_THREE: Final[dict[Any, Any]] = {d: np.full((), 3, d) for d in (FLOAT32, FLOAT64)}
_SIX: Final[dict[Any, Any]] = {d: np.full((), 6, d) for d in (FLOAT32, FLOAT64)}


def _few(x: Any) -> bool:
    """Whether `x` is float32 or float64 and small: then every step writes over the last one."""
    dtype = x.dtype
    return (dtype is FLOAT32 or dtype is FLOAT64) and x.size < LARGE and x.ndim > 0


def relu(x: Any) -> Any:
    """max(x, 0).

    Raises:
        RuntimeError: for bools.
    """
    zero = ZERO.get(x.dtype)
    if zero is not None and x.size < LARGE:
        return np.maximum(x, zero)
    if x.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if fits(x):
        return clip(x, 0.0, INF)
    return np.maximum(x, ZERO.get(x.dtype, 0))


def _write_sigmoid(out: Any, x: Any) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, ONE[x.dtype], out)
    np.divide(ONE[x.dtype], out, out)  # twice as fast as `reciprocal`


def _write_silu(out: Any, x: Any) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, ONE[x.dtype], out)
    np.divide(x, out, out)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    if _few(x):
        t = np.negative(x)
        np.exp(t, t)
        np.add(t, ONE[t.dtype], t)
        return np.reciprocal(t, t)
    if x.dtype.itemsize == 2:
        return single(sigmoid, x)
    if x.size >= kernels.LEAST:
        found = kernels.activations.logistic(x)
        if found is not None:
            return found
    if fits(x):
        return mapped(_write_sigmoid, x)
    t = np.exp(np.negative(x))
    if not x.ndim:
        return np.reciprocal(t + ONE.get(t.dtype, 1))
    np.add(t, ONE.get(t.dtype, 1), t)
    return np.reciprocal(t, t)


def silu(x: Any) -> Any:
    """x sigmoid(x)."""
    if _few(x):
        t = np.negative(x)
        np.exp(t, t)
        np.add(t, ONE[t.dtype], t)
        return np.divide(x, t, t)
    if x.dtype.itemsize == 2:
        return single(silu, x)
    if x.size >= kernels.LEAST:
        found = kernels.activations.silu(x)
        if found is not None:
            return found
    if fits(x):
        return mapped(_write_silu, x)
    t = np.exp(np.negative(x))
    return np.divide(x, np.add(t, ONE.get(t.dtype, 1)))


def silu_backward(g: Any, x: Any) -> Any:
    """The gradient of `silu`: g (s + x s (1 - s)), s = sigmoid(x)."""
    if x.size >= kernels.LEAST:
        found = kernels.activations.silu_backward(g, x)
        if found is not None:
            return found
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


def softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above `threshold`."""
    if type(beta) is complex or type(threshold) is complex:
        beta, threshold = (number_like(n, x.dtype) for n in (beta, threshold))
    if beta == 1 and threshold == 20 and _few(x):
        limit = _TWENTY[x.dtype]
        y = np.minimum(x, limit)
        np.exp(y, y)
        np.log1p(y, y)
        above = np.greater(x, limit)
        return where(above, x, y) if anywhere(above) else y
    if x.dtype.itemsize == 2:
        return single(softplus, x, beta, threshold)
    if x.size >= kernels.LEAST:
        found = kernels.elements.activation("softplus", x, beta, threshold)
        if found is not None:
            return found
    t = np.multiply(x, beta)
    y = np.divide(np.log1p(np.exp(np.minimum(t, threshold))), beta)
    return where(np.greater(t, threshold), x, y) if np.greater(t, threshold).any() else y


def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)) = min(x, 0) - log1p(exp(-|x|)), which neither over- nor underflows."""
    if _few(x):
        low = np.minimum(x, ZERO[x.dtype])
        t = np.absolute(x)
        np.negative(t, t)
        np.exp(t, t)
        np.log1p(t, t)
        return np.subtract(low, t, t)
    if x.dtype.itemsize == 2:
        return single(log_sigmoid, x)
    if x.size >= kernels.LEAST:
        found = kernels.elements.activation("log_sigmoid", x)
        if found is not None:
            return found
    low = np.minimum(x, ZERO.get(x.dtype, 0))
    return np.subtract(low, np.log1p(np.exp(np.negative(np.absolute(x)))))


def mish(x: Any) -> Any:
    """x tanh(softplus(x))."""
    if _few(x):
        t = np.exp(x)
        np.log1p(t, t)
        np.tanh(t, t)
        return np.multiply(x, t, t)
    if x.dtype.itemsize == 2:
        return single(mish, x)
    if x.size >= kernels.LEAST:
        found = kernels.elements.activation("mish", x)
        if found is not None:
            return found
    return np.multiply(x, np.tanh(np.log1p(np.exp(x))))


def elu(x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    """scale x above zero, scale alpha (exp(input_scale x) - 1) below."""
    if _few(x) and -INF < alpha * scale * input_scale < INF:
        zero = ZERO[x.dtype]
        low = np.minimum(x, zero)
        if input_scale != 1:
            np.multiply(low, input_scale, low)
        np.expm1(low, low)
        if alpha * scale != 1:
            np.multiply(low, alpha * scale, low)
        high = np.maximum(x, zero)
        if scale != 1:
            np.multiply(high, scale, high)
        return np.add(low, high, high)
    if x.dtype.itemsize == 2:
        return single(elu, x, alpha, scale, input_scale)
    if x.size >= kernels.LEAST:
        found = kernels.elements.activation("elu", x, alpha, scale, input_scale)
        if found is not None:
            return found
    low = np.minimum(x, ZERO.get(x.dtype, 0))
    low = np.expm1(low if input_scale == 1 else np.multiply(low, input_scale))
    low = np.multiply(low, alpha * scale) if alpha * scale != 1 else low
    return where(np.greater(x, 0), x if scale == 1 else np.multiply(x, scale), low)


def _leaking(slope: float) -> Callable[..., None]:
    # The steeper side of the two is the smaller one above a slope of 1.
    extreme = np.maximum if slope <= 1 else np.minimum

    def body(out: Any, x: Any) -> None:
        np.multiply(x, slope, out)
        extreme(x, out, out=out)

    return body


def leaky_relu(x: Any, negative_slope: float) -> Any:
    """x above zero, negative_slope x below."""
    if 0 <= negative_slope <= 1 and _few(x):
        t = np.multiply(x, negative_slope)
        return np.maximum(x, t, out=t)
    if x.dtype.itemsize == 2:
        return single(leaky_relu, x, negative_slope)
    if x.size >= kernels.LEAST:
        found = kernels.elements.activation("leaky_relu", x, negative_slope)
        if found is not None:
            return found
    if negative_slope and abs(negative_slope) < INF and fits(x):
        return mapped(_leaking(negative_slope), x)
    scaled = np.multiply(x, negative_slope)
    if 0 <= negative_slope <= 1:
        return np.maximum(x, scaled)
    return where(np.greater(x, 0), x, scaled)


def hardtanh(x: Any, min_val: Any, max_val: Any) -> Any:
    """x between two bounds."""
    if _few(x):
        t = np.maximum(x, min_val)
        return np.minimum(t, max_val, out=t)
    if x.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
    elif x.dtype.itemsize == 2:
        return single(hardtanh, x, min_val, max_val)
    if min_val <= max_val and fits(x):
        return clip(x, float(min_val), float(max_val))
    return np.minimum(np.maximum(x, min_val), max_val)


def _write_hardsigmoid(out: Any, x: Any) -> None:
    np.add(x, 3.0, out)
    clip(out, 0.0, 6.0, out)
    np.divide(out, 6.0, out)


def _write_hardswish(out: Any, x: Any) -> None:
    np.add(x, 3.0, out)
    clip(out, 0.0, 6.0, out)
    np.multiply(x, out, out)
    np.divide(out, 6.0, out)


def hardsigmoid(x: Any) -> Any:
    """(x + 3) / 6 between 0 and 1."""
    if _few(x):
        six = _SIX[x.dtype]
        t = np.add(x, _THREE[x.dtype])
        clip(t, ZERO[x.dtype], six, t)
        return np.divide(t, six, t)
    if x.dtype.itemsize == 2:
        return single(hardsigmoid, x)
    if x.size >= kernels.LEAST:
        found = kernels.elements.activation("hardsigmoid", x)
        if found is not None:
            return found
    if fits(x):
        return mapped(_write_hardsigmoid, x)
    return np.divide(np.minimum(np.maximum(np.add(x, 3), 0), 6), 6)


def hardswish(x: Any) -> Any:
    """x hardsigmoid(x)."""
    if _few(x):
        six = _SIX[x.dtype]
        t = np.add(x, _THREE[x.dtype])
        clip(t, ZERO[x.dtype], six, t)
        np.multiply(x, t, t)
        return np.divide(t, six, t)
    if x.dtype.itemsize == 2:
        return single(hardswish, x)
    if x.size >= kernels.LEAST:
        found = kernels.elements.activation("hardswish", x)
        if found is not None:
            return found
    if fits(x):
        return mapped(_write_hardswish, x)
    return np.divide(np.multiply(x, np.minimum(np.maximum(np.add(x, 3), 0), 6)), 6)


def _shrinking(lambd: float) -> Callable[..., None]:
    def body(out: Any, x: Any) -> None:
        # The bits of floats without their sign are in the order of their sizes, NaN last: the sign
        # of a difference of bits, spread over all of them, is the mask.
        integer, _, rest = blocks.SIGN_BITS[x.dtype]
        limit = np.asarray(lambd, x.dtype).view(integer)
        mask = np.bitwise_and(x.view(integer), rest, out.view(integer))
        np.subtract(limit, mask, mask)
        np.right_shift(mask, 8 * x.dtype.itemsize - 1, mask)
        np.bitwise_and(x.view(integer), mask, mask)

    return body


def hardshrink(x: Any, lambd: float) -> Any:
    """x where |x| is above `lambd` (or nan), else 0."""
    if type(lambd) is complex:
        lambd = number_like(lambd, x.dtype)
    if x.size >= LARGE and lambd >= 0 and fits(x):
        return mapped(_shrinking(lambd), x)
    lambd = x.dtype.type(lambd) if x.dtype.itemsize == 2 else lambd
    return where(np.less_equal(np.absolute(x), lambd), ZERO.get(x.dtype, x.dtype.type(0)), x)


def _nearing(lambd: float) -> Callable[..., None]:
    def body(out: Any, x: Any) -> None:
        clip(x, -lambd, lambd, out)
        np.subtract(x, out, out)

    return body


def softshrink(x: Any, lambd: float) -> Any:
    """x moved towards zero by `lambd`, 0 within it.

    Raises:
        RuntimeError: for a negative `lambd`.
    """
    if type(lambd) is complex:
        lambd = number_like(lambd, FLOAT64)
    if not lambd >= 0:
        raise RuntimeError(
            f"lambda must be in range [0, {np.finfo(x.dtype).max:g}] for input dtype "
            f"{_NAMES.get(x.dtype.itemsize)}, but found {lambd:g}"
        )
    if _few(x):
        cut = np.maximum(x, -lambd)
        np.minimum(cut, lambd, out=cut)
        return np.subtract(x, cut, cut)
    if fits(x):
        return mapped(_nearing(lambd), x)
    cut = np.minimum(np.maximum(x, -lambd), lambd)
    return np.subtract(x, cut).astype(x.dtype, copy=False)  # bfloat16 has grown


_NAMES: Final = {2: "Half", 4: "Float", 8: "Double"}


def threshold(x: Any, threshold: Any, value: Any) -> Any:
    """x above `threshold` (or nan), else `value`."""
    threshold, value = number_like(threshold, x.dtype), typed(value, x.dtype)
    return where(np.less_equal(x, threshold), value, x)


def prelu(x: Any, weight: Any) -> Any:
    """x above zero, weight x below."""
    if weight.size == 1 and weight.dtype is x.dtype and weight.ndim <= x.ndim:
        slope = weight.item()
        if x.size >= kernels.LEAST:
            found = kernels.elements.activation("leaky_relu", x, slope)
            if found is not None:
                return found
        if 0 < slope < INF and _few(x):
            t = np.multiply(weight, x)
            return (np.maximum if slope <= 1 else np.minimum)(x, t, out=t)
        if fits(x) and slope and abs(slope) < INF:
            return mapped(_leaking(slope), x)
    return where(np.greater(x, 0), x, np.multiply(weight, x))


def logit(x: Any, eps: float | None) -> Any:
    """log(x / (1 - x)), of `x` brought into [eps, 1 - eps] where `eps` is given."""
    if eps is not None and eps < 0:
        eps = None
    if eps is None and _few(x):
        t = np.subtract(ONE[x.dtype], x)
        np.divide(x, t, t)
        return np.log(t, t)
    if eps is not None:
        low = np.asarray(eps, x.dtype)
        high = np.asarray(1, x.dtype) - low
        if low <= high:
            x = np.minimum(np.maximum(x, low), high)
        else:  # what lies between the two goes up
            x = where(np.less(x, low), low, where(np.greater(x, high), high, x))
    return np.log(np.divide(x, np.subtract(np.asarray(1, x.dtype), x)))


def _finite_gap(a: Any, b: Any) -> Any:
    """|a - b|, zero where both are the same infinity."""
    gap = np.subtract(a, b)
    np.copyto(gap, 0, where=np.equal(a, b)) if gap.ndim else None
    return where(np.equal(a, b), gap.dtype.type(0), gap) if not gap.ndim else gap


def _small_gap(a: Any, b: Any) -> Any:
    """-|a - b| of small arrays, zero where both are the same infinity."""
    gap = np.subtract(a, b)
    same = np.equal(a, b)
    if anywhere(same):
        np.copyto(gap, 0, where=same)
    np.absolute(gap, gap)
    return np.negative(gap, gap)


def logaddexp(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)), without overflow."""
    if _few(a) and _few(b):
        t = _small_gap(a, b)
        np.exp(t, t)
        np.log1p(t, t)
        return np.add(np.maximum(a, b), t, t)
    if a.dtype.itemsize == 2:
        return single(logaddexp, a, b)
    if a.dtype.kind == "c":
        swap = np.less(a.real, b.real)
        big, small = where(swap, b, a), where(swap, a, b)
        return np.add(big, np.log1p(np.exp(np.subtract(small, big))))
    # numpy.logaddexp takes 15 ns an element.
    return np.add(np.maximum(a, b), np.log1p(np.exp(np.negative(np.absolute(_finite_gap(a, b))))))


def logaddexp2(a: Any, b: Any) -> Any:
    """log2(2^a + 2^b), without overflow."""
    if _few(a) and _few(b):
        t = _small_gap(a, b)
        np.exp2(t, t)
        np.log1p(t, t)
        np.multiply(t, 1 / log(2), t)
        return np.add(np.maximum(a, b), t, t)
    if a.dtype.itemsize == 2:
        return single(logaddexp2, a, b)
    tail = np.log1p(np.exp2(np.negative(np.absolute(_finite_gap(a, b)))))
    return np.add(np.maximum(a, b), np.multiply(tail, 1 / log(2)))


def xlogy(x: Any, other: Any) -> Any:
    """x log(other), 0 where x is 0 (nan where `other` is)."""
    return _product(x, np.log, other)


def xlog1py(x: Any, other: Any) -> Any:
    """x log1p(other), 0 where x is 0 (nan where `other` is)."""
    return _product(x, np.log1p, other)


def _product(x: Any, logarithm: Any, other: Any) -> Any:
    if type(other) in (int, float):
        other = np.asarray(other, x.dtype)
    elif type(x) in (int, float):
        x = np.asarray(x, other.dtype)
    result = np.multiply(x, logarithm(other))
    zero = np.equal(x, ZERO.get(x.dtype, 0))
    if not anywhere(zero):
        return result
    blank = np.logical_and(zero, np.logical_not(np.isnan(other)))
    return where(blank, result.dtype.type(0), result) if np.any(blank) else result


def sinc(x: Any) -> Any:
    """sin(πx) / (πx), 1 at 0."""
    if x.dtype.itemsize == 2:
        return single(sinc, x)
    t = np.multiply(x, np.pi)
    zero = np.equal(t, ZERO.get(t.dtype, 0))
    if anywhere(zero):
        one = t.dtype.type(1)
        return where(zero, one, np.divide(np.sin(t), where(zero, one, t)))
    return np.divide(np.sin(t), t)


def celu(x: Any, alpha: float) -> Any:
    """x above zero, alpha (exp(x / alpha) - 1) below."""
    return elu(x, alpha, 1, 1 / alpha)
