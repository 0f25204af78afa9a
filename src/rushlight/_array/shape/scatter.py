"""Reading and writing along dimensions and at flat places: PyTorch's checks, then the fast ways.

index_select, index_add and their kin; gather and scatter with reductions; take and put; masks.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._base.determinism import alert
from ..._native.ufunc_loops import add_at, put_along, put_at
from .. import kernels
from ..axes import LEAD, axis_of
from ..number import number_like, wrap_number
from ..types import copy_like, from_raw
from . import gather as fast
from .place_checks import (
    check_add,
    check_copy,
    check_fill,
    check_index,
    check_inside,
    check_scatter,
    is_integer_index,
    kind_of,
)
from .views import clone

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import Scalar, TensorLike
    from ..annotations import Array


# ---- along a dimension ------------------------------------------------------------------------
def index_select(x: Array, dim: int, index: Array) -> TensorLike:
    """The parts of `x` at the places `index` of a dimension.

    Raises:
        IndexError, RuntimeError: for an index that isn't a vector of places.
    """
    axis = axis_of(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not is_integer_index(index):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if x.ndim == 0:
        if index.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
            )
        if int(index.reshape(-1)[0]):
            raise IndexError("index out of range in self")
        return x.copy()
    # Of an expanded index, which may be larger than memory, one place says all.
    seen = index[:1] if index.ndim and not index.strides[0] else index
    if seen.size and int(seen.min()) < 0:
        raise _outside(x, axis, seen)
    if not x.size and seen.size and int(seen.max()) >= x.shape[axis]:  # NumPy doesn't look
        raise _outside(x, axis, seen)
    try:
        return x.take(index.reshape(-1), axis)
    except IndexError:
        raise _outside(x, axis, seen) from None


def _outside(x: Array, axis: int, index: Array) -> Exception:
    """What PyTorch says of a place that isn't there; its kernel for columns has its own words."""
    n, empty = x.shape[axis], not x.size and x.ndim > 1
    if empty and not n:
        return RuntimeError("index_select(): self indexing axis dim should be positive")
    if axis != 1 and not empty:
        return IndexError("index out of range in self")
    flat = index.reshape(-1)
    wrong = int(flat[(flat < 0) | (flat >= n)][0])
    return RuntimeError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={n}")


def index_select_backward(g: Array, shape: tuple[int, ...], dim: int, index: Array) -> Array:
    """`g` added at its places in zeros of `shape`."""
    out = np.zeros(shape, g.dtype)
    if not shape:
        return g.reshape(()) + out
    return fast.index_add(out, dim % len(shape), index.reshape(-1), g)


def index_add(x: Array, dim: int, index: Array, source: Array, alpha: float = 1) -> Array:
    """A copy of `x` with `alpha` times the parts of `source` added at the places `index`."""
    axis = axis_of(dim, x.ndim)
    check_add(x, axis, index, source, "index_add_()")
    if not x.size and x.ndim > 1:
        return x.copy()
    if axis == 0 and x.ndim and x.dtype.kind == "f" and alpha.__class__ is int and alpha == 1:
        return fast.add_rows(x.copy(order="C"), index, source)
    return fast.index_add(x, axis, index.reshape(-1), source, wrap_number(alpha, x.dtype))


def index_add_into(
    x: Array, dim: int, index: Array, source: Array, alpha: float = 1
) -> Callable[..., object] | None:
    """What adds like `index_add` in place; None where that is no less work."""
    apt = x.ndim and x.size and x.flags.c_contiguous and x.dtype.kind in "fiu"
    return _add_parts if apt else None


def _add_parts(x: Array, dim: int, index: Array, source: Array, alpha: float = 1) -> None:
    one = alpha.__class__ is int and alpha == 1
    if one and source.size < fast.KERNEL and add_at(x, dim, index, source):
        return
    axis = axis_of(dim, x.ndim)
    check_add(x, axis, index, source, "index_add_()")
    if axis:
        x[...] = index_add(x, dim, index, source, alpha)
        return
    if not one:
        source = source * x.dtype.type(wrap_number(alpha, x.dtype))
    fast.add_rows(x, _apart(index, x), _apart(source, x))


def index_copy(x: Array, dim: int, index: Array, source: Array) -> Array:
    """A copy of `x` with the parts of `source` written at the places `index`."""
    axis = axis_of(dim, x.ndim)
    check_copy(x, axis, index, source)
    out = x.copy()
    if not x.size and x.ndim > 1:
        return out
    if x.ndim == 0:
        out[...] = source.reshape(-1)[-1] if index.size else out
    elif not put_at(out, axis, index.reshape(-1), source):
        out[LEAD[axis] + (index.reshape(-1),)] = source
    return out


def index_copy_into(
    x: Array, dim: int, index: Array, source: Array
) -> Callable[..., object] | None:
    """What writes like `index_copy` in place."""
    return _put_parts if x.ndim and x.size else None


def _put_parts(x: Array, dim: int, index: Array, source: Array) -> None:
    if put_at(x, dim, index, source):
        return
    axis = axis_of(dim, x.ndim)
    check_copy(x, axis, index, source)
    x[LEAD[axis] + (_apart(index, x).reshape(-1),)] = _apart(source, x)


def _apart(operand: Array, x: Array) -> Array:
    """An operand that isn't written with `x`: parts that lie apart may be of its memory."""
    return operand.copy() if np.may_share_memory(operand, x) else operand


def index_fill_into(
    x: Array, dim: int, index: Array, value: Array | float
) -> Callable[..., object] | None:
    """What writes like `index_fill` in place."""
    return _fill_parts if x.ndim and x.size else None


def _fill_parts(x: Array, dim: int, index: Array, value: Array | float) -> None:
    if not isinstance(value, np.ndarray) and put_at(x, dim, index, value):
        return
    axis, value = check_fill(x, dim, index, value)
    if isinstance(value, np.ndarray):
        value = _apart(value, x)
    x[LEAD[axis] + (_apart(index, x).reshape(-1),)] = value


def index_fill(x: Array, dim: int, index: Array, value: Array | float) -> Array:
    """A copy of `x` with one value written at the places `index` of a dimension."""
    axis, value = check_fill(x, dim, index, value)
    out = clone(x) if x.ndim else np.array(x)
    if not x.size and x.ndim > 1:
        return out
    if x.ndim == 0:
        if index.size:
            out[...] = value
    else:
        out[LEAD[axis] + (index.reshape(-1),)] = value
    return out


# ---- gather and scatter -----------------------------------------------------------------------
def gather(x: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array:
    """The elements of `x` that `index` names along a dimension."""
    axis = axis_of(dim, x.ndim)
    if 0 < index.size <= _SMALL and 0 != index.ndim == x.ndim and index.dtype == _INT64:
        if not index.flags.c_contiguous:
            index = np.ascontiguousarray(index)  # NumPy's result would be laid out like it
        found = _gather(x, axis, index)
        if found is not None:
            return found
    wrong_size = "Size does not match at dimension {} expected"
    check_index(x, axis, index, None, "gather", "input", wrong_size)
    return fast.gather(x, axis, index)


_SMALL: Final = 1 << 12  # places up to which NumPy's own indexing is the fastest way
_INT64: Final = np.dtype(np.int64)


def _gather(x: Array, axis: int, index: Array) -> Array | None:
    """`gather` by one look-up on an open grid; None where something doesn't fit."""
    ndim = x.ndim
    key: list[Any] = [index] * ndim
    for d, n in enumerate(index.shape):
        if d != axis:
            if n > x.shape[d]:
                return None
            key[d] = _arange(n, ndim - 1 - d)
    if np.minimum.reduce(index, None) < 0:
        return None
    try:
        return x[tuple(key)]
    except IndexError:
        return None


@lru_cache(256)
def _arange(n: int, after: int) -> Array:
    return np.arange(n).reshape((n,) + (1,) * after)


def _grow(x: Array, index: Array, source: Array) -> tuple[Array, Array, Array]:
    """A vector of one element in place of every array without dimensions."""
    return (x.reshape(1) if x.ndim == 0 else x, index.reshape(1) if index.ndim == 0 else index,
            source.reshape(1) if source.ndim == 0 else source)  # fmt: skip


def scatter(
    x: Array, dim: int, index: Array, src: Array | Scalar, reduce: str | None = None
) -> Array:
    """A copy of `x` with the elements of `src` written where `index` names along a dimension."""
    axis = axis_of(dim, x.ndim)
    if isinstance(src, np.ndarray):
        check_scatter(x, axis, index, src)
    else:
        check_index(x, axis, index, None)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not index.size:  # a number isn't read then
        return x.copy()
    if reduce is not None:
        if not isinstance(src, np.ndarray):
            src = np.full(index.shape, number_like(src, x.dtype), x.dtype)
        return _combine(x, axis, index, src, np.add if reduce == "add" else np.multiply, None)
    if not isinstance(src, np.ndarray):
        return fast.scatter(x, axis, index, number_like(src, x.dtype))
    shape = x.shape
    x, index, src = _grow(x, index, src)
    return fast.scatter(x, axis, index, src).reshape(shape)


def scatter_into(
    x: Array, dim: int, index: Array, src: Array | Scalar
) -> Callable[..., object] | None:
    """What writes like `scatter` in place, and refuses what that refuses."""
    if not x.ndim or not index.ndim or not index.size or not x.flags.c_contiguous:
        return None
    axis = axis_of(dim, x.ndim)

    def write(x: Array, *rest: object) -> None:
        if not put_along(x, axis, index, src):
            _put_flat(x, axis, index, src)

    return write


def _put_flat(x: Array, axis: int, index: Array, src: Array | Scalar) -> None:
    if isinstance(src, np.ndarray):
        check_scatter(x, axis, index, src)
        value = _apart(_grow(x, index, src)[2], x)
        value = value[tuple([slice(n) for n in index.shape])].reshape(-1)
    else:
        check_index(x, axis, index, None)
        value = number_like(src, x.dtype)
    x.reshape(-1)[fast.places_of(x, axis, index)] = value


def scatter_add(x: Array, dim: int, index: Array, src: Array) -> Array:
    """A copy of `x` with the elements of `src` added where `index` names along a dimension."""
    axis = axis_of(dim, x.ndim)
    check_scatter(x, axis, index, src)
    shape = x.shape
    x, index, src = _grow(x, index, src)
    return fast.scatter_add(x, axis, index, src).reshape(shape)


_IDENTITY: Final[dict[str, Any]] = {"sum": 0, "prod": 1, "mean": 0, "amax": -inf, "amin": inf}
_COMBINE: Final[dict[str, Any]] = {"sum": np.add, "prod": np.multiply, "mean": np.add,
                                   "amax": np.maximum, "amin": np.minimum}  # fmt: skip


def _identity(reduce: str, dtype: Any) -> Any:
    value = _IDENTITY[reduce]
    if isinstance(value, float) and dtype.kind in "iub":
        if dtype.kind == "b":
            return value > 0
        info = np.iinfo(dtype)
        return info.min if value < 0 else info.max
    return value


def _combine(
    x: Array, axis: int, index: Array, src: Array, ufunc: np.ufunc, start: object
) -> Array:
    """A copy of `x` combined with `src` at every place named; `start` first replaces `x` there."""
    shape = x.shape
    x, index, src = _grow(x, index, src)
    check_inside(index, x.shape[axis], axis, RuntimeError)
    if index.size >= kernels.LEAST >> 2 and start is None:  # `at` takes longer for an element
        part = src[tuple([slice(n) for n in index.shape])]
        found = kernels.places.combine(x, axis, index, part, ufunc.__name__)
        if found is not None:
            return found.reshape(shape)
    out = x.copy()
    if index.size:
        # Flat: NumPy is twice as fast with one index.
        flat, places = out.reshape(-1), fast.flat_places(x.shape, axis, index.astype(np.int64))
        if start is not None:
            flat[places] = start
            return _combine(out, axis, index, src, ufunc, None).reshape(shape)
        ufunc.at(flat, places, src[tuple([slice(n) for n in index.shape])].reshape(-1))
    return out.reshape(shape)


def scatter_reduce(
    x: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool = True
) -> Array:
    """A copy of `x` where elements of `src` with one place are reduced: sum, prod, mean, amax,
    amin.
    """
    axis = axis_of(dim, x.ndim)
    check_scatter(x, axis, index, src)
    if reduce not in _COMBINE:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if (x.dtype.kind == "c" and reduce in ("amax", "amin") and index.size) or (
        x.dtype.kind == "b" and reduce == "mean"
    ):
        kind = D.scalar_name(from_raw(x.dtype))
        raise NotImplementedError(
            errors.not_implemented(f"scatter_gather_tensor_cpu_reduce_{reduce}", kind)
        )
    start = None if include_self else _identity(reduce, x.dtype)
    out = _combine(x, axis, index, src, _COMBINE[reduce], start)
    if reduce == "mean":
        ones = np.ones(x.shape, np.int64)
        count = _combine(ones, axis, index, np.ones(src.shape, np.int64), np.add,
                          None if include_self else 0)  # fmt: skip
        count = np.maximum(count, 1)
        if x.dtype.kind in "iu":
            return np.floor_divide(out, count).astype(x.dtype)
        return (out / count.astype(out.real.dtype)).astype(x.dtype, copy=False)
    return out


def index_reduce(
    x: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool = True
) -> Array:
    """A copy of `x` where parts of `source` with one place are reduced: prod, mean, amax, amin."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    axis = axis_of(dim, x.ndim)
    check_add(x, axis, index, source, "index_reduce_()")
    if x.dtype.kind in "cb":
        _refuse_reduction(x, reduce, include_self)
    if x.ndim == 0 or source.ndim == 0:
        shape = x.shape
        x, index, source = _grow(x, index, source)
        return scatter_reduce(x, axis, index, source, reduce, include_self).reshape(shape)
    wide = np.broadcast_to(
        index.reshape((1,) * axis + (-1,) + (1,) * (x.ndim - 1 - axis)), source.shape
    )
    return scatter_reduce(x, axis, wide, source, reduce, include_self)


def _refuse_reduction(x: Array, reduce: str, include_self: bool) -> None:
    """Refuses what parts of bools or complex numbers aren't reduced by.

    Raises:
        NotImplementedError: in PyTorch's words.
    """
    kernel = ""
    if not include_self:
        kernel = "index_reduce_func_exclude_input_init"
    elif x.ndim < 2:
        kernel = "index_func_"
    elif x.dtype.kind == "c" and reduce in ("amax", "amin"):
        kernel = "maximum_cpu" if reduce == "amax" else "minimum_cpu"
    elif x.dtype.kind == "b" and reduce == "mean":
        kernel = "div_floor_cpu"
    if kernel:
        kind = D.scalar_name(from_raw(x.dtype))
        raise NotImplementedError(errors.not_implemented(kernel, kind))


# ---- flat places ------------------------------------------------------------------------------
def _flat_places(x: Array, index: Array, name: str, empty: str) -> Array:
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {kind_of(index)}")
    n = x.size
    if index.size and not n:
        raise IndexError(f"{name}(): {empty} an empty tensor")
    if index.size and not (-n <= int(index.min()) and int(index.max()) < n):
        flat = index.reshape(-1)
        wrong = int(flat[(flat < -n) | (flat >= n)][0])
        raise IndexError(
            f"out of range: tried to access index {wrong} on a tensor of {n} elements."
        )
    return index


def take(x: Array, index: Array) -> Array:
    """The elements of the flat `x` at `index`."""
    where = _flat_places(x, index, "take", "tried to take from")
    if not index.size:
        return np.empty(index.shape, x.dtype)
    return np.asarray(x.reshape(-1)[where], order="C")


def put(x: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    """A copy of `x` with the elements of `source` written (or added) at flat places."""
    if not accumulate:
        alert("put_")
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {kind_of(index)}")
    if x.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{kind_of(x)} and source.dtype = {kind_of(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    where = _flat_places(x, index, "put_", "Tried to put elements into").reshape(-1)
    out = np.array(x, order="C")  # of a number, too, where `x` is a gradient
    flat = out.reshape(-1)
    if accumulate:
        fast.add_rows(flat, np.where(where < 0, where + x.size, where), source.reshape(-1))
    else:
        flat[where] = source.reshape(-1)
    return out if x.flags.c_contiguous else copy_like(out, x)


# ---- masks ------------------------------------------------------------------------------------
def _broadcast(a: Array, b: Array) -> None:
    wrong = errors.broadcast(a.shape, b.shape)
    if wrong is not None:
        raise RuntimeError(wrong)


def masked_select(x: Array, mask: Array) -> Array:
    """The elements of `x` where `mask` is true, flat; the two broadcast."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if x.shape != mask.shape:
        _broadcast(mask, x)
    return fast.masked_select(x, mask)


def masked_scatter(x: Array, mask: Array, source: Array) -> Array:
    """A copy of `x` whose elements where `mask` is true come from `source`, in order."""
    if x.dtype != source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{kind_of(x)} and "
            f"{kind_of(source)}"
        )
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {kind_of(mask)}"
        )
    if x.shape != mask.shape:
        _broadcast(x, mask)
    return fast.masked_scatter(x, mask, source)


def masked_scatter_source(g: Array, mask: Array, shape: tuple[int, ...]) -> Array:
    """The gradient of `masked_scatter`'s source: those elements of `g` that were replaced, then
    zeros.
    """
    out = np.zeros(shape, g.dtype)
    chosen = fast.masked_select(g, mask)
    out.reshape(-1)[: chosen.size] = chosen
    return out


def place_masked(g: Array, mask: Array, shape: tuple[int, ...]) -> Array:
    """The elements of the vector `g` where `mask` is true in zeros of `shape`, in order."""
    out = np.zeros(shape, g.dtype)
    out[np.broadcast_to(mask, shape)] = g
    return out
