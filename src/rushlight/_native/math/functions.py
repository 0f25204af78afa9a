"""exp, log, tanh, erf, sin and others as inlined code, for float32 and float64.

    y = mathematics.exp(f, x)

`f` is the function under construction, `x` a scalar or a vector. Each result is within 4 units in
the last place over the whole range, denormal arguments and results included, with the special
values of C: nan passes, log(0) is -inf, log(-1) nan, erf(inf) 1, power(nan, 0) 1.
"""

from __future__ import annotations

from .error_function import erf, erfc
from .exponential import exp, expm1, log, log1p, power, rsqrt, sigmoid, sqrt, tanh
from .trigonometric import cos, sin

__all__ = [
    "cos", "erf", "erfc", "exp", "expm1", "log", "log1p", "power", "rsqrt", "sigmoid", "sin",
    "sqrt", "tanh",
]  # fmt: skip
