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
    1.2530080582695011, -0.135621106048263, -0.047562294315433185, 0.12964515499403187,
    -0.11927366445970797, 0.06830808010150384, -0.02377050377526888, 0.00252905301146479,
    0.001888630009660924, -0.0007786682495533127, -0.00010497231184782263, 0.00012279549992078316,
    4.59481937811407e-06, -1.7423403556395714e-05, -3.1304810418326163e-07, 1.6976463111362495e-06,
    4.8359769028729505e-08,
)  # fmt: skip
# The quantile of p < 1/2, by w = -log(4 p (1 - p)): over 1 - 2 p, in 2 w / 2.2² - 1 ...
_BODY = (
    2.095372416040276, 0.8463044811301123, -0.03203773567174212, -0.026513432396372712,
    0.010666624381110872, -0.000386369722316724, -0.0010460443353386571, 0.00032121110432052386,
    3.6301822971135416e-05, -4.6152039963339876e-05, 6.847507779568157e-06, 3.364390916256639e-06,
    -1.1700099446107276e-06,
)  # fmt: skip
# ... and over √w from 2.2² on, in 1 / √w brought from -1 to 1.
_TAIL = (
    1.3505483763319075, -0.04893982272838691, 0.0054079165734503415, 0.0038214754156159045,
    -0.0011584051602881872, 8.934323786456903e-05, -0.00018677161779544817, -1.1748990645585656e-05,
    6.840221172118774e-05, 5.529092205696007e-05, -3.8514171569816565e-05, -2.5630864271108088e-05,
    1.2460591694261762e-05, 6.319319606108855e-06, -2.620183448376434e-06,
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
