"""Reading and adding at computed places: gather, scatter, index_add, index_put, masks, one-hot.

Note [Adding rows at repeated places]
`np.add.at` on numbers adds one after the other, as PyTorch does: that is for narrow rows (a few
numbers each). On rows it is a slow loop. There the places are sorted, and round k adds the k-th row
of every place at once: rounds are few because a place's rows are first summed in runs of at most
`_RUN`, and the run sums go through the same procedure again. The order of additions depends on the
index alone, so results are the same bits every time, and runs add up with less rounding error than
one long sum.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.ufunc_loops import add_at
from .. import kernels

if TYPE_CHECKING:
    from ..annotations import Array

_RUN = 32
# Rows up to this many numbers are summed number by number.
_NARROW = 16
# Numbers from which a kernel adds rows, where there is one: its call takes longer than fewer do.
KERNEL = 16384


def _stable_order(keys: Array, limit: int) -> Array:
    """The stable sorting permutation of non-negative integers below `limit`.

    NumPy sorts 16-bit integers by radix, seven times faster than the 64-bit ones: two such passes
    are enough.
    """
    if limit <= 1 << 16:
        return np.argsort(keys.astype(np.uint16), kind="stable")
    if limit <= 1 << 32:
        low = np.argsort((keys & 0xFFFF).astype(np.uint16), kind="stable")
        return low[np.argsort((keys[low] >> 16).astype(np.uint16), kind="stable")]
    return np.argsort(keys, kind="stable")


def _sum_runs(source: Array, order: Array, starts: Array, counts: Array) -> Array:
    """The sums of source[order[start : start + count]] for each run, round by round."""
    ranked = _stable_order(_RUN - counts, _RUN + 1)  # longest first: each round is a prefix
    first = starts[ranked]
    sums = source.take(order[first], axis=0)
    longer = len(counts) - np.cumsum(np.bincount(counts, minlength=_RUN + 1))
    for step in range(1, int(counts.max())):
        active = int(longer[step])
        sums[:active] += source.take(order[first[:active] + step], axis=0)
    result = np.empty_like(sums)
    result[ranked] = sums
    return result


def _sum_by_place(places: int, index: Array, source: Array) -> tuple[Array, Array]:
    """The distinct values of `index` in rising order, and the sum of `source` at each."""
    order = _stable_order(index, places)
    keys = index[order]
    while True:
        count = len(keys)
        changes = np.empty(count, bool)
        changes[0] = True
        np.not_equal(keys[1:], keys[:-1], out=changes[1:])
        starts = np.flatnonzero(changes)
        counts = np.diff(starts, append=count)
        if int(counts.max()) <= _RUN:
            return keys[starts], _sum_runs(source, order, starts, counts)
        position = np.arange(count) - np.repeat(starts, counts)
        starts = np.flatnonzero(position % _RUN == 0)
        source = _sum_runs(source, order, starts, np.diff(starts, append=count))
        keys, order = keys[starts], np.arange(len(starts))


_INT64: Final = np.dtype(np.int64)
_FEW: Final = 4096


@lru_cache(64)
def _numbers(count: int) -> Array:
    return np.arange(count)


def add_rows(out: Array, index: Array, source: Array) -> Array:
    """Adds each row of `source` to the row of `out` that `index` names, in place; gives `out`.

    Shapes: out (V, ...), index (n,) with 0 <= index < V, source (n, ...).
    """
    count = index.size
    width = prod(out.shape[1:])
    if count == 0 or width == 0:
        return out
    index = np.ascontiguousarray(index, np.int64).reshape(-1)
    if not out.flags.c_contiguous or (out.dtype.itemsize == 2 and out.dtype.kind in "fV"):
        dtype = np.float32 if out.dtype.itemsize == 2 and out.dtype.kind in "fV" else out.dtype
        out[...] = add_rows(out.astype(dtype, order="C"), index, source)
        return out
    rows = np.ascontiguousarray(source, out.dtype).reshape(count, width)
    target = out.reshape(out.shape[0], width)
    few = rows.size < KERNEL
    if few and add_at(target, 0, index, rows):
        return out
    if rows.size >= kernels.LEAST and kernels.embedding_gradient.add_rows(target, index, rows):
        return out
    if not few and add_at(target, 0, index, rows):
        return out
    if width == 1:
        np.add.at(target.reshape(-1), index, rows.reshape(-1))
    elif width <= _NARROW and out.dtype.kind in "fc" and out.shape[0] <= 8 * count:
        if width <= 4 and target.size > _FEW:
            for column in range(width):
                np.add.at(target[:, column], index, rows[:, column])
        else:
            places = (index[:, None] * width + _numbers(width)).reshape(-1)
            np.add.at(target.reshape(-1), places, rows.reshape(-1))
    elif out.dtype.kind == "b":
        np.logical_or.at(target, index, rows)
    else:
        places, sums = _sum_by_place(out.shape[0], index, rows)
        target[places] += sums
    return out


def wrong_place(index: Array, size: int) -> int | None:
    """The first index that is negative or not below `size`."""
    if index.size == 0:
        return None
    if index.dtype is _INT64:  # a negative index is a very large one without its sign
        if np.maximum.reduce(index.view(np.uint64), None) < size:
            return None
    elif int(index.min()) >= 0 and int(index.max()) < size:
        return None
    return int(index[(index < 0) | (index >= size)].reshape(-1)[0])


def index_add(x: Array, axis: int, index: Array, source: Array, alpha: float = 1) -> Array:
    """A copy of `x` with `alpha` times each slice of `source` added along `axis` at `index`.

    Raises: IndexError for an index outside the axis.
    """
    wrong = wrong_place(index, x.shape[axis] if x.ndim else 1)
    if wrong is not None:
        raise IndexError("index out of range in self")
    if alpha != 1:
        source = source * x.dtype.type(alpha)
    if x.ndim == 0:
        return add_rows(x.reshape(1).copy(), index.reshape(-1), source.reshape(-1)).reshape(())
    if axis % x.ndim == 0:
        return add_rows(x.copy(order="C"), index, source)
    out = x.copy(order="C")
    if add_at(out, axis, np.ascontiguousarray(index), np.ascontiguousarray(source)):
        return out
    # Rows first: one transposed copy each way instead of strided additions.
    front = np.ascontiguousarray(np.moveaxis(x, axis, 0))
    if front.base is x or np.shares_memory(front, x):
        front = front.copy()
    add_rows(front, index, np.moveaxis(source, axis, 0))
    return np.moveaxis(front, 0, axis).copy(order="C")


def embedding_backward(
    g: Array, index: Array, rows: int, padding_idx: int = -1, scale_by_frequency: bool = False
) -> Array:
    """The gradient for an embedding table of `rows` rows, from the gradient of the rows read at
    `index`.

    Shapes: g index.shape + (width,); the result (rows, width). Rows at `padding_idx` stay zero.
    """
    width = g.shape[-1]
    out = np.zeros((rows, width), g.dtype)
    flat = np.ascontiguousarray(index).reshape(-1)
    values = g.reshape(flat.size, width)
    if padding_idx >= 0:
        kept = flat != padding_idx
        if not kept.all():
            flat, values = flat[kept], values[kept]
    if scale_by_frequency and flat.size:
        share = np.bincount(flat, minlength=rows)[flat].astype(g.dtype)
        values = values / share[:, None]
    return add_rows(out, flat, values)


# --- along an axis --------------------------------------------------------------------------------


@lru_cache(256)
def _grid(shape: tuple[int, ...], axis: int, extents: tuple[int, ...]) -> tuple[int, Any]:
    """How far apart places along `axis` are, and where each of the others begins."""
    strides = [prod(shape[a + 1 :]) for a in range(len(shape))]
    offsets: Any = None
    for a, extent in enumerate(extents):
        if a != axis and extent > 1:
            step = np.arange(0, extent * strides[a], strides[a])
            step = step.reshape((extent,) + (1,) * (len(shape) - 1 - a))
            offsets = step if offsets is None else offsets + step
    return strides[axis], offsets


def flat_places(shape: tuple[int, ...], axis: int, index: Array) -> Array:
    """The flat places in a C-ordered array of `shape` that `index` names along `axis`."""
    if index.size <= _FEW and index.ndim == len(shape):
        stride, offsets = _grid(shape, axis, index.shape)
        places = np.multiply(index, stride) if stride != 1 else index.astype(np.int64)
        return (places if offsets is None else np.add(places, offsets, places)).reshape(-1)
    strides = [prod(shape[a + 1 :]) for a in range(len(shape))]
    places = index * strides[axis] if strides[axis] != 1 else index.astype(np.int64)
    for a, extent in enumerate(index.shape):
        if a != axis and extent > 1:
            step = np.arange(0, extent * strides[a], strides[a])
            places += step.reshape((extent,) + (1,) * (len(shape) - 1 - a))
    return places.reshape(-1)


def _check_index(x: Array, axis: int, index: Array) -> tuple[int, Array]:
    """The axis, not negative, and the index as int64.

    Raises: RuntimeError for an index outside the axis.
    """
    axis = axis % x.ndim if x.ndim else 0
    wrong = wrong_place(index, x.shape[axis] if x.ndim else 1)
    if wrong is not None:
        size = x.shape[axis] if x.ndim else 1
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {axis} with size {size}")
    return axis, index.astype(np.int64, copy=False)


def _line(x: Array, axis: int, index: Array) -> Array | None:
    """The index as a vector where all lines along `axis` have the same, as expanded ones do."""
    if index.size < _FEW or index.ndim != x.ndim:
        return None
    for a, (extent, step) in enumerate(zip(index.shape, index.strides)):
        if a != axis and (extent != x.shape[a] or (step and extent > 1)):
            return None
    return index[tuple(slice(None) if a == axis else 0 for a in range(index.ndim))]


def gather(x: Array, axis: int, index: Array) -> Array:
    """The elements of `x` that `index` names along `axis`.

    Shapes: as `index`, which has as many axes as `x` and nowhere, but along `axis`, more places.
    Raises: RuntimeError for an index outside the axis.
    """
    if not index.size:  # of any type
        return np.empty(index.shape, x.dtype)
    line = _line(x, axis, index)
    if line is not None:
        axis, line = _check_index(x, axis, line)
        return np.ascontiguousarray(x).take(line, axis)
    if index.size >= kernels.LEAST:
        found = kernels.places.gather(x, axis, index)
        if found is not None:
            return found
    axis, index = _check_index(x, axis, index)
    if x.ndim == 0 or index.ndim == 0:
        return x.reshape(-1).take(index.reshape(-1)).reshape(index.shape)
    if index.size == 0:
        return np.empty(index.shape, x.dtype)
    flat = np.ascontiguousarray(x).reshape(-1)
    return flat.take(flat_places(x.shape, axis, index)).reshape(index.shape)


def scatter(x: Array, axis: int, index: Array, source: Any) -> Array:
    """A copy of `x` with the elements of `source` written where `index` names along `axis`.

    `source` is a number, or an array at least as large as `index`; at a place named twice the last
    one stays.
    Raises: RuntimeError for an index outside the axis.
    """
    out = np.array(x, order="C")
    values = source
    if np.ndim(source):
        values = source[tuple(slice(extent) for extent in index.shape)].reshape(-1)
    at = places_of(x, axis, index)
    if at.size:
        out.reshape(-1)[at] = values
    return out


def places_of(x: Array, axis: int, index: Array) -> Array:
    """The flat places in `x` that `index` names along `axis`.

    Raises: RuntimeError for an index outside the axis.
    """
    axis, index = _check_index(x, axis, index)
    if x.ndim == 0 or not index.size:
        return index.reshape(-1)
    return flat_places(x.shape, axis, _grow(index, x))


def _grow(index: Array, x: Array) -> Array:
    return index.reshape(1) if index.ndim == 0 and x.ndim else index


def scatter_add(x: Array, axis: int, index: Array, source: Array) -> Array:
    """A copy of `x` with the elements of `source` added where `index` names along `axis`.

    Shapes: `source` at least as large as `index`. Raises: RuntimeError for an index outside the
    axis.
    """
    if np.ndim(source) and source.shape != index.shape and source.ndim == index.ndim:
        source = source[tuple(slice(extent) for extent in index.shape)]
    line = _line(x, axis, index) if x.dtype.kind == "f" and np.ndim(source) else None
    if line is not None:
        axis, line = _check_index(x, axis, line)
        return index_add(x, axis, line, source)
    if index.size >= kernels.LEAST:
        found = kernels.places.combine(x, axis, index, source, "add")
        if found is not None:
            return found
    axis, index = _check_index(x, axis, index)
    half = x.dtype.itemsize == 2 and x.dtype.kind in "fV"
    out = np.array(x, dtype=np.float32 if half else None, order="C")
    if index.size:
        at = index.reshape(-1) if x.ndim == 0 else flat_places(x.shape, axis, _grow(index, x))
        values = np.ascontiguousarray(source, out.dtype).reshape(-1)
        np.add.at(out.reshape(-1), at, values)
    return out.astype(x.dtype, copy=False)


def write_along(out: Array, axis: int, index: Array, values: Any) -> None:
    """Writes a number, or an element for each index, where it names places of `out` along `axis`.

    Shapes: `out` in C order, `index` as `out` but along `axis`. All indices are inside.
    """
    if index.size >= kernels.LEAST:
        source = values if np.ndim(values) else np.full(index.shape, values, out.dtype)
        if kernels.places.write(out, axis, index, source):
            return
    np.put_along_axis(out, index, values, axis)


def index_select(x: Array, axis: int, index: Array) -> Array:
    """The slices of `x` along `axis` that `index` names.

    Raises: IndexError for an index outside the axis.
    """
    if wrong_place(index, x.shape[axis] if x.ndim else 1) is not None:
        raise IndexError("index out of range in self")
    if x.ndim == 0:
        return np.array(x)
    return x.take(index.reshape(-1), axis=axis)


# --- general indices and masks --------------------------------------------------------------------


def _from_start(index: Array, size: int, axis: int) -> Array:
    """Places of an axis as int64, counted from its start.

    Raises: IndexError for one outside it.
    """
    if wrong_place(index, size) is None:
        return index.astype(_INT64, copy=False)
    wrapped = np.where(index < 0, index + size, index)
    wrong = wrong_place(wrapped, size)
    if wrong is not None:
        given = wrong - size if wrong < 0 else wrong
        raise IndexError(f"index {given} is out of bounds for dimension {axis} with size {size}")
    return wrapped.astype(_INT64, copy=False)


def index_put(
    out: Array, indices: tuple[Any, ...], values: Array | int, accumulate: bool = False
) -> Array:
    """Writes `values` to out[indices] in place, or adds them, repeated places included; gives
    `out`.

    `indices` is anything that NumPy indexing takes: integer and boolean arrays, integers, slices,
    None.

    Raises: ValueError for an array that may not be written; IndexError for a place outside.
    """
    if not accumulate:
        out[indices] = values
        return out
    if not out.flags.writeable:
        raise ValueError("assignment destination is read-only")
    arrays: list[Any] = []
    for index in indices:
        if isinstance(index, np.ndarray) and index.dtype == np.bool_:
            arrays.extend(index.nonzero())
        else:
            arrays.append(index)
    whole = all(isinstance(a, np.ndarray) and a.dtype.kind in "iu" for a in arrays)
    if whole and arrays and out.flags.c_contiguous and len(arrays) <= out.ndim:
        lead = out.shape[: len(arrays)]
        rest = out.shape[len(arrays) :]
        together = [_from_start(a, n, axis) for axis, (a, n) in enumerate(zip(arrays, lead))]
        if len({a.shape for a in together}) > 1:
            together = list(np.broadcast_arrays(*together))
        expanded = values
        if np.shape(values) != together[0].shape + rest:
            expanded = np.broadcast_to(values, together[0].shape + rest)
        if not np.size(expanded):
            return out
        flat = together[0]
        for a, n in zip(together[1:], lead[1:]):
            flat = flat * n + a
        flat = flat.reshape(-1)
        expanded = np.reshape(expanded, (flat.size, *rest))
        add_rows(out.reshape((prod(lead), *rest)), flat, expanded)
        return out
    places = np.arange(out.size).reshape(out.shape)[indices]
    expanded = np.broadcast_to(values, places.shape)
    if out.flags.c_contiguous:
        add_rows(out.reshape(-1), places.reshape(-1), expanded.reshape(-1))
    else:
        flat_copy = out.reshape(-1)
        out[...] = add_rows(flat_copy, places.reshape(-1), expanded.reshape(-1)).reshape(out.shape)
    return out


def masked_select(x: Array, mask: Array) -> Array:
    """The elements of `x` where `mask` is true, flat; the two broadcast."""
    if x.shape != mask.shape:
        x, mask = np.broadcast_arrays(x, mask)
    return x[mask].reshape(-1)


def masked_scatter(x: Array, mask: Array, source: Array) -> Array:
    """A copy of `x` whose elements where `mask` is true come from `source` in order; `x` and `mask`
    broadcast.

    Raises: RuntimeError where the source is too short.
    """
    shape = np.broadcast_shapes(x.shape, mask.shape)
    out = np.array(np.broadcast_to(x, shape), order="C")
    wanted = np.broadcast_to(mask, shape)
    count = int(np.count_nonzero(wanted))
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out[wanted] = source.reshape(-1)[:count]
    return out


def one_hot(index: Array, classes: int = -1) -> Array:
    """int64 zeros with a one at each index along a new last axis of `classes` (-1: as many as
    needed).

    Raises: RuntimeError for indices of another type, a negative index or one that is no class.
    """
    if index.dtype != _INT64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    flat = np.ascontiguousarray(index).reshape(-1)
    if flat.size == 0:
        if classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
    else:
        if int(flat.min()) < 0:
            raise RuntimeError("Class values must be non-negative.")
        top = int(flat.max())
        if classes == -1:
            classes = top + 1
        elif top >= classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    out = np.zeros((flat.size, classes), np.int64)
    out.reshape(-1)[flat + np.arange(flat.size) * classes] = 1
    return out.reshape((*index.shape, classes))
