"""Convolutions over one or two dimensions by emitted code, and their gradients.

What `_native/emitted/convolution.py` needs is put together here: the plan of the geometry (see
`convolution_geometry`), weights in the order of the tiles, and memory for padded samples.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import convolution as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32, FLOAT64
from . import convolution_geometry as geometry, depthwise, small_convolution, winograd
from .convolution_geometry import Layout, Output, Plan, band_of
from .convolution_workspace import SHARES, THREADED, Memory, Samples, even, share_samples
from .launch import address, guard_launch, ready

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


_PACK_FRAME = struct.Struct(f"{len(code.PACK)}q").pack
_CORRELATE_FRAME = struct.Struct(f"{len(code.CORRELATE)}q").pack
_WEIGH_FRAME = struct.Struct(f"{len(code.WEIGH)}q").pack


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


def _pair(sizes: Sizes, neutral: int = 1) -> Sizes:
    """Two dimensions, of which the first may be one that isn't there."""
    return sizes if len(sizes) == 2 else (neutral, *sizes)


def layout_of(x: Array) -> Layout:
    """Elements from sample to sample, channel to channel, row to row, column to column."""
    size = x.dtype.itemsize
    a, b, c, d = (s // size for s in x.strides)
    return a, b, c, d


# ---- the output, and the gradient for the input -------------------------------------------------
@lru_cache(maxsize=512)
def _places(
    plan: Plan, steps: tuple[int, int, int], channels: int, output: int
) -> tuple[Output, Any, Any]:
    """Of one output: it, `offsets`, and where its weights lie in the order of the sum."""
    found = plan.outputs[output]
    taps = np.array([i * steps[1] + j * steps[2] for i, j in found.taps], np.int64)
    places = np.add.outer(np.arange(channels, dtype=np.int64) * steps[0], taps).ravel()
    return found, plan.offsets(found, channels), places


def run_plan(
    plan: Plan,
    x: Array,
    w: Array,
    bias: Array | None,
    y: Array,
    stride: Sizes,
    groups: int,
    inward: bool,
) -> None:
    """Writes to y what the plan makes of x; `inward` sums over the second dimension of w."""
    dtype = x.dtype
    addresses, lanes, high = _code(dtype)
    read, made = Samples(x), Samples(y)
    count, channels = read.count, read.channels
    rows, per_group = made.channels // groups, channels // groups
    over_rows, over_channels, *taps = (s // dtype.itemsize for s in w.strides)
    row_step, sum_step = (over_rows, over_channels) if inward else (over_channels, over_rows)
    group_step = (rows if inward else per_group) * over_rows
    found = [
        _places(plan, (sum_step, taps[0], taps[1]), per_group, k) for k in range(len(plan.outputs))
    ]
    padded = 1 if rows == 1 and groups > 1 else -(-rows // 4) * 4
    depths = [len(places) for _, _, places in found]
    # Outputs that sum over the same taps have the same weights.
    lengths = {output.taps: depth for depth, (output, _, _) in zip(depths, found)}
    packed = np.empty(groups * padded * sum(lengths.values()), dtype)
    work = count * groups * rows * sum(
        depth * output.rows * output.columns for depth, (output, _, _) in zip(depths, found)
    )  # fmt: skip
    threads = get_num_threads() if work >= THREADED else 1
    starts: dict[Any, int] = {}
    table, start = [], 0
    for depth, (output, offsets, places) in zip(depths, found):
        if output.taps not in starts:
            starts[output.taps] = start
            blocks = -(-padded // high)
            frame = _PACK_FRAME(
                address(w), address(packed) + start * dtype.itemsize, rows, padded, depth,
                row_step, address(places), blocks, high, group_step, padded * depth,
            )  # fmt: skip
            if depth:
                pool.run(addresses["pack"], frame, groups * blocks, threads)
            start += groups * padded * depth
        first = output.start[0] * made.row + output.start[1] * made.column
        at = starts[output.taps]
        table += [depth, address(offsets), at, output.rows, output.columns, first]
    added = np.zeros((groups, padded), dtype)
    if bias is not None:
        added[:, :rows] = bias.reshape(groups, rows)
    outputs = np.array(table, np.int64)
    band = band_of(plan, padded, lanes)
    band_line = even(band * plan.pitch + lanes)
    bands = max(-(-output.rows // band) for output, _, _ in found)
    parts = 1 if count >= SHARES or threads == 1 else min(bands, -(-SHARES // count))
    room = 0 if plan.direct else even(channels * plan.plane)
    slot = room + padded * band_line
    memory = Memory(threads, slot, dtype)
    frame = _CORRELATE_FRAME(
        address(x), address(packed), address(added), address(y), memory.flags_at, memory.at, slot,
        room, threads, parts, plan.direct, read.inner, read.outer, made.outer, read.next,
        read.channel, channels, plan.plane,
        len(plan.table), address(plan.table), plan.pitch, *plan.step, groups,
        per_group * plan.plane, rows, padded, len(found), address(outputs), made.next,
        made.channel, made.row * stride[0], made.column * stride[1], band, band_line,
    )  # fmt: skip
    pool.run(addresses["correlate"], frame, count * parts, threads)


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
    if groups == w.shape[0] == x.shape[1] > 1:
        found = depthwise.correlate(x, w, bias, stride, pad, dilation, out)
        if found is not None:
            return found
    y = np.empty((x.shape[0], w.shape[0], *out), x.dtype)
    x, w, y4 = _plane(x), _plane(w), _plane(y)
    if (
        groups == 1
        and winograd.suits(
            w.shape[2:], w.itemsize, stride + dilation, y4.shape[2:], len(x), *w.shape[1::-1]
        )
        and winograd.correlate(x, w, bias, y4, pad, True)
    ):
        return y
    steps = _pair(stride), _pair(pad, 0), _pair(dilation)
    plan = geometry.correlating(x.shape[2:], _pair(out), w.shape[2:], *steps, layout_of(x))
    if groups == 1 and small_convolution.suits(plan, y.shape[1], x.itemsize):
        plan = geometry.correlating(
            x.shape[2:], _pair(out), w.shape[2:], *steps, layout_of(x), True
        )
        small_convolution.correlate(plan, x, w, bias, y4, True)
    else:
        run_plan(plan, x, w, bias, y4, (1, 1), groups, True)
    return y


@guard_launch
def correlate_transposed(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """What y (N, O, …) contributes to inputs (N, C, *size): the transpose of `correlate`; or None.

    `w` may have any strides.
    """
    if not suits(y, w):
        return None
    if groups == w.shape[0] > 1 and w.shape[1] == 1:
        found = depthwise.correlate_transposed(y, w, size, stride, pad, dilation)
        if found is not None:
            return found
    x = np.empty((y.shape[0], w.shape[1] * groups, *size), y.dtype)
    y, w, x4 = _plane(y), _plane(w), _plane(x)
    around = tuple([2 - p for p in pad])
    if (
        groups == 1
        and min(around) >= 0
        and winograd.suits(
            w.shape[2:], w.itemsize, stride + dilation, x4.shape[2:], len(y), *w.shape[:2]
        )
        and winograd.correlate(y, w, None, x4, around, False)
    ):
        return x
    steps = _pair(stride), _pair(pad, 0), _pair(dilation)
    plan = geometry.transpose_plan(_pair(size), y.shape[2:], w.shape[2:], *steps, layout_of(y))
    whole = plan.whole(w.shape[2] * w.shape[3])
    if groups == 1 and whole and small_convolution.suits(plan, x.shape[1], y.itemsize):
        plan = geometry.transpose_plan(
            _pair(size), y.shape[2:], w.shape[2:], *steps, layout_of(y), True
        )
        small_convolution.correlate(plan, y, w, None, x4, False)
    else:
        run_plan(plan, y, w, None, x4, _pair(stride), groups, False)
    return x


# ---- the weights ------------------------------------------------------------------------------
@guard_launch
def weigh(
    x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """The sum over samples of what each weight (O, C / groups, *k) scales, or None."""
    if not suits(x, y):
        return None
    if groups == x.shape[1] == y.shape[1] > 1:
        found = depthwise.weigh(x, y, k, stride, pad, dilation)
        if found is not None:
            return found
    shape = (y.shape[1], x.shape[1] // groups, *k)
    x, y = _plane(x), _plane(y)
    if groups == 1 and winograd.suits(
        k, x.itemsize, stride + dilation, y.shape[2:], len(x), shape[1], shape[0], True
    ):
        found = winograd.weigh(x, y, pad)
        if found is not None:
            return found
    steps = _pair(stride), _pair(pad, 0), _pair(dilation)
    # Copied always: lines are read beyond their ends.
    plan = geometry.correlating(x.shape[2:], y.shape[2:], _pair(k), *steps, layout_of(x), True)
    return weigh_plan(plan, x, y, groups).reshape(shape)


def weigh_plan(plan: Plan, x: Array, y: Array, groups: int) -> Array:
    """The sums over samples that the plan's only output would scale by weights, for each row of y
    those of its group: (O, C / groups · taps). The plan is one that copies."""
    dtype = x.dtype
    addresses, lanes, high = _code(dtype)
    read, slopes = Samples(x), Samples(y)
    count, channels = read.count, read.channels
    rows, per_group = slopes.channels // groups, channels // groups
    if groups == 1 and small_convolution.suits(plan, rows, dtype.itemsize):
        return small_convolution.weigh(plan, x, y)
    (output,) = plan.outputs
    depth = per_group * len(output.taps)
    offsets = _in_threes(plan, per_group)
    g_table = np.array([0, 0, output.rows, output.columns], np.int64)
    line = -(-((output.rows - 1) * plan.pitch + output.columns) // lanes) * lanes
    high = 1 if rows == 1 else high
    tiles, deep = -(-rows // high), len(offsets) // code.VECTORS
    padded = tiles * high
    words = code.weigh_words(F32 if dtype is FLOAT32 else F64, high)
    work = count * groups * rows * depth * output.rows * output.columns
    total = groups * tiles * deep * words
    share, shares, run, runs = share_samples(count, groups * tiles, total, work)
    sample, grads = channels * plan.plane, groups * padded * line
    block = max(1, min(share, _LONG // line, _BLOCK // (sample + grads)))
    threads = get_num_threads() if work >= THREADED else 1
    room = even(block * sample + 2 * lanes)
    slot = room + even(block * grads)
    memory = Memory(threads, slot, dtype)
    totals = np.zeros((shares, total), dtype)
    frame = _WEIGH_FRAME(
        address(x), address(y), address(totals), memory.flags_at, memory.at, slot, room, threads,
        count, share, block, runs, run, groups * tiles, tiles, high, read.inner, read.outer,
        slopes.outer, read.next, read.channel, channels, plan.plane, len(plan.table),
        address(plan.table), plan.pitch, *plan.step,
        per_group * plan.plane, slopes.next, slopes.channel, rows, padded, address(g_table),
        slopes.row, slopes.column,
        line, groups, deep, address(offsets),
    )  # fmt: skip
    pool.run(addresses["weigh"], frame, shares * runs, threads)
    whole = totals[0] if shares == 1 else np.add.reduce(totals, axis=0)
    sums = whole.reshape(groups, tiles, deep, words)[..., : code.VECTORS * high]
    sums = sums.reshape(groups, tiles, deep, code.VECTORS, high).transpose(0, 1, 4, 2, 3)
    sums = sums.reshape(groups, padded, deep * code.VECTORS)[:, :rows, :depth]
    return np.ascontiguousarray(sums).reshape(groups * rows, depth)


@lru_cache(maxsize=512)
def _in_threes(plan: Plan, channels: int) -> Array:
    """The plan's offsets, the last one again until there are tiles of three."""
    offsets = plan.offsets(plan.outputs[0], channels)
    return np.append(offsets, np.repeat(offsets[-1:], -len(offsets) % code.VECTORS))
