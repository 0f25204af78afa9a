"""Finding and counting values: places in sorted rows, distinct values, histograms, membership."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D, errors
from ..._native.ufunc_loops import FRESH
from ..types import convert_array
from .reduce import axis_of, name_of

if TYPE_CHECKING:
    from ..annotations import Array

_INT64 = np.dtype(np.int64)


def _orderable(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def searchsorted(
    boundaries: Array, values: Array, out_int32: bool, right: bool, sorter: Any
) -> Array:
    """Where each value would go into its sorted row: the only one, or that of its own row."""
    index = np.int32 if out_int32 else np.int64
    if boundaries.dtype.kind in "bc" and values.size:
        raise NotImplementedError(
            errors.not_implemented("searchsorted_out_cpu", name_of(boundaries.dtype))
        )
    if values.dtype.kind == "c" and values.size:
        raise NotImplementedError(
            errors.not_implemented("searchsorted_out_cpu", name_of(values.dtype))
        )
    boundaries, values = _orderable(boundaries), _orderable(values)
    side: Any = "right" if right else "left"
    if boundaries.ndim == 1:
        found = np.asarray(boundaries.searchsorted(values, side, sorter))
        return found.astype(index, copy=False)
    if sorter is not None:
        boundaries = np.take_along_axis(boundaries, sorter, -1)
    width, wanted = boundaries.shape[-1], values.shape[-1]
    if not values.size:
        return np.zeros(values.shape, index)
    rows = boundaries.reshape(values.size // wanted, width)
    asked = values.reshape(-1, wanted)
    out = np.empty(asked.shape, index)
    if len(rows) * 8 < rows.size + asked.size:
        for k in range(len(rows)):
            out[k] = np.searchsorted(rows[k], asked[k], side)
    else:
        # Many short rows: binary search in all of them at once.
        low = np.zeros(asked.shape, _INT64)
        high = np.full(asked.shape, width, _INT64)
        for _ in range(width.bit_length()):
            middle = np.minimum((low + high) >> 1, max(width - 1, 0))
            found = np.take_along_axis(rows, middle, -1)
            before = ~(found > asked) if right else ~(found >= asked)
            if found.dtype.kind == "f":
                before &= ~np.isnan(found) | (np.isnan(asked) if right else False)
            active = low < high
            low = np.where(active & before, middle + 1, low)
            high = np.where(active & ~before, middle, high)
        out[...] = low
    return out.reshape(values.shape)


def _refuse_complex(what: str, x: Array) -> None:
    if x.dtype.kind == "c":
        raise NotImplementedError(errors.not_implemented(what, name_of(x.dtype)))


def distinct(x: Array, inverse: bool, counts: bool) -> tuple[Array, Array, Array]:
    """The distinct values in order; for each element its place among them; how often each occurs.

    NaN is distinct from NaN.
    """
    _refuse_complex("unique", x)
    flat = _orderable(np.ascontiguousarray(x).reshape(-1))
    unique: Any = np.unique
    found = unique(flat, return_inverse=inverse, return_counts=counts, equal_nan=False)
    if not inverse and not counts:
        found = (found,)
    values, rest = found[0].astype(x.dtype, copy=False), list(found[1:])
    empty = np.empty(0, _INT64)
    places = rest.pop(0).reshape(x.shape).astype(_INT64, copy=False) if inverse else empty
    return values, places, rest.pop(0).astype(_INT64, copy=False) if counts else empty


def _refuse_empty_slices(x: Array, axis: int) -> None:
    if not x.shape[axis] and x.shape.count(0) > 1:
        raise RuntimeError(
            "Number of zero sized dimensions is more than one, so unique cannot be applied "
        )
    if x.shape[axis] and not x.size:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )


def distinct_slices(x: Array, dim: int) -> tuple[Array, Array, Array]:
    """The distinct slices across `dim` in order, each slice's place, and how often each occurs."""
    _refuse_complex("unique_dim", x)
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(x.ndim, dim)
    if not x.size:
        _refuse_empty_slices(x, axis)
        return x.copy(), np.empty(0, _INT64), np.empty(0, _INT64)
    if x.dtype.kind in "fV" and np.isnan(x).any():
        from .unordered_rows import distinct_rows

        front = np.moveaxis(x, axis, 0)
        kept, places, times = distinct_rows(front.reshape(len(front), -1))
        return np.moveaxis(front[kept], 0, axis), places, times
    values, inverse, counts = np.unique(
        x, axis=axis, return_inverse=True, return_counts=True, equal_nan=False
    )
    return (
        _slices_first(values, axis),
        inverse.reshape(-1).astype(_INT64, copy=False),
        counts.astype(_INT64, copy=False),
    )


def _slices_first(values: Array, axis: int) -> Array:
    """The same array in the memory layout in which each slice across `axis` lies in one piece."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, axis, 0)), 0, axis)


def runs(x: Array, dim: int | None) -> tuple[Array, Array, Array]:
    """Each run of equal neighbours once; for each element its run; the length of each run."""
    _refuse_complex("unique" if dim is None or (dim == 0 and x.ndim == 1) else "unique_dim", x)
    if dim is None:
        moved = np.ascontiguousarray(x).reshape(-1)
        axis = 0
        differ = moved[1:] != moved[:-1]
    else:
        if x.ndim == 0:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        axis = axis_of(x.ndim, dim)
        _refuse_empty_slices(x, axis)
        moved = np.moveaxis(x, axis, 0)
        differ = (moved[1:] != moved[:-1]).any(tuple(range(1, x.ndim)))
    n = len(moved)
    starts = np.ones(n, bool)
    starts[1:] = differ
    first = np.flatnonzero(starts)
    values = np.ascontiguousarray(moved[first])
    if dim is not None:
        values = np.moveaxis(values, 0, axis)
    places = np.cumsum(starts) - 1
    return values, places.reshape(x.shape) if dim is None else places, np.diff(first, append=n)


def histc(x: Array, bins: int, low: float, high: float) -> Array:
    """How many elements fall into each of `bins` equal bins from `low` to `high`.

    Where these are equal, the range is that of the elements.

    Raises:
        RuntimeError: for a range that is empty or not finite.
    """
    found = None if FRESH is None else FRESH.counted(x, bins, low, high)
    if found is not None:
        return found
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    flat = _orderable(np.ascontiguousarray(x).reshape(-1))
    for bound in (low, high):
        if isinstance(bound, complex) and bound.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
    low, high = float(low.real), float(high.real)
    if low == high and flat.size:
        if flat.dtype.kind == "c":
            raise NotImplementedError(errors.not_implemented("aminmax_cpu", name_of(flat.dtype)))
        low, high = float(flat.min()), float(flat.max())
        if flat.dtype.kind == "f" and not (isfinite(low) and isfinite(high)):
            shown = [f"{v:g}" if v == v else "-nan" for v in (low, high)]
            raise RuntimeError(f"torch.histc: range of [{shown[0]}, {shown[1]}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if flat.dtype == np.uint8 and (low < 0 or high > 255):
        raise RuntimeError("value cannot be converted to type uint8_t without overflow")
    if low >= high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if flat.dtype.kind != "f":
        what = "linspace_cpu" if flat.dtype.kind == "b" else "histogram_cpu"
        raise NotImplementedError(errors.not_implemented(what, name_of(flat.dtype)))
    flat = flat[(flat >= low) & (flat <= high)]
    exact = flat.astype(x.dtype)  # every step is rounded to the type of the elements
    scaled = (exact - x.dtype.type(low)) * x.dtype.type(bins)
    scaled = scaled / (x.dtype.type(high) - x.dtype.type(low))
    places = np.minimum(scaled.astype(_INT64), bins - 1)
    return np.bincount(places, minlength=bins).astype(x.dtype)


def bincount(x: Array, weights: Array | None, minlength: int) -> Array:
    """How often each number occurs (the sum of its weights) up to the largest, or `minlength`.

    Raises:
        RuntimeError: for anything but a row of non-negative integers.
    """
    if x.dtype.kind not in "iu":
        raise NotImplementedError(errors.not_implemented("bincount_cpu", name_of(x.dtype)))
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.ndim == 1 and weights is None:
        try:
            return np.bincount(x, minlength=minlength).astype(_INT64, copy=False)
        except ValueError:  # a negative number, which NumPy finds on its way, is refused below
            if not x.size or int(x.min()) >= 0:
                raise
    if x.ndim != 1 or weights is None or (x.size and int(x.min()) < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights.shape != x.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if not x.size:
        return np.zeros(minlength, _INT64)
    dtype = np.float32 if weights.dtype == np.float32 else np.float64
    return np.bincount(x, convert_array(weights, D.float64), minlength).astype(dtype)


def isin(elements: Array, test: Array, invert: bool) -> Array:
    """Whether each element occurs among the others."""
    for x in (elements, test):
        if x.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {name_of(x.dtype)}")
    return np.isin(_orderable(elements), _orderable(test), invert=invert)
