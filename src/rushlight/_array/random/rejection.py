"""Draws by rejection: Poisson, binomial, gamma and Dirichlet numbers.

How many words such a draw takes depends on the words, so elements are drawn one after the other,
as PyTorch does, from the same stream. Found by comparing draws with PyTorch 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import errors
from ..._base.dtypes import scalar_name
from ..._native.math.polynomials import STIRLING
from .. import kernels
from ..elementwise.special import library
from ..types import from_raw
from .draws import FLOATS, name_of, refuse
from .mt19937 import NATIVE, Stream

if TYPE_CHECKING:
    from ..annotations import Array

# PyTorch writes these in single precision.
_THIRD: Final = 0.3333333432674408
_SQUEEZE: Final = 0.03310000151395798
_TINY: Final = {"float32": 1.1754943508222875e-38, "float64": 2.2250738585072014e-308}


class _Source:
    """Single uniforms and normals in double precision."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def uniform(self) -> float:
        """The next number in [0, 1)."""
        high, low = self.stream.words(2).tolist()
        return (((high & 0x1FFFFF) << 32) | low) * 2.0**-53

    def normal(self) -> float:
        """The next normal; the second one of a pair is kept in the stream."""
        kept = self.stream.next_normal
        if kept is not None:
            self.stream.next_normal = None
            return kept
        angle = 2.0 * math.pi * self.uniform()
        radius = math.sqrt(-2.0 * math.log1p(-self.uniform()))
        self.stream.next_normal = radius * math.sin(angle)
        return radius * math.cos(angle)


def _one_poisson(rate: float, source: _Source) -> float:
    """Source: W. Hörmann, The transformed rejection method for Poisson variables (1993)."""
    if rate >= 10:
        root, log_rate = math.sqrt(rate), math.log(rate)
        b = 0.931 + 2.53 * root
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        accept = 0.9277 - 3.6224 / (b - 2)
        while True:
            u = source.uniform() - 0.5
            v = source.uniform()
            us = 0.5 - abs(u)
            k = math.floor((2 * a / us + b) * u + rate + 0.43)
            if us >= 0.07 and v <= accept:
                return k
            if k < 0 or (us < 0.013 and v > us):
                continue
            left = math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
            if left <= -rate + k * log_rate - math.lgamma(k + 1):
                return k
    if rate == 0:
        return 0
    bound, product, count = math.exp(-rate), 1.0, 0
    while True:
        product *= source.uniform()
        if product <= bound:
            return count
        count += 1


def _tail(k: float) -> float:
    if k <= 9:
        return STIRLING[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _transformed_binomial(
    n: float, p: float, deviation: float, c: float, r: float, m: float, source: _Source
) -> float:
    """Source: W. Hörmann, The generation of binomial random variates (1993), algorithm BTRS."""
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    accept = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    while True:
        u = source.uniform() - 0.5
        v = source.uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= accept:
            return k
        if k < 0 or k > n:
            continue
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (n - m + 1)))
            + (n + 1) * math.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * math.log(r * (n - k + 1) / (k + 1))
            + _tail(m) + _tail(n - m) - _tail(k) - _tail(n - k)
        )  # fmt: skip
        if math.log(v * alpha / (a / (us * us) + b)) <= bound:
            return k


def _inverted_binomial(n: float, log_rest: float, source: _Source) -> float:
    """The number of geometric draws that fit into `n`."""
    total, count = 0.0, 0
    while True:
        u = source.uniform()
        total += math.ceil(math.log(u) / log_rest) if u else math.inf
        if total > n:
            return count
        count += 1


def _one_binomial(
    n: float, p: float, deviation: float, c: float, r: float, m: float, log_rest: float,
    source: _Source,
) -> float:  # fmt: skip
    if deviation > 0:
        return _transformed_binomial(n, p, deviation, c, r, m, source)
    return _inverted_binomial(n, log_rest, source)


def _binomial_columns(n: Array, p: Array) -> Array:
    """What is known of each number before it is drawn; in the arithmetic of the arrays' type.

    Shapes: flat, `p` in (0, 1/2] -> (7, elements).
    """
    mean = n * p
    deviation = np.where(mean >= 10, np.sqrt(mean * (1 - p)), 0)
    rest = np.log1p(-p.astype(np.float64)).astype(p.dtype)
    mode = np.floor((n + 1) * p)
    centre = mean.astype(np.float64) + 0.5
    columns = (n, p, deviation, centre, p / (1 - p), mode, rest)
    return np.stack([x.astype(np.float64) for x in columns])


def _one_gamma(exponent: float, d: float, c: float, source: _Source) -> float:
    """A gamma number; a negative exponent stands for zero.

    Source: G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables (2000).
    """
    if exponent < 0:
        return 0.0
    scale = (1 - source.uniform()) ** exponent if exponent > 0 else 1.0
    while True:
        while True:
            x = source.normal()
            y = 1.0 + c * x
            if y > 0:
                break
        v = y * y * y
        u = 1 - source.uniform()
        xx = x * x
        if u < 1.0 - _SQUEEZE * xx * xx:
            return scale * d * v
        if math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


_ONE: Final[dict[str, Callable[..., float]]] = {
    "binomial": _one_binomial,
    "gamma": _one_gamma,
    "poisson": _one_poisson,
}
#: What drawing one of them in Python costs, in words of the generator.
_COST: Final = 256


def _each(stream: Stream, kind: str, columns: Array, least: int) -> Array:
    """One draw for each column of what is known of the elements, in double precision.

    Each takes `least` words at least.
    """
    n = columns.shape[1]
    code = NATIVE.code or NATIVE.ask(_COST * n)
    with stream.lock:
        if code is not None and n:
            found = kernels.rejection.fill(stream, kind, columns, least)
            if found is not None:
                return found
        source, draw = _Source(stream), _ONE[kind]
        return np.array([draw(*items, source) for items in zip(*columns.tolist())], np.float64)


def _gammas(stream: Stream, alpha: Any, single: bool) -> Array:
    """One gamma draw for each element, in double precision."""
    number = np.float32 if single else np.float64
    flat = alpha.astype(np.float64).ravel()
    shape = flat.astype(number)
    small = flat < 1
    with np.errstate(all="ignore"):
        exponents = np.where(small, number(1) / shape, number(0)).astype(np.float64)
        exponents[flat == 0] = -1.0
        shape = np.where(small, shape + number(1), shape)
        d = (shape - number(_THIRD)).astype(np.float64)
        c = 1.0 / np.sqrt(9.0 * d)
    least = 0 if (flat == 0).any() else 2
    return _each(stream, "gamma", np.stack([exponents, d, c]), least).reshape(alpha.shape)


def poisson(stream: Stream, rate: Array) -> Array:
    """A Poisson number for each rate.

    Raises: RuntimeError for a negative rate.
    """
    if name_of(rate.dtype) not in FLOATS:
        raise refuse("poisson_cpu", rate.dtype)
    if rate.size and not (rate >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    rates = rate.astype(np.float64).reshape(1, -1)
    found = _each(stream, "poisson", rates, 2 if rates.all() else 0)
    return found.astype(rate.dtype).reshape(rate.shape)


def binomial(stream: Stream, count: Array, prob: Array) -> Array:
    """A binomial number for each count and probability, which broadcast.

    Dtypes: float32, float64.
    """
    if name_of(count.dtype) not in ("float32", "float64"):
        raise refuse("binomial_cpu", count.dtype)
    shape = np.broadcast_shapes(count.shape, prob.shape)
    n, p = (np.broadcast_to(x, shape).ravel() for x in (count, prob))
    # Nothing is drawn for what is certain.
    out = np.where((n <= 0) | (p <= 0), 0, np.where(p >= 1, n, p)).astype(count.dtype)
    drawn = (n > 0) & (p > 0) & (p < 1)
    if not drawn.all():
        n, p = n[drawn], p[drawn]
    often = p > 0.5
    rest = 1 - p
    columns = _binomial_columns(n, np.where(often, rest, p))
    found = _each(stream, "binomial", columns, 2).astype(count.dtype)
    out[drawn] = np.where(often, n - found, found)
    return out.reshape(shape)


def _type_of(kernel: str, *operands: Array) -> str:
    """The one type of the operands, which half precision isn't among.

    Raises:
        RuntimeError: for operands of several types, or of shapes that don't broadcast.
        NotImplementedError: for a type that PyTorch's kernel of that name doesn't have.
    """
    first = operands[0]
    for other in operands[1:]:
        mismatch = errors.broadcast(first.shape, other.shape)
        if mismatch is not None:
            raise RuntimeError(mismatch)
        if other.dtype != first.dtype:
            found, expected = (scalar_name(from_raw(a.dtype)) for a in (other, first))
            raise RuntimeError(f"Found dtype {found} but expected {expected}")
    name = name_of(first.dtype)
    if name not in _TINY:
        raise refuse(kernel, first.dtype)
    return name


def standard_gamma(stream: Stream, alpha: Array) -> Array:
    """A gamma number of scale one for each shape parameter."""
    name = _type_of("gamma_cpu", alpha)
    found = _gammas(stream, alpha, name != "float64").astype(alpha.dtype)
    return np.maximum(found, np.asarray(_TINY[name]).astype(alpha.dtype))


def dirichlet(stream: Stream, alpha: Array) -> Array:
    """A point of the simplex for each row of concentrations."""
    name = _type_of("dirichlet", alpha)
    gammas = np.maximum(_gammas(stream, alpha, False), _TINY["float64"])
    found = (gammas / gammas.sum(-1, keepdims=True)).astype(alpha.dtype)
    low = np.asarray(_TINY[name]).astype(alpha.dtype)
    return np.clip(found, low, np.nextafter(np.asarray(1, alpha.dtype), low))


# ---- derivatives of samples by their parameters -------------------------------------------------
def standard_gamma_grad(alpha: Array, sample: Array) -> Array:
    """The derivative of a gamma sample by its shape parameter: -∂F/∂α over the density.

    Source: M. Figurnov et al., Implicit reparameterization gradients (2018). ∂F/∂α is a central
    difference of fourth order of the smaller tail, good to some nine digits.
    """
    _type_of("_standard_gamma_grad_cpu", alpha, sample)
    s = library()
    a, x = np.broadcast_arrays(alpha.astype(np.float64), sample.astype(np.float64))
    with np.errstate(all="ignore"):
        log_density = (a - 1) * np.log(x) - x - s.gammaln(a)
        upper = x > a + 1

        def log_tail(b: Array) -> Array:
            return np.where(upper, np.log(s.gammaincc(b, x)), np.log(s.gammainc(b, x)))

        step = a * 2e-3
        slope = (
            8 * (log_tail(a + step) - log_tail(a - step))
            - (log_tail(a + 2 * step) - log_tail(a - 2 * step))
        ) / (12 * step)
        tail = log_tail(a)
        found = np.where(upper, 1.0, -1.0) * slope * np.exp(tail - log_density)
    found = np.where(x <= 0, 0.0, found)
    return found.astype(sample.dtype)


def dirichlet_grad(x: Array, alpha: Array, total: Array) -> Array:
    """The derivative of a beta sample by its first parameter, divided by 1 - x.

    Source: as above, for the beta distribution of `alpha` and `total - alpha`.
    """
    _type_of("_dirichlet_grad_cpu", x, alpha, total)
    s = library()
    z, a, t = np.broadcast_arrays(*(v.astype(np.float64) for v in (x, alpha, total)))
    b = t - a
    with np.errstate(all="ignore"):
        log_density = (a - 1) * np.log(z) + (b - 1) * np.log1p(-z) - s.betaln(a, b)
        upper = z > a / t

        def log_tail(c: Array) -> Array:
            low, high = s.betainc(c, b, z), s.betainc(b, c, 1 - z)
            return np.where(upper, np.log(high), np.log(low))

        step = a * 2e-3
        slope = (
            8 * (log_tail(a + step) - log_tail(a - step))
            - (log_tail(a + 2 * step) - log_tail(a - 2 * step))
        ) / (12 * step)
        rate = np.where(upper, 1.0, -1.0) * slope * np.exp(log_tail(a) - log_density)
        found = rate / (1 - z)
    return found.astype(x.dtype)
