"""What further kernels on rows compute, written on symbols: see `formulas`."""

from __future__ import annotations

from typing import Any, Final

from ..._formula.ir import Symbol, column_sum, row_sum, sqrt

__all__ = [
    "column_moments", "column_products", "column_totals",
    "rms_norm", "rms_norm_backward", "rms_norm_scaled",
    "rms_norm_scaled_backward",
]  # fmt: skip

_INFINITE: Final = float("inf")


def rms_norm(x: Symbol, part: Symbol, eps: Symbol) -> tuple[Symbol, Symbol]:
    """x over its root mean square, and one over that; `part` is one over the row's length."""
    inverse = 1 / sqrt(row_sum(x * x) * part + eps)
    return x * inverse, inverse


def rms_norm_scaled(x: Symbol, weight: Symbol, part: Symbol, eps: Symbol) -> tuple[Symbol, Symbol]:
    """`rms_norm` times `weight`."""
    hat, inverse = rms_norm(x, part, eps)
    return hat * weight, inverse


def rms_norm_backward(g: Symbol, x: Symbol, inverse: Symbol, part: Symbol) -> Any:
    """r (g - x̂ mean(g x̂))."""
    hat = x * inverse
    return inverse * (g - hat * (row_sum(g * hat) * part))


def rms_norm_scaled_backward(
    g: Symbol, x: Symbol, inverse: Symbol, weight: Symbol, part: Symbol
) -> tuple[Symbol, Symbol]:
    """The gradients of `rms_norm_scaled` for x and weight."""
    hat = x * inverse
    scaled = g * weight
    return inverse * (scaled - hat * (row_sum(scaled * hat) * part)), column_sum(g * hat)


def column_totals(x: Symbol) -> Symbol:
    """The sum of each column."""
    return column_sum(x)


def column_moments(x: Symbol, mean: Symbol) -> Symbol:
    """The sums down columns of squares about the means."""
    d = x - mean
    return column_sum(d * d)


def column_products(g: Symbol, x: Symbol, mean: Symbol) -> tuple[Symbol, Symbol]:
    """The sums down columns of g, and of g (x - mean)."""
    return column_sum(g), column_sum(g * (x - mean))
