"""log Γ and its derivative, of large float32 arrays, in float64.

Below 7 by the recurrence from there on, where Stirling's series begin; left of zero by reflection.
Source: the Digital Library of Mathematical Functions, 5.5 and 5.11.
"""

from __future__ import annotations

from math import inf, log, pi
from typing import TYPE_CHECKING

from ..._formula import words as W
from .in_float64 import polynomial

if TYPE_CHECKING:
    from ..._formula.ir import Symbol

_FAR = 7.0
# x (x + 1) … (x + 6), and its derivative.
_RISING = (0.0, 720.0, 1764.0, 1624.0, 735.0, 175.0, 21.0, 1.0)
_SLOPE = tuple([k * value for k, value in enumerate(_RISING)][1:])
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)
_HALF_LOG_2PI = log(2 * pi) / 2


def _reach(x: Symbol) -> tuple[Symbol, Symbol, Symbol]:
    """Whether x >= 0 is in reach of the series, where they begin, and x below."""
    far = x >= _FAR
    return far, W.where(far, x, x + 7), W.minimum(x, _FAR)


def lgamma(x: Symbol) -> Symbol:
    """log |Γ(x)|.

    log Γ(x) = log Γ(x + 7) - log(x (x + 1) … (x + 6)): the difference of two numbers around 8 is
    right to 1e-15, which the zeros at 1 and 2 need in float32 no more.
    """
    size = W.absolute(x)
    far, z, near = _reach(size)
    inverse = 1 / z
    found = (
        (z - 0.5) * W.log(z)
        - z
        + (polynomial(inverse * inverse, _STIRLING) * inverse + _HALF_LOG_2PI)
    )
    below = W.where(far, 1.0, polynomial(near, _RISING))
    sine = W.absolute(W.sin((size - W.rint(size)) * pi))
    # One logarithm for the recurrence and the reflection.
    found = found - W.log(W.where(x < 0.0, below * pi / (size * sine), below))
    found = W.where(x < 0.0, -found, W.where((x - 1) * (x - 2) == 0.0, 0.0, found))
    return W.where(size == inf, inf, found)


def digamma(x: Symbol) -> Symbol:
    """The derivative of log Γ; nan at the negative integers, -inf at 0 and inf at -0."""
    turned = x - W.rint(x)
    far, z, near = _reach(W.where(x < 0.0, 1 - x, x))
    inverse = 1 / z
    square = inverse * inverse
    found = W.log(z) - inverse * 0.5 - polynomial(square, _DIGAMMA) * square
    found = found - W.where(far, 0.0, polynomial(near, _SLOPE) / polynomial(near, _RISING))
    left = found - W.cos(turned * pi) / W.sin(turned * pi) * pi
    left = W.where(turned == 0.0, turned / turned, left)
    return W.where(x == 0.0, -1 / x, W.where(x < 0.0, left, found))
