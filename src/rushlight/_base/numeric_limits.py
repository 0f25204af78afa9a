"""`finfo` and `iinfo`: what a number type can hold."""

from __future__ import annotations

from typing import Final

from . import dtypes as D

# Bits of the significand behind the point, the largest exponent, and the decimal digits that
# PyTorch promises, by float type.
_FORMATS: Final = {"float16": (10, 15, 3), "bfloat16": (7, 127, 2), "float32": (23, 127, 6),
                   "float64": (52, 1023, 15)}  # fmt: skip


def _check(name: str, value: D.dtype) -> D.dtype:
    if isinstance(value, type) and value in D.OF_PYTHON:
        return D.OF_PYTHON[value]
    if not isinstance(value, D.dtype):
        given = type(value).__name__
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {given}")
    return value


# The small types spend their codes differently: eps, largest, smallest normal.
_SMALL: Final = {
    "float8_e4m3fn": (0.125, 448.0, 2.0**-6),
    "float8_e4m3fnuz": (0.125, 240.0, 2.0**-7),
    "float8_e5m2": (0.25, 57344.0, 2.0**-14),
    "float8_e5m2fnuz": (0.125, 57344.0, 2.0**-15),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127),
}


class finfo:
    """The limits of a floating-point type; of its parts for a complex one.

    Raises:
        TypeError: for integer types, which have `iinfo`, and for what is no dtype.

    Parameters:
        type: a floating or complex type; the default type where none is given.

    Attributes: `bits`, `eps` (the step from 1 to the next number), `max`, `min`, `tiny` and
    `smallest_normal` (the smallest positive number with all its digits), `resolution`, `dtype`.

    Example:
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07
        >>> torch.finfo(torch.float16).max
        65504.0
    """

    __hash__ = None  # type: ignore[assignment]
    dtype: str
    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, type: D.dtype | None = None) -> None:
        found = D.get_default_dtype() if type is None else _check("finfo", type)
        if found.category < D.FLOAT:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        found = found.to_real()
        if found.name in _SMALL:
            self.dtype, self.bits, self.resolution = found.name, 8, 1.0
            self.eps, self.max, self.tiny = _SMALL[found.name]
            # The last of them has no sign.
            self.min = self.tiny if found.name == "float8_e8m0fnu" else -self.max
            self.smallest_normal = self.tiny
            return
        significand, exponent, digits = _FORMATS[found.name]
        self.dtype = found.name
        self.bits = 8 * found.itemsize
        self.eps = 2.0**-significand
        self.max = (2.0 - self.eps) * 2.0**exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)
        self.resolution = float(f"1e-{digits}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer type.

    Raises:
        TypeError: for floating-point types, which have `finfo`, for bool, and for what is no dtype.

    Parameters:
        type: an integer type.

    Attributes: `bits`, `max`, `min`, `dtype`.

    Example:
        >>> torch.iinfo(torch.int8).max, torch.iinfo(torch.uint8).min
        (127, 0)
    """

    __hash__ = None  # type: ignore[assignment]
    dtype: str
    bits: int
    max: int
    min: int

    def __init__(self, type: D.dtype) -> None:
        found = _check("iinfo", type)
        if found.category >= D.FLOAT:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        if found.category == D.BOOL:
            raise TypeError(f"{found!r} is not supported by torch.iinfo")
        self.dtype = found.name
        self.bits = 8 * found.itemsize
        self.min = -(2 ** (self.bits - 1)) if found.is_signed else 0
        self.max = 2 ** (self.bits - 1) - 1 if found.is_signed else 2**self.bits - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return f"iinfo(min={_short(self.min)}, max={_short(self.max)}, dtype={self.dtype})"


def _short(value: int) -> str:
    return f"{value:g}" if abs(value) >= 10**6 else str(value)
