"""Scans along one dimension: running sums, products, extremes, and linear recurrences.

Floats are accumulated one size wider than they are stored, as PyTorch does: float32 in float64, the
16-bit types in float32. So results are equal to the bit.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D, errors
from ..._native.ufunc_loops import add_along, along
from .. import kernels
from ..types import convert_array, from_raw, to_raw
from .folds import fold

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, TensorLike
    from ..annotations import Array

_WIDE = {4: np.dtype(np.float64), 8: np.dtype(np.float64), 2: np.dtype(np.float32)}


def _check(x: Array, dim: int) -> int:
    limit = x.ndim or 1
    if not -limit <= dim < limit:
        raise IndexError(errors.dimension(dim, x.ndim))
    return dim % limit


def _wide(dtype: Any) -> Any:
    """The dtype in which values of `dtype` are accumulated."""
    if dtype.kind == "c":
        return np.dtype(np.complex128)
    return _WIDE[dtype.itemsize] if dtype.kind in "fV" else np.dtype(np.int64)


def _accumulate_dim(ufunc: AnyCallable, x: Array, dim: int, dtype: D.dtype | None) -> TensorLike:
    axis = _check(x, dim)
    if dtype is not None and x.dtype != to_raw(dtype):
        x = convert_array(x, dtype)
    if dtype is D.bool_ and x.size and x.ndim:
        name = "cumsum" if ufunc is np.add else "cumprod"
        raise NotImplementedError(errors.not_implemented(f"{name}_out_cpu", "Bool"))
    stored = np.dtype(np.int64) if x.dtype.kind in "biu" and dtype is None else x.dtype
    if x.ndim == 0:
        return x.astype(stored)
    return _accumulate(ufunc, x, axis, _wide(x.dtype), stored)


# Note [Scans of many lanes]
# A scan along one lane waits for each step's result: 3 ns an element. Where there are many lanes,
# a step of all of them at once takes 0.3 ns an element, after the lanes were written side by side.
# Those that lie so, behind the axis, need no other place.
_LANES = 192
_SIDE_BY_SIDE = 16  # lanes behind the axis that are enough
_BLOCK = 1 << 15  # elements of a block
_SCANS = (np.add, np.multiply)
_SHORT = 8  # steps from which squares are transposed
_STEPS = 256  # steps that are taken one by one
_TILE = 128  # the side of the squares that are transposed at a time


def _accumulate(ufunc: Any, x: Array, axis: int, wide: Any, stored: Any) -> Any:
    """`ufunc.accumulate` along `axis`, computed in the dtype `wide`, given in `stored`."""
    n = x.shape[axis]
    if x.size >= kernels.LEAST - 1 << 1 and axis == x.ndim - 1 and stored == x.dtype:
        found = kernels.scans.running(x, ufunc is np.multiply) if ufunc in _SCANS else None
        if found is not None:
            return found
    if ufunc in _SCANS and stored in (x.dtype, wide) and _wide(stored) == wide:
        x = np.ascontiguousarray(x, stored)
        result = along("sums" if ufunc is np.add else "products", x, axis)
        if result is not None:
            return result
    lanes = x.size // n if n else 0
    if lanes < _LANES or n < (_SHORT if axis == x.ndim - 1 else 2) or ufunc.nout != 1:
        result = ufunc.accumulate(np.ascontiguousarray(x, wide), axis)
        return result if stored == wide else result.astype(stored)
    # See Note [Scans of many lanes].
    length = prod(x.shape[axis + 1 :])
    groups, x, shape = lanes // length, np.ascontiguousarray(x), x.shape
    if length < _SIDE_BY_SIDE:
        steps = np.empty((n * length, groups), wide)
        _transpose(x.reshape(groups, -1), steps)
        _take_steps(ufunc, list(steps.reshape(n, -1)))
        result = np.empty((groups, n * length), stored)
        _transpose(steps, result)
        return result.reshape(shape)
    parts, result = x.reshape(groups, n, length), np.empty((groups, n, length), stored)
    block = max(_BLOCK // (n * length), -(-_LANES // length))
    for start in range(0, groups, block):
        steps = parts[start : start + block].astype(wide)
        _take_steps(ufunc, list(steps[0] if len(steps) == 1 else steps.swapaxes(0, 1)))
        result[start : start + block] = steps
    return result.reshape(shape)


def _take_steps(ufunc: np.ufunc, steps: list[Array]) -> None:
    before = steps[0]
    for step in steps[1:]:
        ufunc(before, step, out=step)
        before = step


def _transpose(source: Array, out: Array) -> None:
    """Writes the transpose of a matrix to `out`, by squares that the cache holds."""
    rows, columns = source.shape
    for r in range(0, rows, _TILE):
        for c in range(0, columns, _TILE):
            out[c : c + _TILE, r : r + _TILE] = source[r : r + _TILE, c : c + _TILE].T


def cumsum(x: Array, dim: int, dtype: D.dtype | None = None) -> Any:
    """The sums of each element and those before it along `dim`."""
    return _accumulate_dim(np.add, x, dim, dtype)


def cumprod(x: Array, dim: int, dtype: D.dtype | None = None) -> TensorLike:
    """The products of each element and those before it along `dim`."""
    return _accumulate_dim(np.multiply, x, dim, dtype)


def reverse_cumsum(g: Array, dim: int) -> Array:
    """The sums of each element and those after it along `dim`."""
    if g.ndim == 0:
        return g
    if g.size >= kernels.LEAST - 1 << 1 and dim % g.ndim == g.ndim - 1:
        found = kernels.scans.running(np.ascontiguousarray(g), False, True)
        if found is not None:
            return found
    return np.ascontiguousarray(np.flip(cumsum(np.flip(g, dim), dim), dim))


def exclusive_products(x: Array, dim: int, back: bool = False) -> Array:
    """The products of the elements before (`back`: after) each one along `dim`; 1 for none."""
    if x.ndim == 0:
        return np.ones_like(x)
    axis, wide = dim % x.ndim, _wide(x.dtype)
    found = np.flip(x, axis) if back else x
    found = shift_along(_accumulate(np.multiply, found, axis, wide, wide), axis, -1)
    if found.size:
        found[(slice(None),) * axis + (0,)] = 1
    found = np.flip(found, axis) if back else found
    return np.ascontiguousarray(found.astype(x.dtype, copy=False))


# Note [A linear recurrence gives the gradients of scans]
# The gradient of a running product is d[i] = (product of all before i) * S[i], with
# S[i] = g[i] + x[i+1] S[i+1]; that of a running logsumexp has exp(out[i] - out[i+1]) in place of
# x[i+1]. The recurrence divides by nothing: zeros need no special case, no exponential overflows.
# Its own gradients are the same recurrence run forward, so it can be differentiated any number of
# times.


def recurrence(x: Array, factor: Array, dim: int, back: bool) -> Array:
    """S with S[i] = x[i] + factor[i] S[i-1] along `dim`; `back`: S[i+1], from the last on.

    Step by step where the other dimensions are long; by doubling steps where they are short.
    """
    if x.ndim == 0:
        return x.copy()
    if factor.shape == x.shape and factor.dtype == x.dtype:
        lines = np.ascontiguousarray(x), dim, np.ascontiguousarray(factor)
        found: Array | None = along("back" if back else "steps", *lines)
        if found is not None:
            return found
    moved = np.moveaxis(x, dim, 0)
    factor = np.broadcast_to(np.moveaxis(factor, dim, 0), moved.shape)
    out = np.array(moved, _wide(x.dtype), order="C")
    n = len(out)
    result = out
    if back:
        result, factor = out[::-1], factor[::-1]
    if n <= _STEPS or out.size >= n * n:
        for i in range(1, n):
            result[i] += factor[i] * result[i - 1]
    else:
        f = np.array(factor, out.dtype, order="C")
        step = 1
        while step < n:
            result[step:] += f[step:] * result[:-step].copy()
            f[step:] *= f[:-step].copy()
            f[:step] = 0
            step *= 2
    return np.ascontiguousarray(np.moveaxis(out, 0, dim).astype(x.dtype, copy=False))


def shift_along(x: Array, dim: int, by: int) -> Array:
    """At each place the element `by` (1 or -1) further along `dim`; 0 where there is none."""
    if not x.ndim:
        return np.zeros(x.shape, x.dtype)
    # In the order of memory what is further along lies so many elements on, whatever the line.
    x, axis = np.ascontiguousarray(x), dim % x.ndim
    step, flat, out = prod(x.shape[axis + 1 :]), x.reshape(-1), np.empty(x.shape, x.dtype)
    if not out.size:
        return out
    if by > 0:
        out.reshape(-1)[: out.size - step] = flat[step:]
    else:
        out.reshape(-1)[step:] = flat[: out.size - step]
    out[(slice(None),) * axis + (-1 if by > 0 else 0,)] = 0
    return out


def others_product(x: Array, dim: int | None) -> Array:
    """For each element the product of the others along `dim` (None: of all others)."""
    if dim is None:
        return others_product(x.reshape(-1), 0).reshape(x.shape)
    if x.ndim == 0:
        return np.ones_like(x)
    if x.all():
        return fold(np.multiply, x, dim, True) / x
    return exclusive_products(x, dim) * exclusive_products(x, dim, True)


def logcumsumexp(x: Array, dim: int) -> Array:
    """The logs of the sums of exp of each element and those before it along `dim`.

    Raises:
        NotImplementedError: for integers.
    """
    axis = _check(x, dim)
    if x.dtype.kind in "biu":
        name = D.scalar_name(from_raw(x.dtype))
        raise NotImplementedError(errors.not_implemented("logcumsumexp_out_cpu", name))
    if x.ndim == 0:
        return x.copy()
    if x.dtype.kind == "c":
        return _complex_logcumsumexp(x, axis)
    found: Array = _accumulate(np.logaddexp, x, axis, _wide(x.dtype), x.dtype)
    return found


def _complex_logcumsumexp(x: Array, axis: int) -> Array:
    """Relative to the running maximum of the real parts, step by step."""
    moved = np.moveaxis(x, axis, 0).astype(np.complex128)
    out = np.empty_like(moved)
    if len(moved):
        out[0] = moved[0]
    for i in range(1, len(moved)):
        low = np.where(out[i - 1].real < moved[i].real, out[i - 1], moved[i])
        high = np.where(out[i - 1].real < moved[i].real, moved[i], out[i - 1])
        out[i] = high + np.log1p(np.exp(low - high))
    return np.ascontiguousarray(np.moveaxis(out, 0, axis)).astype(x.dtype, copy=False)


_FEW = 1024


def _running_extreme(x: Array, dim: int, largest: bool, name: str) -> tuple[Array, Array]:
    if x.ndim == 0 and dim not in (0, -1):
        raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    if not x.size:
        return np.empty(x.shape, x.dtype), np.empty(x.shape, np.int64)
    axis = _check(x, dim)
    if x.dtype.kind == "c" and x.ndim:
        raise NotImplementedError(
            errors.not_implemented(f"{name}_cpu", D.scalar_name(from_raw(x.dtype)))
        )
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    found: tuple[Array, Array] | None = along("rising" if largest else "falling", x, axis)
    if found is not None:
        return found
    wide = x.astype(np.float32) if x.dtype.kind == "V" else x
    extreme = np.maximum if largest else np.minimum
    values = _accumulate(extreme, wide, axis, wide.dtype, wide.dtype)
    # PyTorch takes the later of equal elements, and NaN over all.
    here = wide == values
    if wide.dtype.kind == "f":
        here |= np.isnan(wide)
    shape = [1] * x.ndim
    shape[axis] = -1
    if x.size <= _FEW:
        places = np.multiply(here, np.arange(x.shape[axis]).reshape(shape))
        indices = np.maximum.accumulate(places, axis, None, places)
    elif axis == x.ndim - 1 and here.flags.c_contiguous:
        # Each place holds from where it was taken up to the next one; a lane's first always was.
        taken = np.flatnonzero(here)
        lengths = np.diff(taken, append=here.size)
        indices = np.repeat(taken % x.shape[axis], lengths).reshape(x.shape)
    else:
        places = np.arange(x.shape[axis], dtype=np.int32).reshape(shape)
        places = np.multiply(here, places)
        indices = _accumulate(np.maximum, places, axis, places.dtype, np.dtype(np.int64))
    if wide.dtype.kind == "f" and not np.logical_and.reduce(wide, None):
        values = np.take_along_axis(wide, indices, axis)  # -0.0 or 0.0: the one that was taken
    return values.astype(x.dtype, copy=False), np.ascontiguousarray(indices)


def cummax(x: Array, dim: int) -> tuple[Array, Array]:
    """The largest of each element and those before it along `dim`, and where it is."""
    return _running_extreme(x, dim, True, "cummax")


def cummin(x: Array, dim: int) -> tuple[Array, Array]:
    """The smallest of each element and those before it along `dim`, and where it is."""
    return _running_extreme(x, dim, False, "cummin")


def accumulate_along(g: Array, places: Array, dim: int) -> Array:
    """Zeros with `g` added at `places` along `dim`; several may go to one place."""
    if g.ndim == 0:
        return g
    if not g.size:
        return np.zeros(g.shape, g.dtype)
    wide = _wide(g.dtype)
    given = np.ascontiguousarray(g, wide)
    found: Array | None = add_along(np.zeros(g.shape, wide), dim, places, given)
    if found is not None:
        return found.astype(g.dtype, copy=False)
    rows = np.moveaxis(g, dim, -1)
    flat = np.moveaxis(places, dim, -1).reshape(-1, rows.shape[-1])
    lanes = np.arange(len(flat))[:, None]
    if wide == np.float64:  # what counts with weights adds up in the same order, and faster
        spots = (flat + lanes * flat.shape[1]).reshape(-1)
        out = np.bincount(spots, rows.reshape(-1), flat.size).reshape(flat.shape)
    else:
        out = np.zeros(flat.shape, wide)
        np.add.at(out, (lanes, flat), rows.reshape(flat.shape))
    return np.ascontiguousarray(
        np.moveaxis(out.reshape(rows.shape).astype(g.dtype, copy=False), -1, dim)
    )
