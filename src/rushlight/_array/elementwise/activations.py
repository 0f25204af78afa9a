"""The logistic function, its relatives and the activations made of them, in few array passes.

Note [Halves]
PyTorch computes float16 and bfloat16 kernels of several steps in float32 and rounds once. So do
these.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, log1p, nan
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.dtypes import scalar_name
from ..._formula import words
from ..._formula.words import with_formula
from .. import kernels
from ..number import largest, number_like
from ..types import from_raw, single
from .blocked import INF, LARGE, fits, map_blocks
from .by_kernel import by_kernel
from .generated import generate
from .masks import anywhere, where

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, TensorLike
    from ..._formula.ir import Symbol
    from ..annotations import Array

FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)
# A 0-d array of the right type costs half of what a Python number does.
ZERO: Final[dict[Any, Any]] = {d: np.zeros((), d) for d in (FLOAT32, FLOAT64)}
ONE: Final[dict[Any, Any]] = {d: np.ones((), d) for d in (FLOAT32, FLOAT64)}


def _few(x: Array) -> bool:
    """Whether `x` is float32 or float64 and small: then every step writes over the last one."""
    dtype = x.dtype
    return (dtype is FLOAT32 or dtype is FLOAT64) and x.size < LARGE and x.ndim > 0


_relu: Final[Any] = generate("relu", lambda self: words.maximum(self, 0), ("self",), {})
_FEW: Final = 512  # elements for which the generated code takes 15 percent more


@with_formula(_relu.formula)
def relu(x: Array) -> Any:
    """max(x, 0).

    Raises:
        RuntimeError: for bools.
    """
    zero = ZERO.get(x.dtype)
    if zero is not None and x.size < _FEW:
        return np.maximum(x, zero)
    if x.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return _relu(x)


relu.large = _relu


def _write_sigmoid(out: Array, x: Array) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, ONE[x.dtype], out)
    np.divide(ONE[x.dtype], out, out)  # twice as fast as `reciprocal`


@with_formula(lambda x: 1 / (words.exp(-x) + 1))
def sigmoid(x: Array) -> Array:
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
        return map_blocks(_write_sigmoid, x)
    t = np.exp(np.negative(x))
    if not x.ndim:
        return np.reciprocal(t + ONE.get(t.dtype, 1))
    np.add(t, ONE.get(t.dtype, 1), t)
    return np.reciprocal(t, t)


def _make_leaky(slope: float) -> Callable[..., None]:
    # The steeper side of the two is the smaller one above a slope of 1.
    extreme = np.maximum if slope <= 1 else np.minimum

    def body(out: Array, x: Array) -> None:
        np.multiply(x, slope, out)
        extreme(x, out, out=out)

    return body


def leaky_relu(x: Array, negative_slope: float) -> Array | None:
    """x above zero, negative_slope x below, as the larger of two; None for odd slopes."""
    if not 0 < negative_slope < INF:
        return None
    if x.size >= LARGE and fits(x):
        return map_blocks(_make_leaky(negative_slope), x)
    t = np.multiply(x, negative_slope)
    return (np.maximum if negative_slope <= 1 else np.minimum)(x, t, out=t)


_softshrink: Final[Any] = generate(
    "softshrink",
    lambda self, lambd: self - words.minimum(words.maximum(self, -lambd), lambd),
    ("self",),
    {"lambd": 0.5},
)


@with_formula(_softshrink.formula)
def softshrink(x: Any, lambd: Any) -> Any:
    """x moved towards zero by `lambd`, 0 within it.

    Raises:
        RuntimeError: for a negative `lambd`, or one beyond the type.
    """
    if type(lambd) is complex:
        lambd = number_like(lambd, FLOAT64)
    if not 0 <= lambd <= 65504 and not 0 <= lambd <= largest(x.dtype):  # what all types hold
        raise RuntimeError(
            f"lambda must be in range [0, {largest(x.dtype):g}] for input dtype "
            f"{scalar_name(from_raw(x.dtype))}, but found {lambd:g}"
        )
    return _softshrink(x, lambd)


softshrink.large = _softshrink


_threshold: Final[Any] = generate(
    "threshold",
    lambda self, threshold, value: words.where(self <= threshold, value, self),
    ("self",),
    {},
)


@with_formula(_threshold.formula)
def threshold(x: Any, threshold: Any, value: Any) -> Any:
    """x above `threshold` (or nan), else `value`.

    Raises:
        RuntimeError: for numbers beyond the type.
    """
    return _threshold(x, number_like(threshold, x.dtype), number_like(value, x.dtype))


def logit(x: Array, eps: float | None) -> Array:
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


def _finite_gap(a: Array, b: Array) -> Array:
    """|a - b|, zero where both are the same infinity."""
    gap = np.subtract(a, b)
    np.copyto(gap, 0, where=np.equal(a, b)) if gap.ndim else None
    return where(np.equal(a, b), gap.dtype.type(0), gap) if not gap.ndim else gap


def _small_gap(a: Array, b: Array) -> Array:
    """-|a - b| of small arrays, zero where both are the same infinity."""
    gap = np.subtract(a, b)
    same = np.equal(a, b)
    if anywhere(same):
        np.copyto(gap, 0, where=same)
    np.absolute(gap, gap)
    return np.negative(gap, gap)


@with_formula(words.log1p)
def log_of_next(x: Array) -> Array:
    """log(1 + x), without loss near 0, of complex numbers too."""
    if x.dtype.kind != "c":
        return np.log1p(x)
    real, imaginary = x.real, x.imag
    near = real * (2 + real) + imaginary * imaginary  # |1 + x|² - 1
    out = np.empty_like(x)
    np.arctan2(imaginary, real + 1, out=out.imag)
    far = np.where(np.isnan(near), near, np.log(np.hypot(real + 1, imaginary)))
    close = np.where(near == 0, real, 0.5 * np.log1p(near))
    out.real[...] = np.where(np.absolute(x) < 0.5, close, far)
    return out


def _log_sum(a: Symbol, b: Symbol) -> Symbol:
    gap = words.absolute(words.where(a == b, 0.0, a - b))
    return words.maximum(a, b) + words.log1p(words.exp(-gap))


def _log2_sum(a: Symbol, b: Symbol) -> Symbol:
    gap = words.absolute(words.where(a == b, 0.0, a - b))
    return words.maximum(a, b) + words.log1p(words.exp(gap * -log(2))) * (1 / log(2))


@by_kernel(_log_sum, "ff")
def logaddexp(a: Array, b: Array) -> Array:
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


@by_kernel(_log2_sum, "ff")
def logaddexp2(a: Array, b: Array) -> Array:
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


def _log_product(logarithm: AnyCallable, of_number: AnyCallable, pole: float) -> AnyCallable:
    """x log(y) in the vocabulary, where `y` may be a number; the logarithm is -inf at its pole."""

    def product(x: Any, y: object) -> Any:
        if y.__class__ in (int, float):
            slope = of_number(y) if y > pole else -INF if y == pole else nan
        else:
            slope = logarithm(y)
        return words.where((x == 0) & (y == y), 0, x * slope)

    return product


@with_formula(_log_product(words.log, log, 0))
def xlogy(x: Array | float, other: Array | float) -> TensorLike:
    """x log(other), 0 where x is 0 (nan where `other` is)."""
    return _product(x, np.log, other)


@with_formula(_log_product(words.log1p, log1p, -1))
def xlog1py(x: Array | float, other: Array | float) -> TensorLike:
    """x log1p(other), 0 where x is 0 (nan where `other` is)."""
    return _product(x, np.log1p, other)


def _product(x: Any, logarithm: Any, other: Any) -> Array:
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


def sinc(x: Array) -> Array:
    """sin(πx) / (πx), 1 at 0."""
    if x.dtype.itemsize == 2:
        return single(sinc, x)
    t = np.multiply(x, np.pi)
    zero = np.equal(t, ZERO.get(t.dtype, 0))
    if anywhere(zero):
        one = t.dtype.type(1)
        return where(zero, one, np.divide(np.sin(t), where(zero, one, t)))
    return np.divide(np.sin(t), t)
