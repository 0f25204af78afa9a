"""Pooling: means and maxima of windows, and where the maxima are, over the last dimensions.

Note [Pooling by places]
A window of k elements is k shifted, strided views of the whole array; adding them up (or taking the
larger elements) does all windows in k passes. Means go one dimension after the other. Of maxima the
number of the place that won is kept in a byte: a later place wins only where it is larger, so the
running number is the maximum of itself and (place · larger), which needs no branches.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..types import FLOAT32
from .channels_last import follow_layout
from .convolution import places

if TYPE_CHECKING:
    from ..annotations import Array, RawType

Sizes = tuple[int, ...]


def pooled_size(n: int, k: int, s: int, p: int, d: int, ceil_mode: bool) -> int:
    """How many windows fit in a dimension; with `ceil_mode` also one that begins in the input."""
    room = n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)
    out = room // s + 1
    if ceil_mode and (out - 1) * s >= n + p:
        out -= 1
    return out


def pad_windows(x: Array, pad: Sizes, need: Sizes, fill: float) -> Array:
    """`x` with `pad` fillings before and as many after it as make its dimensions `need` long."""
    dims = len(pad)
    size = x.shape[x.ndim - dims :]
    if not any(pad) and all(n >= m for n, m in zip(size, need)):
        return x
    room = tuple([max(m, n + p) for n, p, m in zip(size, pad, need)])
    out = np.full(x.shape[: x.ndim - dims] + room, fill, x.dtype)
    inside: Any = (..., *[slice(p, p + n) for n, p in zip(size, pad)])
    out[inside] = x
    return out


def _need(out: Sizes, k: Sizes, stride: Sizes, dilation: Sizes) -> Sizes:
    return tuple([(o - 1) * s + d * (m - 1) + 1 for o, m, s, d in zip(out, k, stride, dilation)])


# ---- means ------------------------------------------------------------------------------------
@lru_cache(maxsize=256)
def _divisors(
    size: Sizes, out: Sizes, k: Sizes, stride: Sizes, pad: Sizes, include: bool
) -> int | tuple[Any, ...]:
    """By how much each window is divided: one number, or one array for each dimension."""
    lines = []
    for n, o, m, s, p in zip(size, out, k, stride, pad):
        start = np.arange(o) * s - p
        end = np.minimum(start + m, n + p)
        if not include:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        lines.append(end - start)
    if all((line == line[:1]).all() for line in lines):
        return prod(int(line[0]) if line.size else 1 for line in lines)
    return tuple(line.reshape((-1,) + (1,) * (len(size) - 1 - i)) for i, line in enumerate(lines))


def _divide(y: Array, divisors: tuple[Array, ...] | int) -> Any:
    """`y / divisors`, in place where it can be; integers towards zero."""
    whole: Any = divisors
    if not isinstance(divisors, int):
        whole = 1
        for line in divisors:
            whole = whole * line
    if y.dtype.kind in "iu":
        return (np.sign(y) * np.sign(whole) * (np.abs(y) // np.abs(whole))).astype(y.dtype)
    y /= whole if isinstance(whole, int) else whole.astype(y.dtype)
    return y


def avg_pool(
    x: Array,
    k: Sizes,
    stride: Sizes,
    pad: Sizes,
    out: Sizes,
    include: bool,
    divisor: int | None,
) -> Array:
    """The means of the windows of the last dimensions of x."""
    dtype = x.dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        x = x.astype(FLOAT32)
    dims = len(k)
    size = tuple(x.shape[x.ndim - dims :])
    y = pad_windows(x, pad, _need(out, k, stride, (1,) * dims), 0)
    for axis in range(dims):
        lead: Any = (slice(None),) * (x.ndim - dims + axis)
        last = (out[axis] - 1) * stride[axis] + 1
        step = stride[axis]
        if k[axis] == 1:
            y = y[(*lead, slice(0, last, step))]
            continue
        total = y[(*lead, slice(0, last, step))] + y[(*lead, slice(1, 1 + last, step))]
        for j in range(2, k[axis]):
            total += y[(*lead, slice(j, j + last, step))]
        y = total
    if 1 in k:
        y = np.array(y, order="C")
    y = _divide(
        y, divisor if divisor is not None else _divisors(size, out, k, stride, pad, include)
    )
    return np.ascontiguousarray(y).astype(dtype, copy=False)


def avg_pool_backward(
    g: Array,
    size: Sizes,
    k: Sizes,
    stride: Sizes,
    pad: Sizes,
    include: bool,
    divisor: int | None,
) -> Array:
    """What the means of windows give to an input of `size`."""
    dtype = g.dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        g = g.astype(FLOAT32)
    dims = len(k)
    out = tuple(g.shape[g.ndim - dims :])
    size = tuple(size[-dims:])
    found = divisor if divisor is not None else _divisors(size, out, k, stride, pad, include)
    y = _divide(np.array(g), found)
    need = _need(out, k, stride, (1,) * dims)
    for axis in range(dims - 1, -1, -1):
        place = g.ndim - dims + axis
        lead: Any = (slice(None),) * place
        step, n = stride[axis], max(need[axis], size[axis] + pad[axis])
        shape = y.shape[:place] + (n,) + y.shape[place + 1 :]
        last = (out[axis] - 1) * step + 1
        apart = step >= k[axis]
        widened = np.empty(shape, y.dtype) if step == k[axis] and last + k[axis] - 1 == n else (
            np.zeros(shape, y.dtype)
        )  # fmt: skip
        for j in range(k[axis]):
            if apart:
                widened[(*lead, slice(j, j + last, step))] = y
            else:
                widened[(*lead, slice(j, j + last, step))] += y
        y = widened
    y = y[(..., *[slice(p, p + n) for n, p in zip(size, pad)])]
    return np.ascontiguousarray(y).astype(dtype, copy=False)


# ---- maxima -----------------------------------------------------------------------------------
def lowest(dtype: RawType) -> float:
    """What is below all numbers of a type."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def max_pool(
    x: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes
) -> tuple[Array, Array]:
    """The largest elements of the windows, and where they are in their plane (flat, int64)."""
    if x.dtype.kind == "V":
        values, where = max_pool(x.astype(FLOAT32), k, stride, pad, dilation, out)
        return values.astype(x.dtype), where
    dims = len(k)
    size = tuple(x.shape[x.ndim - dims :])
    if tuple(k) == size and x.size and not any(pad) and prod(dilation) == 1:
        lead = x.shape[: x.ndim - dims]
        planes = x.reshape(*lead, prod(size))
        first = planes.argmax(-1, keepdims=True)
        top = np.take_along_axis(planes, first, -1)
        if not np.isnan(np.maximum.reduce(top, None)):  # of those the last counts
            return top.reshape(lead + out), first.reshape(lead + out)
    if x.size >= kernels.LEAST:
        found = kernels.max_pool.largest(x, k, stride, pad, dilation, out, True)
        if found is not None:
            return found[0], found[1]
    y = pad_windows(x, pad, _need(out, k, stride, dilation), lowest(x.dtype))
    taps = [y[where] for where in places(out, k, stride, dilation)]
    best, won = _largest(taps)
    return best, _positions(won, size, k, stride, pad, dilation, out)


def _largest(taps: list[Array]) -> tuple[Array, Array]:
    """The largest of equally shaped arrays, and the number of the first one that has it.

    A NaN is larger than everything, and the last one counts: as PyTorch's.
    """
    best = np.array(taps[0], order="C")
    kind = np.uint8 if len(taps) <= 256 else np.int32
    won = np.zeros(best.shape, kind)
    larger = np.empty(best.shape, np.bool_)
    number = np.empty(best.shape, kind)
    flags = larger.view(np.uint8)
    for j in range(1, len(taps)):
        np.greater(taps[j], best, out=larger)
        np.multiply(flags, j, out=number, dtype=kind, casting="unsafe")
        np.maximum(won, number, out=won)
        np.maximum(best, taps[j], out=best)
    if best.dtype.kind == "f" and np.isnan(best).any():
        won[...] = 0
        best = np.array(taps[0], order="C")
        for j in range(1, len(taps)):
            np.copyto(won, j, where=(taps[j] > best) | np.isnan(taps[j]))
            np.maximum(best, taps[j], out=best)
    return best, won


@lru_cache(maxsize=256)
def _tables(
    size: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes
) -> tuple[Any, Any, tuple[Any, ...]]:
    """For `_positions`: the steps to each place, each window's start, and what is clipped."""
    steps = [prod(size[i + 1 :]) for i in range(len(size))]
    places = np.array(list(product(*[range(m) for m in k])), np.int64).reshape(prod(k), len(k))
    moves = (places * (np.array(dilation) * np.array(steps))).sum(1)
    start = np.zeros((), np.int64)
    clips = []
    for i, (o, s, p, d) in enumerate(zip(out, stride, pad, dilation)):
        first = np.arange(o) * s - p
        shape = (-1,) + (1,) * (len(size) - 1 - i)
        start = start + (first * steps[i]).reshape(shape)
        clips.append((places[:, i], np.maximum(-(first // d), 0).reshape(shape), d * steps[i]))
    return moves, start, tuple(clips)


def _positions(
    won: Array, size: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes
) -> Array:
    moves, start, clips = _tables(size, k, stride, pad, dilation, out)
    if not any(pad):
        where = moves[won]
        where += start
        return where
    # Where a window holds nothing above -inf, the filling has "won": its first element counts.
    where = np.broadcast_to(start, won.shape).copy()
    for place, first, step in clips:
        where += np.maximum(place[won], first) * step
    return where


def max_values(x: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes) -> Array:
    """The largest elements of the windows alone, one dimension after the other."""
    if x.dtype.kind == "V":
        return max_values(x.astype(FLOAT32), k, stride, pad, dilation, out).astype(x.dtype)
    if x.size >= kernels.LEAST:
        found = kernels.max_pool.largest(x, k, stride, pad, dilation, out, False)
        if found is not None:
            return found[0]
    dims = len(k)
    y = pad_windows(x, pad, _need(out, k, stride, dilation), lowest(x.dtype))
    for axis in range(dims):
        lead: Any = (slice(None),) * (x.ndim - dims + axis)
        last, step = (out[axis] - 1) * stride[axis] + 1, stride[axis]
        if k[axis] == 1:
            y = y[(*lead, slice(0, last, step))]
            continue
        d = dilation[axis]
        best = np.maximum(y[(*lead, slice(0, last, step))], y[(*lead, slice(d, d + last, step))])
        for j in range(2, k[axis]):
            np.maximum(best, y[(*lead, slice(j * d, j * d + last, step))], out=best)
        y = best
    return np.array(y, order="C") if prod(k) == 1 else np.ascontiguousarray(y)


# ---- planes and positions in them -------------------------------------------------------------
def _flat(where: Array, dims: int, area: int) -> Array:
    """Positions in planes as positions in the whole array."""
    planes = prod(where.shape[: where.ndim - dims])
    offsets = np.arange(0, planes * area, max(area, 1)).reshape(-1, 1) if area else 0
    inner = prod(where.shape[where.ndim - dims :])
    return (where.reshape(planes, inner) + offsets).reshape(-1)


def place_in_planes(g: Array, indices: Array, size: Sizes) -> Array:
    """Zeros with planes of `size`, and each element of g added at its position in its plane."""
    return follow_layout(_place(g, indices, size), indices)


def _place(g: Array, indices: Array, size: Sizes) -> Array:
    dims = len(size)
    area = prod(size)
    shape = g.shape[: g.ndim - dims] + tuple(size)
    if not g.size or not area:
        return np.zeros(shape, g.dtype)
    if g.size >= kernels.LEAST:
        found = kernels.max_pool.place(g, indices, tuple(size))
        if found is not None:
            return found
    flat = _flat(indices, dims, area)
    if g.dtype.kind == "c":
        parts = [_place(part, indices, size) for part in (g.real, g.imag)]
        return (parts[0] + 1j * parts[1]).astype(g.dtype)
    sums = np.bincount(flat, weights=g.reshape(-1).astype(np.float64), minlength=prod(shape))
    return sums.astype(g.dtype).reshape(shape)


def pick_from_planes(x: Array, indices: Array, dims: int) -> Array:
    """The elements of x at positions in its planes (the last `dims` dimensions)."""
    area = prod(x.shape[x.ndim - dims :])
    return x.reshape(-1)[_flat(indices, dims, area)].reshape(indices.shape)


def unpool(x: Array, indices: Array, size: Sizes) -> Array:
    """Zeros with planes of `size`, and each element of x at its position: the last one stays.

    Raises:
        RuntimeError: for a position outside the plane.
    """
    dims, area = len(size), prod(size)
    out = np.zeros(x.shape[: x.ndim - dims] + tuple(size), x.dtype)
    if not x.size or not out.size:
        return out
    wrong = (indices < 0) | (indices >= area)
    if wrong.any():
        sizes = "x".join(map(str, size))
        raise RuntimeError(
            f"Found an invalid max index: {int(indices[wrong][0])} (output volumes are of size "
            f"{sizes})"
        )
    out.reshape(-1)[_flat(indices, dims, area)] = x.reshape(-1)
    return out


# ---- windows of unequal sizes -----------------------------------------------------------------
@lru_cache(maxsize=256)
def adaptive_bounds(n: int, out: int) -> tuple[Array, Array]:
    """Where the windows that divide n places into `out` begin and end."""
    i = np.arange(out)
    return (i * n) // max(out, 1), -((-(i + 1) * n) // max(out, 1))


def _windows(lines: Any, size: Sizes) -> tuple[Array, Array]:
    """For windows [start, end) along each dimension: all positions of each, and which are real."""
    whole, real = np.zeros((1,) * (2 * len(lines)), np.int64), np.ones((), np.bool_)
    dims = len(lines)
    for i, (start, end) in enumerate(lines):
        most = int((end - start).max(initial=1))
        at = start[:, None] + np.arange(most)
        inside = at < end[:, None]
        at = np.where(inside, at, start[:, None])
        shape = [1] * (2 * dims)
        shape[i], shape[dims + i] = at.shape
        whole = whole * size[i] + at.reshape(shape)
        real = real & inside.reshape(shape)
    return whole, real


def adaptive_max_pool(x: Array, out: Sizes) -> tuple[Array, Array]:
    """The largest elements of windows that divide each plane into `out`, and where they are."""
    dims = len(out)
    size = tuple(x.shape[x.ndim - dims :])
    if all(o and n % o == 0 for n, o in zip(size, out)):
        k = tuple([n // o for n, o in zip(size, out)])
        return max_pool(x, k, k, (0,) * dims, (1,) * dims, out)
    lines = [adaptive_bounds(n, o) for n, o in zip(size, out)]
    return _max_of(x, *_windows(lines, size), out)


def _max_of(x: Array, whole: Array, real: Array, out: Sizes) -> tuple[Array, Array]:
    """Maxima over listed positions (out…, window…) of each plane."""
    dims = len(out)
    lead = x.shape[: x.ndim - dims]
    planes = x.reshape(prod(lead), prod(x.shape[x.ndim - dims :]))
    count = prod(out)
    most = prod(whole.shape[dims:])
    where = whole.reshape(count, most)
    mask = np.broadcast_to(real, whole.shape).reshape(count, most)
    low = lowest(x.dtype) if x.dtype.kind != "V" else -np.inf
    wide = planes.astype(FLOAT32) if x.dtype.kind == "V" else planes
    taps = [np.where(mask[:, j], wide[:, where[:, j]], low) for j in range(where.shape[1])]
    if not taps:
        return np.zeros(lead + out, x.dtype), np.zeros(lead + out, np.int64)
    best, won = _largest(taps)
    found = where[np.arange(count), won]
    return best.astype(x.dtype).reshape(lead + out), found.reshape(lead + out)


def fractional_starts(samples: Array, n: int, out: int, k: int) -> Array:
    """Where fractional pooling's windows begin, from one random number for each plane."""
    if out == 1:
        return np.full((*samples.shape, 1), n - k, np.int64)
    # In the type of the input, as PyTorch computes them: the places depend on the rounding.
    kind = samples.dtype.type
    alpha = kind(n - k) / kind(out - 1)
    i = np.arange(out - 1).astype(samples.dtype)
    u = samples[..., None]
    starts = ((i + u) * alpha).astype(np.int64) - (u * alpha).astype(np.int64)
    return np.concatenate([starts, np.full((*samples.shape, 1), n - k, np.int64)], -1)


def fractional_max_pool(x: Array, k: Sizes, out: Sizes, samples: Array) -> tuple[Array, Array]:
    """Maxima of windows at random places: samples (planes…, dims), the last dimension first."""
    dims = len(out)
    size = tuple(x.shape[x.ndim - dims :])
    lead = x.shape[: x.ndim - dims]
    wide = x.astype(FLOAT32) if x.dtype.kind == "V" else x
    planes = wide.reshape(prod(lead), prod(size))
    drawn = samples.reshape(prod(lead), dims)
    if 0 in out:
        return np.zeros(lead + out, x.dtype), np.zeros(lead + out, np.int64)
    where = np.zeros((prod(lead),) + (1,) * dims, np.int64)
    for i in range(dims):
        # PyTorch takes the numbers for (T,) H, W from the places 0, ... of 3-d, W first of 2-d.
        column = drawn[:, i] if dims == 3 else drawn[:, dims - 1 - i]
        start = fractional_starts(column, size[i], out[i], k[i])
        shape = [len(start)] + [1] * dims
        shape[1 + i] = out[i]
        where = where * size[i] + start.reshape(shape)
    where = where.reshape(len(planes), prod(out))
    if min(k) <= 0:  # nothing to choose from
        return np.full(lead + out, -np.inf, x.dtype), where.reshape(lead + out)
    steps = [prod(size[i + 1 :]) for i in range(dims)]
    moves = [sum(j * s for j, s in zip(at, steps)) for at in product(*[range(m) for m in k])]
    taps = [np.take_along_axis(planes, where + move, 1) for move in moves]
    best, won = _largest(taps)
    found = where + np.array(moves, np.int64)[won]
    return best.astype(x.dtype).reshape(lead + out), found.reshape(lead + out)
