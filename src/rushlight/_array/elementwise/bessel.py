"""Modified Bessel functions and log Γ of large float32 arrays, in a few dozen vector operations.

SciPy takes 20 to 35 ns an element for these. A polynomial in float64, over blocks that stay in the
cache, takes 5 and is right to the last place of float32.

Source: the polynomials interpolate at Chebyshev points what SciPy gives in float64; they were
fitted for this file, with relative errors below 4e-9.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import TYPE_CHECKING, Final

import numpy as np

from .blocked import map_blocks

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..annotations import Array


def _constants(*values: float) -> tuple[Array, ...]:
    return tuple(np.array(value) for value in values)


# exp(-x) I0(x) √(1 + x) and exp(-x) I1(x) √(1 + x)³ / x, x >= 0, in u = (x - 5) / (x + 5): both go
# to finite limits at both ends of -1 <= u < 1. Highest powers first.
_I0 = _constants(
    -0.0017520793798287567, 0.0006280543605550573, 0.010775604732317751, -0.0028550676075255947,
    -0.03121290066648664, 0.0056142318913994915, 0.05708179793324059, -0.0045659839646206585,
    -0.08014380262394741, 0.003015040110828854, 0.0973206000126837, -0.01090093713910332,
    -0.12588190574921632, 0.09943407561699105, 0.04390682448671197, -0.1467384051255087,
    0.16320864939928653, -0.13948149480331196, 0.1165870135036094, -0.10467837275132713,
    0.4495813378686384,
)  # fmt: skip
_I1 = _constants(
    0.0019146735370570397, -0.00010117229345418069, -0.0118230461511032, -7.8112184867997e-05,
    0.03356375606781591, 0.0027598954099661284, -0.059746055079750095, -0.010644216480123045,
    0.07986579504187327, 0.020974296611585674, -0.09563851324055958, -0.021657570481932672,
    0.12362166108196915, -0.03322700548083533, -0.11898184440392717, 0.1585986905663301,
    -0.08375700342216183, -0.019381967107872086, 0.09847365448681197, -0.14777169862616255,
    0.4819780631778734,
)  # fmt: skip
_CENTRE, _ONE = _constants(5.0, 1.0)
_MOST: Final = 1e30  # beyond, and for NaN, SciPy answers


def _polynomial(x: Array, coefficients: tuple[Array, ...]) -> Array:
    value = np.multiply(x, coefficients[0])
    for coefficient in coefficients[1:-1]:
        np.add(value, coefficient, value)
        np.multiply(value, x, value)
    return np.add(value, coefficients[-1], value)


def _body(order: int, scaled: bool, other: AnyCallable) -> Callable[..., None]:
    def body(out: Array, x: Array) -> None:
        size = np.absolute(x, dtype=np.float64)
        if not np.maximum.reduce(size, None) < _MOST:
            out[...] = other(x)
            return
        u = np.add(size, _CENTRE)
        value = np.subtract(size, _CENTRE)
        value = _polynomial(np.divide(value, u, value), _I1 if order else _I0)
        root = np.add(size, _ONE, u)
        if order:
            np.divide(np.multiply(value, x, value), root, value)
        np.divide(value, np.sqrt(root, root), value)
        if not scaled:
            np.multiply(value, np.exp(size, size), value)
        out[...] = value

    return body


def i0(x: Array, other: AnyCallable) -> Array:
    """I0 of each element; `other` serves blocks with infinities and NaN."""
    return map_blocks(_body(0, False, other), x)


def i0e(x: Array, other: AnyCallable) -> Array:
    """exp(-|x|) I0(x) of each element."""
    return map_blocks(_body(0, True, other), x)


def i1(x: Array, other: AnyCallable) -> Array:
    """I1 of each element."""
    return map_blocks(_body(1, False, other), x)


def i1e(x: Array, other: AnyCallable) -> Array:
    """exp(-|x|) I1(x) of each element."""
    return map_blocks(_body(1, True, other), x)


# Stirling's series from 7 on: log Γ(z) = (z - 1/2) log z - z + log(2π) / 2 + 1 / 12 z - ...
_SHIFT: Final = 7
_STIRLING = _constants(-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_HALF_LOG_2PI, _HALF = _constants(log(2 * pi) / 2, 0.5)


def lgamma(x: Array, other: AnyCallable) -> Array:
    """log Γ(x) of each element; `other` serves blocks with elements that aren't positive.

    log Γ(x) = log Γ(x + 7) - log(x (x + 1) ... (x + 6)): the difference of two numbers around 8 is
    right to 1e-15, which the zeros at 1 and 2 need in float32 no more.
    """

    def body(out: Array, x: Array) -> None:
        if not (np.minimum.reduce(x, None) > 1e-30 and np.maximum.reduce(x, None) < 1e5):
            out[...] = other(x)
            return
        z = x.astype(np.float64)
        product = z.copy()
        for _ in range(_SHIFT - 1):
            np.add(z, _ONE, z)
            np.multiply(product, z, product)
        np.add(z, _ONE, z)
        inverse = np.divide(_ONE, z)
        series = _polynomial(np.multiply(inverse, inverse), _STIRLING)
        np.multiply(series, inverse, series)
        np.subtract(series, z, series)
        np.add(series, _HALF_LOG_2PI, series)
        np.subtract(series, np.log(product, product), series)
        np.log(z, inverse)
        np.multiply(inverse, np.subtract(z, _HALF, z), inverse)
        np.add(series, inverse, series)
        out[...] = series
        for zero in (1, 2):  # there the difference is all error
            places = np.equal(x, zero)
            if places.any():
                out[places] = 0

    return map_blocks(body, x)
