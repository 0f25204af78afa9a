"""What the kernels of losses by element compute, written on symbols.

The parameters behind the arrays may be symbols or Python numbers. Each function is traced once per
dtype; see `_formula.ir` for the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._formula.ir import Symbol, absolute, exp, log1p, maximum, minimum, total, where

__all__ = ["LOSSES", "LOSS_SLOPES"]

Number = Symbol | float

# ---- gates -------------------------------------------------------------------------------------


def glu(a: Symbol, b: Symbol) -> Any:
    """a sigmoid(b)."""
    return a / (1.0 + exp(-b))


def glu_backward(g: Symbol, a: Symbol, b: Symbol) -> Any:
    """The gradients of `glu` for both."""
    s = 1.0 / (1.0 + exp(-b))
    first = g * s
    return first, first * a * (1.0 - s)


# ---- losses by element -------------------------------------------------------------------------


def whole(x: Symbol) -> Any:
    """The sum of all elements."""
    return total(x)


def squares(x: Symbol, t: Symbol) -> Any:
    """(x - t)²."""
    d = x - t
    return d * d


def bounded_squares(x: Symbol, t: Symbol, bound: Number) -> Any:
    """d²/2 within the bound, bound (|d| - bound / 2) outside."""
    d = x - t
    cut = minimum(maximum(d, -bound), bound)
    return cut * (d - cut * 0.5)


def smooth_l1(x: Symbol, t: Symbol, beta: Number) -> Any:
    """d²/2β within β, |d| - β/2 outside."""
    z = absolute(x - t)
    return where(z < beta, z * 0.5 * z / beta, z - 0.5 * beta)


def logits(x: Symbol, t: Symbol) -> Any:
    """(1 - t) x - (min(x, 0) - log(1 + exp(-|x|)))."""
    return (1.0 - t) * x - (minimum(x, 0.0) - log1p(exp(-absolute(x))))


def soft_margin(x: Symbol, t: Symbol) -> Any:
    """log(1 + exp(-t x))."""
    return log1p(exp(-(x * t)))


def squares_slope(x: Symbol, t: Symbol) -> Any:
    """x - t: without the factor 2."""
    return x - t


def bounded_slope(x: Symbol, t: Symbol, bound: Number) -> Any:
    """x - t cut off at the bound."""
    return minimum(maximum(x - t, -bound), bound)


def smooth_l1_slope(x: Symbol, t: Symbol, beta: Number) -> Any:
    """(x - t)/β cut off at 1."""
    return maximum(minimum((x - t) / beta, 1.0), -1.0)


def logits_slope(x: Symbol, t: Symbol) -> Any:
    """sigmoid(x) - t."""
    return 1.0 / (1.0 + exp(-x)) - t


def probabilities_slope(p: Symbol, t: Symbol) -> Any:
    """(p - t) / (p (1 - p))."""
    return (p - t) / maximum((1.0 - p) * p, 1e-12)


def soft_margin_slope(x: Symbol, t: Symbol) -> Any:
    """-t sigmoid(-t x)."""
    return -t / (exp(x * t) + 1.0)


def summed(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of a loss over all elements."""

    def loss(*operands: Any) -> Any:
        return total(formula(*operands))

    loss.__name__ = formula.__name__
    return loss


def scaled(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A slope times a number, which comes after the arrays."""

    def slope(x: Symbol, t: Symbol, g: Number, *numbers: Number) -> Any:
        return formula(x, t, *numbers) * g

    slope.__name__ = formula.__name__
    return slope


#: Sums over all elements of two arrays, by the name of the formula, and how many numbers follow;
LOSSES: Final[dict[str, tuple[Callable[..., Any], int]]] = {
    "squares": (summed(squares), 0), "bounded_squares": (summed(bounded_squares), 1),
    "logits": (summed(logits), 0),
}  # fmt: skip
#: their gradients, by element.
LOSS_SLOPES: Final[dict[str, tuple[Callable[..., Any], int]]] = {
    "squares_slope": (scaled(squares_slope), 1), "bounded_slope": (scaled(bounded_slope), 2),
    "logits_slope": (scaled(logits_slope), 1),
    "probabilities_slope": (scaled(probabilities_slope), 1),
}  # fmt: skip
