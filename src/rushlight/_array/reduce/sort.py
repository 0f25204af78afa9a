"""Sorting, and what order decides: the k largest, medians, modes, quantiles.

Sorting is stable, with NaN above every number. Values that NumPy can't order (bfloat16) are ordered
as float32.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from ..._native.ufunc_loops import along, first_along, rank_along
from ..memory import dense_layout as dense
from .extreme import refuse_empty_dimension, take_places, ties
from .reduce import at_least_1d, axis_of, name_of

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array, RawType

_INT64 = np.dtype(np.int64)


def _orderable(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def order(x: Array, axis: int, descending: bool = False) -> Array:
    """The stable sorting permutation along `axis` of an array with dimensions."""
    x = _orderable(x)
    if not descending:
        return x.argsort(axis, "stable")
    # Stable from the back, read from the back: equal elements stay in order, NaN comes first.
    turned = (slice(None),) * axis + (slice(None, None, -1),)
    back = x[turned].argsort(axis, "stable")
    return x.shape[axis] - 1 - back[turned]


def sort(x: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """The elements in order along `dim`, and where each came from.

    Raises:
        RuntimeError: for complex numbers.
    """
    axis = axis_of(x.ndim, dim)
    if x.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if x.ndim == 0:
        return x.copy(), np.zeros((), _INT64)
    places = order(x, axis, descending)
    return _follow_layout(x, take_places(x, places, axis)), _follow_layout(x, places)


def _follow_layout(x: Array, r: Array) -> Array:
    return np.ascontiguousarray(r) if x.flags.c_contiguous else dense.copy_laid_out_like(r, x)


def sort_stable(
    x: Array, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Array, Array]:
    """`sort`, which is always stable."""
    return sort(x, dim, descending)


def argsort(x: Array, dim: int = -1, descending: bool = False) -> Array:
    """Where the elements of each rank are along `dim`."""
    return sort(x, dim, descending)[1]


def topk(
    x: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Array, Array]:
    """The k largest (or smallest) elements along `dim`, and where: the first of equal ones.

    Raises:
        RuntimeError: for k out of range, for bool and complex.
    """
    axis = axis_of(x.ndim, dim)
    size = x.shape[axis] if x.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError("selected index k out of range")
    if x.dtype.kind in "bc":
        raise RuntimeError(
            "topk does not support bool dtypes on CPU"
            if x.dtype.kind == "b"
            else " topk does not support complex dtypes on CPU"
        )
    if x.ndim == 0:
        return x.copy(), np.zeros((), _INT64)
    places: Array | None
    if k == 1 and size and x.dtype.kind != "V":
        find = np.ndarray.argmax if largest else _first_smallest
        places = np.asarray(find(x, axis, None, keepdims=True))
    else:
        apt = 0 < k * 4 < size or 0 < k * 2 <= size <= _FEW
        found: tuple[Array, Array] | None = first_along(x, axis, k, bool(largest)) if apt else None
        if found is not None:
            return found
        few = 0 < k * 4 < size and size > _FEW
        places = _few_places(_orderable(x), k, axis, largest) if few else None
    if places is None:
        places = _first(order(x, axis, largest), k, axis)
    places = np.array(places, order="C")  # even where sizes are 1
    return take_places(x, places, axis), places


def _first(x: Array, k: int, axis: int) -> Array:
    return x[(slice(None),) * (axis % x.ndim) + (slice(0, k),)]


def _first_smallest(x: Array, axis: int, out: Any, keepdims: bool) -> TensorLike:
    if x.dtype.kind == "f" and np.isnan(x).any():  # argmin would take the NaN
        return _first(order(x, axis), 1, axis)
    return np.argmin(x, axis, out, keepdims=keepdims)


_FEW = 64  # elements up to which sorting is faster than a partition
_REPEATED = 8  # up to so many searches for the extreme are faster than a partition


def _one_by_one(x: Array, k: int, largest: bool) -> Array | None:
    """Where the k extreme elements of each row are, each taken out before the next is sought.

    None where that can't be seen: elements as extreme as what takes their place, and NaN.
    """
    rows = np.array(x, order="C").reshape(-1, x.shape[-1])
    if not largest and np.isnan(np.maximum.reduce(rows, None)):
        return None
    blank = -np.inf if largest else np.inf
    lanes = np.arange(len(rows))
    found = np.empty((len(rows), k), _INT64)
    for i in range(k):
        places = rows.argmax(-1) if largest else rows.argmin(-1)
        if np.equal(rows[lanes, places], blank).any():
            return None
        rows[lanes, places] = blank
        found[:, i] = places
    return found.reshape(*x.shape[:-1], k)


def _few_places(x: Array, k: int, axis: int, largest: bool) -> Array:
    """Where the k extreme elements are, in order, by partition; equal ones in order of place."""
    n = x.shape[axis]
    moved = np.moveaxis(x, axis, -1)
    if k <= _REPEATED and x.dtype.kind == "f":
        found = _one_by_one(moved, k, largest)
        if found is not None:
            return np.moveaxis(found, -1, axis)
    cut = n - k if largest else k - 1
    kth = np.partition(moved, cut, -1)[..., cut : cut + 1]
    chosen = np.greater_equal(moved, kth) if largest else np.less_equal(moved, kth)
    flat = np.flatnonzero(chosen)
    lanes = moved.size // n
    if flat.size == k * lanes and (
        lanes == 1
        or (np.array_equal(flat[::k] // n, np.arange(lanes))
            and np.array_equal(flat[k - 1 :: k] // n, np.arange(lanes)))
    ):  # fmt: skip
        found = (flat % n).reshape(*moved.shape[:-1], k)
        inner = order(np.take_along_axis(moved, found, -1), moved.ndim - 1, largest)
        return np.moveaxis(np.take_along_axis(found, inner, -1), -1, axis)
    if largest:
        found = np.argpartition(moved, n - k, axis=-1)[..., n - k :]
    else:
        found = np.argpartition(moved, k - 1, axis=-1)[..., :k]
    # The k-th value itself may occur on both sides: take its first places.
    kth = np.take_along_axis(moved, found[..., :1] if largest else found[..., -1:], -1)
    same = ties(moved, kth)
    if int(np.count_nonzero(same)) > same.size // n:
        return _first(order(x, axis, largest), k, axis)
    found = np.sort(found, axis=-1)
    inner = order(np.take_along_axis(moved, found, -1), moved.ndim - 1, largest)
    return np.moveaxis(np.take_along_axis(found, inner, -1), -1, axis)


def kthvalue(x: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The k-th smallest element along `dim`, counted from 1, and where it is.

    Raises:
        RuntimeError: for k out of range.
        NotImplementedError: for bool.
    """
    axis = axis_of(x.ndim, dim)
    if not x.size:
        refuse_empty_dimension("kthvalue", x, axis)
    if not 1 <= k <= (x.shape[axis] if x.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    _refuse("kthvalue_cpu", x, "bc")
    found = rank_along(x, axis, k - 1, "l")
    return _at_rank(x, k - 1, axis, keepdim) if found is None else _keep(found, axis, keepdim)


def _keep(found: tuple[Array, Array], axis: int, keepdim: bool) -> tuple[Array, Array]:
    """Values and places, with the dimension that they are without where it is to be kept."""
    if not keepdim:
        return found
    return np.expand_dims(found[0], axis), np.expand_dims(found[1], axis)


def _refuse(what: str, x: Array, kinds: str) -> None:
    if x.dtype.kind in kinds and x.ndim:
        raise NotImplementedError(errors.not_implemented(what, name_of(x.dtype)))


_LARGE = 1024


def _single_places(x: Array, rank: int, axis: int) -> Array | None:
    """Where the elements of a rank are along `axis`, by partition; None where some occur twice."""
    if x.dtype.kind == "V":
        return None
    moved = np.moveaxis(x, axis, -1)
    same = np.equal(moved, np.partition(moved, rank, -1)[..., rank : rank + 1])
    places = same.argmax(-1, keepdims=True)
    lanes = same.size // same.shape[-1]
    # NaN equals nothing; one element in each lane, and no lane without.
    if np.count_nonzero(same) != lanes or not np.take_along_axis(same, places, -1).all():
        return None
    return np.moveaxis(places, -1, axis)


def _at_rank(x: Array, rank: int, axis: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements of a rank (a number, or one for each lane) along `axis`, and where they are."""
    flat = at_least_1d(x)
    if isinstance(rank, int) and flat.size >= _LARGE:
        found = _single_places(flat, rank, axis)
        if found is not None:
            return _shape(x, flat, found, axis, keepdim)
    ranked = order(flat, axis)
    if isinstance(rank, int):
        places = ranked.take([rank], axis)
    else:
        places = np.take_along_axis(ranked, rank, axis)
    return _shape(x, flat, places, axis, keepdim)


def _shape(x: Array, flat: Array, places: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
    values = np.take_along_axis(flat, places, axis)
    if x.ndim == 0:
        return values.reshape(()), places.reshape(())
    kept = (*x.shape[:axis], *([1] if keepdim else []), *x.shape[axis + 1 :])
    # Without the dimension first: what is left of it may have any stride.
    first, second = (np.ascontiguousarray(np.squeeze(r, axis)) for r in (values, places))
    return first.reshape(kept), second.reshape(kept)


def _first_nan_or(x: Array, rank: Array, axis: int) -> Array:
    """Per lane the place of its first NaN, else that of the element of the rank."""
    places = np.take_along_axis(order(x, axis), rank, axis)
    if x.dtype.kind not in "fV":
        return places
    nan = np.isnan(x)
    if not nan.any():
        return places
    return np.where(nan.any(axis, keepdims=True), np.argmax(nan, axis, keepdims=True), places)


def _lane_shape(x: Array, axis: int) -> tuple[int, ...]:
    return (*x.shape[:axis], 1, *x.shape[axis + 1 :])


def _median_places(x: Array, axis: int, ignore_nan: bool) -> Array:
    n = x.shape[axis]
    if x.size >= _LARGE and not (x.dtype.kind == "f" and np.isnan(np.maximum.reduce(x, None))):
        found = _single_places(x, (n - 1) // 2, axis)
        if found is not None:
            return found
    if ignore_nan and x.dtype.kind in "fV":
        counts = np.count_nonzero(~np.isnan(x), axis=axis, keepdims=True)
        return np.take_along_axis(order(x, axis), np.maximum(counts - 1, 0) // 2, axis)
    return _first_nan_or(x, np.full(_lane_shape(x, axis), (n - 1) // 2), axis)


def median(x: Array, ignore_nan: bool = False) -> Array:
    """The median of all elements, the lower of two; NaN where there is a NaN, or nothing.

    Raises:
        NotImplementedError: for bool and complex.
    """
    flat = np.ascontiguousarray(x).reshape(-1)
    if not flat.size:
        return _nan_as(x.dtype)
    if x.dtype.kind in "bc":
        raise NotImplementedError(errors.not_implemented("median_cpu", name_of(x.dtype)))
    found = rank_along(flat, 0, (flat.size - 1) // 2, "i" if ignore_nan else "f")
    if found is not None:
        return found[0]
    flat_ = _orderable(flat)
    if flat_.dtype.kind == "f":
        nan = np.isnan(flat_)
        if nan.any():
            flat_ = flat_[~nan]
            if not ignore_nan or not flat_.size:
                return np.asarray(np.nan, x.dtype)
    middle = (flat_.size - 1) // 2
    return np.partition(flat_, middle)[middle].astype(x.dtype)


def _nan_as(dtype: RawType) -> Array:
    """NaN as PyTorch converts it: the smallest of the wide integers, 0 of the narrow ones."""
    if dtype.kind in "iu":
        return np.asarray(np.iinfo(dtype).min if dtype.itemsize > 2 else 0, dtype)
    return np.asarray(np.nan, dtype)


def nanmedian(x: Array) -> Array:
    """The median of the elements that aren't NaN."""
    return median(x, True)


def _median_along(x: Array, dim: int, keepdim: bool, ignore_nan: bool) -> tuple[Array, Array]:
    axis = axis_of(x.ndim, dim)
    if not x.size:
        refuse_empty_dimension("median", x, axis)
    if x.dtype.kind in "bc":
        raise NotImplementedError(errors.not_implemented("median_out", name_of(x.dtype)))
    found = x.ndim and rank_along(x, axis, (x.shape[axis] - 1) // 2, "i" if ignore_nan else "f")
    if found:
        return _keep(found, axis, keepdim)
    flat = at_least_1d(x)
    places = _median_places(flat, axis, ignore_nan)
    return _shape(x, flat, places, axis, keepdim)


def median_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The medians along `dim` and where they are: the lower of two, or the first NaN."""
    return _median_along(x, dim, keepdim, False)


def nanmedian_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The medians along `dim` of the elements that aren't NaN, and where they are."""
    return _median_along(x, dim, keepdim, True)


def mode(x: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The most frequent elements along `dim` (the smallest of several), and their last places."""
    axis = axis_of(x.ndim, dim)
    if not x.size:
        refuse_empty_dimension("mode", x, axis)
    if x.size:
        _refuse("mode_cpu", x, "c")
    if x.ndim and x.dtype.kind != "V" and x.flags.c_contiguous:
        known = along("most", np.sort(x, axis), axis, x)
        if known is not None:
            return _keep(known, axis, keepdim)
    flat = at_least_1d(x)
    places = np.moveaxis(order(flat, axis), axis, -1)
    values = np.take_along_axis(np.moveaxis(_orderable(flat), axis, -1), places, -1)
    n = values.shape[-1]
    starts = np.ones(values.shape, bool)
    starts[..., 1:] = values[..., 1:] != values[..., :-1]
    ranks = np.arange(n)
    # How far each element is into its run of equals: the first longest run ends the furthest in.
    length = ranks - np.maximum.accumulate(np.where(starts, ranks, 0), -1)
    ends = np.argmax(length, -1, keepdims=True)
    found = np.moveaxis(np.take_along_axis(places, ends, -1), -1, axis)
    return _shape(x, flat, found, axis, keepdim)


def _whole_rank(rank: Array, interpolation: str) -> Array:
    """Ranks rounded as an interpolation wants; as they are where it goes between two elements."""
    round_by = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}.get(interpolation)
    return rank if round_by is None else round_by(rank)


def _rank_all(
    q: Array, n: int, interpolation: str, shape: tuple[int, ...]
) -> tuple[Array, Array, float | None]:
    """What `ranks` gives for one quantile of rows without NaN; the weight of all as a number."""
    rank = _whole_rank(q * q.dtype.type(n - 1), interpolation)
    place = float(rank)
    low, high = np.empty(shape, _INT64), np.empty(shape, _INT64)
    low.fill(int(place))
    high.fill(ceil(place))
    return low, high, place - int(place) if interpolation == "linear" else None


def quantile_of(q: float, dtype: RawType) -> Array:
    """A number as an array without dimensions."""
    return np.asarray(q, dtype)


def weights_like(weight: float, like: Array, dtype: RawType) -> Array:
    """A number in the shape of an array."""
    return np.full(like.shape, weight, dtype)


def ranks(ordered: Array, q: Array, interpolation: str, ignore_nan: bool) -> tuple[Any, Any, Any]:
    """For rows in order (NaN last): the ranks below and above each quantile, and the weight above.

    A row with NaN has the rank of its last element, unless they are ignored. One weight for all is
    a Python number.
    """
    n = ordered.shape[-1] if ordered.ndim else 1
    rows = at_least_1d(ordered)
    if not q.ndim and not ignore_nan and not np.count_nonzero(np.isnan(rows[..., -1])):
        return _rank_all(q, n, interpolation, (*rows.shape[:-1], 1))
    wanted = np.atleast_1d(q)
    lanes = rows.shape[:-1]
    if ignore_nan:
        counts = np.count_nonzero(~np.isnan(rows), axis=-1, keepdims=True)
        rank = wanted * (counts - 1).astype(rows.dtype)
        rank = np.where(rank < 0, 0, rank)  # only NaN in the row
    else:
        rank = np.broadcast_to(wanted * rows.dtype.type(n - 1), lanes + wanted.shape)
        rank = np.where(np.isnan(rows[..., -1:]), rows.dtype.type(n - 1), rank)
    rank = _whole_rank(rank.astype(rows.dtype), interpolation)
    low = rank.astype(_INT64)
    weight = (rank - low).astype(rows.dtype) if interpolation == "linear" else None
    high = np.ceil(rank).astype(_INT64)
    return low, high, weight
