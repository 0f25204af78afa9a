"""What the kernels compute, written on symbols: see `_formula.ir`.

Each function here is traced once per dtype; its parameters are named in `launch.Kernel`.
"""

from __future__ import annotations

from ..._formula.ir import Symbol, column_sum, row_sum

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
