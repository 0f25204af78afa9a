"""Bessel and Airy functions on NumPy alone.

Near zero by power series, in the middle by recurrences and integrals, far out by the asymptotic
series of Hankel. Sources: the Digital Library of Mathematical Functions, chapters 9 and 10.
"""

from __future__ import annotations

from functools import cache
from math import gamma, pi, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from .gamma import EULER
from .wide import piecewise, sum_series, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..annotations import Array

_FAR: Final = 30.0  # from here on Hankel's series come to the last digit
_HIGHEST: Final = 84  # the order at which J is nothing for x up to there


def _hankel(order: int, x: Array) -> list[Array]:
    """The terms of Hankel's series: Π (4 ν² - (2 j - 1)²) / (8 j x), for j up to k."""
    terms = [np.ones_like(x)]
    for k in range(1, 24):
        terms.append(terms[-1] * ((4 * order * order - (2 * k - 1) ** 2) / (8 * k)) / x)
    return terms


# ---- modified -------------------------------------------------------------------------------
def _modified_series(order: int, x: Array) -> Array:
    quarter = x * x / 4
    first = np.ones_like(x) if order == 0 else x / 2
    return sum_series(first, lambda k: quarter / (k * (k + order)), 120)


def _scaled_modified(order: int, x: Array) -> Array:
    """exp(-x) I(x), x >= 0."""

    def far(x: Array) -> Array:
        total = sum((-1.0) ** k * term for k, term in enumerate(_hankel(order, x)))
        return total / np.sqrt(2 * pi * x)

    return piecewise(
        (x,), (x < _FAR, lambda x: _modified_series(order, x) * np.exp(-x)), (x >= _FAR, far)
    )


def _first_kind(order: int, scaled: bool) -> Callable[..., Array]:
    @wide
    def call(x: Array) -> Array:
        size = np.abs(x)
        found = _scaled_modified(order, size)
        if not scaled:
            half = np.exp(size / 2)  # its square may be infinite where the product isn't
            found = np.where(np.isinf(size), np.inf, found * half * half)
        return np.copysign(found, x) if order else found

    return call


i0, i0e = _first_kind(0, False), _first_kind(0, True)
i1, i1e = _first_kind(1, False), _first_kind(1, True)


def _second_series(order: int, x: Array) -> Array:
    """K(x), 0 < x <= 2, by its series around the logarithm."""
    quarter, log_half = x * x / 4, np.log(x / 2)
    term = np.ones_like(x) if order == 0 else x / 2
    harmonic = -EULER if order == 0 else 0.5 - EULER
    total = np.zeros_like(x)
    for k in range(1, 30):
        total += term * (harmonic - log_half)
        term = term * quarter / (k * (k + order))
        harmonic += 1 / k if order == 0 else 0.5 / k + 0.5 / (k + 1)
    return total if order == 0 else 1 / x - total


def _second_integral(order: int, x: Array) -> Array:
    """exp(x) K(x) = ∫ exp(-x (cosh t - 1)) cosh(ν t) dt over t > 0: the trapezoidal rule is exact
    to all digits for so smooth an integrand."""
    total, step = np.full_like(x, 0.5), 1 / 16
    for k in range(1, 16 * 5):
        # cosh t - 1 without the cancellation
        t = k * step
        total += np.exp(-x * (2 * np.sinh(t / 2) ** 2)) * (np.cosh(t) if order else 1.0)
    return total * step


def _second_far(order: int, x: Array) -> Array:
    total = sum(_hankel(order, x))
    return np.where(np.isinf(x), 0.0, total * np.sqrt(pi / (2 * x)))


def _second_kind(order: int, scaled: bool) -> Callable[..., Array]:
    @wide
    def call(x: Array) -> Array:
        found = piecewise(
            (x,),
            (x == 0, lambda x: np.full_like(x, np.inf)),
            ((x > 0) & (x <= 2), lambda x: _second_series(order, x) * np.exp(x)),
            ((x > 2) & (x < _FAR), lambda x: _second_integral(order, x)),
            (x >= _FAR, lambda x: _second_far(order, x)),
        )
        return found if scaled else found * np.exp(-x)

    return call


k0, k0e = _second_kind(0, False), _second_kind(0, True)
k1, k1e = _second_kind(1, False), _second_kind(1, True)


# ---- ordinary -------------------------------------------------------------------------------
def _near(x: Array, start: int) -> list[Array]:
    """J0, J1, … of 0 < x < 30, by the recurrence downwards, normed by J0 + 2 Σ J2k = 1.

    The values grow by (2 k / x) in each of `start` steps, which must stay below 1e290 in all.
    """
    values = [np.zeros_like(x)] * (start + 2)
    values[-2] = np.full_like(x, 1e-290)
    for k in range(start, 0, -1):
        values[k - 1] = 2 * k / x * values[k] - values[k + 1]
    norm = values[0] + 2 * sum(values[2::2])
    return [value / norm for value in values]


def _ordinary_series(order: int, x: Array) -> Array:
    quarter = -x * x / 4
    first = np.ones_like(x) if order == 0 else x / 2
    return sum_series(first, lambda k: quarter / (k * (k + order)), 40)


def _waves(order: int, x: Array) -> tuple[Array, Array]:
    """J and Y of x >= 30."""
    terms = _hankel(order, x)
    even = sum((-1.0) ** (k // 2) * terms[k] for k in range(0, len(terms), 2))
    odd = sum((-1.0) ** (k // 2) * terms[k] for k in range(1, len(terms), 2))
    # cos and sin of x less (2 ν + 1) π / 4, without rounding that difference
    cosine, sine = np.cos(x), np.sin(x)
    if order == 0:
        c, s = cosine + sine, sine - cosine
    else:
        c, s = sine - cosine, -sine - cosine
    scale = np.sqrt(1 / (pi * x))
    return scale * (even * c - odd * s), scale * (even * s + odd * c)


def _ordinary(order: int) -> Callable[..., Array]:
    @wide
    def call(x: Array) -> Array:
        size = np.abs(x)
        found = piecewise(
            (size,),
            (size <= 2, lambda x: _ordinary_series(order, x)),
            (size < _FAR, lambda x: _near(x, _HIGHEST)[order]),
            (np.isinf(size), np.zeros_like),
            (size >= _FAR, lambda x: _waves(order, x)[0]),
        )
        return found * np.sign(x) if order else found

    return call


j0, j1 = _ordinary(0), _ordinary(1)


def _neumann(order: int, x: Array, start: int) -> Array:
    """Y(x) by Neumann's series over the J of higher order."""
    j = _near(x, start)
    signs = [(-1.0) ** k for k in range(start)]
    if order == 0:
        rest = sum(signs[k] / k * j[2 * k] for k in range(1, start // 2))
        return (2 / pi) * ((np.log(x / 2) + EULER) * j[0] - 2 * rest)
    rest = sum(signs[k] * (2 * k + 1) / (k * (k + 1)) * j[2 * k + 1] for k in range(1, start // 2))
    return (2 / pi) * ((np.log(x / 2) + EULER - 1) * j[1] - j[0] / x - rest)


def _second_ordinary(order: int) -> Callable[..., Array]:
    @wide
    def call(x: Array) -> Array:
        return piecewise(
            (x,),
            (x == 0, lambda x: np.full_like(x, -np.inf)),
            ((x > 0) & (x < 1e-8), lambda x: _tiny_second(order, x)),
            ((x > 0) & (x <= 2), lambda x: _neumann(order, x, 30)),
            ((x > 0) & (x < _FAR), lambda x: _neumann(order, x, _HIGHEST)),
            (np.isposinf(x), np.zeros_like),
            (x >= _FAR, lambda x: _waves(order, x)[1]),
        )

    return call


def _tiny_second(order: int, x: Array) -> Array:
    if order:
        return -2 / (pi * x) + x / pi * (np.log(x / 2) + EULER - 0.5)
    return (2 / pi) * (np.log(x / 2) + EULER)


y0, y1 = _second_ordinary(0), _second_ordinary(1)


# ---- Airy -----------------------------------------------------------------------------------
@cache
def _airy_nodes() -> tuple[Array, Array]:
    """Points and weights of ∫ f(t) t^(-1/6) e^-t dt over t > 0: the trapezoidal rule in s of
    t = exp(s - exp(-s)), where both ends fall off doubly exponentially."""
    s = np.arange(-4.5, 4.5, 1 / 32)
    t = np.exp(s - np.exp(-s))
    return t, np.exp(-t) * t ** (5 / 6) * (1 + np.exp(-s)) / 32


def _airy_integral(z: Array) -> Array:
    """Ai(z) of |arg z| < 2 π / 3."""
    zeta = 2 / 3 * z * np.sqrt(z)
    total = np.zeros_like(z)
    for t, weight in zip(*_airy_nodes(), strict=True):
        total += weight * (2 + t / zeta) ** (-1 / 6)
    factor = np.exp(-zeta) * zeta ** (-1 / 6)
    return factor * total / (sqrt(pi) * 48 ** (1 / 6) * gamma(5 / 6))


def _airy_series(x: Array) -> Array:
    cube = x**3
    even = sum_series(np.ones_like(x), lambda k: cube / ((3 * k) * (3 * k - 1)), 40)
    odd = sum_series(x, lambda k: cube / ((3 * k) * (3 * k + 1)), 40)
    return even / (3 ** (2 / 3) * gamma(2 / 3)) - odd / (3 ** (1 / 3) * gamma(1 / 3))


@wide
def _ai(x: Array) -> Array:
    def evaluate_left(x: Array) -> Array:
        turn = np.exp(1j * pi / 3)
        return 2 * (turn * _airy_integral(-x * turn)).real

    return piecewise(
        (x,),
        (np.abs(x) <= 1.5, _airy_series),
        (np.isposinf(np.abs(x)), lambda x: np.full_like(x, np.nan)),
        (x > 0, _airy_integral),
        (x < 0, evaluate_left),
    )


def airy(x: Array) -> tuple[Array]:
    """The Airy function Ai, as the first of a tuple, as SciPy gives it before the other three."""
    return (_ai(x),)
