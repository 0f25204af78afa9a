"""exp, log, tanh, erf, sin and others as inlined code, for float32 and float64.

    y = mathematics.exp(f, x)

`f` is the function under construction, `x` a scalar or a vector. Each result is within 4 units in
the last place over the whole range, denormal arguments and results included, with the special
values of C: nan passes, log(0) is -inf, log(-1) nan, erf(inf) 1, power(nan, 0) 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .error_function import erf, erfc
from .exponential import exp, expm1, log, log1p, power, rsqrt, sigmoid, sqrt, tanh
from .trigonometric import cos, sin

if TYPE_CHECKING:
    from ..llvm.emit import Function
    from ..llvm.values import Value

__all__ = [
    "cos", "erf", "erfc", "exp", "expm1", "log", "log1p", "nextafter", "power", "rsqrt", "sigmoid",
    "sin", "sqrt", "tanh",
]  # fmt: skip


def nextafter(f: Function, x: Value, y: Value) -> Value:
    """The neighbour of x towards y; y where they are equal."""
    # The neighbours of a number are those of its bits: one more is away from zero.
    bits = f.bits(x, x.type.integer)
    zero = f.constant(x.type, 0.0)
    outwards = (x > zero).eq(y > x)
    moved = f.bits(f.select(outwards, bits + 1, bits - 1), x.type)
    least = f.copysign(f.bits(f.constant(x.type.integer, 1), x.type), y)
    found = f.select(x.eq(y), y, f.select(x.eq(zero), least, moved))
    return f.select(x.eq(x) & y.eq(y), found, x + y)
