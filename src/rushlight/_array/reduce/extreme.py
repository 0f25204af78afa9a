"""Largest and smallest elements, and where they are. NaN is larger and smaller than everything."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from ..types import ndarray
from .folds import find_extremes, fold
from .reduce import at_least_1d, axes_of, axis_of, in_order, name_of
from .row_sums import row_max, row_starts

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..annotations import Array

_maximum: AnyCallable = np.maximum.reduce
_minimum: AnyCallable = np.minimum.reduce
_UFUNCS: dict[Any, Any] = {ndarray.argmax: np.maximum, ndarray.argmin: np.minimum}
_FEW = 128  # elements up to which a reduction of NumPy is quicker than `row_max`,
_MANY = 4096  # and from which folds are,
_SHORT = 16  # where rows have so few


def _refuse_empty(name: str, x: Array, dim: Any) -> None:
    """Raises IndexError where a reduced dimension is empty, RuntimeError where all are reduced."""
    if dim is None or dim == ():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for d in (dim,) if isinstance(dim, int) else dim:
        if -x.ndim <= d < x.ndim:
            refuse_empty_dimension(name, x, d)


def refuse_empty_dimension(name: str, x: Array, axis: int, colon: str = "():") -> None:
    """Raises IndexError where `axis` of `x` is empty."""
    if x.ndim and x.shape[axis] == 0:
        raise IndexError(f"{name}{colon} Expected reduction dim {axis} to have non-zero size.")


def _refuse_complex(what: str, x: Array) -> None:
    if x.dtype.kind == "c" and x.size:
        raise NotImplementedError(errors.not_implemented(what, name_of(x.dtype)))


def largest(x: Array) -> Any:
    """The largest of all elements."""
    if not x.size:
        _refuse_empty("max", x, None)
    _refuse_complex("max_all", x)
    return _maximum(x, None)


def smallest(x: Array) -> Any:
    """The smallest of all elements."""
    if not x.size:
        _refuse_empty("min", x, None)
    _refuse_complex("min_all", x)
    return _minimum(x, None)


def _is_matrix_by_rows(x: Array, axis: int | Shape | None) -> bool:
    """Whether `row_max` serves, and faster: it reads rows of floats in C order."""
    return (
        x.size > _FEW
        and x.ndim == 2
        and (x.size < _MANY or x.shape[1] > _SHORT)
        and axis in (1, -1, (1,), (-1,))
        and x.dtype.kind == "f"
        and bool(x.flags.c_contiguous)
    )


def amax(x: Array, dim: int | Shape | None = (), keepdim: bool = False) -> TensorLike:
    """The largest elements over the dimensions `dim`."""
    if not x.size:
        _refuse_empty("amax", x, dim)
    axis = axes_of(x.ndim, dim)
    _refuse_complex("max_values_cpu", x)
    if _is_matrix_by_rows(x, axis):
        top = row_max(x)
        return top.reshape(-1, 1) if keepdim else top
    return in_order(fold(np.maximum, x, axis, keepdim), x)


def amin(x: Array, dim: int | Shape | None = (), keepdim: bool = False) -> TensorLike:
    """The smallest elements over the dimensions `dim`."""
    axis = axes_of(x.ndim, dim)
    if not x.size:
        _refuse_empty("amin", x, dim)
    _refuse_complex("min_values_cpu", x)
    if _is_matrix_by_rows(x, axis):
        low = row_max(x, ndarray.argmin)
        return low.reshape(-1, 1) if keepdim else low
    return in_order(fold(np.minimum, x, axis, keepdim), x)


def aminmax(x: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Any, Any]:
    """The smallest and the largest elements."""
    axis = axes_of(x.ndim, dim)
    if not x.size:
        if axis is None:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                "identity."
            )
        refuse_empty_dimension("aminmax", x, (dim or 0) % max(x.ndim, 1), ":")
    if x.ndim == 0 and dim is not None and x.dtype.kind == "c":
        raise RuntimeError(f"aminmax not implemented for {name_of(x.dtype)}")
    if x.dtype.kind == "c":
        raise NotImplementedError(errors.not_implemented("aminmax_cpu", name_of(x.dtype)))
    low, high = fold(np.minimum, x, axis, keepdim), fold(np.maximum, x, axis, keepdim)
    return in_order(low, x), in_order(high, x)


def take_places(x: Array, places: Array, axis: int) -> Array:
    """The elements of `x` at `places`, which has size one along `axis`, or any."""
    if x.ndim == 1:
        return x[places]
    if x.ndim == 2 and axis == 1:
        return x[_rows(len(x)), places]
    return np.take_along_axis(x, places, axis)


@lru_cache(maxsize=64)
def _rows(count: int) -> Array:
    """The numbers of the rows, as a column."""
    rows = np.arange(count)[:, None]
    rows.flags.writeable = False
    return rows


def _with_places(x: Array, axis: int, keepdim: bool, find: AnyCallable) -> tuple[Array, Array]:
    known = find_extremes(_UFUNCS[find], x, axis)
    if known is not None:
        values, places = known
        if not keepdim:
            return values, places
        return np.expand_dims(values, axis), np.expand_dims(places, axis)
    flat = at_least_1d(x)
    places = find(flat, axis, None, keepdims=True)
    values = take_places(flat, places, axis)
    if x.ndim == 0:
        return values.reshape(()), places.reshape(())
    if keepdim:
        return in_order(values, x), in_order(places, x)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    return values.reshape(shape), places.reshape(shape)


def max_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The largest elements along `dim`, and where they are: the first of equal ones."""
    axis = axis_of(x.ndim, dim)
    if not x.size:
        refuse_empty_dimension("max", x, axis)
    if x.dtype.kind == "c":
        raise RuntimeError("max(): does not support complex input")
    return _with_places(x, axis, keepdim, ndarray.argmax)


def min_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The smallest elements along `dim`, and where they are: the first of equal ones."""
    axis = axis_of(x.ndim, dim)
    if not x.size:
        refuse_empty_dimension("min", x, axis)
    if x.dtype.kind == "c":
        raise RuntimeError("min(): does not support complex input")
    return _with_places(x, axis, keepdim, ndarray.argmin)


def _place(name: str, x: Array, dim: int | None, keepdim: bool, find: AnyCallable) -> TensorLike:
    if x.dtype.kind in "cb":
        what = "complex" if x.dtype.kind == "c" else "bool"
        raise RuntimeError(f"{name}(): does not support {what} input")
    axis = None if dim is None else axis_of(x.ndim, dim)
    if not x.size:
        if axis is None:
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
            )
        refuse_empty_dimension(name, x, axis)
    if x.ndim == 0:
        return np.zeros((), np.int64)
    if axis is not None:
        known = find_extremes(_UFUNCS[find], x, axis)
        if known is not None:
            return np.expand_dims(known[1], axis) if keepdim else known[1]
    return in_order(find(x, axis, None, keepdims=keepdim), x)


def argmax(x: Array, dim: int | None = None, keepdim: bool = False) -> TensorLike:
    """Where the largest element is, along `dim` or in the flattened array."""
    return _place("argmax", x, dim, keepdim, ndarray.argmax)


def argmin(x: Array, dim: int | None = None, keepdim: bool = False) -> TensorLike:
    """Where the smallest element is, along `dim` or in the flattened array."""
    return _place("argmin", x, dim, keepdim, ndarray.argmin)


def ties(x: Array, extreme: Array) -> Array:
    """Where `x` equals the extreme; NaN equals NaN."""
    found = x == extreme
    if x.dtype.kind in "fV":
        unordered = extreme != extreme
        if unordered.any():
            found |= unordered & (x != x)
    return found if type(found) is ndarray else np.asarray(found)


def place_along(g: Array, places: Array, dim: int, keepdim: bool, shape: tuple[int, ...]) -> Array:
    """Zeros of `shape` with `g` at `places` along `dim`, which both have if `keepdim`."""
    if not shape:
        return g
    if not keepdim:
        inner = list(shape)
        inner[dim] = 1
        g, places = g.reshape(inner), places.reshape(inner)
    out = np.zeros(shape, g.dtype)
    lines, length = shape[dim], prod(shape[dim % len(shape) + 1 :])
    if places.size * lines == out.size and g.size:  # one for each line
        spots = places.reshape(-1, length) * length
        spots += row_starts(len(spots), lines * length)[:, None]
        if length > 1:
            spots += row_starts(length, 1)
        out.reshape(-1)[spots] = g.reshape(spots.shape)
    elif g.size:
        np.put_along_axis(out, places, g, dim)
    return out


def take_along(x: Array, places: Array, dim: int, keepdim: bool) -> Array:
    """The elements of `x` at `places` along `dim`: the transpose of `place_along`."""
    if x.ndim == 0:
        return x
    if keepdim:
        return np.take_along_axis(x, places, dim)
    return np.squeeze(np.take_along_axis(x, np.expand_dims(places, dim), dim), dim)
