"""The element types of arrays: which NumPy type stores each `dtype`, and conversions between them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .. import dtypes as D

ndarray: Final = np.ndarray

_TO_RAW: dict[D.dtype, Any] = {
    D.bool_: np.dtype(np.bool_),
    D.uint8: np.dtype(np.uint8),
    D.uint16: np.dtype(np.uint16),
    D.uint32: np.dtype(np.uint32),
    D.uint64: np.dtype(np.uint64),
    D.int8: np.dtype(np.int8),
    D.int16: np.dtype(np.int16),
    D.int32: np.dtype(np.int32),
    D.int64: np.dtype(np.int64),
    D.float16: np.dtype(np.float16),
    D.float32: np.dtype(np.float32),
    D.float64: np.dtype(np.float64),
    D.complex64: np.dtype(np.complex64),
    D.complex128: np.dtype(np.complex128),
}
_FROM_RAW: dict[Any, D.dtype] = {raw: d for d, raw in _TO_RAW.items()}

FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)


def to_raw(d: D.dtype) -> Any:
    """The NumPy dtype that stores `d`.

    Raises:
        ImportError: for bfloat16 where ml_dtypes isn't installed (extra `bfloat16`).
        RuntimeError: for types that no array library here can store.
    """
    found = _TO_RAW.get(d)
    if found is not None:
        return found
    if d is D.bfloat16:
        return _load_bfloat16()
    raise RuntimeError(f"Rushlight can't store elements of type {d!r}")


def from_raw(raw: Any) -> D.dtype:
    """The `dtype` whose elements the NumPy dtype `raw` stores.

    Raises:
        TypeError: for NumPy types that PyTorch doesn't have, in PyTorch's words.
    """
    found = _FROM_RAW.get(raw)
    if found is not None:
        return found
    if getattr(raw, "name", "") == "bfloat16":
        _load_bfloat16()
        return D.bfloat16
    if not raw.isnative:
        found = _FROM_RAW.get(raw.newbyteorder("="))
        if found is not None:
            return found
    raise TypeError(
        f"can't convert np.ndarray of type {raw.type.__module__}.{raw.type.__name__}. The only "
        "supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
        "int16, int8, uint64, uint32, uint16, uint8, and bool."
    )


def _load_bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "bfloat16 tensors need the ml_dtypes package: pip install 'rushlight[bfloat16]'"
        ) from None
    raw = np.dtype(ml_dtypes.bfloat16)
    _TO_RAW[D.bfloat16] = raw
    _FROM_RAW[raw] = D.bfloat16
    return raw


def as_array(value: Any) -> Any:
    """`value` as an ndarray; NumPy gives scalars where a result has no dimensions."""
    return np.asarray(value)


def is_discrete(raw: Any) -> bool:
    """Whether a NumPy dtype is one of the types that have no gradients: bool and integers."""
    return raw.kind in "biu"


def number_for(value: Any, common: D.dtype) -> Any:
    """A Python number as an operand of arrays of type `common`: integers wrap as PyTorch's do."""
    if common.category == D.INT:
        number = int(value)
        bits = common.itemsize * 8
        low = -(1 << (bits - 1)) if common.is_signed else 0
        if low <= number < low + (1 << bits):
            return number
        return (number - low) % (1 << bits) + low
    if common.category == D.BOOL:
        return bool(value)
    if common.category == D.FLOAT:
        return to_raw(common).type(value) if common.itemsize == 2 else float(value)
    return complex(value)


def ignore_float_errors() -> None:
    """Lets inf and nan arise silently in this context, as in PyTorch."""
    np.seterr(all="ignore")


def type_name(raw: Any) -> str:
    """The tensor type that old-style names give: torch.FloatTensor."""
    return f"torch.{_TYPE_NAMES[from_raw(raw).name]}Tensor"


_TYPE_NAMES: Final = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "float16": "Half", "bfloat16": "BFloat16", "float32": "Float",
    "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
}  # fmt: skip


def copy(array: Any) -> Any:
    """A contiguous copy."""
    return np.array(array, order="C")


def owns(array: Any, like: Any) -> bool:
    """Whether `array` has memory of its own, laid out like `like`."""
    return type(array) is ndarray and array.base is None and array.strides == like.strides


def copy_like(array: Any, like: Any) -> Any:
    """A copy of `array` laid out like `like` where that is dense, else contiguous."""
    if like.flags.c_contiguous or array.ndim < 2:
        return np.array(array, order="C")
    fresh = np.empty_like(like, dtype=array.dtype)
    np.copyto(fresh, array)
    return fresh


def add_into(old: Any, g: Any) -> None:
    """Adds `g` to `old` in place."""
    if old.dtype is g.dtype:
        np.add(old, g, old)
    else:
        np.add(old, g, out=old, casting="unsafe")


def layout(array: Any) -> Any:
    """An array of `array`'s shape and strides that keeps none of its memory alive; never read it."""
    if not array.size:
        return array
    seed = array[tuple(slice(0, 1) for _ in array.shape)].copy()
    return np.lib.stride_tricks.as_strided(seed, array.shape, array.strides)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array or of a NumPy scalar."""
    shape: tuple[int, ...] = value.shape
    return shape


def write_into(array: Any, value: Any) -> None:
    """Writes `value` into `array`, converting as PyTorch's `copy_` does."""
    np.copyto(array, value, casting="unsafe")


def dtype_of(tensor: Any) -> D.dtype:
    """The dtype of a tensor's array."""
    return from_raw(tensor._raw.dtype)


def number_array(value: Any) -> Any:
    """A Python number as an array without dimensions, of the type at which it is saved."""
    if isinstance(value, bool):
        return np.asarray(value)
    if isinstance(value, int):
        return np.asarray(value, np.int64)
    return np.asarray(value, np.complex128 if isinstance(value, complex) else np.float64)


def empty(shape: tuple[int, ...], raw: Any) -> Any:
    """An array whose elements are not set."""
    return np.empty(shape, raw)


def is_number(value: Any) -> bool:
    """Whether a value is a Python or NumPy number."""
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def is_integer_scalar(value: Any) -> bool:
    """Whether a value is a NumPy integer."""
    return isinstance(value, np.integer)


def is_bool_scalar(value: Any) -> bool:
    """Whether a value is a NumPy bool."""
    return isinstance(value, np.bool_)


def python_number(value: Any) -> Any:
    """A NumPy number as the Python number of its kind."""
    return value.item()


def ones_like(array: Any) -> Any:
    """Ones shaped like `array`."""
    return np.ones(array.shape, array.dtype)


def zeros_like(array: Any) -> Any:
    """Zeros shaped and laid out like `array`."""
    return np.zeros_like(array)
