"""Comparisons and bits: predicates of numbers, bitwise operations and shifts, and number theory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._base.dtypes import FLOAT, get_default_dtype, scalar_name
from ..._formula import ir
from ..._native.ufunc_loops import FRESH
from ..types import from_raw, is_half, to_raw
from .blocked import BLOCK, SIGN_BITS, fits, map_blocks
from .by_kernel import by_kernel
from .masks import where

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..annotations import Array, RawType


def refuse_dtype(kernel: str, dtype: RawType) -> NotImplementedError:
    """The error for a type that an operation doesn't take."""
    return NotImplementedError(errors.not_implemented(kernel, scalar_name(from_raw(dtype))))


def _bits(ufunc: AnyCallable, kernel: str) -> AnyCallable:
    """`ufunc` for integers and bools."""

    def combine(a: Array, b: Array | float) -> Array:
        if a.dtype.kind not in "biu":
            raise refuse_dtype(kernel, a.dtype)
        return ufunc(a, b)

    return combine


bitwise_and: Final = _bits(np.bitwise_and, "bitwise_and_cpu")
bitwise_or: Final = _bits(np.bitwise_or, "bitwise_or_cpu")
bitwise_xor: Final = _bits(np.bitwise_xor, "bitwise_xor_cpu")


def _after_number(combined: AnyCallable) -> AnyCallable:
    """An operation whose operands may change places, with a number before the array."""
    return lambda number, x: combined(x, number)


number_and: Final = _after_number(bitwise_and)
number_or: Final = _after_number(bitwise_or)
number_xor: Final = _after_number(bitwise_xor)


def bitwise_not(x: Array) -> Array:
    """Every bit turned; for bools `not`."""
    if x.dtype.kind not in "biu":
        raise refuse_dtype("bitwise_not_cpu", x.dtype)
    return np.invert(x)


def _in_range(x: Array, count: Array | int) -> tuple[Array, Array]:
    """`count` as an array, and where it is a number of bits that `x` has."""
    count = np.asarray(count, x.dtype)
    inside = np.logical_and(np.greater_equal(count, 0), np.less(count, x.dtype.itemsize * 8))
    return where(inside, count, count.dtype.type(0)), inside


def shift_left(x: Array, count: Array | int) -> Array:
    """The bits of `x` moved up; 0 for a count that is negative or too large."""
    if x.dtype.kind not in "iu":
        raise refuse_dtype("lshift_cpu", x.dtype)
    count, inside = _in_range(x, count)
    return where(inside, np.left_shift(x, count), x.dtype.type(0))


def shift_right(x: Array, count: Array | int) -> Array:
    """The bits of `x` moved down, with the sign; a count out of range leaves only the sign."""
    if x.dtype.kind not in "iu":
        raise refuse_dtype("rshift_cpu", x.dtype)
    count, inside = _in_range(x, count)
    last = x.dtype.itemsize * 8 - 1
    return where(inside, np.right_shift(x, count), np.right_shift(x, x.dtype.type(last)))


def shift_number_left(number: int, count: Array) -> Array:
    """`number << count`."""
    return shift_left(np.asarray(number, count.dtype), count)


def shift_number_right(number: int, count: Array) -> Array:
    """`number >> count`."""
    return shift_right(np.asarray(number, count.dtype), count)


def _euclid(ufunc: AnyCallable, kernel: str) -> AnyCallable:
    def divide(a: Array, b: Array) -> Array:
        if a.dtype.kind not in "iu":
            raise refuse_dtype(kernel, a.dtype)
        return ufunc(a, b)

    return divide


gcd: Final = _euclid(np.gcd, "gcd_cpu")
lcm: Final = _euclid(np.lcm, "lcm_cpu")


def isinf(x: Array) -> Array:
    """Whether each element is infinite (a part of it, for complex numbers)."""
    return np.isinf(x) if x.dtype.kind not in "biu" else np.zeros_like(x, np.bool_)


def isposinf(x: Array) -> Array:
    """Whether each element is inf."""
    if x.dtype.kind == "c":
        raise RuntimeError("isposinf does not support complex inputs.")
    return np.equal(x, np.inf)


def isneginf(x: Array) -> Array:
    """Whether each element is -inf."""
    if x.dtype.kind == "c":
        raise RuntimeError("isneginf does not support complex inputs.")
    return np.equal(x, -np.inf)


def isreal(x: Array) -> Array:
    """Whether each element has no imaginary part."""
    return np.equal(x.imag, 0) if x.dtype.kind == "c" else np.ones_like(x, np.bool_)


def isclose(a: Array, b: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    """Whether |a - b| <= atol + rtol |b|, or they are equal, elementwise.

    Raises:
        RuntimeError: for operands of different types, and for negative tolerances.
    """
    if a.dtype != b.dtype:
        names = [scalar_name(from_raw(x.dtype)) for x in (a, b)]
        raise RuntimeError(f"{names[0]} did not match {names[1]}")
    if rtol < 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol:g}")
    if atol < 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol:g}")
    close = np.equal(a, b)
    if equal_nan and a.dtype.kind in "fcV":
        close = np.logical_or(close, np.logical_and(np.isnan(a), np.isnan(b)))
    if rtol == 0 and atol == 0:
        return close
    if a.dtype.kind in "biu":
        a, b = a.astype(np.float64), b.astype(np.float64)
    error = np.absolute(np.subtract(a, b))
    allowed = np.add(np.absolute(np.multiply(b, rtol)), atol)
    near = np.logical_and(np.isfinite(error), np.less_equal(error, allowed))
    return np.logical_or(close, near)


def equal_arrays(a: Array, b: Array) -> bool:
    """Whether two arrays have the same shape and elements."""
    known = None if FRESH is None else FRESH.are_equal(a, b)
    if known is not None:
        return bool(known)
    if a.shape != b.shape:
        return False
    if a.size <= _FIRST or not (a.flags.c_contiguous and b.flags.c_contiguous):
        same = np.equal(a, b)
        return 0 not in same.tobytes() if a.size <= _FIRST else bool(same.all())
    # Most arrays that differ do so from the start.
    if a.item(0) != b.item(0):
        return False
    a, b = a.reshape(-1), b.reshape(-1)
    stop = _FIRST
    start = 0
    while start < a.size:
        if not np.equal(a[start:stop], b[start:stop]).all():
            return False
        start, stop = stop, stop + BLOCK
    return True


_FIRST: Final = 256


def _logic(ufunc: AnyCallable) -> AnyCallable:
    """A function like the logical `ufunc`, which takes 0.7 ns an element of numbers.

    Comparisons with zero and the same ufunc of bools take a third of that.
    """

    def body(out: Array, a: Array, b: Array) -> None:
        np.not_equal(a, 0, out)
        ufunc(out, np.not_equal(b, 0), out)

    def combine(a: Array, b: Array) -> Array:
        return map_blocks(body, a, b, dtype=np.bool_) if fits(a, b) else ufunc(a, b)

    return combine


logical_and: Final = _logic(np.logical_and)
logical_or: Final = _logic(np.logical_or)
logical_xor: Final = _logic(np.logical_xor)


def logical_not(x: Array) -> Array:
    """Whether each element is zero."""
    return np.equal(x, 0) if fits(x) else np.logical_not(x)


@by_kernel(ir.nextafter, "ff")
def nextafter(x: Array, other: Array) -> Array:
    """The next number after `x` in the direction of `other`."""
    if fits(x, other):
        return map_blocks(_write_nextafter, x, other)
    return np.nextafter(x, other)


def _write_nextafter(out: Array, x: Array, other: Array) -> None:
    integer, _, _ = SIGN_BITS[x.dtype]
    # The neighbours of a number are those of its bits: one more is away from zero.
    if not np.logical_and.reduce(x, None) or np.isnan(
        np.maximum.reduce(x, None) + np.maximum.reduce(other, None)
    ):
        np.nextafter(x, other, out)
        return
    up, down = np.greater(other, x).view(np.int8), np.less(other, x).view(np.int8)
    np.subtract(up, down, up)
    np.subtract(up, np.multiply(up, np.less(x, 0)) << 1, up)
    np.add(x.view(integer), up, out.view(integer))


def ldexp(x: Array, exponent: Array) -> Array:
    """x 2^exponent: floats by whole exponents in their own type, else a power and a product.

    The latter takes 2 as an element of x's type, or as a number where x is float32 or whole, and
    is promoted as powers and products are.

    Raises:
        NotImplementedError: for a power that would be of complex halves.
    """
    if not isinstance(exponent, np.ndarray):
        exponent = np.asarray(exponent)
    if exponent.dtype is x.dtype and x.dtype.char in "fd" and x.ndim and exponent.ndim:
        return np.multiply(x, np.exp2(exponent))
    order: Any = "K" if x.ndim else "C"  # as a number's powers are laid out
    if exponent.dtype.kind in "iu" and x.dtype.kind in "fV":
        steps = exponent.astype(np.int32, order)
        if x.dtype.kind == "V":
            return np.ldexp(x.astype(np.float32), steps).astype(x.dtype)
        return np.asarray(np.ldexp(x, steps))
    given = exponent.ndim, from_raw(exponent.dtype)
    two = from_raw(x.dtype)
    if two.category >= FLOAT and two is not D.float32:
        kind = _common(given, (0, two))
    else:
        kind = given[1] if given[1].category >= FLOAT else get_default_dtype()
    if kind.name == "complex32":
        raise NotImplementedError("\"pow\" not implemented for 'ComplexHalf'")
    exponent = exponent.astype(to_raw(kind), order)
    power = np.exp2(exponent) if exponent.dtype.kind != "c" else np.power(2, exponent)
    common = to_raw(_common((x.ndim, from_raw(x.dtype)), (exponent.ndim, kind)))
    if is_half(common) and not exponent.ndim:
        return np.multiply(x.astype(np.float32), power.astype(np.float32)).astype(common)
    return np.multiply(x.astype(common), power.astype(common))


def _common(*operands: tuple[int, D.dtype]) -> D.dtype:
    """The result type of operands, of which the dimensions and element types are given."""
    levels: list[Any] = [None, None]
    for ndim, found in operands:
        level = 0 if ndim else 1
        known = levels[level]
        levels[level] = found if known is None else D.promote_types(known, found)
    return D.combine_levels(levels[0], levels[1], None)


def frexp(x: Array) -> tuple[Array, Array]:
    """Mantissas in [0.5, 1) and int32 exponents: x = mantissa 2^exponent.

    Raises:
        RuntimeError: for types without fractions.
    """
    if from_raw(x.dtype).category != FLOAT:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(x if x.dtype.kind == "f" else x.astype(np.float32))
    return mantissa.astype(x.dtype, copy=False), np.asarray(exponent, np.int32)
