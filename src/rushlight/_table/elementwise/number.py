"""Arithmetic of a floating point tensor with a Python number, under PyTorch's scalar nodes.

`x + 1` in a program is an addition of two operands (AddBackward0). PyTorch's composed losses and
norms add a number by another overload, whose nodes are AddBackward1 and so on; these rows are for
such composites.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from ..._array import numpy_namespace as raw
from ..._array.number import with_number
from ..rows.row import Row, elementwise

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor


def _declare(
    name: str,
    compute: AnyCallable,
    function: object,
    gradient: object,
    node: str,
    **declared: object,
) -> Row:
    return elementwise(
        f"{name}(Tensor self, Scalar other) -> Tensor",
        with_number(function),
        formula=compute,
        self=gradient,
        node=node,
        promote="none",
        broadcasts=False,
        inplace=False,
        public=False,
        out=False,
        samples=lambda mk: [(mk(3, 4), 2.5)],
        doc="Arithmetic with a number.",
        given_numbers=True,
        **declared,
    )


plus = _declare("_plus", operator.add, raw.add, lambda g: g, "AddBackward1")
minus = _declare("_minus", operator.sub, raw.subtract, lambda g: g, "SubBackward1")
times = _declare(
    "_times",
    operator.mul,
    raw.multiply,
    lambda g, other: g * other,
    "MulBackward1",
    wide=True,
    unit="both",
)
over = _declare(
    "_over",
    operator.truediv,
    raw.divide,
    lambda g, other: g / other,
    "DivBackward1",
    wide=True,
    unit="right",
    refuses_values="whole",
)


def _number(x: Tensor, value: float) -> bool:
    return type(value) in (int, float) and bool(x.is_floating_point() or x.is_complex())


def multiply_by(x: Tensor, value: float) -> Tensor:
    """`x` times a number, or times whatever else `value` is."""
    return times(x, value) if _number(x, value) else x * value


def divide_by(x: Tensor, value: float) -> Tensor:
    """`x` by a number, or by whatever else `value` is."""
    return over(x, value) if _number(x, value) else x / value
