"""Convolutions of 3 by 3 by emitted code: see Note [Sums and differences] in `_native`.

What is made here is checked: a result that isn't finite throughout is made again in the direct way.
So is one with weights some of which are 0, as in masked convolutions: what these hide must leave
no trace, and here it would cancel but for its rounding.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import convolution as direct, winograd as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..types import FLOAT32
from . import convolution_geometry as geometry
from .convolution_geometry import Plan, band_of
from .convolution_workspace import SHARES, THREADED, Samples, even, share_samples
from .launches import Form, Launches, Place

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_CHANNELS: Final = 512  # at most: what is changed of some squares stays in the nearer caches
_PART: Final = 4096  # sums of weights in a chunk
_JOINED: Final = 1 << 17  # elements of small samples side by side, once they are changed
_BLOCK: Final = 1 << 18  # elements of squares, once they are changed


@cache
def _code(dtype: RawType) -> tuple[dict[str, int], dict[str, int], int, int]:
    """The addresses of the functions, lanes of a vector, and rows of a tile."""
    type = F32 if dtype is FLOAT32 else F64
    return code.load(type), direct.load(type), target.lanes(type), direct.height(type)


def suits(
    k: tuple[int, ...],
    itemsize: int,
    steps: tuple[int, ...],
    out: tuple[int, ...],
    count: int,
    channels: int,
    rows: int,
    sums: bool = False,
) -> bool:
    """Whether sums of so many samples over so many channels, for so many of the result, are worth
    their changes; `steps` are strides and distances of taps, `sums` asks for weights."""
    if k != (3, 3) or any(step != 1 for step in steps) or channels > _CHANNELS:
        return False
    lanes = target.machine().width // itemsize
    if min(channels, rows) < 16 or channels * 4 % lanes:
        return False
    tall, broad = _squares(out)
    each = (tall - 1) * (broad + 1) + broad
    joined = min(count, 4, max(1, _JOINED // (code.PRODUCTS * channels * each)))
    squares = -(-joined * each // lanes) / joined
    # Turns of two products in every lane, and as many moves; what a call costs; sums and weights.
    tiles = -(-rows // 8) * channels * 4
    changed = squares * (16 * tiles + 40 * channels + 50 * rows) + 30000 / count
    if sums:
        changed += code.PRODUCTS * rows * channels * min(count, SHARES) / (3 * count)
    along = -(-((out[0] - 1) * (out[1] + 1) + out[1]) // lanes)
    panels = out[0] * out[1] * -(-rows // lanes) * channels / 2
    return 20 * changed < 19 * 9 * min(along * tiles, panels)


def _side_by_side(count: int, each: int, channels: int, lanes: int, threads: int) -> int:
    """How many samples of so many squares are best made together."""
    most = min(-(-count // threads), _JOINED // (code.PRODUCTS * channels * each))
    costs = {block: -(-count // block) * -(-block * each // lanes) for block in range(1, most + 1)}
    return min(costs, key=lambda block: (costs[block], block), default=1)


def _squares(out: tuple[int, ...]) -> tuple[int, int]:
    return -(-out[0] // 2), -(-out[1] // 2)


@lru_cache(maxsize=512)
def _taps(sum_step: int, down: int, right: int, channels: int, turned: bool) -> Array:
    """Where the weights of a row lie, tap by tap and in a tap channel by channel."""
    taps = np.add.outer(np.arange(3, dtype=np.int64) * down, np.arange(3) * right).ravel()
    taps = taps[::-1] if turned else taps
    return np.add.outer(taps, np.arange(channels, dtype=np.int64) * sum_step).ravel()


def correlating(
    x: Form, w: Form, y: Form, biased: bool, pad: tuple[int, ...], inward: bool, threads: int
) -> Launches:
    """What writes to y the convolution of x with w and a bias, or, unless `inward`, with the
    kernels turned around and summed over the first dimension of w; not for weights that are 0."""
    addresses, others, lanes, high = _code(x.dtype)
    read, made = Samples(x), Samples(y)
    channels, rows, out = read.channels, made.channels, y.shape[2:]
    squares = _squares(out)
    plan = geometry.correlating(x.shape[2:], squares, (4, 4), (2, 2), pad, (1, 1), x.steps, True)
    over_rows, over_channels, down, right = w.steps
    row_step, sum_step = (over_rows, over_channels) if inward else (over_channels, over_rows)
    places = _taps(sum_step, down, right, channels, not inward)
    padded = -(-rows // high) * high
    blocks = padded // high
    work = read.count * rows * out[0] * out[1] * len(places)
    found = Launches(x.dtype, threads if work >= THREADED else 1)
    packed = found.room(blocks * 9 * channels * high)
    weights = found.room(blocks * code.PRODUCTS * channels * high)
    found.add(
        others["pack"],
        [Place(2), packed, rows, padded, 9 * channels, row_step, found.table(places), blocks, high,
         0, 0],
        blocks,
    )  # fmt: skip
    found.add(addresses["change_weights"], [packed, weights, channels * high], blocks)
    added = Place(3) if biased and padded == rows else found.room(padded, True)
    if biased and padded != rows:
        found.pick(Place(3), added, np.zeros(1), np.arange(rows))
    each = (squares[0] - 1) * plan.pitch + squares[1]
    block = _side_by_side(read.count, each, channels, lanes, found.threads)
    band = band_of(plan, 4 * padded, lanes)
    line = wide = code.WIDTHS[0] * lanes
    band_line = even(band * plan.pitch + lanes)
    parts = 1
    if block > 1:
        line = block * each + wide
        band_line = even(line)
    elif read.count < SHARES and found.threads > 1:
        parts = min(-(-squares[0] // band), -(-SHARES // read.count))
    chunks = -(-read.count // block) * parts
    checks = found.check(chunks * lanes)
    room = even(channels * plan.plane + 3 * lanes)
    changing = code.PRODUCTS * (channels * line + lanes + high * wide)
    slot = room + even(changing + 4 * padded * band_line)
    flags, memory = found.slots(slot, room)
    found.add(
        addresses["correlate_squares"],
        [Place(1), weights, added, Place(4), checks, flags, memory, slot, room, found.threads,
         parts, read.count, block, line, read.inner, read.outer, made.outer, read.next,
         read.channel, channels, plan.plane, len(plan.table), found.table(plan.table), plan.pitch,
         *plan.step, found.table(plan.outputs[0].shifts), rows, padded, *squares, made.next,
         made.channel, made.row, *out, band, band_line],
        chunks,
    )  # fmt: skip
    return found


@lru_cache(maxsize=512)
def _slopes_table(line: int, out: tuple[int, ...], row: int, column: int) -> tuple[Any, Any]:
    """How the four phases of slopes lie in lines of squares, and where these begin."""
    phases = [(a, b) for a in (0, 1) for b in (0, 1)]
    table = [
        ((2 * a + b) * line, a * row + b * column, (out[0] - a + 1) // 2, (out[1] - b + 1) // 2)
        for a, b in phases
    ]
    return np.array(table, np.int64), np.arange(4, dtype=np.int64) * line


def weighing(x: Form, y: Form, pad: tuple[int, ...], threads: int) -> Launches:
    """What writes the sum over samples of what each weight (O, C, 3, 3) scales."""
    addresses, _, lanes, high = _code(x.dtype)
    read, slopes = Samples(x), Samples(y)
    count, channels, rows, out = read.count, read.channels, slopes.channels, y.shape[2:]
    tall, broad = squares = _squares(out)
    plan: Plan = geometry.correlating(
        x.shape[2:], squares, (4, 4), (2, 2), pad, (1, 1), x.steps, True
    )
    table, lines = _slopes_table(tall * broad, out, slopes.row, slopes.column)
    padded, padded_rows = -(-channels // lanes) * lanes, -(-rows // high) * high
    size = padded_rows * padded
    total = code.PRODUCTS * size
    work = count * rows * channels * 9 * out[0] * out[1]
    share, shares, run, runs = share_samples(count, padded_rows // high, total, work)
    found = Launches(x.dtype, threads if work >= THREADED else 1)
    most = min(96, max(24, _BLOCK // (code.PRODUCTS * padded)))
    band = min(tall, max(1, most // broad))
    block = 1 if band < tall else max(1, min(share, most // (tall * broad)))
    some = block * band * broad
    line = even(some + lanes)
    room, room_turned = even(channels * plan.plane), even(plan.plane * padded)
    room_g = even(run * high * 4 * tall * broad + lanes)
    slot = room + room_turned + room_g
    memory_of = even(slot + code.PRODUCTS * (some * padded + run * high * line + 2 * lanes))
    flags, memory = found.slots(memory_of, slot)
    totals = found.room(shares * total, True)
    found.add(
        addresses["weigh_squares"],
        [Place(1), Place(2), totals, flags, memory, memory_of, room, room_turned, room_g,
         found.threads, count, share, block, runs, run, read.inner, read.outer, slopes.outer,
         read.next, read.channel, channels, plan.plane, len(plan.table), found.table(plan.table),
         plan.pitch, *plan.step, found.table(plan.outputs[0].shifts), slopes.next, slopes.channel,
         4 * tall * broad, len(table), found.table(table), 2 * slopes.row, 2 * slopes.column,
         found.table(lines), rows, padded_rows, padded, tall, broad, band, some, line],
        shares * runs,
    )  # fmt: skip
    sums = found.room(9 * size)
    found.add(addresses["end_weights"], [totals, sums, size, shares, _PART], -(-size // _PART))
    taps = np.add.outer(np.arange(channels), np.arange(9) * size).ravel()
    found.pick(sums, Place(3), np.arange(rows) * padded, taps)
    made = rows * len(taps)
    parts = -(-made // _PART)
    found.add(
        addresses["find_unlimited"], [Place(3), found.check(parts * lanes), made, _PART], parts
    )
    return found
