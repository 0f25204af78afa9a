"""Γ and its relatives on NumPy alone: log Γ, digamma, Hurwitz' ζ, incomplete gamma and beta.

Sources: the asymptotic series, recurrences, reflections and continued fractions of the Digital
Library of Mathematical Functions, chapters 5, 8 and 25.
"""

from __future__ import annotations

from functools import cache
from math import log, pi
from typing import TYPE_CHECKING, Final

import numpy as np

from .wide import piecewise, sum_series, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..annotations import Array

#: The Bernoulli numbers B2, B4, …
BERNOULLI: Final = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip
EULER: Final = 0.57721566490153286061
_FAR: Final = 12.0  # from here on the asymptotic series are used
_TINY: Final = 1e-300
_LARGE: Final = 200.0  # parameters from which incomplete functions are integrated


# ---- log Γ and its derivative ---------------------------------------------------------------
@cache
def _zeta_minus_one() -> Array:
    """ζ(k) - 1 of k = 2, 3, …, 40."""
    return zeta(np.arange(2.0, 41.0), 2.0)


def _near_two(z: Array) -> Array:
    """log Γ(2 + z) by Taylor's series, |z| <= 1/2: exact to the last digits around its zero."""
    total = np.zeros_like(z)
    for k, value in reversed([*enumerate(_zeta_minus_one(), 2)]):
        total = total * -z + value / k
    return z * (1 - EULER + z * total)


def _stirling_tail(x: Array) -> Array:
    """log Γ(x) less (x - 1/2) log x - x + log(2 π) / 2."""
    square, total = 1 / (x * x), np.zeros_like(x)
    for k in range(9, -1, -1):
        total = total * square + BERNOULLI[k] / ((2 * k + 2) * (2 * k + 1))
    return total / x


def _far_log_gamma(x: Array) -> Array:
    found = (x - 0.5) * np.log(x) - x + 0.5 * log(2 * pi) + _stirling_tail(x)
    return np.where(np.isinf(x), x, found)


def _middle_log_gamma(x: Array) -> Array:
    product = np.ones_like(x)
    while (near := x < _FAR).any():
        product, x = np.where(near, product * x, product), np.where(near, x + 1, x)
    return _far_log_gamma(x) - np.log(product)


def _reflected_log_gamma(x: Array) -> Array:
    sine = np.abs(np.sin(pi * (x - np.round(x))))
    return log(pi) - np.log(sine * -x) - gammaln(-x)


@wide
def gammaln(x: Array) -> Array:
    """log |Γ(x)|."""
    return piecewise(
        (x,),
        (x >= _FAR, _far_log_gamma),
        (x > 2.5, _middle_log_gamma),
        (x >= 1.5, lambda x: _near_two(x - 2)),
        (x >= 0.5, lambda x: _near_two(x - 1) - np.log(x)),
        (x > 0, lambda x: _near_two(x) - np.log(x) - np.log1p(x)),
        (x == np.floor(x), lambda x: np.full_like(x, np.inf)),
        (x < 0, _reflected_log_gamma),
    )


@wide
def gamma(x: Array) -> Array:
    """Γ(x) of positive x."""
    found = np.exp(gammaln(x))
    return np.where((x == np.floor(x)) & (x < 20), np.round(found), found)


def _right_digamma(x: Array) -> Array:
    total = np.zeros_like(x)
    while (near := x < _FAR).any():
        total, x = np.where(near, total - 1 / x, total), np.where(near, x + 1, x)
    square, series = 1 / (x * x), np.zeros_like(x)
    for k in range(9, -1, -1):
        series = (series + BERNOULLI[k] / (2 * k + 2)) * square
    return total + np.log(x) - 0.5 / x - series


def _left_digamma(x: Array) -> Array:
    turn = x - np.round(x)
    found = _right_digamma(1 - x) - pi / np.tan(pi * turn)
    return np.where(turn == 0, np.nan, found)


@wide
def digamma(x: Array) -> Array:
    """The derivative of log Γ; nan at 0 and the negative integers."""
    return piecewise((x,), (x > 0, _right_digamma), (np.isfinite(x), _left_digamma))


# ---- Hurwitz' ζ ------------------------------------------------------------------------------
def _zeta_right(s: Array, q: Array) -> Array:
    """Σ (q + k)^-s by Euler's and Maclaurin's formula, for s > 1, q > 0."""
    total = np.zeros_like(s)
    for _ in range(12):
        total, q = total + q**-s, q + 1
    power = q**-s
    total = total + power * q / (s - 1) + power / 2
    factor = s * power / q
    for k, number in enumerate(BERNOULLI, 1):
        term = factor * (number / _factorial(2 * k))
        total = total + np.where(np.isfinite(term), term, 0)
        factor = factor * ((s + 2 * k - 1) * (s + 2 * k)) / (q * q)
    return total


def _factorial(n: int) -> float:
    return float(np.prod(np.arange(1.0, n + 1)))


def _zeta_left(s: Array, q: Array) -> Array:
    """The same for negative q and whole s: terms before zero are mirrored to its right."""
    passed = -np.floor(q)
    rest = q + passed
    sign = np.where(s % 2 == 0, 1.0, -1.0)
    before = _zeta_right(s, 1 - rest) - _zeta_right(s, passed + 1 - rest)
    return _zeta_right(s, rest) + sign * before


@wide
def zeta(s: Array, q: Array) -> Array:
    """Σ (q + k)^-s over k = 0, 1, …; nan where s < 1, or where a negative q has no real power."""
    return piecewise(
        (s, q),
        (np.isnan(s) | np.isnan(q), lambda s, q: s + q),
        (s == 1, lambda s, q: np.full_like(s, np.inf)),
        (s < 1, lambda s, q: np.full_like(s, np.nan)),
        (q > 0, _zeta_right),
        (q == np.floor(q), lambda s, q: np.full_like(s, np.inf)),
        (s == np.floor(s), _zeta_left),
    )


# ---- incomplete functions --------------------------------------------------------------------
def continued_fraction(
    numerator: Callable[[int], Array], denominator: Callable[[int], Array], most: int
) -> Array:
    """b0 + a1 / (b1 + a2 / (b2 + …)), by the modified method of Lentz."""
    value = denominator(0)
    value = np.where(value == 0, _TINY, value)
    c, d = value, np.zeros_like(value)
    for k in range(1, most):
        a, b = numerator(k), denominator(k)
        d, c = b + a * d, b + a / c
        d = 1 / np.where(d == 0, _TINY, d)
        c = np.where(c == 0, _TINY, c)
        step = c * d
        value = value * step
        if not (np.abs(step - 1) > 1e-15).any():
            break
    return value


@cache
def _nodes() -> tuple[Array, Array]:
    """Points and weights of Gauss and Legendre between 0 and 1."""
    points, weights = np.polynomial.legendre.leggauss(64)
    return (points + 1) / 2, weights / 2


def integrate(
    log_density: Callable[[Array], Array], start: Array, stop: Array, pieces: int
) -> Array:
    """∫ exp(log_density) from `start` to `stop`, by Gauss and Legendre in equal pieces."""
    points, weights = _nodes()
    total, width = np.zeros_like(start), (stop - start) / pieces
    for piece in range(pieces):
        for point, weight in zip(points, weights, strict=True):
            total += weight * np.exp(log_density(start + width * (piece + point)))
    return total * width


def _log_power(a: Array, x: Array) -> Array:
    """log(x^a e^-x / Γ(a)), without the cancellation between large a and x."""
    near = np.abs(x - a) < 0.5 * a
    far = a * np.log(x) - x - gammaln(a)
    u = (x - a) / a
    close = a * log1p_less(u) + 0.5 * np.log(a / (2 * pi)) - _stirling_tail(np.maximum(a, _FAR))
    return np.where(near & (a >= _FAR), close, far)


def log1p_less(u: Array) -> Array:
    """log(1 + u) - u, by its series where the two nearly cancel."""
    series = np.zeros_like(u)
    for k in range(24, 1, -1):
        series = (series + (1.0 if k % 2 else -1.0) / k) * u
    return np.where(np.abs(u) < 0.2, series * u, np.log1p(u) - u)


def _lower_series(a: Array, x: Array) -> Array:
    """P(a, x), by its power series."""
    total = sum_series(np.ones_like(a), lambda k: x / (a + k), 20000)
    return np.exp(_log_power(a, x)) * total / a


def _upper_fraction(a: Array, x: Array) -> Array:
    """Q(a, x), by its continued fraction."""
    fraction = continued_fraction(lambda k: k * (a - k), lambda k: x + (2 * k + 1) - a, 20000)
    return np.exp(_log_power(a, x)) / fraction


def _tail(a: Array, x: Array, sign: float) -> Array:
    """The integral of the density from x away from the mode, for large a."""
    scale = np.sqrt(a)
    # Where the density has fallen by exp(-50) it counts no more.
    away = np.abs(x - a) / scale
    reach = np.minimum(50 / np.maximum(away, 1e-3), 12.0) * scale * 1.2
    stop = x + sign * reach
    stop = np.maximum(stop, _TINY) if sign < 0 else stop
    return np.abs(integrate(lambda t: _log_power(a, t) - np.log(t), x, stop, 2))


def _lower_and_upper(a: Array, x: Array) -> tuple[Array, Array]:
    """P and Q; the smaller of the two to its own digits."""
    upper = x > a

    def smaller(a: Array, x: Array) -> Array:
        # Below, the series; above, the fraction, which is slow near a small x.
        return piecewise(
            (a, x),
            ((a > _LARGE) & (x > a), lambda a, x: _tail(a, x, 1.0)),
            (a > _LARGE, lambda a, x: _tail(a, x, -1.0)),
            ((x > a) & (x >= 1.5), _upper_fraction),
            (x > a, _small_upper),
            (x >= 0, _lower_series),
        )

    found = smaller(a, x)
    return np.where(upper, 1 - found, found), np.where(upper, found, 1 - found)


def _small_upper(a: Array, x: Array) -> Array:
    """Q(a, x) of a < x < 1.5: 1 - x^a / Γ(1 + a), less the series from its second term on."""
    log_gamma = np.where(a < 0.5, _near_two(np.minimum(a, 0.5)) - np.log1p(a), gammaln(a + 1))
    log_first = a * np.log(x) - log_gamma
    term, total = np.ones_like(x), np.zeros_like(x)
    for k in range(1, 60):
        term = term * -x / k
        total += term / (a + k)
    return -np.expm1(log_first) - np.exp(log_first) * a * total


def _incomplete(a: Array, x: Array, lower: bool) -> Array:
    bad = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | np.isnan(a) | np.isnan(x)
    bad |= np.isinf(a) & np.isinf(x)
    full, none, sign = (1.0, 0.0, 1.0) if lower else (0.0, 1.0, -1.0)

    def at_the_mode(a: Array, x: Array) -> Array:
        return 0.5 + sign / (3 * np.sqrt(2 * pi * a))

    return piecewise(
        (a, x),
        (bad, lambda a, x: np.full_like(a, np.nan)),
        ((x == 0) | np.isinf(a), lambda a, x: np.full_like(a, none)),
        ((a == 0) | np.isinf(x), lambda a, x: np.full_like(a, full)),
        ((a == x) & (a > 1e13), at_the_mode),
        (a > 0, lambda a, x: _lower_and_upper(a, x)[0 if lower else 1]),
    )


@wide
def gammainc(a: Array, x: Array) -> Array:
    """P(a, x), the lower regularised incomplete gamma function."""
    return _incomplete(a, x, True)


@wide
def gammaincc(a: Array, x: Array) -> Array:
    """Q(a, x), the upper one."""
    return _incomplete(a, x, False)


@wide
def betaln(a: Array, b: Array) -> Array:
    """log B(a, b), of positive a and b."""
    small, large = np.minimum(a, b), np.maximum(a, b)

    def both_far(a: Array, b: Array) -> Array:
        tails = _stirling_tail(a) + _stirling_tail(b) - _stirling_tail(a + b)
        logs = (a - 0.5) * -np.log1p(b / a) - b * np.log1p(a / b) - 0.5 * np.log(b)
        return logs + 0.5 * log(2 * pi) + tails

    def one_far(a: Array, b: Array) -> Array:
        tails = _stirling_tail(b) - _stirling_tail(a + b)
        logs = (0.5 - b) * np.log1p(a / b) - a * np.log(a + b) + a
        return gammaln(a) + logs + tails

    return piecewise(
        (small, large),
        (small >= _FAR, both_far),
        (large >= _FAR, one_far),
        (small > 0, lambda a, b: gammaln(a) + gammaln(b) - gammaln(a + b)),
    )


def _beta_fraction(a: Array, b: Array, x: Array) -> Array:
    """I_x(a, b), by its continued fraction, which is quick for x < (a + 1) / (a + b + 2)."""

    def numerator(k: int) -> Array:
        if k == 1:
            return np.ones_like(x)
        m, odd = divmod(k - 1, 2)
        if odd:
            return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))

    def denominator(k: int) -> Array:
        return np.ones_like(x) if k else np.zeros_like(x)

    log_factor = a * np.log(x) + b * np.log1p(-x) - betaln(a, b) - np.log(a)
    return np.exp(log_factor) * continued_fraction(numerator, denominator, 20000)


@wide
def betainc(a: Array, b: Array, x: Array) -> Array:
    """I_x(a, b), the regularised incomplete beta function of positive a and b."""
    return piecewise(
        (a, b, x),
        (x <= 0, lambda a, b, x: np.where(x == 0, 0.0, np.nan)),
        (x >= 1, lambda a, b, x: np.where(x == 1, 1.0, np.nan)),
        (x < (a + 1) / (a + b + 2), _beta_fraction),
        (x < 1, lambda a, b, x: 1 - _beta_fraction(b, a, 1 - x)),
    )
