"""The tails of the normal distribution, and entropy, on NumPy alone."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ..elementwise.erf import erfc
from .wide import piecewise, wide

if TYPE_CHECKING:
    from ..annotations import Array


def _far_erfcx(x: Array) -> Array:
    half, total = 0.5 / (x * x), np.ones_like(x)
    for k in range(14, 0, -1):
        total = 1 - (2 * k - 1) * half * total
    return total / (x * sqrt(pi))


def _near_erfcx(x: Array) -> Array:
    # The square in two parts, so that its rounding doesn't reach the exponential.
    short = x.astype(np.float32).astype(np.float64)
    rest = (x - short) * (x + short)
    return np.exp(short * short) * np.exp(rest) * erfc(x)


@wide
def erfcx(x: Array) -> Array:
    """exp(x²) erfc(x)."""
    return piecewise(
        (x,),
        (x >= 10, _far_erfcx),
        (x < -27, lambda x: np.full_like(x, np.inf)),
        (x < 10, _near_erfcx),
    )


@wide
def log_ndtr(x: Array) -> Array:
    """The logarithm of the normal distribution's function."""
    return piecewise(
        (x,),
        (x < -1, lambda x: np.log(erfcx(-x * sqrt(0.5)) / 2) - x * x / 2),
        (x >= -1, lambda x: np.log1p(-erfc(x * sqrt(0.5)) / 2)),
    )


def _lower_quantile(p: Array) -> Array:
    """The quantile of 0 < p < 1/2: a rational guess, then Newton's steps on the logarithm.

    Source of the guess: Abramowitz and Stegun, 26.2.23.
    """
    aim = np.log(p)
    t = np.sqrt(-2 * aim)
    x = (2.515517 + t * (0.802853 + t * 0.010328)) / (
        1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    ) - t
    for _ in range(4):
        value = log_ndtr(x)
        slope = np.exp(-x * x / 2 - 0.5 * log(2 * pi) - value)
        x = x - (value - aim) / slope
    return x


@wide
def ndtri(p: Array) -> Array:
    """The quantile of the normal distribution; nan outside of 0 to 1."""
    return piecewise(
        (p,),
        (p == 0, lambda p: np.full_like(p, -np.inf)),
        (p == 1, lambda p: np.full_like(p, np.inf)),
        (p == 0.5, np.zeros_like),
        ((p > 0) & (p < 0.5), _lower_quantile),
        ((p > 0.5) & (p < 1), lambda p: -_lower_quantile(1 - p)),
    )


@wide
def entr(x: Array) -> Array:
    """-x log(x), 0 at 0 and -inf below."""
    return np.where(x == 0, 0.0, np.where(x < 0, -np.inf, -x * np.log(x)))
