"""Reductions over consecutive segments of a dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from ..._base.annotations import Shape
    from ..annotations import Array

_UFUNCS: Final[dict[str, Any]] = {
    "sum": np.add, "mean": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply,
}  # fmt: skip
_EMPTY: Final = {"sum": 0.0, "mean": 0.0, "max": -np.inf, "min": np.inf, "prod": 1.0}


def _bounds(lengths: Array, offsets: object) -> tuple[Array, Array]:
    """Where segments begin and end, along the last dimension."""
    if lengths is not None:
        ends = np.cumsum(lengths, axis=-1)
        return ends - lengths, ends
    return offsets[..., :-1], offsets[..., 1:]


def segment_reduce(
    data: Array, reduce: str, lengths: Array, offsets: object, axis: int, initial: float | None
) -> Array:
    """The reduction of each segment; without elements `initial`, or the operation's neutral one."""
    starts, ends = _bounds(lengths, offsets)
    outer, inner = data.shape[:axis], data.shape[axis + 1 :]
    count = starts.shape[-1]
    wide = data.astype(np.float32) if data.dtype.itemsize == 2 else data
    rows = wide.reshape(-1, data.shape[axis], *inner)
    neutral = _EMPTY[reduce] if initial is None else initial
    out = np.full((rows.shape[0], count, *inner), neutral, wide.dtype)
    ufunc = _UFUNCS[reduce]
    begins, stops = starts.reshape(-1, count), ends.reshape(-1, count)
    for row in range(rows.shape[0]):
        at = row if len(begins) > 1 else 0
        lens = stops[at] - begins[at]
        full = np.flatnonzero(lens > 0)
        if full.size:
            used = rows[row][: stops[at][full[-1]]]
            found = ufunc.reduceat(used, _starts(begins[at], stops[at], full), axis=0)
            found = found[_places(begins[at], stops[at], full)]
            out[row, full] = found if initial is None else ufunc(found, neutral)
        if reduce == "mean":
            shape = (-1,) + (1,) * len(inner)
            divided = out[row] / lens.reshape(shape)
            keep = (lens > 0) if initial is not None else np.ones(count, bool)
            out[row][keep] = divided[keep]
    return out.reshape(*outer, count, *inner).astype(data.dtype, copy=False)


def _gaps(begins: Array, stops: Array, full: Array) -> Array:
    """Whether elements that belong to no segment lie before each segment that has some."""
    before = np.concatenate(([0], stops[full][:-1]))
    return begins[full] > before


def _starts(begins: Array, stops: Array, full: Array) -> Array:
    """Where `reduceat` begins anew: at segments, and at elements between them."""
    gaps = _gaps(begins, stops, full)
    before = np.concatenate(([0], stops[full][:-1]))
    return np.sort(np.concatenate((begins[full], before[gaps]))).astype(np.intp)


def _places(begins: Array, stops: Array, full: Array) -> Array:
    """The results of `reduceat` that are segments."""
    return np.arange(full.size) + np.cumsum(_gaps(begins, stops, full))


def segment_reduce_backward(
    g: Array,
    out: Array,
    data: Array,
    reduce: str,
    lengths: Array,
    offsets: object,
    axis: int,
    initial: float | None,
) -> Array:
    """The gradient for the data."""
    starts, ends = _bounds(lengths, offsets)
    count = starts.shape[-1]
    inner = data.shape[axis + 1 :]
    kind = np.float32 if data.dtype.itemsize == 2 else data.dtype
    rows = data.astype(kind, copy=False).reshape(-1, data.shape[axis], *inner)
    g_rows = g.astype(kind, copy=False).reshape(-1, count, *inner)
    out_rows = out.astype(kind, copy=False).reshape(-1, count, *inner)
    result = np.zeros(rows.shape, kind)
    begins, stops = starts.reshape(-1, count), ends.reshape(-1, count)
    shape = (-1,) + (1,) * len(inner)
    for row in range(rows.shape[0]):
        at = row if len(begins) > 1 else 0
        lens = stops[at] - begins[at]
        which = np.repeat(np.arange(count), lens)
        firsts = np.repeat(begins[at] - np.concatenate(([0], np.cumsum(lens)[:-1])), lens)
        places = np.arange(which.size) + firsts
        x, gx, y = rows[row][places], g_rows[row][which], out_rows[row][which]
        if reduce == "mean":
            gx = gx / lens[which].reshape(shape)
        elif reduce in ("max", "min"):
            hits = (x == y) | (np.isnan(x) & np.isnan(y))
            ties = np.zeros((count, *inner), kind)
            np.add.at(ties, which, hits.astype(kind))
            gx = np.where(hits, gx / np.maximum(ties[which], 1), 0)
        elif reduce == "prod":
            gx = gx * _others(x, y, which, count, initial, inner)
        result[row][places] = gx
    return result.reshape(data.shape).astype(data.dtype, copy=False)


def _others(x: Array, y: Array, which: Array, count: int, initial: object, inner: Shape) -> Array:
    """The product of a segment without one element."""
    zero = x == 0
    zeros = np.zeros((count, *inner), np.int64)
    np.add.at(zeros, which, zero.astype(np.int64))
    rest = np.full((count, *inner), 1.0 if initial is None else initial, x.dtype)
    np.multiply.at(rest, which, np.where(zero, 1, x))
    alone = zeros[which]
    return np.where(
        alone == 0, y / np.where(zero, 1, x), np.where((alone == 1) & zero, rest[which], 0)
    )


def hash_bits(x: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    """The exclusive or of the elements as 64-bit words: floats as doubles, integers as int64."""
    wide = x.astype(np.float64) if x.dtype.kind in "fV" else x.astype(np.int64)
    if x.dtype == np.uint64:
        wide = x
    words = wide.view(np.uint64)
    if not axes:
        return words.copy()
    reduce: Any = np.bitwise_xor.reduce
    return reduce(words, axis=axes, keepdims=keepdim)
