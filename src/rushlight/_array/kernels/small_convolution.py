"""Convolutions of small planes by emitted code: see Note [Places and channels] in `_native`."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import convolution, small_convolution as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .convolution_geometry import Plan
from .convolution_workspace import THREADED, Samples, even, share_samples
from .launches import Form, Launches, Place, form_of

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_THREADED: Final = 1 << 16  # weights from which threads are worth waking
_PLACES: Final = 256  # of all samples of a block, about


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


def _pack_weights(found: Launches, w: Form, inward: bool, padded: int) -> tuple[Place, int]:
    """Adds calls that write weights (O, C, …), in order, as (C · taps, O), or (O · taps, C) unless
    `inward`, in panels; where these are, and k."""
    rows, channels = w.shape[:2]
    taps = w.shape[2] * w.shape[3]
    addresses, lanes, _ = _code(w.dtype)
    columns = rows if inward else channels
    depth = rows * channels * taps // columns
    made = found.room(depth * padded, columns != padded)
    size = w.itemsize
    many = rows * channels * taps > _THREADED
    for start, wide in _panels(padded, lanes):
        some, there = min(wide, columns - start), made.behind(start * depth * size)
        if inward:
            source = Place(2, start * depth * size)
            words = [source, there, some, depth, depth, wide, 0, 0]
            found.add(addresses["turn"], words, 1)
        else:
            source = Place(2, start * taps * size)
            words = [source, there, some, taps, taps, wide, channels * taps, taps * wide]
            found.add(addresses["turn"], words, rows, many)
    return made, depth


def correlating(
    plan: Plan, x: Form, w: Form, y: Form, biased: bool, inward: bool, threads: int
) -> Launches:
    """What writes to y (N, O, H, W), whose planes are contiguous, what the plan makes of x, w and
    the bias; `inward` sums over w's second dimension. w is in order."""
    addresses, lanes, high = _code(x.dtype)
    read, written = Samples(x), Samples(y)
    count, channels, columns = read.count, read.channels, written.channels
    places = y.shape[-2] * y.shape[-1]
    padded = -(-columns // lanes) * lanes
    depth = w.shape[2] * w.shape[3] * w.shape[inward]
    found = Launches(x.dtype, threads if count * columns * places * depth >= THREADED else 1)
    turned, depth = _pack_weights(found, w, inward, padded)
    sample = channels * plan.plane
    # As many chunks for each thread, and none much smaller than the others.
    rounds = -(-count // (max(1, _PLACES // places) * found.threads))
    block = -(-count // (rounds * found.threads))
    added = Place(3) if biased and padded == columns else found.room(padded, True)
    if biased and padded != columns:
        found.pick(Place(3), added, np.zeros(1), np.arange(columns))
    room = even(block * sample)
    slot = room + even((block * places + high) * padded)
    flags, memory = found.slots(slot, slot)
    starts, offsets = _starts(plan, sample, block, high), _offsets(plan, channels, 1)
    found.add(
        addresses["correlate_small"],
        [Place(1), turned, added, Place(4), flags, memory, slot, room, found.threads, count, block,
         read.inner, read.outer, written.outer, read.next, read.channel, channels, plan.plane,
         len(plan.table), found.table(plan.table), plan.pitch, *plan.step, places,
         found.table(starts), depth, found.table(offsets), columns, padded, written.next,
         written.channel],
        -(-count // block),
    )  # fmt: skip
    return found


def correlate(plan: Plan, x: Array, w: Array, bias: Array | None, y: Array, inward: bool) -> None:
    """Writes to y what `correlating` says."""
    w = np.ascontiguousarray(w)
    forms = form_of(x), form_of(w), form_of(y)
    _remembered(plan, *forms, bias is not None, inward, get_num_threads()).run(
        x, w, None if bias is None else np.ascontiguousarray(bias), y
    )


_remembered = lru_cache(maxsize=512)(correlating)


def weighing(plan: Plan, x: Form, y: Form, threads: int) -> Launches:
    """What writes the sums over samples that `correlating` would scale by weights, as
    (O, C · taps); the planes of y lie in one piece."""
    addresses, lanes, high = _code(x.dtype)
    read, slopes = Samples(x), Samples(y)
    count, channels, columns = read.count, read.channels, slopes.channels
    places = y.shape[-2] * y.shape[-1]
    padded = -(-columns // lanes) * lanes
    offsets = _offsets(plan, channels, high)
    depth = channels * len(plan.outputs[0].taps)
    tiles = len(offsets) // high
    work, total = count * columns * places * depth, tiles * high * padded
    share, shares, run, runs = share_samples(count, tiles, total, work)
    found = Launches(x.dtype, threads if work >= THREADED else 1)
    sample = channels * plan.plane
    block = max(1, min(share, _PLACES // places))
    starts = _starts(plan, sample, block, 1)
    room = even(block * sample)
    slot = room + even(block * places * padded)
    flags, memory = found.slots(slot, slot)
    totals = found.room(shares * total, True)
    found.add(
        addresses["weigh_small"],
        [Place(1), Place(2), totals, flags, memory, slot, room, found.threads, count, share, block,
         runs, run, tiles, read.inner, read.outer, slopes.outer, read.next, read.channel, channels,
         plan.plane, len(plan.table), found.table(plan.table), plan.pitch, *plan.step, places,
         found.table(starts), found.table(offsets), columns, padded, slopes.next, slopes.channel],
        shares * runs,
    )  # fmt: skip
    found.add_shares(totals, total, shares)
    found.add(addresses["turn"], [totals, Place(3), depth, columns, padded, depth, 0, 0], 1)
    return found
