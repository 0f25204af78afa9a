"""Linear maps of lines: interpolation and adaptive means, one dimension after the other.

Note [Resampling by lines]
Interpolation over several dimensions is a linear map of lines along each. A `LineMap` says for
every output which inputs it takes with which weights; its transpose, which gradients need, is a map
of the same form. So every mode has one table, and one function does all modes both ways.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..types import FLOAT32, FLOAT64
from .pooling import adaptive_bounds

if TYPE_CHECKING:
    from ..._base.annotations import Shape, TensorLike
    from ..annotations import Array

DENSE = 160  # lines up to this long are multiplied by a matrix where that gives finite numbers
_BAND = 16  # outputs of a band of a longer line, which takes up to DENSE inputs
# Where elements of a line lie apart: the inputs for each tap up to which a product is quicker.
_APART = 24
# Multiplications up to which OpenBLAS leaves a product to one thread: for small ones, waiting for
# another takes longer than they do, and on a busy machine very much longer.
_ALONE = 1 << 18


class LineMap:
    """out[i] = sum over t of weight[t, i] x[index[t, i]], for the t with `real[t, i]`."""

    def __init__(self, size: int, index: Array, weight: Array, real: Any = None) -> None:
        self.size = size
        self.index = index
        self.weight = weight
        self.real = None if real is None or real.all() else real
        self.selects = len(index) == 1 and self.real is None and bool((weight == 1).all())

    @property
    def out(self) -> int:
        """How many outputs there are."""
        return int(self.index.shape[1])

    @cached_property
    def times(self) -> int:
        """How often each input is repeated in order; 0 where that isn't what the map does."""
        if not self.selects or not self.size or self.out % self.size:
            return 0
        times = self.out // self.size
        same = np.array_equal(self.index[0], np.repeat(np.arange(self.size), times))
        return times if same else 0

    @cached_property
    def matrix(self) -> Array:
        """The map as a matrix (size, out) in double precision."""
        dense = np.zeros((self.size, self.out))
        i = np.broadcast_to(np.arange(self.out), self.index.shape)
        weight = self.weight if self.real is None else np.where(self.real, self.weight, 0)
        np.add.at(dense, (self.index, i), weight)
        return dense

    @cached_property
    def single(self) -> Array:
        """The same in single precision."""
        return self.matrix.astype(FLOAT32)

    @cached_property
    def turned(self) -> tuple[Array, Array]:
        """The matrix (out, size) in single and in double precision."""
        return np.ascontiguousarray(self.single.T), np.ascontiguousarray(self.matrix.T)

    @cached_property
    def bands(self) -> tuple[tuple[slice, slice, Array, Array], ...]:
        """Pieces of the matrix: inputs, outputs, and what lies there in single and in double
        precision; none where a piece would be wide."""
        found = []
        low = high = self.index
        if self.real is not None:
            low = np.where(self.real, self.index, self.size)
            high = np.where(self.real, self.index, -1)
        for start in range(0, self.out, _BAND):
            end = min(start + _BAND, self.out)
            first = int(low[:, start:end].min(initial=self.size))
            last = int(high[:, start:end].max(initial=-1)) + 1
            first = min(first, last)
            if last - first > DENSE:
                return ()
            i = np.broadcast_to(np.arange(end - start), self.index[:, start:end].shape)
            weight = self.weight if self.real is None else np.where(self.real, self.weight, 0)
            place = np.clip(self.index[:, start:end] - first, 0, max(last - first - 1, 0))
            piece = np.zeros((last - first, end - start))
            if last > first:
                np.add.at(piece, (place, i), weight[:, start:end])
            found.append((slice(first, last), slice(start, end), piece.astype(FLOAT32), piece))
        return tuple(found)

    @cached_property
    def transposed(self) -> LineMap:
        """The map from outputs to inputs with the same weights."""
        real = np.ones(self.index.shape, np.bool_) if self.real is None else self.real
        source = np.broadcast_to(np.arange(self.out), self.index.shape)[real]
        target, weight = self.index[real], self.weight[real]
        order = np.argsort(target, kind="stable")
        source, target, weight = source[order], target[order], weight[order]
        counts = np.bincount(target, minlength=self.size)
        most = int(counts.max(initial=1))
        rank = np.arange(len(target)) - np.repeat(np.cumsum(counts) - counts, counts)
        index = np.zeros((most, self.size), np.int64)
        weights = np.zeros((most, self.size))
        inside = np.zeros((most, self.size), np.bool_)
        index[rank, target], weights[rank, target], inside[rank, target] = source, weight, True
        return LineMap(self.out, index, weights, inside)


def along(x: Array, axis: int, lines: LineMap, products: bool = True) -> Array:
    """`lines` applied to each line of x along an axis; with `products`, what isn't finite in a line
    may spread over all of it."""
    if lines.selects:
        if lines.times == 1:
            return x
        if lines.times:
            return x.repeat(lines.times, axis)
        return np.take(x, lines.index[0], axis)
    if products and x.size and (x.dtype is FLOAT32 or x.dtype is FLOAT64):
        y = _multiply(x, lines) if axis == x.ndim - 1 else _multiply_apart(x, axis, lines)
        if y is not None:
            return y
    return _by_taps(x, axis, lines)


def _multiply(x: Array, lines: LineMap) -> Array | None:
    """Lines of the last axis times the map's matrix, by bands where they are long."""
    single = x.dtype is FLOAT32
    if max(lines.size, lines.out) <= DENSE:
        return x @ (lines.single if single else lines.matrix)
    if not lines.bands:
        return None
    flat = x.reshape(-1, lines.size)
    y = np.empty((len(flat), lines.out), x.dtype)
    rows = max(1, _ALONE // max(1, *(large.size for *_, large in lines.bands)))
    for start in range(0, len(flat), rows):
        some, to = flat[start : start + rows], y[start : start + rows]
        for inputs, outputs, small, large in lines.bands:
            np.matmul(some[:, inputs], small if single else large, out=to[:, outputs])
    return y.reshape(*x.shape[:-1], lines.out)


def _multiply_apart(x: Array, axis: int, lines: LineMap) -> Array | None:
    """The map's matrix times planes, where these are small; else None."""
    inner = x.shape[axis + 1 :]
    matrix = lines.size * lines.out
    if lines.size > _APART * len(lines.index) or matrix * prod(inner) > _ALONE:
        return None
    single, double = lines.turned
    planes = x if len(inner) == 1 else x.reshape(*x.shape[: axis + 1], -1)
    y = np.matmul(single if x.dtype is FLOAT32 else double, planes)
    return y.reshape(*x.shape[:axis], lines.out, *inner)


def _by_taps(x: Array, axis: int, lines: LineMap) -> Array:
    shape = (-1,) + (1,) * (x.ndim - 1 - axis)
    y = np.zeros(x.shape[:axis] + (lines.out,) + x.shape[axis + 1 :], x.dtype)
    if not x.size:
        return y
    for t in range(len(lines.index)):
        weight = lines.weight[t].astype(x.dtype).reshape(shape)
        if lines.real is None or lines.real[t].all():
            y += np.take(x, lines.index[t], axis) * weight
            continue
        where = np.flatnonzero(lines.real[t])
        place = (slice(None),) * axis + (where,)
        piece = np.take(x, lines.index[t][where], axis)
        y[place] += piece * weight[where]
    return y


@lru_cache(maxsize=512)
def _order(maps: tuple[LineMap, ...]) -> tuple[int, ...]:
    """Those that make lines shorter first: the others then have less to do."""
    return tuple(sorted(range(len(maps)), key=lambda i: (maps[i].out / max(maps[i].size, 1), -i)))


def resample(x: Array, maps: tuple[LineMap, ...]) -> Array:
    """`maps` applied to the last dimensions of x, one after the other."""
    dtype = x.dtype
    first = x.ndim - len(maps)
    if dtype.itemsize == 2 and dtype.kind in "fV":
        y = x if all(m.selects for m in maps) else x.astype(FLOAT32)
    elif dtype.kind in "biu" and not all(m.selects for m in maps):
        return _bytes(x, maps)
    else:
        y = x
    given = y
    with np.errstate(all="ignore"):
        for i in _order(maps):
            y = along(y, first + i, maps[i])
        if y is x:
            return np.array(x)
        if not all(m.selects for m in maps) and not np.isfinite(np.add.reduce(y, None)):
            y = given
            for i in _order(maps):
                y = along(y, first + i, maps[i], False)
    if y.dtype is not dtype:
        y = y.astype(dtype)
    return y if y.flags.c_contiguous else np.ascontiguousarray(y)


def _bytes(x: Array, maps: tuple[LineMap, ...]) -> Array:
    """`maps` on bytes, in the whole numbers that PyTorch uses: the last dimension first."""
    first = x.ndim - len(maps)
    for i in range(len(maps) - 1, -1, -1):
        lines, axis = maps[i], first + i
        if lines.selects:
            x = along(x, axis, lines)
            continue
        weight = lines.weight if lines.real is None else np.where(lines.real, lines.weight, 0)
        if lines.real is None:
            # Beyond an edge the same byte is taken again: its weights are one, before rounding.
            weight = weight.copy()
            for t in range(1, len(weight)):
                again = lines.index[t] == lines.index[t - 1]
                weight[t] += np.where(again, weight[t - 1], 0)
                weight[t - 1][again] = 0
        largest, bits = float(weight.max()), 0
        while bits < 22 and int(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
            bits += 1
        whole = np.trunc(weight * (1 << bits) + np.where(weight < 0, -0.5, 0.5)).astype(np.int32)
        shape = (-1,) + (1,) * (x.ndim - 1 - axis)
        total: Any = 1 << (bits - 1)
        for t in range(len(whole)):
            taken = np.take(x, lines.index[t], axis).astype(np.int32)
            total = total + taken * whole[t].reshape(shape)
        x = np.clip(total >> bits, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(x)


# ---- the tables -------------------------------------------------------------------------------
def _scale(size: int, out: int, align: bool, factor: float | None, kind: type) -> Any:
    if align:
        return kind(size - 1) / kind(out - 1) if out > 1 else kind(0)
    if factor is not None and factor > 0:
        return kind(1.0 / factor)
    return kind(size) / kind(out) if out else kind(0)


def _identity(size: int) -> LineMap:
    return LineMap(size, np.arange(size)[None], np.ones((1, size)))


def _nearest(size: int, out: int, factor: float | None, exact: bool) -> LineMap:
    if size == out:
        return _identity(size)
    kind = np.float32  # whatever the input is, as PyTorch
    i = np.arange(out)
    if out == 2 * size and not exact:
        index = i >> 1
    else:
        scale = _scale(size, out, False, factor, kind)
        at = (i.astype(kind) + kind(0.5 if exact else 0)) * scale
        index = np.minimum(np.floor(at).astype(np.int64), size - 1)
    return LineMap(size, index[None], np.ones((1, out)))


def _places(size: int, out: int, align: bool, factor: float | None, kind: type[Any]) -> Array:
    scale = _scale(size, out, align, factor, kind)
    i = np.arange(out).astype(kind)
    return scale * i if align else scale * (i + kind(0.5)) - kind(0.5)


def _linear(size: int, out: int, align: bool, factor: float | None, kind: type) -> LineMap:
    if size == out:
        return _identity(size)
    at = np.maximum(_places(size, out, align, factor, kind), kind(0))
    low = np.minimum(at.astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    rest = np.clip(at - low.astype(kind), 0, 1).astype(np.float64)
    return LineMap(size, np.stack([low, high]), np.stack([1 - rest, rest]))


def cubic_weights(t: TensorLike) -> tuple[Any, Any, Any, Any]:
    """The weights of four neighbours at a distance t after the second of them (A = -0.75)."""
    a: Any = -0.75
    # A Python number would make float32 of bfloat16; these numbers are exact in each type.
    half = isinstance(t, np.ndarray) and t.dtype.kind == "V"
    kind = t.dtype.type if half else float

    def near(x: TensorLike) -> TensorLike:
        return (kind(a + 2) * x - kind(a + 3)) * x * x + kind(1)

    def far(x: TensorLike) -> TensorLike:
        return ((kind(a) * x - kind(5 * a)) * x + kind(8 * a)) * x - kind(4 * a)

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def cubic_slopes(t: TensorLike) -> tuple[TensorLike, TensorLike, TensorLike, TensorLike]:
    """The derivatives of `cubic_weights`."""
    a = -0.75

    def near(x: TensorLike) -> TensorLike:
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x: TensorLike) -> TensorLike:
        return (3 * a * x - 10 * a) * x + 8 * a

    return far(t + 1), near(t), -near(1 - t), -far(2 - t)


def _cubic(size: int, out: int, align: bool, factor: float | None, kind: type) -> LineMap:
    if size == out:
        return _identity(size)
    at = _places(size, out, align, factor, kind)
    low = np.floor(at)
    rest = (at - low).astype(np.float64)
    index = np.clip(low.astype(np.int64) + np.arange(-1, 3)[:, None], 0, size - 1)
    return LineMap(size, index, np.stack(cubic_weights(rest)))


def _smooth(
    size: int, out: int, align: bool, factor: float | None, kind: type, filter: str
) -> LineMap:
    """With antialiasing: the filter is as wide as the inputs that an output stands for."""
    scale = float(_scale(size, out, align, factor, kind))
    width = {"linear": 1.0, "cubic": 2.0, "lanczos": 3.0}[filter]
    support = width * scale if scale >= 1 else width
    shrink = 1 / scale if scale >= 1 else 1.0
    center = scale * (np.arange(out) + 0.5)
    start = np.maximum((center - support + 0.5).astype(np.int64), 0)
    count = np.minimum((center + support + 0.5).astype(np.int64), size) - start
    most = int(count.max(initial=1))
    j = np.arange(most)[:, None]
    real = j < count
    x = np.abs((j + start - center + 0.5) * shrink)
    if filter == "cubic":
        a = -0.5
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        weight = np.where(x < 1, near, np.where(x < 2, far, 0))
    elif filter == "lanczos":
        weight = np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)
    else:
        weight = np.maximum(1 - x, 0)
    weight = np.where(real, weight, 0)
    total = weight.sum(0)
    weight = weight / np.where(total == 0, 1, total)
    return LineMap(size, np.where(real, j + start, 0), weight, real)


@lru_cache(maxsize=512)
def line_map(
    mode: str, size: int, out: int, align: bool, factor: float | None, single: bool
) -> LineMap:
    """The map of a mode ("nearest", "linear", "cubic", …) from `size` elements to `out`."""
    kind = np.float32 if single else np.float64
    if mode == "nearest" or mode == "nearest-exact":
        return _nearest(size, out, factor, mode == "nearest-exact")
    if mode == "linear":
        return _linear(size, out, align, factor, kind)
    if mode == "cubic":
        return _cubic(size, out, align, factor, kind)
    if mode == "mean":
        start, end = adaptive_bounds(size, out)
        j = np.arange(int((end - start).max(initial=1)))[:, None]
        real = j < end - start
        weight = np.broadcast_to(1 / np.maximum(end - start, 1), real.shape)
        return LineMap(size, np.where(real, start + j, 0), weight, real)
    return _smooth(size, out, align, factor, kind, mode.removeprefix("smooth-"))


def _maps(
    x: Array, mode: str, size: Shape, out: Shape, align: bool, factors: tuple[object, ...]
) -> tuple[LineMap, ...]:
    single = x.dtype != FLOAT64 and x.dtype.kind != "u"  # bytes have weights in double precision
    return _line_maps(mode, tuple(size), tuple(out), align, tuple(factors), single)


@lru_cache(maxsize=512)
def _line_maps(
    mode: str, size: Shape, out: Shape, align: bool, factors: tuple[Any, ...], single: bool
) -> tuple[LineMap, ...]:
    return tuple([line_map(mode, n, o, align, f, single) for n, o, f in zip(size, out, factors)])


def upsample(x: Array, mode: str, out: Shape, align: bool, factors: tuple[object, ...]) -> Array:
    """The last dimensions of x resampled to the sizes `out`."""
    size = x.shape[x.ndim - len(out) :]
    return resample(x, _maps(x, mode, size, out, align, factors))


def upsample_backward(
    g: Array, mode: str, size: Shape, align: bool, factors: tuple[object, ...]
) -> Array:
    """What the outputs give to an input whose last dimensions have `size`: the transpose."""
    dims = len(factors)
    size = tuple(size[-dims:])
    maps = _maps(g, mode, size, g.shape[g.ndim - dims :], align, factors)
    return resample(g, tuple([m.transposed for m in maps]))


def adaptive_avg_pool(x: Array, out: Shape) -> Array:
    """The means of windows that divide the last dimensions of x into `out`."""
    if x.size >= kernels.LEAST and x.ndim > len(out) and all(n == 1 for n in out):
        lead = x.shape[: x.ndim - len(out)]
        sums = kernels.bias_gradients.by_plane(x.reshape(prod(lead), 1, -1))
        if sums is not None:
            return np.divide(sums, x.size // sums.size, sums).reshape(*lead, *out)
    return upsample(x, "mean", out, False, (None,) * len(out))


def adaptive_avg_pool_backward(g: Array, size: Shape) -> Array:
    """What such means give to an input of `size`."""
    dims = len(size)
    return upsample_backward(g, "mean", size, False, (None,) * dims)
