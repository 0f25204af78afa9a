"""GELU in the vocabulary: x Φ(x), Φ the distribution function of the standard normal.

`FORMULAS` has values and gradients by the word that says which form is meant.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, Final

from .words import erf, exp, tanh, where

_ROOT: Final = sqrt(2 / pi)
_CUBIC: Final = 0.044715


# In float32 Φ(x) - 1/2 and the slope of x Φ(x), less 1/2 too, are x P(x²) / Q(x²) up to a bound
# where they have reached 1/2: no exponential. Fitted for this file (weighted minimax) to relative
# errors of 1.3e-8 and 6e-9; highest powers first, and Q ends in 1.
_Fraction = tuple[float, tuple[float, ...], tuple[float, ...]]
_CDF: Final[_Fraction] = (
    5.4,
    (2.3591853211268824e-08, 6.323591294996322e-06, 0.00016068104071587422,
     0.004628878093433645, 0.03302804138661879, 0.3989422754192769),
    (1.2198394033401856e-06, 7.116826617779616e-05, 0.00183857556020148, 0.02817932512572771,
     0.2494554864437085, 1.0),
)  # fmt: skip
_SLOPE: Final[_Fraction] = (
    5.8,
    (-2.7830356033454332e-11, 1.1351815602378256e-08, 8.710543665571598e-07,
     3.2091561761720666e-05, 0.0001900101903997484, 0.013780797711618343,
     -0.023295702199578654, 0.7978845560114171),
    (2.960206192475299e-07, 9.601024887480565e-06, 0.00023508984834668312,
     0.0038821328317687736, 0.04365101670746564, 0.3041363579620875, 1.0),
)  # fmt: skip


def _polynomial(u: Any, coefficients: tuple[float, ...]) -> Any:
    found = u * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        found = found * u + coefficient
    return found


def _half_more(x: Any, fraction: _Fraction) -> Any:
    """1/2 + x P(x²) / Q(x²), exactly 0 below minus the bound."""
    bound, above, below = fraction
    near = where(x > bound, bound, x)
    near = where(near < -bound, -bound, near)
    u = near * near
    found = 0.5 + near * _polynomial(u, above) / _polynomial(u, below)
    return where(x < -bound, 0.0, found)


def gelu(x: Any) -> Any:
    """x Φ(x)."""
    if x.dtype == "f32":
        return x * _half_more(x, _CDF)
    return x * (0.5 * (1 + erf(x * sqrt(0.5))))


def gelu_backward(g: Any, x: Any) -> Any:
    """g (Φ(x) + x φ(x))."""
    if x.dtype == "f32":
        # x - x is nan at infinity, as x φ(x) is by the definition.
        return g * (_half_more(x, _SLOPE) + (x - x))
    bell = exp(x * x * -0.5)
    return g * (0.5 * (1 + erf(x * sqrt(0.5))) + x * bell * (1 / sqrt(2 * pi)))


def gelu_tanh(x: Any) -> Any:
    """x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))); (1 + tanh(u))/2 is the logistic function of 2 u."""
    return x / (1 + exp(x * (x * x * (-2 * _ROOT * _CUBIC) - 2 * _ROOT)))


def gelu_tanh_backward(g: Any, x: Any) -> Any:
    """g times the derivative of `gelu_tanh`; by tanh, which errs less here than the exponential."""
    square = x * x
    t = tanh(x * (square * (_ROOT * _CUBIC) + _ROOT))
    # Beyond ±30 the tanh is ±1, and its slope times x³ would be 0·inf; x - x keeps nan at infinity.
    near = where(square < 900.0, x, x - x)
    slope = near * (near * near * (3 * _ROOT * _CUBIC) + _ROOT)
    return g * 0.5 * (1 + t + (1 - t * t) * slope)


FORMULAS: Final = {"none": (gelu, gelu_backward), "tanh": (gelu_tanh, gelu_tanh_backward)}
