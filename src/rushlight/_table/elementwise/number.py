"""Arithmetic of a floating point tensor with a Python number, under PyTorch's scalar nodes.

`x + 1` in a program is an addition of two operands (AddBackward0). PyTorch's composed losses and
norms add a number by another overload, whose nodes are AddBackward1 and so on; these rows are for
such composites.
"""

from __future__ import annotations

from typing import Any

from ..._array import numpy_namespace as raw
from ..._array.number import with_number
from ..rows.row import Row, elementwise


def _declare(name: str, schema: str, function: object, formula: object, node: str) -> Row:
    return elementwise(
        f"{name}(Tensor self, {schema}) -> Tensor",
        with_number(function),
        self=formula,
        node=node,
        promote="none",
        broadcasts=False,
        inplace=False,
        public=False,
        method=False,
        out=False,
        samples=lambda mk: [(mk(3, 4), 2.5)],
        doc="Arithmetic with a number.",
    )


plus = _declare("_plus", "Scalar other", raw.add, lambda g: g, "AddBackward1")
minus = _declare("_minus", "Scalar other", raw.subtract, lambda g: g, "SubBackward1")
times = _declare("_times", "Scalar other", raw.multiply, lambda g, other: g * other, "MulBackward1")
over = _declare("_over", "Scalar other", raw.divide, lambda g, other: g / other, "DivBackward1")


def _number(x: Any, value: Any) -> bool:
    return type(value) in (int, float) and bool(x.is_floating_point())


def multiplied(x: Any, value: Any) -> Any:
    """`x` times a number, or times whatever else `value` is."""
    return times(x, value) if _number(x, value) else x * value


def divided(x: Any, value: Any) -> Any:
    """`x` by a number, or by whatever else `value` is."""
    return over(x, value) if _number(x, value) else x / value
