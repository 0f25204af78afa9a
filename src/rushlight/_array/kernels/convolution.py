"""Convolutions over one or two dimensions by emitted code, and their gradients.

What `_native/emitted/convolution.py` needs is put together here: the plan of the geometry (see
`convolution_geometry`), weights in the order of the tiles, and memory for padded samples.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import convolution as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..memory.parallel import get_num_threads
from ..types import FLOAT32, FLOAT64
from . import convolution_geometry as geometry, depthwise, small_convolution, winograd
from .convolution_geometry import Layout, Plan, band_of
from .convolution_workspace import SHARES, THREADED, Samples, even, share_samples
from .launch import guard_launch, ready
from .launches import Form, Launches, Place, form_of

if TYPE_CHECKING:
    from ..annotations import Array, RawType

Sizes = tuple[int, ...]
_BLOCK: Final = 1 << 17  # elements of a block of samples: they stay in the nearer cache
_LONG: Final = 4096  # places that a tile of weights sums up at a time, at most


@cache
def _code(dtype: RawType) -> tuple[dict[str, int], int, int]:
    """The addresses of the functions, lanes of a vector, and rows of a tile."""
    type = F32 if dtype is FLOAT32 else F64
    return code.load(type), target.lanes(type), code.height(type)


def suits(x: Array, other: Array, dims: tuple[int, ...] = (3, 4)) -> bool:
    """Whether the emitted code can read both arrays, of which the first has one of `dims`."""
    dtype = x.dtype
    if dtype is not other.dtype or (dtype is not FLOAT32 and dtype is not FLOAT64):
        return False
    if x.ndim not in dims or not ready():
        return False
    return not any(s % dtype.itemsize for s in x.strides + other.strides)


def _plane(x: Array) -> Array:
    """(N, C, L) as (N, C, 1, L)."""
    return x[:, :, None] if x.ndim == 3 else x


def pair(sizes: Sizes, neutral: int = 1) -> Sizes:
    """Two dimensions, of which the first may be one that isn't there."""
    return sizes if len(sizes) == 2 else (neutral, *sizes)


def layout_of(x: Array | Form) -> Layout:
    """Elements from sample to sample, channel to channel, row to row, column to column."""
    size = x.itemsize
    a, b, c, d = (s // size for s in x.strides)
    return a, b, c, d


# ---- the output, and the gradient for the input -------------------------------------------------
def run_plan(
    plan: Plan, x: Array, w: Array, bias: Array | None, y: Array, stride: Sizes, groups: int,
    inward: bool,
) -> None:  # fmt: skip
    """Writes to y what the plan makes of x; `inward` sums over the second dimension of w."""
    forms = form_of(x), form_of(w), form_of(y)
    _make(plan, *forms, bias is not None, stride, groups, inward, get_num_threads()).run(
        x, w, None if bias is None else np.ascontiguousarray(bias), y
    )


@lru_cache(maxsize=512)
def _make(
    plan: Plan, x: Form, w: Form, y: Form, biased: bool, stride: Sizes, groups: int, inward: bool,
    threads: int,
) -> Launches:  # fmt: skip
    """The calls of `run_plan`, for x, w, the bias and y."""
    addresses, lanes, high = _code(x.dtype)
    read, made = Samples(x), Samples(y)
    count, channels = read.count, read.channels
    rows, per_group = made.channels // groups, channels // groups
    over_rows, over_channels, *taps = w.steps
    row_step, sum_step = (over_rows, over_channels) if inward else (over_channels, over_rows)
    group_step = (rows if inward else per_group) * over_rows
    over = np.arange(per_group, dtype=np.int64) * sum_step
    padded = 1 if rows == 1 and groups > 1 else -(-rows // 4) * 4
    depths = [per_group * len(output.taps) for output in plan.outputs]
    work = count * groups * rows * sum(
        depth * output.rows * output.columns for depth, output in zip(depths, plan.outputs)
    )  # fmt: skip
    found = Launches(x.dtype, threads if work >= THREADED else 1)
    # Outputs that sum over the same taps have the same weights.
    lengths = {output.taps: depth for depth, output in zip(depths, plan.outputs)}
    packed = found.room(groups * padded * sum(lengths.values()))
    blocks = -(-padded // high)

    def pack(source: int, to: Place, depth: int, steps: Sizes, places: Array) -> None:
        """Rows of each group, one after the other, with zeros where there are too few."""
        row, group = steps
        found.add(
            addresses["pack"],
            [Place(source), to, rows, padded, depth, row, found.table(places), blocks, high, group,
             padded * depth],
            groups * blocks,
        )  # fmt: skip

    starts: dict[Any, int] = {}
    table, start = [], 0
    for depth, output in zip(depths, plan.outputs):
        if output.taps not in starts:
            starts[output.taps] = start
            if depth:
                there = np.array([i * taps[0] + j * taps[1] for i, j in output.taps], np.int64)
                to = packed.behind(start * x.itemsize)
                places = np.add.outer(over, there).ravel()
                pack(2, to, depth, (row_step, group_step), places)
            start += groups * padded * depth
        first = output.start[0] * made.row + output.start[1] * made.column
        offsets = found.table(plan.offsets(output, per_group))
        table += [depth, offsets, starts[output.taps], output.rows, output.columns, first]
    added = Place(3) if biased and padded == rows else found.room(groups * padded, not biased)
    if biased and padded != rows:
        pack(3, added, 1, (1, rows), np.zeros(1, np.int64))
    band = band_of(plan, padded, lanes)
    band_line = even(band * plan.pitch + lanes)
    bands = max(-(-output.rows // band) for output in plan.outputs)
    parts = 1 if count >= SHARES or found.threads == 1 else min(bands, -(-SHARES // count))
    room = 0 if plan.direct else even(channels * plan.plane)
    slot = room + padded * band_line
    flags, memory = found.slots(slot, slot)
    found.add(
        addresses["correlate"],
        [Place(1), packed, added, Place(4), flags, memory, slot,
         room, found.threads, parts, plan.direct, read.inner, read.outer, made.outer, read.next,
         read.channel, channels, plan.plane, len(plan.table), found.table(plan.table), plan.pitch,
         *plan.step, groups, per_group * plan.plane, rows, padded, len(plan.outputs),
         found.table(np.array(table, np.int64)), made.next,
         made.channel, made.row * stride[0], made.column * stride[1], band, band_line],
        count * parts,
    )  # fmt: skip
    return found


class Ways:
    """The ways to a result: one whose results may have to be made again, if any, and one for all
    operands."""

    __slots__ = ("first", "last")

    def __init__(self, first: Launches | None, last: Launches) -> None:
        self.first = first
        self.last = last

    def run(self, *arrays: Array | None) -> None:
        """Writes the result."""
        if self.first is None or not self.first.run(*arrays):
            self.last.run(*arrays)


@lru_cache(maxsize=512)
def output_ways(
    x: Form, w: Form, y: Form, biased: bool, stride: Sizes, pad: Sizes, dilation: Sizes,
    groups: int, threads: int,
) -> Ways:  # fmt: skip
    """The ways from x, w and the bias to y, all over two dimensions."""
    if groups == w.shape[0] == x.shape[1] > 1:
        found = depthwise.correlating(x, w, y, biased, stride, pad, dilation, threads)
        if found is not None:
            return Ways(None, found)
    first = None
    if groups == 1:
        first = winograd.correlating(x, w, y, biased, stride, pad, dilation, True, threads)
    sizes = x.shape[2:], y.shape[2:], w.shape[2:], stride, pad, dilation, layout_of(x)
    plan = geometry.correlating(*sizes)
    if groups == 1 and small_convolution.suits(plan, y.shape[1], x.itemsize):
        plan = geometry.correlating(*sizes, True)
        return Ways(first, small_convolution.correlating(plan, x, w, y, biased, True, threads))
    return Ways(first, _make(plan, x, w, y, biased, (1, 1), groups, True, threads))


@guard_launch
def correlate(
    x: Array,
    w: Array,
    bias: Array | None,
    stride: Sizes,
    pad: Sizes,
    dilation: Sizes,
    out: Sizes,
    groups: int,
) -> Array | None:
    """The convolution of x (N, C, …) with w (O, C / groups, *k), plus a bias; or None.

    `w` may have any strides.
    """
    if not suits(x, w):
        return None
    y = np.empty((x.shape[0], w.shape[0], *out), x.dtype)
    x, w, y4 = _plane(x), _plane(np.ascontiguousarray(w)), _plane(y)
    ways = output_ways(
        form_of(x), form_of(w), form_of(y4), bias is not None, pair(stride), pair(pad, 0),
        pair(dilation), groups, get_num_threads(),
    )  # fmt: skip
    ways.run(x, w, None if bias is None else np.ascontiguousarray(bias), y4)
    return y


@lru_cache(maxsize=512)
def input_ways(
    y: Form, w: Form, x: Form, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int, threads: int
) -> Ways:
    """The ways from y, w and no bias to x, all over two dimensions."""
    if groups == w.shape[0] > 1 and w.shape[1] == 1:
        found = depthwise.transposing(y, w, x, stride, pad, dilation, threads)
        if found is not None:
            return Ways(None, found)
    first = None
    if groups == 1:
        first = winograd.correlating(y, w, x, False, stride, pad, dilation, False, threads)
    sizes = x.shape[2:], y.shape[2:], w.shape[2:], stride, pad, dilation, layout_of(y)
    plan = geometry.transpose_plan(*sizes)
    whole = plan.whole(w.shape[2] * w.shape[3])
    if groups == 1 and whole and small_convolution.suits(plan, x.shape[1], y.itemsize):
        plan = geometry.transpose_plan(*sizes, True)
        return Ways(first, small_convolution.correlating(plan, y, w, x, False, False, threads))
    return Ways(first, _make(plan, y, w, x, False, stride, groups, False, threads))


@guard_launch
def correlate_transposed(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """What y (N, O, …) contributes to inputs (N, C, *size): the transpose of `correlate`; or None.

    `w` may have any strides.
    """
    if not suits(y, w):
        return None
    x = np.empty((y.shape[0], w.shape[1] * groups, *size), y.dtype)
    y, w, x4 = _plane(y), _plane(np.ascontiguousarray(w)), _plane(x)
    ways = input_ways(
        form_of(y), form_of(w), form_of(x4), pair(stride), pair(pad, 0), pair(dilation), groups,
        get_num_threads(),
    )  # fmt: skip
    ways.run(y, w, None, x4)
    return x


# ---- the weights ------------------------------------------------------------------------------
@lru_cache(maxsize=512)
def weight_ways(
    x: Form, y: Form, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int,
    threads: int,
) -> Ways:  # fmt: skip
    """The ways from x and y to what each weight (O, C / groups, *k) scales, over two dimensions;
    the planes of y lie in one piece."""
    if groups == x.shape[1] == y.shape[1] > 1:
        found = depthwise.weighing(x, y, k, stride, pad, dilation, threads)
        if found is not None:
            return Ways(None, found)
    first = None
    if groups == 1:
        first = winograd.weighing(x, y, k, stride, pad, dilation, threads)
    # Copied always: lines are read beyond their ends.
    plan = geometry.correlating(
        x.shape[2:], y.shape[2:], k, stride, pad, dilation, layout_of(x), True
    )
    return Ways(first, _weighing(plan, x, y, groups, threads))


@guard_launch
def weigh(
    x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """The sum over samples of what each weight (O, C / groups, *k) scales, or None."""
    if not suits(x, y):
        return None
    found = np.empty((y.shape[1], x.shape[1] // groups, *k), x.dtype)
    x, y = _plane(x), _join_planes(_plane(y))
    ways = weight_ways(
        form_of(x), form_of(y), pair(k), pair(stride), pair(pad, 0), pair(dilation), groups,
        get_num_threads(),
    )  # fmt: skip
    ways.run(x, y, found)
    return found


def _join_planes(y: Array) -> Array:
    """`y`, or a copy in order where its planes aren't in one piece."""
    line = y.shape[-1] * y.itemsize
    joined = y.strides[-1] == y.itemsize and (y.strides[-2] == line or y.shape[-2] == 1)
    return y if joined else np.ascontiguousarray(y)


def weigh_plan(plan: Plan, x: Array, y: Array, groups: int) -> Array:
    """The sums over samples that the plan's only output would scale by weights, for each row of y
    those of its group: (O, C / groups · taps). The plan is one that copies."""
    y = _join_planes(y)
    depth = x.shape[-3] // groups * len(plan.outputs[0].taps)
    found = np.empty((y.shape[-3], depth), x.dtype)
    _weighing(plan, form_of(x), form_of(y), groups, get_num_threads()).run(x, y, found)
    return found


@lru_cache(maxsize=512)
def _weighing(plan: Plan, x: Form, y: Form, groups: int, threads: int) -> Launches:
    """The calls of `weigh_plan`, for x, y and the sums."""
    addresses, lanes, high = _code(x.dtype)
    read, slopes = Samples(x), Samples(y)
    count, channels = read.count, read.channels
    rows, per_group = slopes.channels // groups, channels // groups
    if groups == 1 and small_convolution.suits(plan, rows, x.itemsize):
        return small_convolution.weighing(plan, x, y, threads)
    (output,) = plan.outputs
    depth = per_group * len(output.taps)
    offsets = _in_threes(plan, per_group)
    line = -(-((output.rows - 1) * plan.pitch + output.columns) // lanes) * lanes
    high = _height_of(rows, high)
    tiles, deep = -(-rows // high), len(offsets) // code.VECTORS
    padded = tiles * high
    words = code.weigh_words(F32 if x.dtype is FLOAT32 else F64, high)
    work = count * groups * rows * depth * output.rows * output.columns
    total = groups * tiles * deep * words
    share, shares, run, runs = share_samples(count, groups * tiles, total, work)
    sample, grads = channels * plan.plane, groups * padded * line
    block = max(1, min(share, _LONG // line, _BLOCK // (sample + grads)))
    found = Launches(x.dtype, threads if work >= THREADED else 1)
    room = even(block * sample + 2 * lanes)
    slot = room + even(block * grads)
    flags, memory = found.slots(slot, slot)
    totals = found.room(shares * total, True)
    found.add(
        addresses["weigh"],
        [Place(1), Place(2), totals, flags, memory, slot, room, found.threads,
         count, share, block, runs, run, groups * tiles, tiles, high, read.inner, read.outer,
         slopes.outer, read.next, read.channel, channels, plan.plane, len(plan.table),
         found.table(plan.table), plan.pitch, *plan.step, per_group * plan.plane, slopes.next,
         slopes.channel, rows, padded,
         found.table(np.array([0, 0, output.rows, output.columns], np.int64)),
         slopes.row, slopes.column, line, groups, deep, found.table(offsets)],
        shares * runs,
    )  # fmt: skip
    found.add_shares(totals, total, shares)
    # A row's tile, and where it lies in that; the same for a pair of a channel and a tap.
    tile, row = np.divmod(np.arange(rows), high)
    in_tiles = np.add.outer(np.arange(groups) * tiles, tile) * (deep * words) + row
    triple, pair = np.divmod(np.arange(depth), code.VECTORS)
    found.pick(totals, Place(3), in_tiles.ravel(), triple * words + pair * high)
    return found


def _height_of(rows: int, most: int) -> int:
    """Rows of a tile for weights: half as many where that leaves fewer over."""
    if rows == 1:
        return 1
    half = most // 2
    return half if half >= 4 and -(-rows // half) * 7 < -(-rows // most) * 12 else most


def _in_threes(plan: Plan, channels: int) -> Array:
    """The plan's offsets, the last one again until there are tiles of three."""
    offsets = plan.offsets(plan.outputs[0], channels)
    return np.append(offsets, np.repeat(offsets[-1:], -len(offsets) % code.VECTORS))
