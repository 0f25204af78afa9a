"""Python numbers as elements of arrays: cut off, wrapped or refused as PyTorch does."""

from __future__ import annotations

import sys
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._base.dtypes import FLOATS_OF_8_BITS, c_name, get_default_dtype, refuse_beyond
from .._native.ufunc_loops import FRESH
from .narrow import is_complex32
from .types import from_raw, is_half, to_raw

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable, Scalar
    from .annotations import Array, RawType

_C_NAMES: Final = {
    "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "float32": "float", "float64": "double", "uint16": "uint16_t", "uint32": "uint32_t",
    "uint64": "uint64_t", "bool": "bool", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "complex64": "c10::complex<float>", "complex32": "c10::complex<c10::Half>",
    **{d.name: c_name(d) for d in FLOATS_OF_8_BITS},
}  # fmt: skip


_LARGEST: Final = {
    "float8_e4m3fn": 448.0, "float8_e4m3fnuz": 240.0, "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0, "float8_e8m0fnu": 2.0**127,
    "float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38
}  # fmt: skip


#: What counts as a real number, in the order in which PyTorch's errors name the classes.
NUMBER_KINDS: Final = (np.integer, np.floating, int, float)


def largest(dtype: RawType) -> float:
    """The largest finite number of a type of floats."""
    return _LARGEST.get(from_raw(dtype).name, sys.float_info.max)


def number_like(value: Any, dtype: RawType) -> Any:
    """A Python number as one that an array of `dtype` can hold, cut off and wrapped.

    Raises:
        RuntimeError: where it is out of range.
    """
    kind = dtype.kind
    if kind in "fV" and not isinstance(value, complex):
        if dtype.itemsize < 8 and abs(value) > largest(dtype) and not isinf(value):
            raise _overflow(dtype)
        if dtype.itemsize == 1 and dtype.name == "float8_e8m0fnu" and value < 2.0**-127:
            raise _overflow(dtype)  # it has no zero and no sign
        return value
    if is_complex32(dtype):
        return value  # PyTorch rounds these without a look
    if isinstance(value, complex):
        if kind == "c":
            if dtype.itemsize < 16 and not _fits(value.real, value.imag):
                raise _overflow(dtype)
            return value
        if kind == "b":
            return bool(value)
        if value.imag:
            raise _overflow(dtype)
        return number_like(value.real, dtype)
    if kind == "b":
        return bool(value)
    if kind in "iu":
        if isinstance(value, float) and (isnan(value) or isinf(value)):
            raise _overflow(dtype)
        info = np.iinfo(dtype)
        low = int(info.min) if kind == "i" or isinstance(value, float) else -int(info.max)
        if not low <= value <= int(info.max):
            if isinstance(value, int):
                refuse_beyond(value)
            raise _overflow(dtype)
        whole = int(value)
        return whole + int(info.max) + 1 if whole < 0 and kind == "u" else whole
    if kind == "c" and dtype.itemsize < 16 and not _fits(value):
        raise _overflow(dtype)
    return value


def exact_integers(dtype: RawType) -> tuple[int, int]:
    """The integers that a type holds as they are, from the least to the largest."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return int(info.min), int(info.max)
    most = {"f": 2**24, "F": 2**24, "d": 2**53, "D": 2**53}.get(dtype.char, 0)
    return -most, most


def filling(value: Any, dtype: RawType, count: int) -> Any:
    """A Python number as a fill writes it `count` times: one half is rounded without a look.

    Raises:
        RuntimeError: where it is out of range.
        OverflowError: for integers beyond 64 bits.
    """
    kind = type(value)
    apt = (kind is float and dtype.kind in "fV") or (kind is int and dtype.kind in "ifV")
    if apt and -128 <= value < 128 and dtype.itemsize > 1:
        return value  # all of these types have it
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        refuse_beyond(value)
        if dtype.kind in "fV":
            value = float(value)  # types that NumPy doesn't know take no other integers
    if count == 1 and is_half(dtype):
        if value.imag:
            raise _overflow(np.dtype(np.float64))
        with np.errstate(over="ignore"):
            return np.float64(value.real).astype(dtype)
    return number_like(value, dtype)


_MANY: Final = 1 << 14  # elements from which our own loop is quicker than NumPy's


def fill_with(x: Array, value: Any) -> None:
    """Writes a Python number throughout an array.

    Raises:
        RuntimeError, OverflowError: as `filling`.
    """
    value = filling(value, x.dtype, x.size)
    if x.size < _MANY or FRESH is None or not FRESH.fill(x, value):
        x.fill(value)


def _fits(*values: float) -> bool:
    """Whether single precision holds numbers; infinities and nan are as good as others."""
    largest = _LARGEST["float32"]
    return all(not abs(value) > largest or isinf(value) for value in values)


def type_number(value: object, dtype: RawType) -> Array:
    """A Python number as a 0-d array of `dtype`.

    Raises:
        RuntimeError: where it is out of range, or has an imaginary part that would be lost.
    """
    return np.array(number_like(value, dtype)).astype(dtype)


def lone(value: Scalar, dtype: RawType) -> Array:
    """A Python number as an array without dimensions.

    Raises:
        RuntimeError, OverflowError: where it is out of range.
    """
    return np.array(filling(value, dtype, 1), dtype)


def wrap_number(value: float, dtype: RawType) -> float:
    """A Python integer as an array of unsigned integers holds it: modulo their range."""
    if dtype.kind == "u" and isinstance(value, int):
        return value & int(np.iinfo(dtype).max)
    return value


def with_number(ufunc: Any) -> AnyCallable:
    """`ufunc` of an array and a Python number, in the type that PyTorch would compute in.

    Halves are computed in float32 and rounded once; integers with a fraction become floats.
    """

    def run(x: Array, number: float) -> Any:
        kind = x.dtype.kind
        if x.dtype.itemsize == 2 and kind in "fV":
            return ufunc(x.astype(np.float32), number).astype(x.dtype)
        if kind in "iub" and isinstance(number, float):
            x = x.astype(to_raw(get_default_dtype()))
        return ufunc(x, number)

    return run


def _overflow(dtype: RawType) -> RuntimeError:
    name = _C_NAMES.get(from_raw(dtype).name, from_raw(dtype).name)
    return RuntimeError(f"value cannot be converted to type {name} without overflow")
