"""Advanced indexing, and reading and writing along dimensions: checks in PyTorch's words, then
NumPy.

`indices` is a tuple with an index array (integers, or a mask) or None (everything) for each
dimension from the first on; a mask stands for as many dimensions as it has.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._base.caller import warn_the_caller
from ..._native.ufunc_loops import FRESH, PLACES, add_at, put_at
from ..axes import ALL
from ..memory.dense_layout import order_by
from ..number import type_number
from ..types import copy_like, from_raw, refuse_shared, write_into
from . import as_strided as windows, gather as fast
from .as_strided import diagonal
from .views import select, slice_

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import AnyCallable, Positional, TensorLike
    from ..annotations import Array

_BAD_TYPE: Final = "tensors used as indices must be long, int, byte or bool tensors"
_LARGE: Final = 4096  # elements from which places are divided, not searched, and copies cost
_UINT8_WARNING: Final = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead. "
    "(Triggered "
    "internally at /__w/pytorch/pytorch/aten/src/ATen/native/IndexingUtils.h:28.)"
)


# ---- what an index means ----------------------------------------------------------------------
def _scalar(x: Array) -> str:
    return D.scalar_name(from_raw(x.dtype))


def places(x: Array, indices: Positional) -> list[Any]:
    """One integer array or None per dimension: masks become the places where they are true.

    Raises:
        IndexError: for other types, for masks of another shape, for too many indices.
    """
    found: list[Any] = []
    shape = x.shape
    if len(indices) > len(shape):
        raise IndexError(
            f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})"
        )
    if any(_has_bad_type(i) for i in indices):
        raise IndexError(_BAD_TYPE)
    for index in indices:
        if index is None or index.dtype.kind == "i":
            found.append(index)
            continue
        if index.dtype.kind != "b":
            warn_the_caller(_UINT8_WARNING)
        for d, n in enumerate(index.shape):
            at = len(found) + d
            if at >= len(shape):
                raise IndexError(errors.dimension(at, len(shape)))
            if n != shape[at]:
                raise IndexError(
                    f"The shape of the mask {errors.shape_text(index.shape)} at index {d} does "
                    "not match "
                    f"the shape of the indexed tensor {errors.shape_text(shape)} at index {at}"
                )
        found.extend(index.nonzero())
    if len(found) > len(shape):
        raise IndexError(errors.dimension(len(shape), len(shape)))
    return found


def _has_bad_type(index: Array) -> bool:
    if index is None:
        return False
    dtype = index.dtype
    return not (
        dtype.kind == "b" or dtype == np.uint8 or (dtype.kind == "i" and dtype.itemsize > 2)
    )


def key_of(x: Array, indices: Positional) -> tuple[Any, ...]:
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


def _result_shape(x: Array, key: tuple[Array, ...]) -> tuple[int, ...]:
    """The shape of `x[key]`, wherever the places may be."""
    shape = tuple([max(n, 1) if isinstance(k, np.ndarray) else n for n, k in zip(x.shape, key)])
    shape += x.shape[len(key) :]
    probe = np.ndarray(shape, np.bool_, np.zeros(1, np.bool_), 0, (0,) * len(shape))
    safe = tuple([np.zeros_like(k) if isinstance(k, np.ndarray) else k for k in key])
    return tuple(probe[safe].shape)


def _refuse_empty(x: Array, key: tuple[Array, ...]) -> None:
    indexed = [(k, n) for k, n in zip(key, x.shape) if isinstance(k, np.ndarray)]
    if any(n == 0 for _, n in indexed) and prod(
        np.broadcast_shapes(*[k.shape for k, _ in indexed])
    ):
        raise IndexError("index is out of bounds for dimension with size 0")


def outside(x: Array, key: tuple[Array, ...]) -> tuple[int, ...]:
    """The shape of the result of a key that names a place outside of `x`, where it has no elements.

    Raises:
        IndexError: where it has.
    """
    indexed = [(k, n) for k, n in zip(key, x.shape) if isinstance(k, np.ndarray)]
    together = np.broadcast_arrays(*[k for k, _ in indexed])
    _refuse_empty(x, key)
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


def _lone(indices: Positional) -> int:
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


def _plain_key(x: Array, indices: Positional) -> tuple[Any, ...] | None:
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
def index(x: Array, indices: Positional) -> Array:
    """The elements of `x` at `indices`, as a copy.

    Raises:
        IndexError: for indices that name places outside of `x`, or don't fit each other.
    """
    lone = _lone(indices)
    if 0 <= lone < x.ndim:
        try:
            found = _take(x, indices[lone], lone)
        except IndexError:
            found = None
        if found is None or not (found.size or x.shape[lone]):
            if found is not None and not indices[lone].size:
                return found
            return np.empty(outside(x, key_of(x, indices)), x.dtype)
        return found if found.ndim < 2 else _in_order(found, x, indices)
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "b":
        mask = indices[0]
        if mask.shape == x.shape[: mask.ndim]:
            if x.ndim == 1 or x.flags.c_contiguous:
                return np.ascontiguousarray(x[mask])
            indices = mask.nonzero()
            found = _take(x, indices[0], 0) if len(indices) == 1 else x[mask]
            return _in_order(found, x, indices)
    key = _plain_key(x, indices)
    if key is None:
        key = key_of(x, indices)
    try:
        found = x[key]
    except IndexError:
        return np.empty(outside(x, key), x.dtype)
    return _in_order(found if found.flags.c_contiguous else np.ascontiguousarray(found), x, key)


def _take(x: Array, where: Array, axis: int) -> Array:
    """`x.take`, which would copy the whole of an array that isn't in C order."""
    if x.size < _LARGE or where.ndim != 1 or x.flags.c_contiguous:
        return x.take(where, axis)
    order = sorted(range(x.ndim), key=x.strides.__getitem__, reverse=True)
    found = x.transpose(order).take(where, order.index(axis))
    return found.transpose(sorted(range(x.ndim), key=order.__getitem__))


def _in_order(found: Array, x: Array, key: Sequence[Array | slice | None]) -> Array:
    """The elements of `x` at a key, laid out in the order of `x`'s memory and of its indices."""
    if x.flags.c_contiguous:
        for k in key:
            if type(k) is np.ndarray and not k.flags.c_contiguous:
                break
        else:
            return found
    where = {d: k for d, k in enumerate(key) if isinstance(k, np.ndarray)}
    at = list(where)
    before = at[0] if at[-1] - at[0] == len(at) - 1 else 0  # indices that lie apart come first
    kept = [step for d, step in enumerate(x.strides) if d not in at]
    dims = found.ndim - len(kept)  # the dimensions of the indices
    steps = (*kept[:before], *(0,) * dims, *kept[before:])
    operands = [(found.shape, steps)]
    for d in at:  # as PyTorch sees an index: with dimensions of size one for those that are kept
        k = where[d].reshape((1,) * before + where[d].shape + (1,) * (len(kept) - before))
        operands.append((k.shape, k.strides))
    return order_by(found, tuple(operands))


def index_put_into(
    out: Array, indices: tuple[Any, ...], values: Array, accumulate: bool = False
) -> Array:
    """Writes `values` (or adds them) at `indices` of `out`, in place; gives `out`.

    Raises:
        IndexError, RuntimeError: for indices or values that don't fit; nothing is written then.
    """
    masked = None
    if values.size == 1 and not accumulate:
        masked = _lone_mask(out, indices)
    if masked is None and values is out:  # without elements, too
        raise RuntimeError(errors.SHARED_WITH_WRITTEN)
    if masked is None and (values.base is not None or out.base is not None):
        refuse_shared(out, values, whole=True)
    for index in indices:
        if type(index) is np.ndarray and (
            index is out or index.base is not None or out.base is not None
        ):
            refuse_shared(out, index, whole=masked is None)  # a mask may fill itself
    if values.dtype != out.dtype or values.size == 1:
        if masked is not None:
            if masked.dtype.kind != "b":
                raise RuntimeError(
                    "masked_fill_ only supports boolean masks, but got mask with dtype "
                    "unsigned char"
                )
            values = np.full(values.shape, type_number(values.item(), out.dtype))
        elif values.dtype != out.dtype:
            _check_values(values, out, key_of(out, indices))
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{_scalar(out)} for the destination and {_scalar(values)} for the source."
            )
    if (
        len(indices) == 1
        and indices[0] is not None
        and indices[0].dtype.kind == "b"
        and not values.ndim
    ):
        mask = indices[0]
        if mask.shape == out.shape and not accumulate:
            np.copyto(out, values, where=mask)
            return out
    if len(indices) == 1 and (not accumulate or values.size < fast.KERNEL):
        lone, way = indices[0], add_at if accumulate else put_at
        if type(lone) is np.ndarray and lone.ndim == 1 and way(out, 0, lone, values):
            return out
    key = _plain_key(out, indices) if not accumulate else None
    if key is None:
        key = key_of(out, indices)
    if values.ndim and (not values.size or values.shape[0] == 1):  # NumPy takes more of them
        _check_values(values, out, key)
    if values.ndim and np.may_share_memory(out, values):
        values = values.copy()
    try:
        if accumulate:
            _check_places(out, key)
            fast.index_put(out, key, values, True)
        else:
            out[key] = values
    except IndexError:
        _check_values(values, out, key)
        outside(out, key)
    except ValueError:
        _check_values(values, out, key)
        raise
    return out


def _lone_mask(x: Array, indices: Sequence[Array]) -> Array | None:
    """The mask that is the only index, where it fits; else None. One that comes first must fit."""
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if not given:
        return None
    d, mask = given[0]
    if mask.dtype.kind != "b" and mask.dtype != np.uint8:
        return None
    places(x, (*indices[:d], mask.astype(np.bool_)))  # refuses others
    if len(given) != 1:
        return None
    return mask if mask.shape == x.shape[d : d + mask.ndim] else None


def _check_places(x: Array, key: tuple[Array, ...]) -> None:
    for d, k in enumerate(key):
        if (
            isinstance(k, np.ndarray)
            and fast.wrong_place(k, x.shape[d]) is not None
            and not (-x.shape[d] <= k.min() and k.max() < x.shape[d])
        ):
            raise IndexError


def _check_values(values: Array, x: Array, key: tuple[Array, ...]) -> None:
    _refuse_empty(x, key)
    shape = _result_shape(x, key)
    lead = len(shape) - len(values.shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(values.shape, shape[lead:])):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {errors.shape_text(values.shape)} cannot be "
            "broadcast "
            f"to indexing result of shape {errors.shape_text(shape)}"
        )


def index_put(
    x: Array, indices: tuple[object, ...], values: Array, accumulate: bool = False
) -> Array:
    """A copy of `x` with `values` written (or added) at `indices`."""
    out = index_put_into(x.copy(), indices, values, accumulate)
    return out if x.flags.c_contiguous else copy_like(out, x)


def index_backward(g: Array, shape: tuple[int, ...], indices: Positional) -> Any:
    """`g` added at `indices` into zeros of `shape`."""
    if PLACES is not None:
        few = PLACES.add_indexed(g, shape, indices)
        if few is not None:
            return few
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


def are_places(x: TensorLike, n: int) -> bool:
    """Whether all whole numbers in `x`, of which there are some, are places among `n`; of arrays
    and, where a step is recorded, of Tensors.
    """
    found: bool | None = None if FRESH is None else FRESH.are_between(x, 0, n - 1)
    return bool(x.min() >= 0 and x.max() < n) if found is None else found


# ---- places of nonzero elements -----------------------------------------------------------------
def nonzero(x: Array) -> TensorLike:
    """The places of all nonzero elements, a row each."""
    if x.ndim == 0:
        return np.zeros((int(bool(x)), 0), np.int64)
    if x.size >= _LARGE and x.ndim == 2 and x.flags.c_contiguous:
        flat = np.flatnonzero(x if x.dtype.kind == "b" else np.not_equal(x, 0))
        places = np.empty((2, flat.size), np.int64)
        np.divmod(flat, x.shape[1], places[0], places[1])
        return places.T
    found = x.nonzero()
    places = np.empty((x.ndim, found[0].size), np.int64)
    for k in range(x.ndim):
        places[k] = found[k]
    return places.T


def nonzero_static(x: Array, size: int, fill_value: int = -1) -> Array:
    """The places of the first `size` nonzero elements, filled up with `fill_value`."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    if size * x.ndim * 8 >= 1 << 63:
        raise RuntimeError(errors.storage_overflow((size, x.ndim)))
    out = np.full((size, x.ndim), fill_value, np.int64)
    found = nonzero(x)[:size]
    out[: len(found)] = found
    return out


# ---- parts of a copy --------------------------------------------------------------------------
def patch(x: Array, view: AnyCallable, args: tuple[object, ...], src: Array) -> Array:
    """A copy of `x` whose part `view(x, *args)` is `src`.

    Raises:
        RuntimeError: where `src` hasn't the shape of the part.
    """
    return _patch(x.copy("K"), view, args, src)


def as_strided_scatter(x: Array, src: Array, *window: Any) -> Array:
    """A copy of `x`, with the memory that it is part of, in which a window is `src`."""
    return _patch(windows.copy_with_storage(x), windows.as_strided, window, src)


def _patch(out: Array, view: AnyCallable, args: Positional, src: Array) -> Array:
    part = view(out, *args)
    if part.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{errors.shape_text(src.shape)}, slice size = {errors.shape_text(part.shape)}"
        )
    write_into(part, src)
    return out


def select_scatter(x: Array, src: Array, dim: int, index: int) -> Array:
    """A copy of `x` whose part at one place of a dimension is `src`."""
    return patch(x, select, (dim, index), src)


def slice_scatter(
    x: Array,
    src: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """A copy of `x` whose slice of a dimension is `src`."""
    return patch(x, slice_, (dim, start, end, step), src)


def diagonal_scatter(x: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """A copy of `x` whose diagonal is `src`."""
    return patch(x, diagonal, (offset, dim1, dim2), src)
