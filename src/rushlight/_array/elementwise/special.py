"""Special functions that NumPy lacks: SciPy's, imported when one is first called, or our own."""

from __future__ import annotations

from functools import cache
from math import log, pi, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..types import empty
from . import bessel, gamma, normal
from .blocked import fits
from .erf import erf
from .in_float64 import has_scipy, in_float64
from .masks import where

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import TensorLike
    from ..annotations import Array


@cache
def library() -> ModuleType:
    """`scipy.special`; where that isn't installed, the module of our own that has its names."""
    if has_scipy():
        import scipy.special

        return scipy.special
    from .. import special

    return special


def _call(name: str, x: Array, *rest: Array) -> Array:
    """A function of the library in the type of `x`; 16-bit floats are computed in float32."""
    function = getattr(library(), name)
    if x.dtype.itemsize == 2:
        lifted = [v.astype(np.float32) if isinstance(v, np.ndarray) else v for v in rest]
        return function(x.astype(np.float32), *lifted).astype(x.dtype)
    result = function(x, *rest)
    return result if result.dtype == x.dtype else result.astype(x.dtype)


@in_float64(gamma.digamma)
def digamma(x: Array) -> Array:
    """The derivative of `lgamma`; nan at the negative integers, -inf at 0 and inf at -0."""
    result = _call("digamma", x)
    zero = np.equal(x, 0)
    if np.any(zero):
        return where(zero, np.copysign(x.dtype.type(np.inf), np.negative(x)), result)
    return result


@in_float64(gamma.lgamma)
def lgamma(x: Array) -> Array:
    """The logarithm of |Γ(x)|, inf at both ends as in C."""
    found = _call("gammaln", x)
    return (
        np.where(np.isneginf(x), np.inf, found).astype(x.dtype) if np.isneginf(x).any() else found
    )


def polygamma(n: int, x: Array) -> Array:
    """The n-th derivative of `digamma`.

    Raises:
        RuntimeError: for a negative n.
    """
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(x)
    if n == 1:
        return trigamma(x)
    its = library()
    wide = x.astype(np.float64)
    sign = 1.0 if n % 2 else -1.0
    if n >= 2**31:  # nothing but the nearest pole counts, and its power is 0 or infinite
        size = np.exp(its.gammaln(n + 1.0) - (n + 1.0) * np.log(wide))
    else:
        size = its.gamma(n + 1.0) * its.zeta(n + 1.0, wide)
    return (sign * size).astype(x.dtype)


def trigamma(x: Array) -> Array:
    """The second derivative of `lgamma`, to about ten digits.

    The reflection ψ'(x) = π² / sin² πx - ψ'(1 - x) serves the left half, six steps of the
    recurrence ψ'(x) = ψ'(x + 1) + 1 / x² reach the range of the asymptotic series.
    """
    wide = x.astype(np.float64)
    left = np.less(wide, 0.5)
    at = where(left, 1 - wide, wide)
    total = np.zeros_like(at)
    for _ in range(6):
        total = total + 1 / (at * at)
        at = at + 1
    square = 1 / (at * at)
    series = 1 + 1 / (2 * at) + square * (1 / 6 - square * (1 / 30 - square * (1 / 42)))
    total = total + series / at
    if np.any(left):
        # In single precision the sine of π times an integer is as far from zero as PyTorch's.
        turned = x.dtype.type(pi) * x if x.dtype == np.float32 else pi * wide
        total = where(left, (pi / np.sin(turned).astype(np.float64)) ** 2 - total, total)
    return total.astype(x.dtype)


#: Of more terms it is asked whether memory would have room for them all.
_TERMS: Final = 1 << 24


def mvlgamma(x: Array, p: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension p.

    Raises:
        RuntimeError: where p is below 1, or more than memory has room for.
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if p > _TERMS:
        empty((p,), x.dtype)
    total = lgamma(x)
    for j in range(1, p):
        total = np.add(total, lgamma(np.subtract(x, 0.5 * j)))
    return np.add(total, p * (p - 1) / 4 * log(pi)).astype(x.dtype, copy=False)


def digamma_sum(x: Array, p: int) -> Array:
    """The derivative of `mvlgamma`: Σ ψ(x - j/2) for j < p."""
    total = digamma(x)
    for j in range(1, p):
        total = np.add(total, digamma(np.subtract(x, 0.5 * j)))
    return total


def igamma(a: Array, x: Array) -> Array:
    """The lower regularised incomplete gamma function."""
    return _call("gammainc", a, x)


def igammac(a: Array, x: Array) -> TensorLike:
    """The upper regularised incomplete gamma function."""
    return _call("gammaincc", a, x)


def zeta(x: Array | float, q: Array) -> TensorLike:
    """The Hurwitz zeta function."""
    if isinstance(x, np.ndarray):
        return _call("zeta", x, np.asarray(q, x.dtype))
    return _call("zeta", np.asarray(x, q.dtype), q)


@in_float64(bessel.i0)
def i0(x: Array) -> TensorLike:
    """The modified Bessel function of the first kind, order 0."""
    return _call("i0", x)


@in_float64(bessel.i0e)
def i0e(x: Array) -> TensorLike:
    """exp(-|x|) i0(x)."""
    return _call("i0e", x)


@in_float64(bessel.i1)
def i1(x: Array) -> Array:
    """The modified Bessel function of the first kind, order 1."""
    return _call("i1", x)


@in_float64(bessel.i1e)
def i1e(x: Array) -> TensorLike:
    """exp(-|x|) i1(x)."""
    return _call("i1e", x)


@in_float64(normal.erfcx)
def erfcx(x: Array) -> Array:
    """exp(x²) erfc(x)."""
    return _call("erfcx", x)


@in_float64(normal.entr)
def entr(x: Array) -> Array:
    """-x log(x), 0 at 0 and -inf below."""
    if fits(x) and np.minimum.reduce(x, None) > 0:
        result = np.log(x)
        return np.negative(np.multiply(x, result, result), result)
    return _call("entr", x)


def ndtr(x: Array) -> Array:
    """The distribution function of the standard normal."""
    if x.dtype.itemsize == 2:
        return ndtr(x.astype(np.float32)).astype(x.dtype)
    return np.multiply(np.add(erf(np.multiply(x, sqrt(0.5))), 1), 0.5)


@in_float64(normal.ndtri)
def ndtri(x: Array) -> Array:
    """The number at which `ndtr` has each value."""
    return _call("ndtri", x)


@in_float64(normal.log_ndtr)
def log_ndtr(x: Array) -> TensorLike:
    """The logarithm of `ndtr`."""
    return _call("log_ndtr", x)


def airy_ai(x: Array) -> Array:
    """The Airy function Ai."""
    return library().airy(x.astype(np.float64))[0].astype(x.dtype)


@in_float64(bessel.j0)
def bessel_j0(x: Array) -> Array:
    """The Bessel function of the first kind, order 0."""
    return _call("j0", x)


@in_float64(bessel.j1)
def bessel_j1(x: Array) -> TensorLike:
    """The Bessel function of the first kind, order 1."""
    return _call("j1", x)


def bessel_y0(x: Array) -> Array:
    """The Bessel function of the second kind, order 0."""
    return _call("y0", x)


def bessel_y1(x: Array) -> Array:
    """The Bessel function of the second kind, order 1."""
    return _call("y1", x)


def modified_bessel_i0(x: Array) -> TensorLike:
    """The modified Bessel function of the first kind, order 0."""
    return i0(x)


def modified_bessel_i1(x: Array) -> TensorLike:
    """The modified Bessel function of the first kind, order 1."""
    return i1(x)


def modified_bessel_k0(x: Array) -> TensorLike:
    """The modified Bessel function of the second kind, order 0."""
    return _call("k0", x)


def modified_bessel_k1(x: Array) -> Array:
    """The modified Bessel function of the second kind, order 1."""
    return _call("k1", x)


def scaled_modified_bessel_k0(x: Array) -> Array:
    """exp(x) times `modified_bessel_k0`."""
    return _call("k0e", x)


def scaled_modified_bessel_k1(x: Array) -> TensorLike:
    """exp(x) times `modified_bessel_k1`."""
    return _call("k1e", x)


def spherical_bessel_j0(x: Array) -> Array:
    """sin(x) / x, 1 at 0, 0 at the infinities."""
    zero = np.equal(x, 0)
    safe = where(zero, x.dtype.type(1), x)
    value = where(np.isinf(x), x.dtype.type(0), np.divide(np.sin(x), safe))
    return where(zero, x.dtype.type(1), value)


# first two polynomials, and the next from (2 x or so, last, one before): a x p - b q
_FAMILIES: dict[str, Any] = {
    "chebyshev_polynomial_t": (lambda x: x, lambda k, x, p, q: 2 * x * p - q),
    "chebyshev_polynomial_u": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - q),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, lambda k, x, p, q: 2 * x * p - q),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, lambda k, x, p, q: 2 * x * p - q),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, p, q: x * p - k * q),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1),
    ),
    "legendre_polynomial_p": (
        lambda x: x,
        lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1),
    ),
}


_MANY = 1024  # steps of the recurrence between looks at whether it has come to its end


def polynomial(family: str, x: Array, n: Any) -> Array:
    """The orthogonal polynomial of a family and of degree `n` (an array or a number) at `x`.

    The three-term recurrence, run once up to the largest degree.
    """
    if family.startswith("shifted_"):
        family = family.removeprefix("shifted_")
        x = np.asarray(2 * x - 1, (x if isinstance(x, np.ndarray) else n).dtype)
    like = x if isinstance(x, np.ndarray) else n
    x = np.asarray(x, like.dtype)
    degree = np.trunc(np.asarray(n)).astype(np.int64)
    first, following = _FAMILIES[family]
    x, degree = np.broadcast_arrays(x, degree)
    before, last = np.ones_like(x), np.asarray(first(x))
    result = where(degree < 0, 0, where(degree == 0, before, last)).astype(like.dtype)
    closed = (degree > _MANY) & (np.abs(x) <= 1)
    if family.startswith("chebyshev") and closed.any():
        result = where(closed, _chebyshev(family[-1], x, degree), result).astype(like.dtype)
        degree = where(closed, np.int64(0), degree)
    for k in range(1, int(degree.max(initial=0))):
        before, last = last, following(k, x, last, before)
        result = where(degree == k + 1, last, result).astype(like.dtype)
        if not k % _MANY and np.isnan(last[degree > k]).all():
            return where(degree > k, like.dtype.type(np.nan), result)
    return result


def _chebyshev(kind: str, x: Array, degree: Any) -> Array:
    """Chebyshev's polynomials between -1 and 1, by cosines and sines of multiples."""
    n = degree.astype(np.float64)
    angle = np.arccos(x.astype(np.float64))
    sign = where((x < 0) & (degree % 2 == 1), -1.0, 1.0)
    with np.errstate(all="ignore"):
        if kind == "t":
            return np.cos(n * angle)
        if kind == "u":
            inner, ends = np.sin((n + 1) * angle) / np.sin(angle), n + 1
        elif kind == "v":
            inner = np.cos((n + 0.5) * angle) / np.cos(angle / 2)
            ends = where(x < 0, 2 * n + 1, 1.0)
        else:
            inner = np.sin((n + 0.5) * angle) / np.sin(angle / 2)
            ends = where(x < 0, 1.0, 2 * n + 1)
    return where(np.abs(x) == 1, sign * ends, inner)
