"""What the kernels compute, written on symbols: see `_formula.ir`.

Each function here is traced once per dtype; its parameters are named in `launch.Kernel`.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final

from ..._formula.ir import Symbol, cast, column, column_sum, exp, into, log, row_sum, row_top, where

_LOWEST: Final = -3e38  # shift of a row whose scores are all -inf
# ---- attention ---------------------------------------------------------------------------------


def attention_weights(s: Symbol, scale: Symbol) -> tuple[Symbol, Symbol]:
    """The softmax of s scale, in place, and the logarithms of its denominators."""
    x = s * scale
    top = row_top(x)
    e = exp(x - top)
    total = row_sum(e)
    return into(s, e * (1 / total)), log(total) + top


def masked_weights(s: Symbol) -> Any:
    """`attention_weights` of scores that are scaled; rows of nothing but -inf become zeros, with an
    infinite logarithm."""
    top = row_top(s)
    top = where(top < _LOWEST, _LOWEST, top)
    e = exp(s - top)
    total = row_sum(e)
    alive = total != 0.0
    return into(s, e * where(alive, 1 / total, 0.0)), where(alive, log(total) + top, inf)


def causal_weights(s: Symbol, visible: Symbol, scale: Symbol) -> tuple[Symbol, Symbol]:
    """`attention_weights` of the columns up to the one that is visible last, 0 at the others."""
    x = where(column(s) <= cast(visible, "i32"), s * scale, -inf)
    top = row_top(x)
    e = exp(x - top)
    total = row_sum(e)
    return into(s, e * (1 / total)), log(total) + top


def attention_weights_backward(
    s: Symbol, d: Symbol, logs: Symbol, along: Symbol, scale: Symbol
) -> tuple[Symbol, ...]:
    """The weights over the scores, and the scores' gradient over `d`, that of the weights."""
    w = exp(s * scale - logs)
    return into(s, w), into(d, w * (d - along) * scale)


def causal_weights_backward(
    s: Symbol, d: Symbol, visible: Symbol, logs: Symbol, along: Symbol, scale: Symbol
) -> tuple[Symbol, ...]:
    """`attention_weights_backward` of the columns up to the one that is visible last."""
    w = where(column(s) <= cast(visible, "i32"), exp(s * scale - logs), 0.0)
    return into(s, w), into(d, w * (d - along) * scale)


# ---- norms -------------------------------------------------------------------------------------


def centred_rows(x: Symbol, mean: Symbol, scale: Symbol, shift: Symbol) -> Symbol:
    """(x - mean) scale + shift, all but x by row."""
    return (x - mean) * scale + shift


def scaled_rows(x: Symbol, scale: Symbol) -> Symbol:
    """x scale, a scale for each row."""
    return x * scale


def row_moments(x: Symbol, part: Symbol) -> tuple[Symbol, Symbol]:
    """The mean of each row, and the sum of squares about it."""
    mean = row_sum(x) * part
    d = x - mean
    return mean, row_sum(d * d)


def row_products(g: Symbol, x: Symbol, mean: Symbol) -> tuple[Symbol, Symbol]:
    """The sums over each row of g, and of g (x - mean)."""
    return row_sum(g), row_sum(g * (x - mean))


def centred_gradient(
    g: Symbol, x: Symbol, mean: Symbol, scale: Symbol, along: Symbol, level: Symbol
) -> Symbol:
    """scale g - along (x - mean) - level, all but g and x by row."""
    return g * scale - (x - mean) * along - level


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
