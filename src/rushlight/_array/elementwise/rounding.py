"""Rounding, signs, bounds: what PyTorch does with ties, decimals, nan and integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import errors
from ..._base.dtypes import scalar_name
from ..._formula import ir, words
from ..._formula.words import with_formula
from ..memory import dense_layout as dense
from ..types import from_raw
from .blocked import INF, LARGE, SIGN_BITS, clip, fits, map_blocks
from .by_kernel import by_kernel
from .masks import anywhere, where

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._formula.ir import Symbol
    from ..annotations import Array


def _whole(ufunc: np.ufunc, name: str) -> AnyCallable:
    """`ufunc` for floats; integers are whole already."""

    def round_floats(x: Array) -> Array:
        kind = x.dtype.kind
        if kind in "iu":
            return np.array(x)
        if kind == "c" and name != "round_vml_cpu":
            raise NotImplementedError(
                f"{name.partition('_')[0]} is not supported for complex inputs"
            )
        if kind in "bc":
            raise NotImplementedError(errors.not_implemented(name, scalar_name(from_raw(x.dtype))))
        return ufunc(x)

    return round_floats


ceil: Final = _whole(np.ceil, "ceil_vml_cpu")
floor: Final = _whole(np.floor, "floor_vml_cpu")
trunc: Final = _whole(np.trunc, "trunc_vml_cpu")
round: Final = _whole(np.rint, "round_vml_cpu")


def round_decimals(x: Array, decimals: int) -> Array:
    """`x` rounded to `decimals` digits after the point (before it, where negative); ties to even.

    Raises:
        NotImplementedError: for types without fractions.
    """
    if x.dtype.kind not in "fV":
        kernel = "round_cpu" if decimals else "round_vml_cpu"
        raise NotImplementedError(errors.not_implemented(kernel, scalar_name(from_raw(x.dtype))))
    if decimals == 0:
        return np.rint(x)
    if not -308 <= decimals <= 308:  # infinity by infinity
        return np.full(x.shape, np.nan, x.dtype)
    ten = x.dtype.type(10.0 ** (decimals if decimals > 0 else -decimals))
    if decimals > 0:
        return np.divide(np.rint(np.multiply(x, ten)), ten)
    return np.multiply(np.rint(np.divide(x, ten)), ten)


@by_kernel(lambda x: x - words.trunc(x))
def frac(x: Array) -> Array:
    """`x` less its whole part.

    Raises:
        NotImplementedError: for types without fractions.
    """
    if x.dtype.kind not in "fV":
        raise NotImplementedError(
            errors.not_implemented("frac_cpu", scalar_name(from_raw(x.dtype)))
        )
    if fits(x):
        return map_blocks(_write_frac, x)
    return np.subtract(x, np.trunc(x))


def _write_frac(out: Array, x: Array) -> None:
    np.trunc(x, out)
    np.subtract(x, out, out)


@by_kernel(words.sign)
def sign(x: Array) -> Array:
    """-1, 0 or 1 by the sign of each element; 0 for nan.

    Raises:
        NotImplementedError: for complex numbers.
    """
    kind = x.dtype.kind
    if kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
            "torch.sgn "
            "instead."
        )
    if fits(x):
        return map_blocks(_write_sign, x)
    if kind == "f":
        if x.ndim and x.size < LARGE:
            result = np.sign(x)
            unknown = np.isnan(x)
            if anywhere(unknown):
                result[unknown] = 0
            return result
        return np.subtract(np.greater(x, 0), np.less(x, 0), dtype=x.dtype)
    if kind == "V":
        return np.subtract(np.greater(x, 0).view(np.int8), np.less(x, 0).view(np.int8)).astype(
            x.dtype
        )
    return np.array(x) if kind == "b" else np.sign(x)


def _write_sign(out: Array, x: Array) -> None:
    above, below = np.greater(x, 0).view(np.int8), np.less(x, 0).view(np.int8)
    out[...] = np.subtract(above, below, above)


@by_kernel(words.sign)
@with_formula(words.sign)
def sgn(x: Array) -> Array:
    """`sign`, for complex numbers z / |z| (0 for 0)."""
    if x.dtype.kind != "c":
        return sign(x)
    size = np.absolute(x)
    zero = np.equal(size, 0)
    return where(zero, x.dtype.type(0), np.divide(x, where(zero, size.dtype.type(1), size)))


def signbit(x: Array) -> Array:
    """Whether each element has a minus sign (-0.0 has one)."""
    if x.dtype.kind == "f":
        return np.signbit(x)
    if x.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    if x.dtype.kind == "V":
        return np.less(x.view(np.int16), 0)
    return np.less(x, 0)


@by_kernel(ir.copysign, "ff")
def copysign(x: Array, other: Any) -> Any:
    """The size of `x` with the sign of `other`."""
    if fits(x, other):
        return map_blocks(_write_copysign, x, other)
    return np.copysign(x, other)


def _write_copysign(out: Array, x: Array, other: Array) -> None:
    integer, sign, rest = SIGN_BITS[x.dtype]
    bits = np.bitwise_and(x.view(integer), rest, out.view(integer))
    np.bitwise_or(bits, np.bitwise_and(other.view(integer), sign), bits)


_LIMITS: Final = {
    np.dtype(d): (np.asarray(np.finfo(d).min), np.asarray(np.finfo(d).max))
    for d in (np.float32, np.float64)
}


def _finite(x: Symbol) -> Symbol:
    most = float(np.finfo(np.float32 if x.dtype == "f32" else np.float64).max)
    return words.where(x == x, words.minimum(words.maximum(x, -most), most), 0.0)


@by_kernel(_finite)
def nan_to_num(x: Array, nan: float | None, posinf: float | None, neginf: float | None) -> Array:
    """`x` with numbers for nan and the infinities: 0 and the type's limits unless given."""
    if x.dtype.kind == "V":  # bfloat16: its own limits, in float32
        limit = float.fromhex("0x1.fep127")
        high, low = limit if posinf is None else posinf, -limit if neginf is None else neginf
        return nan_to_num(x.astype(np.float32), nan, high, low).astype(x.dtype)
    if x.dtype.kind not in "fc":
        return dense.copy(x, x.dtype)
    if x.dtype.kind == "c":
        result = dense.empty_like(x, x.dtype)
        result.real = nan_to_num(x.real, nan, posinf, neginf)
        result.imag = nan_to_num(x.imag, nan, posinf, neginf)
        return result
    if x.size < LARGE and not anywhere(np.logical_not(np.isfinite(x))):
        return dense.copy(x, x.dtype)
    if posinf is None and neginf is None and fits(x):
        least, most = _LIMITS[x.dtype]
        result = clip(x, least, most)
        if np.isnan(np.maximum.reduce(result, None)):
            result[np.isnan(x)] = 0.0 if nan is None else nan
        return result
    limits = np.finfo(x.dtype)
    result = dense.copy(x, x.dtype)
    result[np.isnan(x)] = 0.0 if nan is None else nan
    result[np.equal(x, np.inf)] = limits.max if posinf is None else posinf
    result[np.equal(x, -np.inf)] = limits.min if neginf is None else neginf
    return result


_NUMBERS: Final = (int, float)


@by_kernel(lambda x, low, high: words.minimum(words.maximum(x, low), high), "fss")
def clamp(x: Array, low: Array | float | None, high: Array | float | None) -> Array:
    """`x` brought into [low, high]; `high` wins where they cross, nan anywhere gives nan.

    Raises:
        RuntimeError: without any bound.
    """
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if x.size >= LARGE and (
        (low is not None and low.__class__ in _NUMBERS) or high.__class__ in _NUMBERS
    ):
        bounds = -INF if low is None else low, INF if high is None else high
        # See Note [Bounds by clip]. With NaN as a bound it would not give NaN.
        if (
            bounds[0].__class__ in _NUMBERS
            and bounds[1].__class__ in _NUMBERS
            and fits(x)
            and bounds[0] == bounds[0]
            and bounds[1] == bounds[1]
        ):
            return clip(x, float(bounds[0]), float(bounds[1]))
    if (
        low.__class__ is float
        and high.__class__ is float
        and x.size < LARGE
        and low
        and high
        and low == low
        and high == high
        and x.dtype.kind == "f"
    ):
        return clip(x, low, high)  # zeros of the other sign only differ from a bound of zero
    if high is None:
        return clamp_min(x, low)
    if low is not None:
        x = np.maximum(x, low)
        if high.__class__ is float and type(x) is np.ndarray and x.dtype.kind == "f":
            return np.minimum(x, high, out=x)
    return np.minimum(x, high)


@by_kernel(words.maximum, "fs")
def clamp_min(x: Array, low: Array | float) -> Array:
    """`x`, at least `low`."""
    return np.maximum(x, low)


@by_kernel(words.minimum, "fs")
def clamp_max(x: Array, high: Array | float) -> Array:
    """`x`, at most `high`."""
    return clamp(x, None, high)


def _order(ufunc: AnyCallable, name: str, formula: AnyCallable) -> AnyCallable:
    @with_formula(formula)
    def extreme(a: Array, b: Array) -> Array:
        if a.dtype.kind == "c":
            raise RuntimeError(f"{name} not implemented for complex tensors.")
        return ufunc(a, b)

    return extreme


maximum: Final = _order(np.maximum, "maximum", lambda x, y: words.maximum(x, y))
minimum: Final = _order(np.minimum, "minimum", lambda x, y: words.minimum(x, y))
fmax: Final = _order(np.fmax, "fmax", lambda x, y: words.where((x > y) | (y != y), x, y))
fmin: Final = _order(np.fmin, "fmin", lambda x, y: words.where((x < y) | (y != y), x, y))


def heaviside(x: Array, values: Array) -> Array:
    """0 below zero and for nan, 1 above, `values` at zero.

    Raises:
        RuntimeError: for complex numbers, and for operands of different types.
    """
    if x.dtype != values.dtype or x.dtype.kind == "c":
        raise RuntimeError(errors.no_heaviside("c" in (x.dtype.kind, values.dtype.kind)))
    if (
        x.size < LARGE
        and x.dtype.kind == "f"
        and x.dtype.itemsize > 2
        and not anywhere(np.isnan(x))
    ):
        return np.heaviside(x, values)
    return where(np.equal(x, 0), values, np.greater(x, 0).astype(x.dtype))
