"""Elementwise operations of the table as formulas on symbols, in the order of the eager ones.

Each takes what the operation takes: symbols, and Python numbers where it was given numbers. The
steps are those of the array layer, one by one, so that what is rounded is rounded alike.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any, Final

from ..._formula import ir as G

Number = int | float


def _times(x: Any, factor: Any) -> Any:
    return x if factor == 1 and not isinstance(factor, G.Symbol) else x * factor


def _plus(x: Any, y: Any, alpha: Any = 1) -> Any:
    return x + _times(y, alpha)


def _minus(x: Any, y: Any, alpha: Any = 1) -> Any:
    return x - _times(y, alpha)


def _from(x: Any, y: Any, alpha: Any = 1) -> Any:
    return -_times(x, alpha) + y if isinstance(alpha, G.Symbol) else _less(y, _times(x, alpha))


def _less(y: Any, x: Any) -> Any:
    return y - x


def clamped(x: Any, low: Any = None, high: Any = None) -> Any:
    """x between two bounds, of which one may be absent."""
    if low is not None:
        x = G.maximum(x, low)
    return x if high is None else G.minimum(x, high)


def power(x: Any, n: Any) -> Any:
    """x to the power of a number or of another symbol."""
    if not isinstance(n, G.Symbol) and n in (1, 2, 3, 4):
        return _whole_power(x, int(n))
    if not isinstance(n, G.Symbol):
        if n == 0.5:
            return G.sqrt(x)
        if n == -1:
            return 1.0 / x
        if n == -2:
            return 1.0 / (x * x)
    return G.power(x, n)


def _whole_power(x: Any, n: int) -> Any:
    if n == 1:
        return x
    square = x * x
    return square if n == 2 else square * x if n == 3 else square * square


def sign(x: Any) -> Any:
    """-1, 0 or 1; 0 for nan."""
    return G.cast(x > 0.0, x.dtype) - G.cast(x < 0.0, x.dtype)


def _soft_tail(x: Any) -> Any:
    return G.log1p(G.exp(-G.absolute(x)))


def _log_product(logarithm: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def product(x: Any, y: Any) -> Any:
        if not isinstance(x, G.Symbol):
            x = y.like(x)
        if not isinstance(y, G.Symbol):
            y = x.like(y)
        return G.where(x.equals(0.0) & y.equals(y), 0.0, x * logarithm(y))

    return product


def _lerp(start: Any, end: Any, weight: Any) -> Any:
    gap = end - start
    if not isinstance(weight, G.Symbol):
        return start + gap * weight if abs(weight) < 0.5 else end - gap * (1 - weight)
    near = G.absolute(weight) < 0.5
    return G.where(near, start + gap * weight, end - gap * (1 - weight))


def _add_product(x: Any, a: Any, b: Any, value: Number = 1) -> Any:
    return x + _times(a, value) * b


def _add_quotient(x: Any, a: Any, b: Any, value: Number = 1) -> Any:
    return x + _times(a, value) / b


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return G.where(mask, value, x)


def _choice(mask: Any, x: Any, y: Any) -> Any:
    return G.where(mask, x, y)


def _exclusive(a: Any, b: Any) -> Any:
    return a ^ b


def _threshold(x: Any, limit: Number, value: Number) -> Any:
    return G.where(x <= limit, value, x)


# ---- slopes of losses by element -----------------------------------------------------------------


def mean_squares(x: Any, t: Any) -> Any:
    """(x - t)²."""
    return (x - t) * (x - t)


def smooth_l1(x: Any, t: Any, beta: Number = 1.0) -> Any:
    """d²/2β within β, |d| - β/2 outside."""
    z = G.absolute(x - t)
    return G.where(z < beta, z * 0.5 * z / beta, z - 0.5 * beta) if beta else z


def huber(x: Any, t: Any, delta: Number = 1.0) -> Any:
    """d²/2 within δ, δ (|d| - δ/2) outside."""
    z = G.absolute(x - t)
    return G.where(z <= delta, z * 0.5 * z, (z - 0.5 * delta) * delta)


def logits(x: Any, t: Any) -> Any:
    """Binary cross-entropy of logits."""
    return (1.0 - t) * x - (G.minimum(x, 0.0) - _soft_tail(x))


def soft_margin(x: Any, t: Any) -> Any:
    """log(1 + exp(-t x))."""
    return G.log1p(G.exp(-(x * t)))


def smooth_l1_slope(x: Any, t: Any, beta: Number) -> Any:
    """d/β, cut off at ±1."""
    return G.maximum(G.minimum((x - t) / beta, 1.0), -1.0)


def huber_slope(x: Any, t: Any, delta: Number) -> Any:
    """d, cut off at ±δ."""
    return G.maximum(G.minimum(x - t, delta), -delta)


def logits_slope(x: Any, t: Any) -> Any:
    """σ(x) - t."""
    return 1.0 / (G.exp(-x) + 1.0) - t


def probabilities_slope(p: Any, t: Any) -> Any:
    """(p - t) / (p (1 - p))."""
    return (p - t) / G.maximum((1.0 - p) * p, 1e-12)


def soft_margin_slope(x: Any, t: Any) -> Any:
    """-t σ(-t x)."""
    return -t / (G.exp(x * t) + 1.0)


#: By the name of the instruction.
FORMULAS: Final[dict[str, Callable[..., Any]]] = {
    "square": lambda x: x * x, "_square_slope": lambda g, x: g * (x * 2.0),
    "relu": lambda x: G.maximum(x, 0.0), "sigmoid": lambda x: 1.0 / (G.exp(-x) + 1.0),
    "keep": lambda g, mask: G.where(mask, g, 0.0), "where": _choice, "masked_fill": _masked_fill,
    "rsqrt": G.rsqrt,
    "hardshrink": lambda x, limit: G.where(G.absolute(x) <= limit, 0.0, x),
    "softshrink": lambda x, limit: x - clamped(x, -limit, limit),
    "threshold": _threshold,
    "clamp": clamped, "clamp_min": clamped, "clamp_max": lambda x, high: G.minimum(x, high),
    "pow": power, "_cube": lambda x: x * x * x, "sgn": sign, "sign": sign,
    "xlogy": _log_product(G.log), "xlog1py": _log_product(G.log1p), "lerp": _lerp,
    "addcmul": _add_product, "addcdiv": _add_quotient,
    "add": _plus, "sub": _minus, "rsub": _from, "_rsub": _from, "_plus": _plus, "_minus": _minus,
    "_times": lambda x, y: x * y, "_over": lambda x, y: x / y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "reciprocal": lambda x: 1.0 / x, "neg": lambda x: -x,
    "bitwise_not": lambda x: ~x, "logical_not": lambda x: ~x, "bitwise_and": lambda x, y: x & y,
    "logical_and": lambda x, y: x & y, "bitwise_or": lambda x, y: x | y,
    "logical_or": lambda x, y: x | y, "bitwise_xor": _exclusive, "logical_xor": _exclusive,
    "isnan": lambda x: x.differs(x),
}  # fmt: skip


#: On bools.
LOGICAL: Final = frozenset(
    [
        "bitwise_not",
        "logical_not",
        "bitwise_and",
        "logical_and",
        "bitwise_or",
        "logical_or",
        "bitwise_xor",
        "logical_xor",
    ]
)


def fits(name: str, inputs: tuple[Any, ...], is_value: Callable[[Any], bool]) -> bool:
    """Whether an instruction's operands are ones that its formula takes."""
    if name in LOGICAL:
        return all(is_value(x) and x.dtype.name == "bool" for x in inputs)
    numbers = [x for x in inputs if type(x) is float]
    if any(isnan(x) for x in numbers):
        return False
    if name == "pow":
        return is_value(inputs[0])
    if name in ("smooth_l1_loss", "celu"):
        return bool(inputs[-1])
    if name == "where" and not any(is_value(x) for x in inputs[1:]):
        return False
    if name in ("clamp", "hardtanh"):
        return any(x is not None for x in inputs[1:])
    return is_value(inputs[0]) or name in ("xlogy", "xlog1py")
