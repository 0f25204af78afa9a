"""Reductions over arrays: sums, products, extremes, norms, variances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes as D
from .types import to_raw

Axis = int | tuple[int, ...] | None


def axes_of(ndim: int, dim: Any) -> Axis:
    """`dim` as NumPy takes it: None where it means all dimensions.

    Raises:
        IndexError: for a dimension that isn't there.
        RuntimeError: for a dimension that appears twice.
    """
    from .. import errors

    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return None
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    limit = ndim or 1
    found: list[int] = []
    for d in dims:
        if not -limit <= d < limit:
            raise IndexError(errors.dimension(d, ndim))
        d %= limit
        if d in found:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        found.append(d)
    return None if ndim == 0 else tuple(found)


def _converted(x: Any, dtype: D.dtype | None) -> Any:
    if dtype is not None:
        raw = to_raw(dtype)
        return x if x.dtype == raw else x.astype(raw)
    return x


def sum(x: Any, dim: Any = None, keepdim: bool = False, dtype: D.dtype | None = None) -> Any:
    """The sum; integers and bools in int64, halves accumulated in float32."""
    x = _converted(x, dtype)
    kind = x.dtype.kind
    axis = axes_of(x.ndim, dim)
    if kind in "biu" and dtype is None:
        return np.add.reduce(x, axis=axis, dtype=np.int64, keepdims=keepdim)
    if x.dtype.itemsize == 2 and kind in "fV":
        return np.add.reduce(x.astype(np.float32), axis=axis, keepdims=keepdim).astype(x.dtype)
    return np.add.reduce(x, axis=axis, keepdims=keepdim)


def mean(x: Any, dim: Any = None, keepdim: bool = False, dtype: D.dtype | None = None) -> Any:
    """The mean.

    Raises:
        RuntimeError: for integers, in PyTorch's words.
    """
    x = _converted(x, dtype)
    if x.dtype.kind in "biu":
        from .types import from_raw

        name = D.scalar_name(from_raw(x.dtype))
        what = "Input dtype" if dtype is None else "Optional dtype"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} must be either a floating point or complex "
            f"dtype. Got: {name}"
        )
    axis = axes_of(x.ndim, dim)
    total = sum(x, dim, keepdim)
    count = reduced_count(x.shape, axis)
    if count == 0:
        return np.full(np.shape(total), np.nan, x.dtype)
    return np.true_divide(total, count)


def reduced_count(shape: tuple[int, ...], axis: Axis) -> int:
    """How many elements each result is made of."""
    n = 1
    for d in range(len(shape)) if axis is None else ((axis,) if isinstance(axis, int) else axis):
        n *= shape[d]
    return n


def prod(x: Any, dim: Any = None, keepdim: bool = False, dtype: D.dtype | None = None) -> Any:
    """The product; integers and bools in int64."""
    x = _converted(x, dtype)
    axis = axes_of(x.ndim, dim)
    if x.dtype.kind in "biu" and dtype is None:
        return np.multiply.reduce(x, axis=axis, dtype=np.int64, keepdims=keepdim)
    return np.multiply.reduce(x, axis=axis, keepdims=keepdim)
