"""Draws by rejection: Poisson, binomial, gamma and Dirichlet numbers.

How many words such a draw takes depends on the words, so elements are drawn one after the other,
as PyTorch does, from the same stream. Found by comparing draws with PyTorch 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import kernels
from ..elementwise.special import _scipy
from .draws import FLOATS, name_of, refuse
from .mt19937 import NATIVE, Stream

if TYPE_CHECKING:
    from ..annotations import Array

_TAILS: Final = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip
# PyTorch writes these in single precision.
_THIRD: Final = 0.3333333432674408
_SQUEEZE: Final = 0.03310000151395798
_TINY: Final = {"float32": 1.1754943508222875e-38, "float64": 2.2250738585072014e-308,
                "float16": 6.103515625e-05, "bfloat16": 1.1754943508222875e-38}  # fmt: skip


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
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _transformed_binomial(n: float, p: float, source: _Source) -> float:
    """Source: W. Hörmann, The generation of binomial random variates (1993), algorithm BTRS."""
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    accept = 0.92 - 4.2 / b
    r = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * spread
    m = math.floor((n + 1) * p)
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


def _inverted_binomial(n: float, p: float, source: _Source) -> float:
    """The number of geometric draws that fit into `n`."""
    scale, total, count = math.log1p(-p), 0.0, 0
    while True:
        u = source.uniform()
        total += math.ceil(math.log(u) / scale) if u else math.inf
        if total > n:
            return count
        count += 1


def _one_binomial(n: float, p: float, source: _Source) -> float:
    if n <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return n
    if p != p:
        return p
    if p <= 0.5:
        return (_transformed_binomial if n * p >= 10 else _inverted_binomial)(n, p, source)
    q = 1 - p
    return n - (_transformed_binomial if n * q >= 10 else _inverted_binomial)(n, q, source)


def _one_gamma(alpha: float, source: _Source, number: type = float) -> float:
    """A gamma number; `number` is the type in which PyTorch adds to and divides by `alpha`.

    Source: G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables (2000).
    """
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = (1 - source.uniform()) ** float(number(1) / number(alpha))
        alpha = float(number(alpha) + number(1))
    d = float(number(alpha) - number(_THIRD))
    c = 1.0 / math.sqrt(9.0 * d)
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


def _one_single_gamma(alpha: float, source: _Source) -> float:
    return _one_gamma(alpha, source, np.float32)


def _each(stream: Stream, draw: Callable[..., float], *operands: Array) -> Array:
    """One draw for each element, in double precision."""
    source = _Source(stream)
    with stream.lock:
        lists = [x.astype(np.float64).ravel().tolist() for x in operands]
        values = [draw(*items, source) for items in zip(*lists)]
    return np.array(values, np.float64).reshape(operands[0].shape)


def _gammas(stream: Stream, alpha: Any, single: bool) -> Array:
    """One gamma draw for each element, in double precision."""
    draw = _one_single_gamma if single else _one_gamma
    code = NATIVE.code or NATIVE.ask(64 * alpha.size)
    if code is None or not alpha.size:
        return _each(stream, draw, alpha)
    flat = alpha.astype(np.float64).ravel()
    number = np.float32 if single else np.float64
    shape = flat.astype(number)
    small = flat < 1
    with np.errstate(all="ignore"):
        exponents = np.where(small, number(1) / shape, number(0)).astype(np.float64)
        exponents[flat == 0] = -1.0
        shape = np.where(small, shape + number(1), shape)
        d = (shape - number(_THIRD)).astype(np.float64)
        c = 1.0 / np.sqrt(9.0 * d)
    source = _Source(stream)
    with stream.lock:
        found = kernels.gamma.fill(stream, exponents, d, c, lambda i: draw(float(flat[i]), source))
    return _each(stream, draw, alpha) if found is None else found.reshape(alpha.shape)


def poisson(stream: Stream, rate: Array) -> Array:
    """A Poisson number for each rate.

    Raises: RuntimeError for a negative rate.
    """
    if name_of(rate.dtype) not in FLOATS:
        raise refuse("poisson_cpu", rate.dtype)
    if rate.size and not (rate >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return _each(stream, _one_poisson, rate).astype(rate.dtype)


def binomial(stream: Stream, count: Array, prob: Array) -> Array:
    """A binomial number for each count and probability, which broadcast."""
    shape = np.broadcast_shapes(count.shape, prob.shape)
    n, p = np.broadcast_to(count, shape), np.broadcast_to(prob, shape)
    return _each(stream, _one_binomial, n, p).astype(count.dtype)


def standard_gamma(stream: Stream, alpha: Array) -> Array:
    """A gamma number of scale one for each shape parameter."""
    name = name_of(alpha.dtype)
    if name not in FLOATS:
        raise refuse("gamma_cpu", alpha.dtype)
    found = _gammas(stream, alpha, name != "float64").astype(alpha.dtype)
    return np.maximum(found, np.asarray(_TINY[name]).astype(alpha.dtype))


def dirichlet(stream: Stream, alpha: Array) -> Array:
    """A point of the simplex for each row of concentrations."""
    name = name_of(alpha.dtype)
    if name not in FLOATS:
        raise refuse("dirichlet", alpha.dtype)
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
    s = _scipy()
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
    s = _scipy()
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
