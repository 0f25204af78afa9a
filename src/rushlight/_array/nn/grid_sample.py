"""Sampling at points of a grid: values of an array between its elements, and the gradients.

Note [Sampling by axes]
A point is one number for each axis. An axis plan turns the numbers of all points into neighbours
along that axis (their indices, and whether they exist), the rest t after the first neighbour, and
the slope of t in the number given. Values are then sums over the product of the neighbours, with
products of weights that depend on t alone; so two and three dimensions, and all modes, are one
loop.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import kernels
from ..shape.create import linspace
from ..types import FLOAT32, from_raw
from .interpolation import cubic_slopes, cubic_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import TensorLike
    from ..annotations import Array, RawType

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


class AxisPlan(NamedTuple):
    """For all points (N · P): the neighbours along one axis."""

    rest: Any  # t
    slope: Any  # dt / d(the number given): a number or an array
    neighbours: list[tuple[Any, Any]]  # (index, whether it exists)


def _reflect(x: Array, size: int, align: bool) -> tuple[Array, Array]:
    low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
    if span == 0:
        return np.zeros_like(x), np.zeros_like(x)
    moved = x - x.dtype.type(low)
    sign = np.where(moved < 0, -1, 1)
    moved = np.abs(moved)
    extra = np.fmod(moved, x.dtype.type(span))
    even = np.floor(moved / x.dtype.type(span)) % 2 == 0
    back = np.where(even, extra, span - extra) + low
    return back.astype(x.dtype), np.where(even, sign, -sign)


def _inside(x: Array, size: int, padding: int, align: bool) -> tuple[Array, Array | int]:
    """Coordinates brought inside as the padding says, and the slopes of that."""
    if padding == ZEROS:
        return x, 1
    slope: Any = 1
    if padding == REFLECTION:
        x, slope = _reflect(x, size, align)
    slope = np.where((x <= 0) | (x >= size - 1), 0, slope)
    return np.fmin(np.fmax(x, 0), size - 1), slope


def axis_plan(given: Array, size: int, mode: int, padding: int, align: bool) -> AxisPlan:
    """The plan for one axis of `size`; `given` are numbers from -1 to 1."""
    kind = given.dtype.type
    scale = kind((size - 1) / 2 if align else size / 2)
    x = (given + 1) / 2 * (size - 1) if align else ((given + 1) * size - 1) / 2
    if mode == BICUBIC:
        first = np.floor(x)
        found = []
        for j in range(-1, 3):
            at, _ = _inside(first + j, size, padding, align)
            found.append(_existing(np.rint(at), size))
        return AxisPlan(x - first, scale, found)
    x, slope = _inside(x, size, padding, align)
    if mode == NEAREST:
        return AxisPlan(x, 0, [_existing(np.rint(x), size)])
    first = np.floor(x)
    pair = [_existing(first, size), _existing(first + 1, size)]
    return AxisPlan(x - first, scale * slope, pair)


def _existing(at: Array, size: int) -> tuple[Array, Array]:
    real = (at >= 0) & (at <= size - 1)
    return np.where(real, at, 0).astype(np.int64), real


def weights(t: TensorLike, mode: int) -> tuple[Any, ...]:
    """The weight of each neighbour along an axis."""
    if mode == NEAREST:
        return (1,)
    return cubic_weights(t) if mode == BICUBIC else (1 - t, t)


def slopes(t: TensorLike, mode: int) -> tuple[Any, ...]:
    """The derivatives of `weights`."""
    if mode == NEAREST:
        return (0,)
    return cubic_slopes(t) if mode == BICUBIC else (-1, 1)


def plans(
    grid: Array, size: tuple[int, ...], mode: int, padding: int, align: bool
) -> list[AxisPlan]:
    """One plan for each axis, in the order of the input's dimensions: the grid names x first."""
    count = grid.shape[0]
    points = grid.reshape(count, prod(grid.shape[1:-1]), len(size))
    dims = len(size)
    return [
        axis_plan(points[:, :, dims - 1 - i], n, mode, padding, align) for i, n in enumerate(size)
    ]


def corners(found: list[AxisPlan], size: tuple[int, ...]) -> Any:
    """For each combination of neighbours: their numbers, flat positions, and which exist."""
    for at in product(*[range(len(plan.neighbours)) for plan in found]):
        where: Any = 0
        real: Any = True
        for j, plan, n in zip(at, found, size):
            index, exists = plan.neighbours[j]
            where = where * n + index
            real = real & exists
        yield at, where, real


def _rows(x: Array) -> Array:
    """(N, C, places…) as (N, places, C)."""
    planes = x.reshape(x.shape[0], x.shape[1], prod(x.shape[2:]))
    return np.ascontiguousarray(planes.swapaxes(1, 2))


def grid_sample(x: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    """The values of x (N, C, places…) at the points of the grid (N, points…, dims)."""
    dtype = x.dtype
    size, (count, channels) = tuple(x.shape[2:]), x.shape[:2]
    shape = (count, channels, *grid.shape[1:-1])
    if not prod(shape):
        return np.zeros(shape, dtype)
    if prod(shape) << 6 >= kernels.LEAST:
        made = kernels.grid_sample.grid_sample(x, grid, mode, padding, align)
        if made is not None:
            return made
    with np.errstate(all="ignore"):
        found = plans(grid, size, mode, padding, align)
        by_axis = [weights(plan.rest, mode) for plan in found]
        rows = _rows(x).reshape(-1, channels)
        first = (np.arange(count) * prod(size))[:, None]
        out = np.zeros((count, prod(grid.shape[1:-1]), channels), x.dtype)
        if mode == BICUBIC and dtype.itemsize == 2:
            _line_by_line(out, rows, found, by_axis, size, first)
            return np.ascontiguousarray(out.swapaxes(1, 2)).reshape(shape)
        for at, where, real in corners(found, size):
            weight: Any = 1
            for w, j in zip(by_axis, at):
                weight = weight * w[j]
            picked = np.take(rows, where + first, 0)
            out += picked * np.where(real, weight, 0).astype(x.dtype)[:, :, None]
    return np.ascontiguousarray(out.swapaxes(1, 2)).reshape(shape).astype(dtype, copy=False)


def _line_by_line(
    out: Any, rows: Any, found: list[AxisPlan], by_axis: list[Any], size: Any, first: object
) -> None:
    """Bicubic values of halves, rounded after every step: along x, then along y."""
    for i, down in enumerate(by_axis[0]):
        line: Any = None
        for j, across in enumerate(by_axis[1]):
            (y, real_y), (x, real_x) = found[0].neighbours[i], found[1].neighbours[j]
            picked = np.take(rows, y * size[1] + x + first, 0)
            picked = np.where((real_y & real_x)[:, :, None], picked, picked.dtype.type(0))
            term = picked * across.astype(out.dtype)[:, :, None]
            line = term if line is None else line + term
        out += line * down.astype(out.dtype)[:, :, None]


def grid_sample_backward(
    g: Array, x: Array, grid: Array, mode: int, padding: int, align: bool, need: Sequence[bool]
) -> tuple[Any, Any]:
    """The gradients for x and for the grid (None where not needed)."""
    dtype = x.dtype
    if dtype.itemsize == 2:
        found = grid_sample_backward(
            g.astype(FLOAT32), x.astype(FLOAT32), grid.astype(FLOAT32), mode, padding, align, need
        )
        d_x, d_grid = [None if d is None else d.astype(dtype) for d in found]
        return d_x, d_grid
    if g.size << 6 >= kernels.LEAST:
        made = kernels.grid_sample.grid_sample_backward(g, x, grid, mode, padding, align, need)
        if made is not None:
            return made
    if not g.size or not x.size:
        return np.zeros(x.shape, x.dtype), np.zeros(grid.shape, grid.dtype)
    size, (count, channels) = tuple(x.shape[2:]), x.shape[:2]
    area = prod(size)
    incoming = _rows(g)
    first = (np.arange(count) * area)[:, None]
    axes = plans(grid, size, mode, padding, align)
    by_axis = [weights(plan.rest, mode) for plan in axes]
    rates = [slopes(plan.rest, mode) for plan in axes]
    rows = _rows(x).reshape(-1, channels) if need[1] else None
    places, parts = [], []
    d_points = [np.zeros(grid.shape[:1] + (incoming.shape[1],), x.dtype) for _ in size]
    for at, where, real in corners(axes, size):
        whole = where + first
        if need[0]:
            weight: Any = 1
            for w, j in zip(by_axis, at):
                weight = weight * w[j]
            kept = np.broadcast_to(np.where(real, weight, 0), whole.shape)
            places.append(whole)
            parts.append(incoming * kept[:, :, None])
        if need[1] and mode != NEAREST and rows is not None:
            along = (np.take(rows, whole, 0) * incoming).sum(2) * real
            for i, plan in enumerate(axes):
                rate: Any = rates[i][at[i]] * plan.slope
                for k, j in enumerate(at):
                    if k != i:
                        rate = rate * by_axis[k][j]
                d_points[i] += along * rate
    d_x = d_grid = None
    if need[0]:
        flat = np.concatenate([p.reshape(-1) for p in places])[:, None] * channels
        flat = (flat + np.arange(channels)).reshape(-1)
        values = np.concatenate([p.reshape(-1, channels) for p in parts]).reshape(-1)
        sums = np.bincount(flat, values, count * area * channels).astype(x.dtype)
        d_x = np.ascontiguousarray(sums.reshape(count, area, channels).swapaxes(1, 2))
        d_x = d_x.reshape(x.shape)
    if need[1]:
        d_grid = np.stack(d_points[::-1], -1).reshape(grid.shape).astype(grid.dtype, copy=False)
    return d_x, d_grid


def base_points(n: int, dtype: RawType, align: bool) -> Array:
    """The numbers from -1 to 1 of n places: from edge to edge, or the middles of n cells."""
    if n <= 1:
        return np.zeros(1, dtype)
    if dtype.kind in "iub":  # in whole numbers, as PyTorch
        line = np.linspace(-1, 1, n, dtype=dtype)
        return line if align else line * dtype.type((n - 1) / n)
    line = linspace(-1, 1, n, from_raw(dtype))
    return line if align else line * dtype.type(n - 1) / dtype.type(n)


def base_grid(size: tuple[int, ...], dtype: RawType, align: bool) -> Array:
    """The points (places, dims + 1) of a grid of `size`, x first, and a one."""
    dims = len(size)
    out = np.ones((*size, dims + 1), dtype)
    for i, n in enumerate(size):
        line = base_points(n, dtype, align)
        out[..., dims - 1 - i] = line.reshape((-1,) + (1,) * (dims - 1 - i))
    return out.reshape(-1, dims + 1)
