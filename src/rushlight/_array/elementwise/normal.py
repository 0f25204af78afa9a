"""The normal distribution's tails and quantiles, of large float32 arrays, in float64.

Source: the polynomials were fitted at Chebyshev's points to what SciPy gives in float64, for this
file, with errors below 1e-9.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

from ..._formula import words as W
from .in_float64 import polynomial

if TYPE_CHECKING:
    from ..._formula.ir import Symbol

# exp(x²) erfc(x) (1 + 2 x) of x >= 0, in (x - 3) / (x + 3).
_SCALED = (
    1.25300805827, -0.135621106048, -0.047562294315, 0.129645154994, -0.11927366446,
    0.068308080102, -0.023770503775, 0.002529053011, 0.00188863001, -0.00077866825,
    -0.000104972312, 0.0001227955, 0.000004594819, -0.000017423404, -0.000000313048,
    0.000001697646, 0.00000004836,
)  # fmt: skip
# The quantile of p < 1/2, by w = -log(4 p (1 - p)): over 1 - 2 p, in 2 w / 2.2² - 1 ...
_BODY = (
    2.09537241604, 0.84630448113, -0.032037735672, -0.026513432396, 0.010666624381,
    -0.000386369722, -0.001046044335, 0.000321211104, 0.000036301823, -0.00004615204,
    0.000006847508, 0.000003364391, -0.00000117001,
)  # fmt: skip
# ... and over √w from 2.2² on, in 1 / √w brought from -1 to 1.
_TAIL = (
    1.350548376332, -0.048939822728, 0.005407916573, 0.003821475416, -0.00115840516,
    0.000089343238, -0.000186771618, -0.000011748991, 0.000068402212, 0.000055290922,
    -0.000038514172, -0.000025630864, 0.000012460592, 0.00000631932, -0.000002620183,
)  # fmt: skip
_FIRST, _LAST = 2.2, 10.4


def erfcx(x: Symbol) -> Symbol:
    """exp(x²) erfc(x)."""
    size = W.absolute(x)
    scaled = polynomial(1 - 6 / (size + 3), _SCALED) / (size * 2 + 1)
    return W.where(x < 0.0, W.exp(x * x) * 2 - scaled, scaled)


def log_ndtr(x: Symbol) -> Symbol:
    """The logarithm of the normal distribution's function."""
    size = W.absolute(x)
    half, scaled = size * size * -0.5, erfcx(size * sqrt(0.5)) * 0.5
    above = W.log1p(-(W.exp(half) * scaled))
    return W.where(x < 0.0, W.log(scaled) + half, above)


def ndtri(p: Symbol) -> Symbol:
    """The quantile of the normal distribution; nan outside of 0 to 1."""
    w = -W.log(p * (1 - p) * 4)
    root = W.sqrt(W.maximum(w, _FIRST * _FIRST))
    middle, width = (1 / _FIRST + 1 / _LAST) / 2, (1 / _FIRST - 1 / _LAST) / 2
    tail = polynomial((1 / root - middle) / width, _TAIL) * root
    body = polynomial(w * (2 / (_FIRST * _FIRST)) - 1, _BODY) * (p * 2 - 1)
    found = W.where(w < _FIRST * _FIRST, body, W.where(p < 0.5, -tail, tail))
    return W.where(p == 0.0, -inf, W.where(p == 1.0, inf, found))


def entr(x: Symbol) -> Symbol:
    """-x log(x), 0 at 0 and -inf below."""
    return W.where(x == 0.0, 0.0, W.where(x < 0.0, -inf, -x * W.log(x)))
