"""Advanced indexing, and reading and writing along dimensions: checks in PyTorch's words, then NumPy.

`indices` is a tuple with an index array (integers, or a mask) or None (everything) for each dimension from the
first on; a mask stands for as many dimensions as it has.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from math import inf, isinf, isnan
from typing import Any, Final

import numpy as np

from .. import dtypes as D
from .. import errors
from . import gather as fast
from .shapes import ALL, LEAD, axis_of, diagonal, select, slice_
from .types import from_raw, write_into

_BAD_TYPE: Final = "tensors used as indices must be long, int, byte or bool tensors"
_UINT8_WARNING: Final = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead. (Triggered "
    "internally at /__w/pytorch/pytorch/aten/src/ATen/native/IndexingUtils.h:28.)"
)


# ---- what an index means ----------------------------------------------------------------------
def _scalar(x: Any) -> str:
    return D.scalar_name(from_raw(x.dtype))


def places(x: Any, indices: tuple[Any, ...]) -> list[Any]:
    """One integer array or None per dimension: masks become the places where they are true.

    Raises:
        IndexError: for other types, for masks of another shape, for too many indices.
    """
    found: list[Any] = []
    shape = x.shape
    for index in indices:
        if index is None:
            found.append(None)
            continue
        kind = index.dtype.kind
        if kind == "b" or index.dtype == np.uint8:
            if kind != "b":
                warnings.warn(_UINT8_WARNING, UserWarning, stacklevel=4)
            start = len(found)
            if start + index.ndim > len(shape):
                raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
            if index.shape != shape[start : start + index.ndim]:
                d = next(k for k, n in enumerate(index.shape) if n != shape[start + k])
                raise IndexError(
                    f"The shape of the mask {errors.shape_text(index.shape)} at index {d} does not match "
                    f"the shape of the indexed tensor {errors.shape_text(shape)} at index {start + d}"
                )
            found.extend(index.nonzero())
        elif kind == "i" and index.itemsize >= 4:
            found.append(index)
        else:
            raise IndexError(_BAD_TYPE)
    if len(found) > len(shape):
        raise IndexError(
            f"too many indices for tensor of dimension {len(shape)} (got {len(found)})"
        )
    return found


def key_of(x: Any, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The indices as NumPy takes them.

    Raises:
        IndexError: for places that aren't there, or indices that don't broadcast.
    """
    found = places(x, indices)
    arrays = [i for i in found if i is not None]
    if len(arrays) > 1:
        shapes = [a.shape for a in arrays]
        if any(s != shapes[0] for s in shapes):
            try:
                np.broadcast_shapes(*shapes)
            except ValueError:
                raise IndexError(
                    "shape mismatch: indexing tensors could not be broadcast together with shapes "
                    + ", ".join(errors.shape_text(s) for s in shapes)
                ) from None
    return tuple([ALL if i is None else i for i in found])


def _result_shape(x: Any, key: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of `x[key]`, wherever the places may be."""
    shape = tuple([max(n, 1) if isinstance(k, np.ndarray) else n for n, k in zip(x.shape, key)])
    shape += x.shape[len(key) :]
    probe = np.ndarray(shape, np.bool_, np.zeros(1, np.bool_), 0, (0,) * len(shape))
    safe = tuple([np.zeros_like(k) if isinstance(k, np.ndarray) else k for k in key])
    return tuple(probe[safe].shape)


def outside(x: Any, key: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of the result of a key that names a place outside of `x`, where it has no elements.

    Raises:
        IndexError: where it has.
    """
    indexed = [(k, n) for k, n in zip(key, x.shape) if isinstance(k, np.ndarray)]
    together = np.broadcast_arrays(*[k for k, _ in indexed])
    if together[0].size and any(n == 0 for _, n in indexed):
        raise IndexError("index is out of bounds for dimension with size 0")
    shape = _result_shape(x, key)
    if 0 in shape:
        return shape
    wrong = [(k < -n) | (k >= n) for k, (_, n) in zip(together, indexed)]
    first = int(np.logical_or.reduce(wrong).reshape(-1).argmax())
    for d, (bad, k) in enumerate(zip(wrong, together)):
        if bad.reshape(-1)[first]:
            raise IndexError(
                f"index {int(k.reshape(-1)[first])} is out of bounds for dimension {d} with size "
                f"{indexed[d][1]}"
            )
    raise IndexError(_BAD_TYPE)


def _lone(indices: tuple[Any, ...]) -> int:
    """The position of the only index, where it isn't a mask; else -1."""
    found = -1
    for d, index in enumerate(indices):
        if index is not None:
            if found >= 0:
                return -1
            found = d
    if found >= 0:
        dtype = indices[found].dtype
        if dtype.kind == "i" and dtype.itemsize >= 4:
            return found
    return -1


def _plain_key(x: Any, indices: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The key for NumPy where no index needs a look: whole numbers of one shape; else None."""
    if len(indices) > x.ndim:
        return None
    shape: Any = None
    holes = False
    for i in indices:
        if i is None:
            holes = True
        else:
            dtype = i.dtype
            if dtype.kind != "i" or dtype.itemsize < 4 or (shape is not None and i.shape != shape):
                return None
            shape = i.shape
    if not holes:
        return tuple(indices)
    return tuple([ALL if i is None else i for i in indices])


# ---- advanced indexing ------------------------------------------------------------------------
def index(x: Any, indices: tuple[Any, ...]) -> Any:
    """The elements of `x` at `indices`, as a copy.

    Raises:
        IndexError: for indices that name places outside of `x`, or don't fit each other.
    """
    lone = _lone(indices)
    if 0 <= lone < x.ndim:
        try:
            found = x.take(indices[lone], lone)
        except IndexError:
            found = None
        if found is None or not (found.size or x.shape[lone]):
            if found is not None and not indices[lone].size:
                return found
            return np.empty(outside(x, key_of(x, indices)), x.dtype)
        return found
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "b":
        mask = indices[0]
        if mask.shape == x.shape[: mask.ndim]:
            return np.ascontiguousarray(x[mask])
    key = _plain_key(x, indices)
    if key is None:
        key = key_of(x, indices)
    try:
        found = x[key]
    except IndexError:
        key = key_of(x, indices)
        return np.empty(outside(x, key), x.dtype)
    return found if found.flags.c_contiguous else np.ascontiguousarray(found)


def index_put_into(out: Any, indices: tuple[Any, ...], values: Any, accumulate: bool = False) -> Any:
    """Writes `values` (or adds them) at `indices` of `out`, in place; gives `out`.

    Raises:
        IndexError, RuntimeError: for indices or values that don't fit; nothing is written then.
    """
    if values.dtype != out.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{_scalar(out)} for the destination and {_scalar(values)} for the source."
        )
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "b" and not values.ndim:
        mask = indices[0]
        if mask.shape == out.shape and not accumulate:
            np.copyto(out, values, where=mask)
            return out
    key = _plain_key(out, indices) if not accumulate else None
    if key is None:
        key = key_of(out, indices)
    if values.ndim and np.may_share_memory(out, values):
        values = values.copy()
    try:
        if accumulate:
            _check_places(out, key)
            fast.index_put(out, key, values, True)
        else:
            out[key] = values
    except IndexError:
        key = key_of(out, indices)
        _check_values(values, outside(out, key))
    except ValueError:
        _check_values(values, _result_shape(out, key))
        raise
    return out


def _check_places(x: Any, key: tuple[Any, ...]) -> None:
    for d, k in enumerate(key):
        if isinstance(k, np.ndarray) and k.size and not (-x.shape[d] <= k.min() and k.max() < x.shape[d]):
            raise IndexError


def _check_values(values: Any, shape: tuple[int, ...]) -> None:
    lead = len(shape) - len(values.shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(values.shape, shape[lead:])):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {errors.shape_text(values.shape)} cannot be broadcast "
            f"to indexing result of shape {errors.shape_text(shape)}"
        )


def index_put(x: Any, indices: tuple[Any, ...], values: Any, accumulate: bool = False) -> Any:
    """A copy of `x` with `values` written (or added) at `indices`."""
    return index_put_into(x.copy(), indices, values, accumulate)


def index_backward(g: Any, shape: tuple[int, ...], indices: tuple[Any, ...]) -> Any:
    """`g` added at `indices` into zeros of `shape`."""
    out = np.zeros(shape, g.dtype)
    if not g.size:
        return out
    lone = _lone(indices)
    if lone >= 0:
        where = indices[lone]
        if where.size and int(where.min()) < 0:
            where = np.where(where < 0, where + shape[lone], where)
        if lone == 0:
            return fast.add_rows(out, where.reshape(-1), g.reshape((where.size, *shape[1:])))
        rows = g.reshape((*shape[:lone], where.size, *shape[lone + 1 :]))
        return fast.index_add(out, lone, where.reshape(-1), rows)
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "b":
        out[indices[0]] = g  # no place twice
        return out
    return fast.index_put(out, key_of(out, indices), g, True)


# ---- along a dimension ------------------------------------------------------------------------
def _integer_index(array: Any) -> bool:
    return bool(array.dtype.kind == "i" and array.itemsize >= 4)


def index_select(x: Any, dim: int, index: Any) -> Any:
    """The parts of `x` at the places `index` of a dimension.

    Raises:
        IndexError, RuntimeError: for an index that isn't a vector of places.
    """
    axis = axis_of(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not _integer_index(index):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if x.ndim == 0:
        if index.size != 1:
            raise IndexError(
                f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
            )
        if int(index.reshape(-1)[0]):
            raise IndexError("index out of range in self")
        return x.copy()
    if index.size and int(index.min()) < 0:
        raise IndexError("index out of range in self")
    try:
        return x.take(index.reshape(-1), axis)
    except IndexError:
        raise IndexError("index out of range in self") from None


def index_select_backward(g: Any, shape: tuple[int, ...], dim: int, index: Any) -> Any:
    """`g` added at its places in zeros of `shape`."""
    out = np.zeros(shape, g.dtype)
    if not shape:
        return g.reshape(()) + out
    return fast.index_add(out, dim % len(shape), index.reshape(-1), g)


def _check_add(x: Any, axis: int, index: Any, source: Any, name: str) -> None:
    if index.ndim > 1:
        raise IndexError(f"{name}: Index is supposed to be a vector, but got dim: {index.ndim} with type: "
                         f"{_scalar(index)} and size: {errors.shape_text(index.shape)}")  # fmt: skip
    if not _integer_index(index):
        raise RuntimeError(f"{name}: Expected dtype int32/int64 for index but got: {_scalar(index)}")
    if x.dtype != source.dtype:
        raise RuntimeError(
            f"{name}: self ({_scalar(x)}) and source ({_scalar(source)}) must have the same scalar type"
        )
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    if source.ndim and source.shape[:axis] + source.shape[axis + 1 :] != rest:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {errors.shape_text(x.shape)} source.shape = {errors.shape_text(source.shape)}"
        )
    have = source.shape[axis] if source.ndim else 1
    if index.size != have:
        raise RuntimeError(
            f"{name}: Number of indices ({index.size}) should be equal to source.size(dim): ({have}), for "
            f"dim: {axis}"
        )
    _inside(index, x.shape[axis] if x.ndim else 1, axis, RuntimeError)


def _inside(index: Any, n: int, axis: int, error: Any, lead: str = "", negative: bool = False) -> None:
    if index.size and not (
        (-n if negative else 0) <= int(index.min()) and int(index.max()) < n
    ):
        flat = index.reshape(-1)
        wrong = int(flat[(flat < (-n if negative else 0)) | (flat >= n)][0])
        raise error(f"{lead}index {wrong} is out of bounds for dimension {axis} with size {n}")


def index_add(x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    """A copy of `x` with `alpha` times the parts of `source` added at the places `index`."""
    axis = axis_of(dim, x.ndim)
    _check_add(x, axis, index, source, "index_add_()")
    if source.ndim == 0 and x.ndim:
        source = source.reshape((1,) * x.ndim)
    return fast.index_add(x, axis, index.reshape(-1), source, alpha)


def index_copy(x: Any, dim: int, index: Any, source: Any) -> Any:
    """A copy of `x` with the parts of `source` written at the places `index`."""
    axis = axis_of(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError("index_copy_(): Index should have dimension 1 or 0 (got "
                         f"{index.ndim})")  # fmt: skip
    if source.ndim == 0 and index.size != 1:
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element (got "
            f"{index.size})"
        )
    if source.ndim and x.ndim and source.ndim != x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({source.ndim}), destination dimensionality ({x.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {_scalar(index)}")
    if x.dtype != source.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {_scalar(x)} "
            f"and (source) {_scalar(source)}"
        )
    if source.ndim and index.size != source.shape[axis]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) "
            f"({source.shape[axis]})"
        )
    _inside(index, x.shape[axis] if x.ndim else 1, axis, IndexError, "index_copy_(): ")
    out = x.copy()
    if x.ndim == 0:
        out[...] = source.reshape(()) if index.size else out
    else:
        out[LEAD[axis] + (index.reshape(-1),)] = source
    return out


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    """A copy of `x` with one value written at the places `index` of a dimension."""
    axis = axis_of(dim, x.ndim)
    if not _integer_index(index):
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if isinstance(value, np.ndarray):
        if value.ndim:
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
    else:
        value = number_like(value, x.dtype)
    n = x.shape[axis] if x.ndim else 1
    _inside(index, n, axis, IndexError, negative=True)
    out = x.copy()
    if x.ndim == 0:
        if index.size:
            out[...] = value
    else:
        out[LEAD[axis] + (index.reshape(-1),)] = value
    return out


# ---- gather and scatter -----------------------------------------------------------------------
def _check_index(x: Any, axis: int, index: Any, source: Any, name: str, self_name: str) -> None:
    if not _integer_index(index):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if index.size == 0:
        return
    if (index.ndim or 1) != (x.ndim or 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {self_name} tensor")
    shape, limit = index.shape or (1,), x.shape or (1,)
    if source is None:
        for d, (n, m) in enumerate(zip(shape, limit)):
            if d != axis and n > m:
                if name != "gather":
                    raise RuntimeError(
                        f"Expected index {errors.shape_text(index.shape)} to be no larger than self "
                        f"{errors.shape_text(x.shape)} apart from dimension {axis}"
                    )
                raise RuntimeError(
                    f"Size does not match at dimension {d} expected index "
                    f"{errors.shape_text(index.shape)} to be no larger than self "
                    f"{errors.shape_text(x.shape)} apart from dimension {axis}"
                )
        return
    if (source.ndim or 1) != len(shape):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for d, (n, m, k) in enumerate(zip(shape, limit, source.shape or (1,))):
        if (d != axis and n > m) or n > k:
            raise RuntimeError(
                f"Expected index {errors.shape_text(index.shape)} to be no larger than self "
                f"{errors.shape_text(x.shape)} apart from dimension {axis} and to be no larger size than "
                f"src {errors.shape_text(source.shape)}"
            )


def _same_type(x: Any, source: Any, name: str) -> None:
    if x.dtype != source.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")


def gather(x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
    """The elements of `x` that `index` names along a dimension."""
    axis = axis_of(dim, x.ndim)
    if 0 < index.size <= _SMALL and index.ndim == x.ndim and index.dtype == _INT64:
        found = _gathered(x, axis, index)
        if found is not None:
            return found
    _check_index(x, axis, index, None, "gather", "input")
    return fast.gather(x, axis, index)


_SMALL: Final = 1 << 12  # places up to which NumPy's own indexing is the fastest way
_INT64: Final = np.dtype(np.int64)


def _gathered(x: Any, axis: int, index: Any) -> Any:
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
def _arange(n: int, after: int) -> Any:
    return np.arange(n).reshape((n,) + (1,) * after)


def _grown(x: Any, index: Any, source: Any) -> tuple[Any, Any, Any]:
    """A vector of one element in place of every array without dimensions."""
    return (x.reshape(1) if x.ndim == 0 else x, index.reshape(1) if index.ndim == 0 else index,
            source.reshape(1) if source.ndim == 0 else source)  # fmt: skip


def scatter(x: Any, dim: int, index: Any, src: Any, reduce: str | None = None) -> Any:
    """A copy of `x` with the elements of `src` written where `index` names along a dimension."""
    if reduce is not None:
        return _scatter_with(x, dim, index, src, reduce)
    axis = axis_of(dim, x.ndim)
    if isinstance(src, np.ndarray):
        _same_type(x, src, "scatter")
        _check_index(x, axis, index, src, "scatter", "self")
        shape = x.shape
        x, index, src = _grown(x, index, src)
        return fast.scatter(x, axis, index, src).reshape(shape)
    _check_index(x, axis, index, None, "scatter", "self")
    return fast.scatter(x, axis, index, number_like(src, x.dtype))


def _scatter_with(x: Any, dim: int, index: Any, src: Any, reduce: str) -> Any:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not isinstance(src, np.ndarray):
        src = np.full(index.shape, number_like(src, x.dtype), x.dtype)
    axis = axis_of(dim, x.ndim)
    _same_type(x, src, "scatter")
    _check_index(x, axis, index, src, "scatter", "self")
    return _combined(x, axis, index, src, np.add if reduce == "add" else np.multiply, None)


def scatter_add(x: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy of `x` with the elements of `src` added where `index` names along a dimension."""
    axis = axis_of(dim, x.ndim)
    _same_type(x, src, "scatter")
    _check_index(x, axis, index, src, "scatter", "self")
    shape = x.shape
    x, index, src = _grown(x, index, src)
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


def _combined(x: Any, axis: int, index: Any, src: Any, ufunc: Any, start: Any) -> Any:
    """A copy of `x` combined with `src` at every place named; `start` first replaces `x` there."""
    shape = x.shape
    x, index, src = _grown(x, index, src)
    _inside(index, x.shape[axis], axis, RuntimeError)
    out = x.copy()
    if index.size:
        grid: list[Any] = list(np.ix_(*[np.arange(n) for n in index.shape]))
        grid[axis] = index
        key = tuple(grid)
        if start is not None:
            out[key] = start
        ufunc.at(out, key, src[tuple([slice(n) for n in index.shape])])
    return out.reshape(shape)


def scatter_reduce(x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True) -> Any:
    """A copy of `x` where elements of `src` with one place are reduced: sum, prod, mean, amax, amin."""
    if reduce not in _COMBINE:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if x.dtype.kind == "c" and reduce in ("amax", "amin"):
        kind = D.scalar_name(from_raw(x.dtype))
        raise NotImplementedError(
            f"\"scatter_gather_tensor_cpu_reduce_{reduce}\" not implemented for '{kind}'"
        )
    axis = axis_of(dim, x.ndim)
    _same_type(x, src, "scatter")
    _check_index(x, axis, index, src, "scatter", "self")
    start = None if include_self else _identity(reduce, x.dtype)
    out = _combined(x, axis, index, src, _COMBINE[reduce], start)
    if reduce == "mean":
        ones = np.ones(x.shape, np.int64)
        count = _combined(ones, axis, index, np.ones(src.shape, np.int64), np.add,
                          None if include_self else 0)  # fmt: skip
        count = np.maximum(count, 1)
        if x.dtype.kind in "iu":
            return np.floor_divide(out, count).astype(x.dtype)
        return (out / count.astype(out.real.dtype)).astype(x.dtype, copy=False)
    return out


def index_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True) -> Any:
    """A copy of `x` where parts of `source` with one place are reduced: prod, mean, amax, amin."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    kernel = {"amax": "maximum_cpu", "amin": "minimum_cpu"}.get(reduce)
    if x.dtype.kind == "c" and kernel is not None:
        kind = D.scalar_name(from_raw(x.dtype))
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind}'")
    if x.dtype.kind == "b" and reduce == "mean":
        raise NotImplementedError("\"div_floor_cpu\" not implemented for 'Bool'")
    axis = axis_of(dim, x.ndim)
    _check_add(x, axis, index, source, "index_reduce()")
    if x.ndim == 0 or source.ndim == 0:
        shape = x.shape
        x, index, source = _grown(x, index, source)
        return scatter_reduce(x, axis, index, source, reduce, include_self).reshape(shape)
    wide = np.broadcast_to(
        index.reshape((1,) * axis + (-1,) + (1,) * (x.ndim - 1 - axis)), source.shape
    )
    return scatter_reduce(x, axis, wide, source, reduce, include_self)


# ---- flat places ------------------------------------------------------------------------------
def _flat_places(x: Any, index: Any, name: str) -> Any:
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {_scalar(index)}")
    n = x.size
    if index.size and not (-n <= int(index.min()) and int(index.max()) < n):
        flat = index.reshape(-1)
        wrong = int(flat[(flat < -n) | (flat >= n)][0])
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {n} elements.")
    return index


def take(x: Any, index: Any) -> Any:
    """The elements of the flat `x` at `index`."""
    where = _flat_places(x, index, "take")
    if not index.size:
        return np.empty(index.shape, x.dtype)
    return x.reshape(-1)[where]


def put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """A copy of `x` with the elements of `source` written (or added) at flat places."""
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {_scalar(index)}")
    if x.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_scalar(x)} and source.dtype = {_scalar(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    where = _flat_places(x, index, "put_").reshape(-1)
    out = x.copy("C")
    flat = out.reshape(-1)
    if accumulate:
        fast.add_rows(flat, np.where(where < 0, where + x.size, where), source.reshape(-1))
    else:
        flat[where] = source.reshape(-1)
    return out


# ---- masks ------------------------------------------------------------------------------------
def _broadcast(a: Any, b: Any) -> None:
    wrong = errors.broadcast(a.shape, b.shape)
    if wrong is not None:
        raise RuntimeError(wrong)


def masked_select(x: Any, mask: Any) -> Any:
    """The elements of `x` where `mask` is true, flat; the two broadcast."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if x.shape != mask.shape:
        _broadcast(mask, x)
    return fast.masked_select(x, mask)


def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    """A copy of `x` whose elements where `mask` is true come from `source`, in order."""
    if x.dtype != source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{_scalar(x)} and "
            f"{_scalar(source)}"
        )
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {_scalar(mask)}"
        )
    if x.shape != mask.shape:
        _broadcast(x, mask)
    return fast.masked_scatter(x, mask, source)


def masked_scatter_source(g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of `masked_scatter`'s source: those elements of `g` that were replaced, then zeros."""
    out = np.zeros(shape, g.dtype)
    chosen = fast.masked_select(g, mask)
    out.reshape(-1)[: chosen.size] = chosen
    return out


def masked_place(g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """The elements of the vector `g` where `mask` is true in zeros of `shape`, in order."""
    out = np.zeros(shape, g.dtype)
    out[np.broadcast_to(mask, shape)] = g
    return out


# ---- places of nonzero elements -----------------------------------------------------------------
def nonzero(x: Any) -> Any:
    """The places of all nonzero elements, a row each."""
    if x.ndim == 0:
        return np.zeros((int(bool(x)), 0), np.int64)
    return np.transpose(np.array(x.nonzero()))


def nonzero_static(x: Any, size: int, fill_value: int = -1) -> Any:
    """The places of the first `size` nonzero elements, filled up with `fill_value`."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    out = np.full((size, x.ndim), fill_value, np.int64)
    found = nonzero(x)[:size]
    out[: len(found)] = found
    return out


# ---- parts of a copy --------------------------------------------------------------------------
def patched(x: Any, view: Any, args: tuple[Any, ...], src: Any) -> Any:
    """A copy of `x` whose part `view(x, *args)` is `src`.

    Raises:
        RuntimeError: where `src` hasn't the shape of the part.
    """
    out = x.copy("K")
    part = view(out, *args)
    if part.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{errors.shape_text(src.shape)}, slice size = {errors.shape_text(part.shape)}"
        )
    write_into(part, src)
    return out


def select_scatter(x: Any, src: Any, dim: int, index: int) -> Any:
    """A copy of `x` whose part at one place of a dimension is `src`."""
    return patched(x, select, (dim, index), src)


def slice_scatter(x: Any, src: Any, dim: int = 0, start: int | None = None, end: int | None = None,
                  step: int = 1) -> Any:  # fmt: skip
    """A copy of `x` whose slice of a dimension is `src`."""
    return patched(x, slice_, (dim, start, end, step), src)


def diagonal_scatter(x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A copy of `x` whose diagonal is `src`."""
    return patched(x, diagonal, (offset, dim1, dim2), src)


# ---- numbers ----------------------------------------------------------------------------------
_C_NAMES: Final = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int",
                   "int64": "int64_t", "float32": "float", "float64": "double", "uint16": "uint16_t",
                   "uint32": "uint32_t", "uint64": "uint64_t", "bool": "bool"}  # fmt: skip


def number_like(value: Any, dtype: Any) -> Any:
    """A Python number as one that an array of `dtype` can hold, cut off and wrapped as PyTorch does.

    Raises:
        RuntimeError: where it is out of range.
    """
    kind = dtype.kind
    if kind == "f":
        if type(value) is float or type(value) is int or value is True or value is False:
            if dtype.itemsize == 4 and abs(value) > 3.4028234663852886e38 and not isinf(value):
                raise _overflow(dtype)
            return value
    if isinstance(value, complex):
        if kind == "c":
            return value
        if value.imag:
            raise _overflow(dtype)
        value = value.real
    if kind == "b":
        return bool(value)
    if kind in "iu":
        if isinstance(value, float) and (isnan(value) or isinf(value)):
            raise _overflow(dtype)
        info = np.iinfo(dtype)
        low = int(info.min) if kind == "i" or isinstance(value, float) else -int(info.max)
        if not low <= value <= int(info.max):
            raise _overflow(dtype)
        whole = int(value)
        return whole + int(info.max) + 1 if whole < 0 and kind == "u" else whole
    return value


def _overflow(dtype: Any) -> RuntimeError:
    name = _C_NAMES.get(from_raw(dtype).name, from_raw(dtype).name)
    return RuntimeError(f"value cannot be converted to type {name} without overflow")
