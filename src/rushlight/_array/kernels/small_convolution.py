"""Convolutions of small planes by emitted code: see Note [Places and channels] in `_native`."""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import convolution, small_convolution as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .convolution_geometry import Plan
from .convolution_workspace import THREADED, Memory, Samples, even, share_samples
from .launch import address

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_THREADED: Final = 1 << 16  # weights from which threads are worth waking
_PLACES: Final = 256  # of all samples of a block, about
_CORRELATE_FRAME = struct.Struct(f"{len(code.CORRELATE)}q").pack
_WEIGH_FRAME = struct.Struct(f"{len(code.WEIGH)}q").pack
_TURN_FRAME = struct.Struct(f"{len(code.TURN)}q").pack


@cache
def _code(dtype: RawType) -> tuple[dict[str, int], int, int]:
    """The addresses of the functions, lanes of a vector, and rows of a tile."""
    type = F32 if dtype is FLOAT32 else F64
    return code.load(type), target.lanes(type), convolution.height(type)


def suits(plan: Plan, columns: int, itemsize: int) -> bool:
    """Whether tiles of places are better than lines, for one output and so many channels of it."""
    (output,) = plan.outputs
    places = output.rows * output.columns
    lanes = target.machine().width // itemsize
    padded = -(-columns // lanes) * lanes
    if places > _PLACES or places < 4 or padded * 3 > columns * 4:
        return False
    tiles, rest = divmod((output.rows - 1) * plan.pitch + output.columns, 3 * lanes)
    # Turns of a loop that has as many products in every lane.
    along = (12 * tiles + 5 * -(-rest // lanes)) * -(-columns // 8)
    return 4 * places * padded // (8 * lanes) * 21 < along * 20


@lru_cache(maxsize=512)
def _starts(plan: Plan, sample: int, images: int, high: int) -> Array:
    """Where the places of outputs of some samples begin; the last one again for a whole tile."""
    (output,) = plan.outputs
    places = np.add.outer(np.arange(output.rows) * plan.pitch, np.arange(output.columns)).ravel()
    starts = np.add.outer(np.arange(images, dtype=np.int64) * sample, places).ravel()
    return _whole(starts, high)


def _whole(offsets: Array, high: int) -> Array:
    return np.append(offsets, np.repeat(offsets[-1:], -len(offsets) % high))


@lru_cache(maxsize=512)
def _offsets(plan: Plan, channels: int, high: int) -> Array:
    """Where channels and taps begin in a sample, filled up like `_starts`."""
    return _whole(plan.offsets(plan.outputs[0], channels), high)


def _panels(padded: int, lanes: int) -> list[tuple[int, int]]:
    """The first column and the width of each panel."""
    found, start = [], 0
    for vectors in code.WIDTHS:
        wide = vectors * lanes
        while padded - start >= wide:
            found.append((start, wide))
            start += wide
    return found


def _pack_weights(w: Array, inward: bool, padded: int) -> tuple[Any, int]:
    """Weights (O, C, …) as (C · taps, O), or (O · taps, C) unless `inward`, in panels; k."""
    w = np.ascontiguousarray(w)
    rows, channels = w.shape[:2]
    taps = w.shape[2] * w.shape[3]
    addresses, lanes, _ = _code(w.dtype)
    columns = rows if inward else channels
    depth = w.size // columns
    made = (np.empty if columns == padded else np.zeros)(depth * padded, w.dtype)
    size = w.dtype.itemsize
    threads = get_num_threads() if w.size > _THREADED else 1
    source, to = address(w), address(made)
    for start, wide in _panels(padded, lanes):
        some, there = min(wide, columns - start), to + start * depth * size
        if inward:
            frame = _TURN_FRAME(
                source + start * depth * size, there, some, depth, depth, wide, 0, 0
            )
            pool.run(addresses["turn"], frame, 1, 1)
        else:
            frame = _TURN_FRAME(
                source + start * taps * size, there, some, taps, taps, wide, channels * taps,
                taps * wide,
            )  # fmt: skip
            pool.run(addresses["turn"], frame, rows, threads)
    return made, depth


def correlate(plan: Plan, x: Array, w: Array, bias: Array | None, y: Array, inward: bool) -> None:
    """Writes to y (N, O, H, W), whose planes are contiguous, what the plan makes of x; `inward`
    sums over w's second dimension."""
    dtype = x.dtype
    addresses, lanes, high = _code(dtype)
    read, written = Samples(x), Samples(y)
    count, channels, columns = read.count, read.channels, written.channels
    places = y.shape[-2] * y.shape[-1]
    padded = -(-columns // lanes) * lanes
    turned, depth = _pack_weights(w, inward, padded)
    threads = get_num_threads() if count * columns * places * depth >= THREADED else 1
    sample = channels * plan.plane
    # As many chunks for each thread, and none much smaller than the others.
    rounds = -(-count // (max(1, _PLACES // places) * threads))
    block = -(-count // (rounds * threads))
    added = np.zeros(padded, dtype)
    if bias is not None:
        added[:columns] = bias
    room = even(block * sample)
    slot = room + even((block * places + high) * padded)
    memory = Memory(threads, slot, dtype)
    starts, offsets = _starts(plan, sample, block, high), _offsets(plan, channels, 1)
    frame = _CORRELATE_FRAME(
        address(x), address(turned), address(added), address(y), memory.flags_at, memory.at, slot,
        room, threads, count, block, read.inner, read.outer, written.outer, read.next,
        read.channel, channels,
        plan.plane, len(plan.table), address(plan.table), plan.pitch, *plan.step, places,
        address(starts), depth, address(offsets), columns, padded, written.next,
        written.channel,
    )  # fmt: skip
    pool.run(addresses["correlate_small"], frame, -(-count // block), threads)


def weigh(plan: Plan, x: Array, y: Array) -> Array:
    """The sums over samples that `correlate` would scale by weights, as (O, C · taps)."""
    dtype = x.dtype
    addresses, lanes, high = _code(dtype)
    if y.strides[-2:] != (y.shape[-1] * y.itemsize, y.itemsize):
        y = np.ascontiguousarray(y)
    read, slopes = Samples(x), Samples(y)
    count, channels, columns = read.count, read.channels, slopes.channels
    places = y.shape[-2] * y.shape[-1]
    padded = -(-columns // lanes) * lanes
    offsets = _offsets(plan, channels, high)
    depth = channels * len(plan.outputs[0].taps)
    tiles = len(offsets) // high
    work = count * columns * places * depth
    share, shares, run, runs = share_samples(count, tiles, tiles * high * padded, work)
    threads = get_num_threads() if work >= THREADED else 1
    sample = channels * plan.plane
    block = max(1, min(share, _PLACES // places))
    starts = _starts(plan, sample, block, 1)
    room = even(block * sample)
    slot = room + even(block * places * padded)
    memory = Memory(threads, slot, dtype)
    totals = np.zeros((shares, tiles * high, padded), dtype)
    frame = _WEIGH_FRAME(
        address(x), address(y), address(totals), memory.flags_at, memory.at, slot, room, threads,
        count, share, block, runs, run, tiles, read.inner, read.outer, slopes.outer,
        read.next, read.channel, channels,
        plan.plane, len(plan.table), address(plan.table), plan.pitch, *plan.step, places,
        address(starts), address(offsets), columns, padded, slopes.next,
        slopes.channel,
    )  # fmt: skip
    pool.run(addresses["weigh_small"], frame, shares * runs, threads)
    whole = totals[0] if shares == 1 else np.add.reduce(totals, axis=0)
    return turn(whole[:depth, :columns])


def turn(x: Array) -> Array:
    """The transpose of a matrix whose columns lie side by side, in order."""
    rows, columns = x.shape
    made = np.empty((columns, rows), x.dtype)
    line = x.strides[0] // x.itemsize
    frame = _TURN_FRAME(address(x), address(made), rows, columns, line, rows, 0, 0)
    pool.run(_code(x.dtype)[0]["turn"], frame, 1, 1)
    return made
