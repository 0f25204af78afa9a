"""Division and powers as PyTorch rounds them: quotients, remainders, powers, interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes as D
from .masks import where
from .types import to_raw

INTEGER_POWER = "Integers to negative integer powers are not allowed."


def _refuse_zero(divisor: Any) -> None:
    if not np.all(divisor):
        raise RuntimeError("ZeroDivisionError")


def divide_rounded(a: Any, b: Any, rounding_mode: str | None) -> Any:
    """a / b, rounded as `rounding_mode` says: not at all, towards zero, or down.

    Raises:
        RuntimeError: for an unknown mode, and for integer division by zero.
    """
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
            _refuse_zero(b)
            return np.floor_divide(np.subtract(a, np.fmod(a, b)), b)
        return np.trunc(np.true_divide(a, b))
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"'{rounding_mode}'"
    )


def floor_divide(a: Any, b: Any) -> Any:
    """The largest integer not above a / b.

    Raises:
        RuntimeError: for integer division by zero.
    """
    result = np.floor_divide(a, b)
    if result.dtype.kind in "biu":
        _refuse_zero(b)
    return result


def floor_divide_from(number: Any, x: Any) -> Any:
    """`number // x`."""
    return floor_divide(np.asarray(number, x.dtype), x)


def remainder(a: Any, b: Any) -> Any:
    """The remainder of the division rounded down: it has the sign of `b`.

    Raises:
        RuntimeError: for integer division by zero.
    """
    rest = np.fmod(a, b)
    if rest.dtype.kind in "biu":
        _refuse_zero(b)
        return np.remainder(a, b)
    # numpy.remainder loses the sign of a zero, which PyTorch keeps.
    wrong = np.logical_and(np.not_equal(rest, 0), np.not_equal(np.less(rest, 0), np.less(b, 0)))
    return where(wrong, np.add(rest, b), rest) if wrong.any() else rest


def remainder_from(number: Any, x: Any) -> Any:
    """`number % x`."""
    return remainder(np.asarray(number, x.dtype), x)


def fmod(a: Any, b: Any) -> Any:
    """The remainder of the division rounded towards zero: it has the sign of `a`.

    Raises:
        RuntimeError: for integer division by zero.
    """
    rest = np.fmod(a, b)
    if rest.dtype.kind in "biu":
        _refuse_zero(b)
    return rest


def power_scalar(x: Any, exponent: Any) -> Any:
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
    return np.power(x, exponent)


def power(x: Any, exponent: Any) -> Any:
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
    return np.power(x, exponent)


def pow(x: Any, exponent: Any) -> Any:
    """x to a power: what formulas call, for numbers and arrays."""
    if type(exponent) in (int, float, complex):
        return power_scalar(x, exponent)
    return np.power(x, exponent)


def power_from(base: Any, exponent: Any) -> Any:
    """A Python number to the power of each element."""
    if exponent.dtype.kind == "b":
        return np.logical_or(base, np.logical_not(exponent))
    return power(np.asarray(base, exponent.dtype), exponent)


def square(x: Any) -> Any:
    """x x."""
    if x.dtype.kind == "b":
        return x.astype(np.int64)
    return np.square(x)


def cube(x: Any) -> Any:
    """x x x."""
    if x.dtype.kind == "b":
        return x.astype(np.int64)
    return np.multiply(np.square(x), x)


def rsqrt(x: Any) -> Any:
    """1 / √x."""
    return np.reciprocal(np.sqrt(x))


def subtract_from(x: Any, other: Any) -> Any:
    """other - x."""
    return np.subtract(other, x)


def subtract_from_scaled(x: Any, other: Any, alpha: Any) -> Any:
    """other - alpha x."""
    return np.subtract(other, x if alpha == 1 else np.multiply(x, _typed(alpha, x)))


def add_product(x: Any, a: Any, b: Any, value: Any) -> Any:
    """x + value a b."""
    return np.add(x, np.multiply(a if value == 1 else np.multiply(a, _typed(value, a)), b))


def add_quotient(x: Any, a: Any, b: Any, value: Any) -> Any:
    """x + value a / b.

    Raises:
        RuntimeError: for integers.
    """
    if x.dtype.kind in "biu":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv "
            "will perform a true division of tensor1 and tensor2. The historic addcdiv behavior "
            "can be "
            "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for "
            "integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The "
            "future "
            "addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
            "tensor2), "
            "for all dtypes."
        )
    return np.add(x, np.divide(a if value == 1 else np.multiply(a, _typed(value, a)), b))


def _typed(value: Any, like: Any) -> Any:
    """A number in the type of an array."""
    return np.array(value).astype(like.dtype)


def lerp(start: Any, end: Any, weight: Any) -> Any:
    """start + weight (end - start), from the nearer end, so that weight 1 gives `end` exactly."""
    gap = np.subtract(end, start)
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


def hypot(a: Any, b: Any) -> Any:
    """√(a² + b²)."""
    return np.hypot(a, b)
