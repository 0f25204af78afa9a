"""What the kernels of gates and sums compute, written on symbols.

Each function is traced once per dtype; see `_formula.ir` for the vocabulary.
"""

from __future__ import annotations

from typing import Any

from ..._formula.ir import Symbol, exp, total


def glu(a: Symbol, b: Symbol) -> Any:
    """a sigmoid(b)."""
    return a / (1.0 + exp(-b))


def glu_backward(g: Symbol, a: Symbol, b: Symbol) -> Any:
    """The gradients of `glu` for both."""
    s = 1.0 / (1.0 + exp(-b))
    first = g * s
    return first, first * a * (1.0 - s)


def whole(x: Symbol) -> Symbol:
    """The sum of all elements."""
    return total(x)
