"""Pairs of uniforms turned into pairs of normals, in the very roundings of PyTorch's CPU kernels.

For float32 PyTorch evaluates the logarithm, sine and cosine of the Cephes library eight at a time,
with fused multiply-adds: one rounding where NumPy would make two. A product of two float32 is exact
in float64, so a fused step is a float64 product and sum, rounded to float32 once at the end.

Note [Rounding twice]: the float64 sum is itself rounded before it is rounded to float32. That
gives another result than one rounding only where the sum lies next to a tie of float32; among the
2**24 arguments that a 24-bit uniform can give there is none whose radius, sine or cosine differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array


def _single(c: float) -> Array:
    """`c` rounded to float32, as a 0-d array: NumPy takes those at half the price of a scalar."""
    return np.array(c, np.float32)


def _singles(*coefficients: float) -> tuple[Array, ...]:
    """Coefficients rounded to float32 and held in float64, for the fused steps."""
    return tuple(_single(c).astype(np.float64) for c in coefficients)


# S. Moshier, Cephes: logf, sinf and cosf (single precision).
_LOG = _singles(
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
    -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_LN2_LOW, _LN2_HIGH = _single(-2.12194440e-4), _single(0.693359375)
_SIN = _singles(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = _singles(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_QUARTER_PI = tuple(
    _single(c) for c in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
)
_FOUR_OVER_PI = _single(1.27323954473516)
_TWO_PI = _single(2 * np.pi)
_ONE, _HALF, _MINUS_TWO = _single(1.0), _single(0.5), _single(-2.0)
_ROOT_HALF_BITS = np.array(0x3F3504F3, np.int32)  # float32 of sqrt(1/2)
_MANTISSA = np.array(0x7FFFFF, np.int32)
_INT1, _INT2, _INT4, _INT6, _INT23, _INT29, _INT30, _INT31, _EVEN = (
    np.array(i, np.int32) for i in (1, 2, 4, 6, 23, 29, 30, 31, -2)
)


class Polar:
    """Radii, cosines and sines: a normal is a radius times a cosine or a sine."""

    __slots__ = ("cos", "radius", "sin")

    def __init__(self, radius: Array, cos: Array, sin: Array) -> None:
        self.radius, self.cos, self.sin = radius, cos, sin

    @staticmethod
    def exact(radial: Array, angular: Array, scratch: Scratch) -> Polar:
        """The points whose radii come from `radial` and whose angles from `angular` uniforms.

        Shapes: flat, no longer than `scratch`. Dtypes: float32, equal to PyTorch to the last digit.
        """
        scratch = scratch.first(radial.size)
        return Polar(_radius(radial, scratch), *_cos_sin(angular, scratch))

    @staticmethod
    def close(radial: Array, angular: Array) -> Polar:
        """The same by NumPy's own functions, a third of the cost.

        Dtypes: float32, within 4 units in the last place of PyTorch (86 in 100 equal); float64,
        within 2 (99 in 100 equal).
        """
        one, minus_two, turn = (np.array(c, radial.dtype) for c in (1.0, -2.0, 2 * np.pi))
        radius = np.log(one - radial)
        np.multiply(radius, minus_two, radius)
        angle = angular * turn
        return Polar(np.sqrt(radius, radius), np.cos(angle), np.sin(angle))

    def __getitem__(self, part: slice) -> Polar:
        return Polar(self.radius[part], self.cos[part], self.sin[part])


class Scratch:
    """Room for one fused Horner scheme: the running value in both widths, the argument, a sum.

    Kept from draw to draw: fresh memory would cost more than half of the arithmetic.
    """

    __slots__ = ("total", "value", "wide", "x")

    def __init__(self, n: int) -> None:
        self.value = np.empty(n, np.float32)
        self.wide = np.empty(n)
        self.total = np.empty(n)
        self.x = np.empty(n)

    def first(self, n: int) -> Scratch:
        """The first `n` places, shared."""
        if n == self.value.size:
            return self
        part = Scratch(0)
        part.value, part.wide = self.value[:n], self.wide[:n]
        part.total, part.x = self.total[:n], self.x[:n]
        return part

    def horner(self, x: Array, coefficients: tuple[Array, ...]) -> Array:
        """The polynomial at `x`, highest coefficient first, rounded to float32 after every step."""
        value, wide, total, argument = self.value, self.wide, self.total, self.x
        argument[...] = x
        np.multiply(argument, coefficients[0], total)
        np.add(total, coefficients[1], total)
        value[...] = total
        for coefficient in coefficients[2:]:
            wide[...] = value
            np.multiply(wide, argument, total)
            np.add(total, coefficient, total)
            value[...] = total
        return value

    def multiply_add(self, a: Array, b: Array, c: Array) -> Array:
        """`a * b + c` for float32 arrays, rounded to float32 once."""
        wide, total, value = self.wide, self.total, self.value
        wide[...] = a
        total[...] = b
        np.multiply(wide, total, wide)
        total[...] = c
        np.add(wide, total, wide)
        value[...] = wide
        return value


def _radius(uniform: Array, scratch: Scratch) -> Array:
    """sqrt(-2 log(1 - u)) in float32."""
    bits = np.subtract(_ONE, uniform).view(np.int32)
    # The mantissa goes to [sqrt(1/2), sqrt(2)), where the polynomial holds.
    np.subtract(bits, _ROOT_HALF_BITS, bits)
    exponent = np.right_shift(bits, _INT23).astype(np.float32)
    np.bitwise_and(bits, _MANTISSA, bits)
    np.add(bits, _ROOT_HALF_BITS, bits)
    x = bits.view(np.float32)
    np.subtract(x, _ONE, x)
    square = x * x
    y = scratch.horner(x, _LOG)
    np.multiply(y, x, y)
    y = scratch.multiply_add(y, square, exponent * _LN2_LOW)
    np.multiply(square, _HALF, square)
    np.subtract(y, square, y)
    np.add(x, y, x)
    np.multiply(exponent, _LN2_HIGH, exponent)  # exact: 9 bits times 5
    np.add(x, exponent, x)
    np.multiply(x, _MINUS_TWO, x)
    return np.sqrt(x, x)


def _cos_sin(uniform: Array, scratch: Scratch) -> tuple[Array, Array]:
    """The cosine and the sine of 2 pi u in float32."""
    x = uniform * _TWO_PI
    octant = (x * _FOUR_OVER_PI).astype(np.int32)
    np.add(octant, _INT1, octant)
    np.bitwise_and(octant, _EVEN, octant)
    quarters = octant.astype(np.float32)
    # The first two products are exact (few bits each), so only the third needs the fused step.
    np.add(x, quarters * _QUARTER_PI[0], x)
    np.add(x, quarters * _QUARTER_PI[1], x)
    x[...] = scratch.multiply_add(quarters, _QUARTER_PI[2], x)
    square = x * x
    value = scratch.horner(square, _SIN)
    np.multiply(value, square, value)
    sine = scratch.multiply_add(value, x, x).copy()
    value = scratch.horner(square, _COS)
    np.multiply(value, square, value)
    np.multiply(square, _HALF, x)
    cosine = scratch.multiply_add(value, square, np.negative(x, x)) + _ONE
    # Octants 2 and 6 swap the two: by their bits, for a branch per element is a slow one.
    swapped = np.left_shift(octant, _INT30)
    np.right_shift(swapped, _INT31, swapped)
    np.bitwise_and(swapped, np.bitwise_xor(sine.view(np.int32), cosine.view(np.int32)), swapped)
    for values in (sine, cosine):
        np.bitwise_xor(values.view(np.int32), swapped, values.view(np.int32))
    # The sine is negative in octants 4 and 6, the cosine in 2 and 4.
    np.bitwise_and(octant, _INT6, octant)
    for values in (sine, cosine):
        bits = values.view(np.int32)
        np.bitwise_xor(bits, np.left_shift(np.bitwise_and(octant, _INT4), _INT29), bits)
        np.add(octant, _INT2, octant)
    return cosine, sine
