"""Reductions over arrays: sums, means, products, truth, counts.

16-bit floats are accumulated in float32, integers and bools summed in int64, as PyTorch does.
"""

from __future__ import annotations

from math import prod as _size_of
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._native.ufunc_loops import along
from .. import kernels
from ..types import convert_array, from_raw, is_half, to_raw
from .folds import by_memory_order, fold
from .row_sums import ones, row_sum, sum_short_lines

if TYPE_CHECKING:
    from ..._base.annotations import Shape, TensorLike
    from ..annotations import Array, RawType

parallel = later("_array.memory.parallel")

Axis = int | tuple[int, ...] | None

_INT64 = np.dtype(np.int64)
_BOOL = np.dtype(np.bool_)
_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce


def axes_of(ndim: int, dim: int | Shape | None) -> Axis:
    """`dim` as NumPy takes it: None where it means all dimensions.

    Raises:
        IndexError: for a dimension that isn't there.
        RuntimeError: for a dimension that appears twice.
    """
    if dim is None:
        return None
    if isinstance(dim, int):
        if -ndim <= dim < ndim:
            return dim
        dim = (dim,)
    elif len(dim) == 0:
        return None
    limit = ndim or 1
    found: list[int] = []
    for d in dim:
        if not -limit <= d < limit:
            raise IndexError(errors.dimension(d, ndim))
        d %= limit
        if d in found:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        found.append(d)
    return None if ndim == 0 else tuple(found)


def axis_of(ndim: int, dim: int) -> int:
    """One dimension, counted from the front; 0 for an array without dimensions.

    Raises:
        IndexError: for a dimension that isn't there.
    """
    limit = ndim or 1
    if not -limit <= dim < limit:
        raise IndexError(errors.dimension(dim, ndim))
    return dim % limit


def at_least_1d(x: Array) -> Array:
    """`x`, with one dimension if it has none."""
    return x if x.ndim else x.reshape(1)


def lift_half(x: Any) -> Any:
    """`x` in float32 where it is a 16-bit float."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def in_order(r: Array, x: Array) -> Array:
    """What `x` was reduced to, in C order, strides of kept dimensions, too, unlike NumPy's."""
    if r.ndim < 2 or x.flags.c_contiguous:
        return r
    return np.ascontiguousarray(r).ravel().reshape(r.shape)


def _convert(x: Array, dtype: D.dtype | None) -> Array:
    if dtype is None or x.dtype == to_raw(dtype):
        return x
    return convert_array(x, dtype)


def name_of(raw: RawType) -> str:
    """The name of a NumPy dtype in error messages: Float, Long…"""
    return D.scalar_name(from_raw(raw))


def sum(
    x: Array, dim: int | Shape | None = None, keepdim: bool = False, dtype: D.dtype | None = None
) -> Any:
    """The sum; integers and bools in int64, 16-bit floats accumulated in float32."""
    if dtype is not None:
        x = _convert(x, dtype)
    axis = None if dim is None else axes_of(x.ndim, dim)
    kind = x.dtype.kind
    if kind in "fc" and x.dtype.itemsize != 2:
        if x.size >= _LARGE and kind == "f":
            total = large_sum(x, axis, keepdim)
            if total is not None:
                return total
        total = _add(x, axis, None, None, keepdim)
        return in_order(total, x)
    if kind in "biu":
        if axis is None and kind == "b" and not keepdim and dtype is None:
            return np.array(np.count_nonzero(x), _INT64)
        total = _count_true(x, axis, keepdim) if kind == "b" else None
        if total is None:
            total = fold(np.add, x, axis, keepdim, _INT64)
    else:
        total = sum(x.astype(np.float32), dim, keepdim)
    if is_half(x.dtype) or dtype is not None:
        total = total.astype(x.dtype)
    return in_order(total, x)


_LARGE = 4096
_MOST_BOOLS = 1 << 22  # bools up to which float32 counts exactly, and is worth its memory
_ONE_PRODUCT = 16384  # elements up to which one product of BLAS sums exactly enough


def _count_true(x: Array, axis: Axis, keepdim: bool) -> Array | None:
    """How many bools are true, by sums in float32; None for what is left to NumPy."""
    if not _LARGE <= x.size <= _MOST_BOOLS:
        return None
    counts = large_sum(x.astype(np.float32), axis, keepdim)
    return None if counts is None else counts.astype(_INT64)


def large_sum(x: Array, axis: Axis, keepdim: bool = False) -> Array | None:
    """The sum over all dimensions, or over the last ones, by BLAS, or over others beside each other
    by a kernel; None for what is left to NumPy.

    See Note [Row sums by BLAS].
    """
    if x.dtype.itemsize not in (4, 8):
        return None
    if not x.flags.c_contiguous:
        return by_memory_order(large_sum, x, axis, keepdim)
    if axis is None:
        if x.size <= _ONE_PRODUCT:
            total = x.reshape(-1).dot(ones(x.size, x.dtype))
        else:
            total = kernels.elementwise.total(x) if x.size >= kernels.LEAST else None
            total = parallel.parallel_sum(x) if total is None else total
        return total.reshape((1,) * x.ndim) if keepdim else total
    count = _trailing(x.ndim, axis)
    if count is None:
        total = _sum_inside(x, axis, keepdim)
        return _sum_in_turn(x, axis, keepdim) if total is None else total
    length = _size_of(x.shape[x.ndim - count :])
    if length < 2:
        return None
    total = row_sum(x.reshape(-1, length))
    kept = x.shape[: x.ndim - count]
    return total.reshape(kept + (1,) * count if keepdim else kept)


_LONG_LINE: Final = 16  # elements of the last dimensions from which they are summed first


def _sum_in_turn(x: Array, axis: Axis, keepdim: bool) -> Array | None:
    """The sum over the last dimensions, and then over the others; None for NumPy's way."""
    if not isinstance(axis, tuple):
        return None
    axes, last = {d % x.ndim for d in axis}, x.ndim
    while last and last - 1 in axes:
        last -= 1
    length = _size_of(x.shape[last:])
    if last == x.ndim or length < _LONG_LINE:
        return None
    rows = row_sum(x.reshape(-1, length)).reshape(x.shape[:last])
    rest = tuple(sorted([d for d in axes if d < last]))
    total: Array = np.add.reduce(rows, rest)
    if not keepdim:
        return total
    return total.reshape([1 if d in axes else n for d, n in enumerate(x.shape)])


def _sum_inside(x: Array, axis: Axis, keepdim: bool) -> Array | None:
    """The sum over neighbouring dimensions, with others behind; None for NumPy's way."""
    given = (axis,) if isinstance(axis, int) else axis or ()
    axes = tuple(sorted([d % x.ndim for d in given]))
    if not axes or axes != tuple(range(axes[0], axes[0] + len(axes))):
        return None
    total: Array | None = sum_short_lines(x, axes[0], len(axes))
    if total is None and x.size >= kernels.LEAST << 3:
        total = kernels.column_sums.add_lines(x, axes)
    if total is None or not keepdim:
        return total
    return total.reshape([1 if d in axes else n for d, n in enumerate(x.shape)])


def sum_all(x: Array, dtype: D.dtype | None = None) -> TensorLike | None:
    """The sum of all elements."""
    if dtype is None and x.size < _LARGE and x.dtype.kind == "f" and x.dtype.itemsize != 2:
        return _add(x, None)
    return sum(x, None, False, dtype)


def mean(
    x: Array, dim: int | Shape | None = None, keepdim: bool = False, dtype: D.dtype | None = None
) -> Array:
    """The mean.

    Raises:
        RuntimeError: for integers, in PyTorch's words.
    """
    given = dtype is not None
    if given:
        if dtype.category < D.FLOAT:  # type: ignore[union-attr]
            raise RuntimeError(_not_floating("Optional", D.scalar_name(dtype)))  # type: ignore[arg-type]
        x = _convert(x, dtype)
    kind = x.dtype.kind
    if kind in "biu":
        raise RuntimeError(_not_floating("Input", name_of(x.dtype)))
    axis = None if dim is None else axes_of(x.ndim, dim)
    if kind == "f" and x.size < _LARGE and x.dtype.itemsize != 2 and x.ndim < 3:
        total = _add(x, axis, None, None, keepdim)
    else:
        total = sum(x, dim, keepdim)
    if axis is None:
        count = x.size
    else:
        count = reduced_count(x.shape, axis)
    # A NumPy scalar divided by a Python number costs half of what an array does.
    return total / count if count else np.full_like(total, np.nan)


def mean_all(x: Array, dtype: D.dtype | None = None) -> Array:
    """The mean of all elements."""
    return mean(x, None, False, dtype)


def _not_floating(which: str, name: str) -> str:
    what = "Input dtype" if which == "Input" else "Optional dtype"
    return (
        f"mean(): could not infer output dtype. {what} must be either a floating point or complex "
        f"dtype. Got: {name}"
    )


def reduced_count(shape: tuple[int, ...], axis: Axis) -> int:
    """How many elements each result is made of."""
    n = 1
    if axis is None:
        for size in shape:
            n *= size
        return n
    for d in (axis,) if isinstance(axis, int) else axis:
        n *= shape[d]
    return n


def count_of(shape: tuple[int, ...], dim: Shape | None) -> int:
    """How many elements a reduction of `shape` over `dim` puts into each result."""
    return reduced_count(shape, axes_of(len(shape), dim))


def prod(
    x: Array, dim: int | None = None, keepdim: bool = False, dtype: D.dtype | None = None
) -> TensorLike:
    """The product; integers and bools in int64, 16-bit floats accumulated in float32."""
    axis = axes_of(x.ndim, dim)
    x = _convert(x, dtype)
    if x.dtype.kind in "biu":
        wide = fold(np.multiply, x, axis, keepdim, _INT64)
        return in_order(wide if dtype is None else wide.astype(x.dtype), x)
    if is_half(x.dtype):
        wide = fold(np.multiply, x.astype(np.float32), axis, keepdim)
        return in_order(wide.astype(x.dtype), x)
    if axis is None and x.size >= _LARGE and x.flags.c_contiguous:
        # Many running products at once: one alone waits for each multiplication.
        flat = x.reshape(-1)
        known = along("multiply", flat, 0)
        if known is not None:
            return np.reshape(known, (1,) * x.ndim if keepdim else ())
        whole = flat.size // _LANES * _LANES
        lanes = _multiply(flat[:whole].reshape(-1, _LANES), 0)
        total = np.multiply(_multiply(lanes), _multiply(flat[whole:]))
        return np.asarray(total, x.dtype).reshape((1,) * x.ndim if keepdim else ())
    return in_order(fold(np.multiply, x, axis, keepdim), x)


_LANES = 512


def prod_all(x: Array, dtype: D.dtype | None = None) -> TensorLike:
    """The product of all elements."""
    return prod(x, None, False, dtype)


def nansum(
    x: Array, dim: Shape | None = None, keepdim: bool = False, dtype: D.dtype | None = None
) -> TensorLike:
    """The sum with NaN counted as zero.

    Raises:
        RuntimeError: for complex numbers.
        NotImplementedError: for floating-point numbers in a complex type.
    """
    axes_of(x.ndim, dim)
    if x.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if x.dtype.kind in "fV":
        if dtype is not None and dtype.category == D.COMPLEX and x.size:
            raise NotImplementedError(errors.not_implemented("nansum_cpu", D.scalar_name(dtype)))
        total = sum(x, dim, keepdim, dtype)
        if not np.isnan(total).any():
            return total
        x = np.where(np.isnan(x), x.dtype.type(0), x)
    return sum(x, dim, keepdim, dtype)


# Up to this many bools, looking at their bytes is a third of the price of NumPy's reduction.
_FEW_BOOLS = 1024


def _few_bools(x: Array) -> bool:
    return x.dtype is _BOOL and x.size <= _FEW_BOOLS


def all(x: Array, dim: int | Shape | None = None, keepdim: bool = False) -> Any:
    """Whether all elements are true; of uint8 as uint8."""
    if dim is None and not keepdim and _few_bools(x):
        return np.array(0 not in x.tobytes())
    axis = () if dim == () else axes_of(x.ndim, dim)  # over no dimension: each by itself
    return _truth(fold(np.logical_and, x, axis, keepdim, _BOOL), x)


def any(x: Array, dim: int | Shape | None = None, keepdim: bool = False) -> Any:
    """Whether any element is true; of uint8 as uint8."""
    if dim is None and not keepdim and _few_bools(x):
        return np.array(np.count_nonzero(x) > 0)
    axis = () if dim == () else axes_of(x.ndim, dim)
    return _truth(fold(np.logical_or, x, axis, keepdim, _BOOL), x)


def _truth(result: Array, x: Array) -> TensorLike:
    return in_order(result.astype(np.uint8) if x.dtype == np.uint8 else result, x)


def count_nonzero(x: Array, dim: Shape | None = None) -> Array:
    """How many elements aren't zero, in int64."""
    axis = axes_of(x.ndim, dim)
    counts: Any = None
    if axis is not None and _LARGE <= x.size <= _MOST_BOOLS:
        counts = _count_true(x if x.dtype is _BOOL else x != 0, axis, False)
    if counts is None:
        counts = np.count_nonzero(at_least_1d(x) if x.ndim == 0 else x, axis=axis)
    return in_order(np.asarray(counts, _INT64), x)


def _trailing(ndim: int, axis: int | Shape | None) -> int | None:
    """How many axes are reduced, where these are the last ones; else None."""
    if axis is None:
        return ndim
    axes = sorted([d % ndim for d in axis]) if isinstance(axis, tuple) else [axis % ndim]
    return len(axes) if axes == list(range(ndim - len(axes), ndim)) and axes else None


def check_for_logsumexp(x: Array, dim: Shape | None, keepdim: bool = False) -> Array:
    """The operand, integers in the default float type.

    Raises:
        RuntimeError: for no dimensions at all, as PyTorch does.
    """
    if isinstance(dim, (tuple, list)) and not dim and x.ndim and x.size and not keepdim:
        raise RuntimeError(errors.output_shape((), (1,) * x.ndim))
    axes_of(x.ndim, dim)
    return x.astype(to_raw(D.get_default_dtype())) if x.dtype.kind in "biu" else x
