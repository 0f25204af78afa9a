"""What recorded programs ask of arrays: whose memory they show, whether they are equal."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..types import as_array, copy_like
from .places import first_byte as address

if TYPE_CHECKING:
    from ..._base.annotations import Shape
    from ..annotations import Array, RawType

ndarray: Final = np.ndarray
ufunc: Final = np.ufunc
root: Final = np.sqrt
reciprocal: Final = np.reciprocal
reshape: Final = np.reshape
empty: Final[Any] = np.empty
empty_like: Final[Any] = np.empty_like
number_types: Final = (np.generic,)

#: The operators of arrays, as the ufuncs that they run on arrays of at least one dimension.
UFUNC_OF: Final[dict[Any, Any]] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply,
    operator.truediv: np.true_divide, operator.neg: np.negative, operator.abs: np.absolute,
    operator.gt: np.greater, operator.ge: np.greater_equal, operator.lt: np.less,
    operator.le: np.less_equal, operator.eq: np.equal, operator.ne: np.not_equal,
    operator.and_: np.bitwise_and, operator.or_: np.bitwise_or, operator.xor: np.bitwise_xor,
    operator.invert: np.invert,
}  # fmt: skip


def is_array(x: Any) -> bool:
    """Whether `x` is an array, or one of NumPy's numbers."""
    return isinstance(x, (np.ndarray, np.generic))


def same_bytes(p: Array, q: Array) -> bool:
    """Whether two arrays (or NumPy numbers) agree in type, shape and every bit."""
    return bool(p.dtype == q.dtype and p.shape == q.shape and p.tobytes() == q.tobytes())


def memory_of(raw: Array) -> Any:
    """The array (or other object) that holds the memory that `raw` shows."""
    while raw.base is not None:
        raw = raw.base
        if not isinstance(raw, np.ndarray):
            break
    return raw


def distance(base: Array, raw: Array) -> int:
    """How many bytes after the first element of `base` the first of `raw` lies."""
    return address(raw) - address(base)


def overlapping(a: Array, b: Array) -> bool:
    """Whether two arrays, from their first to their last bytes, have memory in common."""
    return bool(np.may_share_memory(a, b))


def copy_alike(array: Array) -> Array:
    """A copy with the same strides."""
    return copy_like(array, array)


def all_ones(array: Array | None) -> bool:
    """Whether every element is one."""
    return bool(np.all(array == 1))


def pattern(shape: Shape, strides: Shape, dtype: RawType) -> Array:
    """For `empty_like`: an array of such a geometry, without memory of its own."""
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides, writeable=False)


def zeros(shape: object, dtype: object) -> Any:
    """Zeros."""
    return np.zeros(shape, dtype)


def in_order(array: Array) -> Array:
    """The array, or a copy of it, in C order; NumPy's numbers become arrays."""
    return np.asarray(array, order="C")


def copy_in_strides(array: Array, shape: Shape, strides: Shape) -> Array:
    """A copy with given strides, without gaps, the same in all places of a larger shape."""
    made = np.empty_like(pattern(shape, strides, array.dtype))
    np.copyto(made, array)
    return made


def astype(array: Array, dtype: RawType) -> Any:
    """The elements in another type."""
    return array.astype(dtype)


__all__ = [
    "UFUNC_OF",
    "address",
    "all_ones",
    "as_array",
    "astype",
    "copy_alike",
    "copy_like",
    "distance",
    "empty",
    "empty_like",
    "copy_in_strides",
    "in_order",
    "is_array",
    "memory_of",
    "ndarray",
    "number_types",
    "pattern",
    "overlapping",
    "reciprocal",
    "root",
    "same_bytes",
    "ufunc",
    "zeros",
]
