"""What the kernels of activations and of losses by element compute, written on symbols.

The parameters behind the arrays may be symbols or Python numbers. Each function is traced once per
dtype; see `_formula.ir` for the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._formula.ir import Symbol, absolute, exp, expm1, log1p, maximum, minimum, total, where

__all__ = ["ACTIVATIONS", "LOSSES", "LOSS_SLOPES", "SLOPES"]

Number = Symbol | float

# ---- activations -------------------------------------------------------------------------------


def keep(g: Symbol, mask: Symbol) -> Any:
    """g where the mask is set, else 0."""
    return where(mask, g, 0.0)


def chosen(mask: Symbol, x: Symbol, y: Symbol) -> Any:
    """x where the mask is set, else y."""
    return where(mask, x, y)


def elu(x: Symbol, alpha: Number, scale: Number, inner: Number) -> Any:
    """scale x above zero, scale alpha (exp(inner x) - 1) below."""
    return where(x > 0.0, x * scale, expm1(x * inner) * (alpha * scale))


def elu_backward(g: Symbol, x: Symbol, alpha: Number, scale: Number, inner: Number) -> Any:
    """g times the derivative of `elu`."""
    return g * where(x > 0.0, scale, exp(x * inner) * (alpha * scale * inner))


def leaky_relu(x: Symbol, slope: Number) -> Any:
    """x above zero, slope x below."""
    return where(x > 0.0, x, x * slope)


def leaky_relu_backward(g: Symbol, x: Symbol, slope: Number) -> Any:
    """g above zero, slope g below."""
    return where(x > 0.0, g, g * slope)


def softplus(x: Symbol, beta: Number, threshold: Number) -> Any:
    """log(1 + exp(beta x)) / beta, x itself above the threshold."""
    t = x * beta
    return where(t > threshold, x, log1p(exp(t)) / beta)


def softplus_backward(g: Symbol, x: Symbol, beta: Number, threshold: Number) -> Any:
    """g sigmoid(beta x), g itself above the threshold."""
    t = x * beta
    return where(t > threshold, g, g / (1.0 + exp(-t)))


def log_sigmoid(x: Symbol) -> Any:
    """min(x, 0) - log(1 + exp(-|x|))."""
    return minimum(x, 0.0) - log1p(exp(-absolute(x)))


def log_sigmoid_backward(g: Symbol, x: Symbol) -> Any:
    """g sigmoid(-x)."""
    return g / (1.0 + exp(x))


# tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2), and from 20 on it is 1.
_HIGH: Final = 20.0


def mish(x: Symbol) -> Any:
    """x tanh(softplus(x))."""
    e = exp(x)
    n = e * (e + 2.0)
    return where(x > _HIGH, x, x * (n / (n + 2.0)))


def mish_backward(g: Symbol, x: Symbol) -> Any:
    """g times the derivative of `mish`; nan at infinity, as by its definition."""
    e = exp(x)
    below = 1.0 / (e * (e + 2.0) + 2.0)
    slope = e * (e + 2.0) * below + x * ((4.0 * e) * (e + 1.0) * below * below)
    return g * where(x > _HIGH, 1.0 + (x - x), slope)


def hardsigmoid(x: Symbol) -> Any:
    """(x + 3) / 6 between 0 and 1."""
    return minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0


def hardsigmoid_backward(g: Symbol, x: Symbol) -> Any:
    """g / 6 within ±3."""
    return where((x > -3.0) & (x < 3.0), g / 6.0, 0.0)


def hardswish(x: Symbol) -> Any:
    """x hardsigmoid(x)."""
    return x * minimum(maximum(x + 3.0, 0.0), 6.0) / 6.0


def hardswish_backward(g: Symbol, x: Symbol) -> Any:
    """g times the derivative of `hardswish`."""
    return where(x < 3.0, where(x > -3.0, g * (x / 3.0 + 0.5), 0.0), g)


def hardtanh_backward(g: Symbol, x: Symbol, low: Number, high: Number) -> Any:
    """g between the bounds."""
    return where((x <= low) | (x >= high), 0.0, g)


def glu(a: Symbol, b: Symbol) -> Any:
    """a sigmoid(b)."""
    return a / (1.0 + exp(-b))


def glu_backward(g: Symbol, a: Symbol, b: Symbol) -> Any:
    """The gradients of `glu` for both."""
    s = 1.0 / (1.0 + exp(-b))
    first = g * s
    return first, first * a * (1.0 - s)


#: The formula of each function of one array, how many numbers follow it,
ACTIVATIONS: Final[dict[str, tuple[Callable[..., Any], int]]] = {
    "elu": (elu, 3), "leaky_relu": (leaky_relu, 1), "softplus": (softplus, 2),
    "log_sigmoid": (log_sigmoid, 0), "mish": (mish, 0), "hardsigmoid": (hardsigmoid, 0),
    "hardswish": (hardswish, 0),
}  # fmt: skip
#: and the same of gradients, whose first operands are the incoming gradient and the input.
SLOPES: Final[dict[str, tuple[Callable[..., Any], int]]] = {
    "elu_backward": (elu_backward, 3), "leaky_relu_backward": (leaky_relu_backward, 1),
    "softplus_backward": (softplus_backward, 2), "log_sigmoid_backward": (log_sigmoid_backward, 0),
    "mish_backward": (mish_backward, 0), "hardsigmoid_backward": (hardsigmoid_backward, 0),
    "hardswish_backward": (hardswish_backward, 0), "hardtanh_backward": (hardtanh_backward, 2),
}  # fmt: skip


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
