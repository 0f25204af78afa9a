"""Division and powers as PyTorch rounds them: quotients, remainders, powers, interpolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D
from ..._formula import ir, words
from ..._formula.words import with_formula
from ..number import largest, type_number
from ..types import FLOAT32, FLOAT64, INT64, broadcast_shape, in_single, to_raw
from .blocked import INF, LARGE, SIGN_BITS, fits, map_blocks
from .by_kernel import by_kernel
from .masks import anywhere, where

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Scalar, TensorLike
    from ..._formula.ir import Symbol
    from ..annotations import Array

_ONE: Final[dict[Any, Any]] = {d: np.ones((), d) for d in (FLOAT32, FLOAT64)}
_ZERO: Final[dict[Any, Any]] = {d: np.zeros((), d) for d in (FLOAT32, FLOAT64)}
_LARGEST: Final = largest(FLOAT32)
INTEGER_POWER = "Integers to negative integer powers are not allowed."


def _refuse_zero(divisor: Array | int, result: Array) -> None:
    if result.size and not np.all(divisor):
        raise RuntimeError("ZeroDivisionError")


# Note [Remainders of float32 by float64]
# NumPy's remainders take the C library's fmod, 15 ns an element. The quotient of two float32 in
# float64 never rounds to or across an integer below 2^28 that it is not: two multiples of the last
# places of `a` and `b` are further apart than that. So its whole part n is exact, and a - n b is,
# for n b has at most 53 digits. Blocks with larger quotients, or numbers that are not finite, go
# to NumPy.
_MOST_QUOTIENT: Final = float(1 << 28)
_MOST_FLOOR: Final = float(1 << 23)  # here also the float32 steps of NumPy's are exact


def _fits_float32(a: Array, b: Array | float) -> bool:
    return (
        a.dtype is FLOAT32
        and a.size >= LARGE
        and (
            fits(a, b) or (type(b) is np.ndarray and b.dtype is FLOAT32 and not b.ndim and fits(a))
        )
    )


def _rest(out: Array, a: Array, b: Array) -> bool:
    """Writes a - n b for the whole part n of a / b; False where it would not be exact."""
    wide, divisor = a.astype(np.float64), b.astype(np.float64)
    count = np.divide(wide, divisor)
    np.trunc(count, count)
    if not max(np.maximum.reduce(count, None), -np.minimum.reduce(count, None)) < _MOST_QUOTIENT:
        return False
    np.multiply(count, divisor, count)
    np.subtract(wide, count, wide)
    out[...] = wide
    return bool(np.maximum.reduce(out, None) < INF)  # not NaN


def _write_fmod(out: Array, a: Array, b: Array) -> None:
    if not _rest(out, a, b):
        np.fmod(a, b, out)
        return
    # A rest of zero has the sign of `a`, as all others have.
    integer, sign, _ = SIGN_BITS[a.dtype]
    bits = out.view(integer)
    np.bitwise_or(bits, np.bitwise_and(a.view(integer), sign), bits)


def _write_remainder(out: Array, a: Array, b: Array) -> None:
    _write_fmod(out, a, b)
    wrong = np.logical_and(np.not_equal(out, 0), np.not_equal(np.less(out, 0), np.less(b, 0)))
    if not wrong.any():
        return
    if _finite(b):  # x + 0.0 changes -0.0 only, and to nothing that is added 0.0
        zero = np.equal(out, 0)
        sign = out.copy() if zero.any() else None
        np.add(out, np.multiply(b, wrong), out)
        if sign is not None:
            np.copyto(out, sign, where=zero)
    else:
        np.add(out, b, out, where=wrong)


def _write_floor_divide(out: Array, a: Array, b: Array) -> None:
    divisor = b.astype(np.float64)
    count = np.divide(a.astype(np.float64), divisor)
    np.floor(count, count)
    most = max(np.maximum.reduce(count, None), -np.minimum.reduce(count, None))
    if most < _MOST_FLOOR and _finite(b):
        out[...] = count
    else:
        np.floor_divide(a, b, out)


def _finite(x: Array) -> bool:
    return bool(np.maximum.reduce(x, None) < INF and np.minimum.reduce(x, None) > -INF)


def divide_rounded(a: Any, b: Any, rounding_mode: str | None) -> Array:
    """a / b, rounded as `rounding_mode` says: not at all, towards zero, or down.

    Raises:
        RuntimeError: for an unknown mode, and for integer division by zero.
    """
    if not isinstance(a, np.ndarray):
        a = np.asarray(a, b.dtype)  # a number in the first place
    if rounding_mode is None:
        if a.dtype.kind in "biu":
            a = a.astype(to_raw(D.get_default_dtype()))
            if isinstance(b, np.ndarray):
                b = b.astype(a.dtype)
        return np.true_divide(a, b)
    if rounding_mode == "floor":
        return floor_divide(a, b)
    if rounding_mode == "trunc":
        if a.dtype.kind in "biu":
            rest = np.fmod(a, b)
            _refuse_zero(b, rest)
            return np.floor_divide(np.subtract(a, rest), b)
        return np.trunc(np.true_divide(a, b))
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"'{rounding_mode}'"
    )


def _wide_rest(a: Symbol, b: Symbol) -> Symbol:
    """What is left of a / b cut off, in float64; nan where that might not be exact."""
    a, b = ir.cast(a, "f64"), ir.cast(b, "f64")
    count = words.trunc(a / b)
    rest = ir.copysign(a - count * b, a)
    return words.where(words.absolute(count) < _MOST_QUOTIENT, rest, np.nan)


def _narrow_fmod(a: Symbol, b: Symbol) -> Symbol:
    return ir.cast(_wide_rest(a, b), a.dtype)


def _narrow_remainder(a: Symbol, b: Symbol) -> Symbol:
    rest = ir.cast(_wide_rest(a, b), a.dtype)
    return words.where((rest != 0) & ((rest < 0) ^ (b < 0)), rest + b, rest)


def _narrow_hypot(a: Symbol, b: Symbol) -> Symbol:
    wide, other = words.absolute(ir.cast(a, "f64")), words.absolute(ir.cast(b, "f64"))
    found = words.sqrt(wide * wide + other * other)
    return ir.cast(words.where((wide == INF) | (other == INF), INF, found), a.dtype)


def floor_divide(a: Any, b: Any) -> Array:
    """The largest integer not above a / b.

    Raises:
        RuntimeError: for integer division by zero.
    """
    if type(b) is int and b and a.dtype is INT64:
        return np.floor_divide(a, b)
    if _fits_float32(a, b):
        return map_blocks(_write_floor_divide, a, b)
    result = np.floor_divide(a, b)
    if result.dtype.kind in "biu":
        _refuse_zero(b, result)
    return result


def floor_divide_from(number: float, x: Array) -> TensorLike:
    """`number // x`."""
    return floor_divide(np.asarray(number, x.dtype), x)


@by_kernel(_narrow_remainder, "ff", (FLOAT32,), doubtful=True)
def remainder(a: Array, b: Any) -> Array:
    """The remainder of the division rounded down: it has the sign of `b`.

    Raises:
        RuntimeError: for integer division by zero.
    """
    if type(b) is int and b and a.dtype is INT64:
        return np.remainder(a, b)
    if _fits_float32(a, b):
        return map_blocks(_write_remainder, a, b)
    zero = _ZERO.get(a.dtype)
    if zero is not None:
        rest = np.remainder(a, b)
        if not anywhere(np.equal(rest, zero)):
            return rest
    rest = np.fmod(a, b)
    if rest.dtype.kind in "biu":
        _refuse_zero(b, rest)
        return np.remainder(a, b)
    # numpy.remainder loses the sign of a zero, which PyTorch keeps.
    wrong = np.logical_and(np.not_equal(rest, 0), np.not_equal(np.less(rest, 0), np.less(b, 0)))
    return where(wrong, np.add(rest, b), rest) if wrong.any() else rest


def remainder_from(number: float, x: Array) -> Array:
    """`number % x`."""
    return remainder(np.asarray(number, x.dtype), x)


@by_kernel(_narrow_fmod, "ff", (FLOAT32,), doubtful=True)
def fmod(a: Array, b: Any) -> Array:
    """The remainder of the division rounded towards zero: it has the sign of `a`.

    Raises:
        RuntimeError: for integer division by zero.
    """
    if _fits_float32(a, b):
        return map_blocks(_write_fmod, a, b)
    rest = np.fmod(a, b)
    if rest.dtype.kind in "biu":
        _refuse_zero(b, rest)
    return rest


_NO_NUMBER: Final = complex(np.nan, np.nan)


def power_scalar(x: Any, exponent: Any) -> Array:
    """x to a Python number's power.

    Raises:
        RuntimeError: for integers to a negative power.
    """
    if x.dtype.kind in "biu":
        if exponent < 0:
            raise RuntimeError(INTEGER_POWER)
        if x.dtype.kind == "b":
            return np.logical_or(x, not exponent)
        return np.power(x, exponent)
    if exponent == 2:
        return np.square(x)
    if exponent == 3:
        return np.multiply(np.square(x), x)
    if exponent == 0.5:
        return np.sqrt(x)
    if exponent == -1:
        return np.reciprocal(x)
    if exponent == -0.5:
        return rsqrt(x)
    if exponent == -2:
        return np.reciprocal(np.square(x))
    if exponent == 1:
        return np.array(x)
    if exponent == 0:
        return np.ones_like(x)
    return np.power(x, exponent) if x.dtype.kind != "c" else _complex_power(x, exponent)


def _complex_power(x: Any, exponent: Any) -> Any:
    """x to a complex power; of zero what exp(exponent · log 0) is, as in PyTorch."""
    result = np.power(x, exponent)
    if np.all(x):
        return result
    real, imag = np.real(exponent), np.imag(exponent)
    limit = np.where(real > 0, 0, np.where(real < 0, complex(np.inf, np.nan), _NO_NUMBER))
    limit = np.where(np.isinf(imag) & np.isfinite(real), _NO_NUMBER, limit)
    return np.where(np.equal(x, 0), limit, result).astype(result.dtype)


def power(x: Array, exponent: Array) -> TensorLike:
    """x to the power of each element of `exponent`.

    Raises:
        RuntimeError: for integers to a negative power.
    """
    if x.dtype.kind in "biu":
        if x.dtype.kind == "b":
            return np.logical_or(x, np.logical_not(exponent))
        if x.dtype.kind == "i" and np.less(exponent, 0).any():
            # PyTorch gives what 1 / x rounds to: nonzero for 1 and -1 only.
            negative = np.less(exponent, 0)
            whole = np.power(x, where(negative, 0, exponent))
            odd = where(np.not_equal(np.remainder(exponent, 2), 0), x, np.ones_like(x))
            unit = where(np.equal(x, 1), np.ones_like(x), where(np.equal(x, -1), odd, 0))
            return where(negative, unit, whole).astype(x.dtype)
    if x.dtype.kind == "c":
        return _complex_power(x, exponent)
    return np.power(x, exponent)


def power_formula(x: TensorLike, n: float) -> TensorLike:
    """x to the power of a number or of another value, in the vocabulary."""
    known = _POWERS.get(n) if n.__class__ in (int, float) else None
    return words.power(x, n) if known is None else known(x)


def _square_of_square(x: TensorLike) -> Array:
    square = x * x
    return square * square


_POWERS: Final[dict[float, Callable[[Any], Any]]] = {
    1: lambda x: x, 2: lambda x: x * x, 3: lambda x: x * x * x, 4: _square_of_square,
    0.5: words.sqrt, -1: lambda x: 1 / x, -2: lambda x: 1 / (x * x),
}  # fmt: skip


@with_formula(power_formula)
def pow(x: Array, exponent: Array | float) -> TensorLike:
    """x to a power: what formulas call, for numbers and arrays."""
    if type(exponent) in (int, float, complex):
        return power_scalar(x, exponent)
    return np.power(x, exponent)


def power_from(base: Scalar, exponent: Array) -> Any:
    """A Python number to the power of each element, in C order."""
    if exponent.dtype.kind == "b":
        return np.logical_or(base, np.logical_not(exponent))
    return np.asarray(power(np.asarray(base, exponent.dtype), exponent), order="C")


def square(x: Array) -> Array:
    """x x."""
    if x.dtype.kind == "b":
        return x.astype(np.int64)
    return np.square(x)


def cube(x: Array) -> Array:
    """x x x."""
    if x.dtype.kind == "b":
        return x.astype(np.int64)
    return np.multiply(np.square(x), x)


def _write_rsqrt(out: Array, x: Array) -> None:
    np.sqrt(x, out)
    np.divide(_ONE[x.dtype], out, out)


@by_kernel(lambda x: 1 / words.sqrt(x))
@with_formula(words.rsqrt)
def rsqrt(x: Array) -> Array:
    """1 / √x."""
    if fits(x):
        return map_blocks(_write_rsqrt, x)
    root = np.sqrt(x)
    return np.reciprocal(root, root if type(root) is np.ndarray else None)


@by_kernel(lambda x: 1 / x)
def reciprocal(x: Array) -> Array:
    """1 / x."""
    if fits(x):  # a division is twice as fast as NumPy's reciprocal
        return np.divide(_ONE[x.dtype], x)
    return np.reciprocal(x)


def subtract_from(x: Array, other: Array | Scalar) -> Array:
    """other - x."""
    return np.subtract(other, x)


def subtract_from_scaled(x: Array, other: Array | Scalar, alpha: float) -> Array:
    """other - alpha x."""
    return np.subtract(other, x if alpha == 1 else np.multiply(x, weak_number(alpha, x)))


def _make_sum(ufunc: AnyCallable, value: float) -> Callable[..., None]:
    def body(out: Array, x: Array, a: Array, b: Array) -> None:
        if value == 1:
            ufunc(a, b, out)
        else:
            np.multiply(a, value, out)
            ufunc(out, b, out)
        np.add(x, out, out)

    return body


@by_kernel(lambda x, a, b, value: x + (a * value) * b, "fffs")
@in_single
def add_product(x: Array, a: Array, b: Array, value: Scalar) -> Array:
    """x + value a b."""
    if x.size >= LARGE and fits(x, a, b) and value.__class__ in (int, float):
        return map_blocks(_make_sum(np.multiply, value), x, a, b)
    t = np.multiply(a if value == 1 else np.multiply(a, weak_number(value, a)), b)
    return np.add(x, t, t if _reusable(t, x) else None)


@by_kernel(lambda x, a, b, value: x + (a * value) / b, "fffs")
@in_single
def add_quotient(x: Array, a: Array, b: Array, value: Scalar) -> Array:
    """x + value a / b."""
    if x.size >= LARGE and fits(x, a, b) and value.__class__ in (int, float):
        return map_blocks(_make_sum(np.divide, value), x, a, b)
    t = np.divide(a if value == 1 else np.multiply(a, weak_number(value, a)), b)
    return np.add(x, t, t if _reusable(t, x) else None)


def _reusable(fresh: Array, x: Array) -> bool:
    """Whether the sum with `x` may be written over a fresh array."""
    return (
        type(fresh) is np.ndarray
        and fresh.dtype is x.dtype
        and fresh.shape == x.shape
        and fresh.strides == x.strides
    )


def weak_number(value: Scalar, like: Array) -> Array | float:
    """A number that counts in the type of an array, as Python's do beside arrays of floats."""
    dtype = like.dtype
    if value.__class__ is float and (dtype is FLOAT32 or dtype is FLOAT64):
        return value
    return type_number(value, like.dtype)


def _make_mixture(weight: float) -> Callable[..., None]:
    def body(out: Array, start: Array, end: Array) -> None:
        np.subtract(end, start, out)
        if abs(weight) < 0.5:
            np.multiply(out, weight, out)
            np.add(start, out, out)
        else:
            np.multiply(out, 1 - weight, out)
            np.subtract(end, out, out)

    return body


def _mixture(start: Symbol, end: Symbol, weight: Symbol) -> Symbol:
    gap = end - start
    near, far = start + gap * weight, end - gap * (1 - weight)
    return words.where(words.absolute(weight) < 0.5, near, far)


@by_kernel(_mixture, "ffs")
@in_single
def lerp(start: Any, end: Any, weight: Any) -> Array:
    """start + weight (end - start), from the nearer end, so that weight 1 gives `end` exactly."""
    number = weight.__class__ in (int, float)
    if weight.__class__ is complex or (number and not -_LARGEST <= weight <= _LARGEST):
        broadcast_shape(start.shape, end.shape)  # PyTorch asks for shapes first
        weight = type_number(weight, start.dtype)
    if number and start.size >= LARGE and fits(start, end):
        return map_blocks(_make_mixture(weight), start, end)
    gap = np.subtract(end, start)
    if number and type(gap) is np.ndarray and (gap.dtype is FLOAT32 or gap.dtype is FLOAT64):
        if abs(weight) < 0.5:
            np.multiply(gap, weight, gap)
            return np.add(start, gap, gap)
        np.multiply(gap, 1 - weight, gap)
        return np.subtract(end, gap, gap)
    if type(weight) in (int, float):
        if abs(weight) < 0.5:
            mixed = np.add(start, np.multiply(gap, weight))
        else:
            mixed = np.subtract(end, np.multiply(gap, 1 - weight))
        return mixed.astype(gap.dtype, copy=False)  # bfloat16 has grown
    near = np.less(np.absolute(weight), 0.5)
    return where(
        near,
        np.add(start, np.multiply(gap, weight)),
        np.subtract(end, np.multiply(gap, 1 - weight)),
    )


def _write_hypot(out: Array, a: Array, b: Array) -> None:
    total, square = a.astype(np.float64), b.astype(np.float64)
    np.multiply(total, total, total)
    np.add(total, np.multiply(square, square, square), total)
    if np.isnan(np.maximum.reduce(total, None)):  # nan and inf give inf
        np.hypot(a, b, out)
    else:
        out[...] = np.sqrt(total, total)


@by_kernel(_narrow_hypot, "ff", (FLOAT32,))
def hypot(a: Array, b: Array) -> Array:
    """√(a² + b²)."""
    if _fits_float32(a, b):
        return map_blocks(_write_hypot, a, b)
    return np.hypot(a, b)
