"""What the kernels of choices and of losses by element compute, written on symbols.

The parameters behind the arrays may be symbols or Python numbers. Each function is traced once per
dtype; see `_formula.ir` for the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._formula.ir import Symbol, absolute, exp, log1p, maximum, minimum, total, where

__all__ = ["LOSSES", "LOSS_SLOPES"]

Number = Symbol | float

# ---- activations -------------------------------------------------------------------------------


def keep(g: Symbol, mask: Symbol) -> Any:
    """g where the mask is set, else 0."""
    return where(mask, g, 0.0)


def chosen(mask: Symbol, x: Symbol, y: Symbol) -> Any:
    """x where the mask is set, else y."""
    return where(mask, x, y)


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
    return total(d * d)


def bounded_squares(x: Symbol, t: Symbol, bound: Number) -> Any:
    """d²/2 within the bound, bound (|d| - bound / 2) outside."""
    d = x - t
    cut = minimum(maximum(d, -bound), bound)
    return total(cut * (d - cut * 0.5))


def logits(x: Symbol, t: Symbol) -> Any:
    """(1 - t) x - (min(x, 0) - log(1 + exp(-|x|)))."""
    return total((1.0 - t) * x - (minimum(x, 0.0) - log1p(exp(-absolute(x)))))


def squares_slope(x: Symbol, t: Symbol, g: Number) -> Any:
    """2 (x - t) g, the factor in g."""
    return (x - t) * g


def bounded_slope(x: Symbol, t: Symbol, g: Number, bound: Number) -> Any:
    """x - t cut off at the bound, times g."""
    return minimum(maximum(x - t, -bound), bound) * g


def logits_slope(x: Symbol, t: Symbol, g: Number) -> Any:
    """(sigmoid(x) - t) g."""
    return (1.0 / (1.0 + exp(-x)) - t) * g


def probabilities_slope(p: Symbol, t: Symbol, g: Number) -> Any:
    """(p - t) / (p (1 - p)) g."""
    return (p - t) / maximum((1.0 - p) * p, 1e-12) * g


#: Sums over all elements of two arrays, by the name of the formula, and how many numbers follow;
LOSSES: Final[dict[str, tuple[Callable[..., Any], int]]] = {
    "squares": (squares, 0), "bounded_squares": (bounded_squares, 1), "logits": (logits, 0),
}  # fmt: skip
#: their gradients, by element.
LOSS_SLOPES: Final[dict[str, tuple[Callable[..., Any], int]]] = {
    "squares_slope": (squares_slope, 1), "bounded_slope": (bounded_slope, 2),
    "logits_slope": (logits_slope, 1), "probabilities_slope": (probabilities_slope, 1),
}  # fmt: skip
