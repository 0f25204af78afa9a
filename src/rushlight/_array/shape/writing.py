"""Writing into arrays: copies with conversion, fills, and what may not be written; other shapes
of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from ..number import fill_with
from ..types import (
    address,
    convert_array,
    from_raw,
    ndarray,
    overlap,
    owner,
    refuse_overlap,
    refuse_shared,
)

if TYPE_CHECKING:
    from ..._base.annotations import Scalar
    from ..._tensor.tensor import Tensor
    from ..annotations import Array


def write_converted(array: Array, value: Array) -> None:
    """Writes `value` into `array`, converted as PyTorch does."""
    if array.dtype is not value.dtype and array.dtype != value.dtype:
        if not array.size:
            value = value.real  # nothing is lost, and nothing is warned of
        value = convert_array(value, from_raw(array.dtype))
    array[...] = value


def _is_same_memory(x: Array, y: Array) -> bool:
    """Whether two arrays are the same elements at the same places."""
    return (
        x.shape == y.shape
        and x.strides == y.strides
        and x.dtype == y.dtype
        and owner(x) is owner(y)
        and address(x) == address(y)
    )


def write_part(x: Array, key: Any, src: Array) -> bool:
    """Writes a view into the part that a basic key names; `x[key] += 1` writes the part itself.

    False, with nothing written, where both have elements of one memory otherwise.
    """
    part = x[key]
    if type(part) is not np.ndarray:
        return False
    if not _is_same_memory(part, src):
        if overlap(part, src):
            return False
        part[...] = src
    return True


def copy_like(x: Array, src: Array, non_blocking: bool = False) -> Array:
    """`src` in the shape and type of `x`, as a copy."""
    out = np.empty(x.shape, x.dtype)
    copy_into(out, src)
    return out


def copy_into(x: Array, src: Array, non_blocking: bool = False) -> None:
    """Writes `src`, broadcast and converted, into `x`.

    Raises:
        RuntimeError: where the shapes don't fit, or the memory overlaps.
    """
    if x is src:
        return
    try:
        refuse_overlap(x)
    except RuntimeError:
        if _is_same_memory(x, src):
            return
        raise
    if x.base is not None or src.base is not None:
        refuse_shared(x, src)
    if x.shape != src.shape:
        if src.ndim <= x.ndim and (src.base is None or x.base is None) and src.dtype is x.dtype:
            try:
                x[...] = src
                return
            except ValueError:
                pass
        wrong = errors.broadcast(x.shape, src.shape)
        if wrong is not None:
            raise RuntimeError(wrong)
        together = tuple(np.broadcast_shapes(x.shape, src.shape))
        if together != x.shape:
            raise RuntimeError(errors.output_shape(x.shape, together))
    write_converted(x, src)


def fill_into(x: Array, value: Scalar) -> None:
    """Writes a Python number everywhere in `x`."""
    fill_with(x, value)


def zero_into(x: Array) -> None:
    """Writes zeros everywhere in `x`."""
    if x.itemsize == 1:
        x = x.view(np.uint8)  # the least of a type without a zero
    x.fill(0)


def fill_like(x: Array, value: Scalar) -> Array:
    """An array like `x` with a Python number everywhere."""
    out = np.empty_like(x)
    fill_with(out, value)
    return out


def fill_tensor_into(x: Array, value: Array) -> None:
    """Writes the only element of `value` everywhere in `x`.

    Raises:
        RuntimeError: where `value` has dimensions.
    """
    if value.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} "
            "dimensions."
        )
    refuse_overlap(x)
    write_converted(x, value)


def fill_from(x: Array, value: Array) -> Array:
    """An array like `x` with the only element of `value` everywhere."""
    out = np.empty_like(x)
    fill_tensor_into(out, value)
    return out


def bool_places(true: bool) -> Array:
    """The index that a bool stands for: place 0, or none."""
    return np.zeros(1 if true else 0, np.int64)


def integers(values: list[int]) -> Any:
    """A flat sequence of Python integers in int64; None where one is too large."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return None


def is_array(value: list[int] | tuple[Tensor, ...] | list[bool]) -> bool:
    """Whether a value is an array of the array library."""
    return isinstance(value, ndarray)
