"""Convolutions of 3 by 3 by emitted code: see Note [Sums and differences] in `_native`.

Every way here gives None where a result isn't finite throughout, so that the direct way answers.
So it does for weights some of which are 0, as in masked convolutions: what these hide must leave
no trace, and here it would cancel but for its rounding.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import convolution as direct, winograd as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from . import convolution_geometry as geometry, small_convolution
from .convolution_geometry import Plan, band_of
from .convolution_workspace import SHARES, THREADED, Memory, Samples, even, share_samples
from .launch import address

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_CHANNELS: Final = 512  # at most: what is changed of some squares stays in the nearer caches
_PART: Final = 4096  # sums of weights in a chunk
_JOINED: Final = 1 << 17  # elements of small samples side by side, once they are changed
_BLOCK: Final = 1 << 18  # elements of squares, once they are changed
_PACK_FRAME = struct.Struct(f"{len(direct.PACK)}q").pack
_CORRELATE_FRAME = struct.Struct(f"{len(code.CORRELATE)}q").pack
_CHANGE_FRAME = struct.Struct(f"{len(code.CHANGE)}q").pack
_END_FRAME = struct.Struct(f"{len(code.END)}q").pack
_WEIGH_FRAME = struct.Struct(f"{len(code.WEIGH)}q").pack


@cache
def _code(dtype: RawType) -> tuple[dict[str, int], dict[str, int], int, int]:
    """The addresses of the functions, lanes of a vector, and rows of a tile."""
    type = F32 if dtype is FLOAT32 else F64
    return code.load(type), direct.load(type), target.lanes(type), direct.height(type)


def suits(
    k: tuple[int, ...],
    itemsize: int,
    steps: tuple[int, ...],
    out: tuple[int, int],
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


def _squares(out: tuple[int, int]) -> tuple[int, int]:
    return -(-out[0] // 2), -(-out[1] // 2)


@lru_cache(maxsize=512)
def _taps(sum_step: int, down: int, right: int, channels: int, turned: bool) -> Array:
    """Where the weights of a row lie, tap by tap and in a tap channel by channel."""
    taps = np.add.outer(np.arange(3, dtype=np.int64) * down, np.arange(3) * right).ravel()
    taps = taps[::-1] if turned else taps
    return np.add.outer(taps, np.arange(channels, dtype=np.int64) * sum_step).ravel()


def correlate(
    x: Array, w: Array, bias: Array | None, y: Array, pad: tuple[int, ...], inward: bool
) -> bool:
    """Writes to y the convolution of x with w, or, unless `inward`, with the kernels turned around
    and summed over the first dimension of w; says whether all of it is finite. Weights that are 0
    are refused."""
    if not w.all():
        return False
    dtype = x.dtype
    addresses, others, lanes, high = _code(dtype)
    read, made = Samples(x), Samples(y)
    channels, rows, out = read.channels, made.channels, y.shape[2:]
    squares = _squares(out)
    steps = tuple(s // dtype.itemsize for s in x.strides)
    plan = geometry.correlating(
        x.shape[2:], squares, (4, 4), (2, 2), pad, (1, 1), steps, True
    )  # fmt: skip
    over_rows, over_channels, down, right = (s // dtype.itemsize for s in w.strides)
    row_step, sum_step = (over_rows, over_channels) if inward else (over_channels, over_rows)
    places = _taps(sum_step, down, right, channels, not inward)
    padded = -(-rows // high) * high
    blocks = padded // high
    threads = get_num_threads() if read.count * rows * y[0, 0].size * len(places) >= THREADED else 1
    packed = np.empty((blocks, 9, channels * high), dtype)
    frame = _PACK_FRAME(
        address(w), address(packed), rows, padded, 9 * channels, row_step, address(places), blocks,
        high, 0, 0,
    )  # fmt: skip
    pool.run(others["pack"], frame, blocks, threads)
    weights = np.empty((blocks, code.PRODUCTS, channels * high), dtype)
    frame = _CHANGE_FRAME(address(packed), address(weights), channels * high)
    pool.run(addresses["change_weights"], frame, blocks, threads)
    added = np.zeros(padded, dtype)
    if bias is not None:
        added[:rows] = bias
    each = (squares[0] - 1) * plan.pitch + squares[1]
    block = _side_by_side(read.count, each, channels, lanes, threads)
    band = band_of(plan, 4 * padded, lanes)
    line = wide = code.WIDTHS[0] * lanes
    band_line = even(band * plan.pitch + lanes)
    parts = 1
    if block > 1:
        line = block * each + wide
        band_line = even(line)
    elif read.count < SHARES and threads > 1:
        parts = min(-(-squares[0] // band), -(-SHARES // read.count))
    chunks = -(-read.count // block) * parts
    checks = np.zeros((chunks, lanes), dtype)
    room = even(channels * plan.plane + 3 * lanes)
    changing = code.PRODUCTS * (channels * line + lanes + high * wide)
    slot = room + even(changing + 4 * padded * band_line)
    memory = Memory(threads, slot, dtype, room)
    offsets = plan.outputs[0].shifts
    frame = _CORRELATE_FRAME(
        address(x), address(weights), address(added), address(y), address(checks),
        memory.flags_at, memory.at, slot, room, threads, parts, read.count, block, line,
        read.inner, read.outer, made.outer, read.next, read.channel, channels, plan.plane,
        len(plan.table), address(plan.table), plan.pitch, *plan.step, address(offsets), rows,
        padded, *squares, made.next, made.channel,
        made.row, *out, band, band_line,
    )  # fmt: skip
    pool.run(addresses["correlate_squares"], frame, chunks, threads)
    return not checks.any()  # a NaN counts as something


@lru_cache(maxsize=512)
def _slopes_table(line: int, out: tuple[int, int], row: int, column: int) -> tuple[Any, Any]:
    """How the four phases of slopes lie in lines of squares, and where these begin."""
    phases = [(a, b) for a in (0, 1) for b in (0, 1)]
    table = [
        ((2 * a + b) * line, a * row + b * column, (out[0] - a + 1) // 2, (out[1] - b + 1) // 2)
        for a, b in phases
    ]
    return np.array(table, np.int64), np.arange(4, dtype=np.int64) * line


def weigh(x: Array, y: Array, pad: tuple[int, ...]) -> Array | None:
    """The sum over samples of what each weight (O, C, 3, 3) scales; None unless it is finite."""
    dtype = x.dtype
    addresses, _, lanes, high = _code(dtype)
    read, slopes = Samples(x), Samples(y)
    count, channels, rows, out = read.count, read.channels, slopes.channels, y.shape[2:]
    tall, broad = squares = _squares(out)
    steps = tuple(s // dtype.itemsize for s in x.strides)
    plan: Plan = geometry.correlating(
        x.shape[2:], squares, (4, 4), (2, 2), pad, (1, 1), steps, True
    )
    table, lines = _slopes_table(tall * broad, out, slopes.row, slopes.column)
    padded, padded_rows = -(-channels // lanes) * lanes, -(-rows // high) * high
    total = code.PRODUCTS * padded_rows * padded
    work = count * rows * channels * 9 * y[0, 0].size
    share, shares, run, runs = share_samples(count, padded_rows // high, total, work)
    threads = get_num_threads() if work >= THREADED else 1
    most = min(96, max(24, _BLOCK // (code.PRODUCTS * padded)))
    band = min(tall, max(1, most // broad))
    block = 1 if band < tall else max(1, min(share, most // (tall * broad)))
    some = block * band * broad
    line = even(some + lanes)
    room, room_turned = even(channels * plan.plane), even(plan.plane * padded)
    room_g = even(run * high * 4 * tall * broad + lanes)
    slot = room + room_turned + room_g
    memory_of = even(slot + code.PRODUCTS * (some * padded + run * high * line + 2 * lanes))
    memory = Memory(threads, memory_of, dtype, slot)
    totals = np.zeros((shares, code.PRODUCTS, padded_rows * padded), dtype)
    frame = _WEIGH_FRAME(
        address(x), address(y), address(totals), memory.flags_at, memory.at, memory_of, room,
        room_turned, room_g, threads, count, share, block, runs, run, read.inner, read.outer,
        slopes.outer, read.next, read.channel, channels, plan.plane, len(plan.table),
        address(plan.table), plan.pitch, *plan.step, address(plan.outputs[0].shifts), slopes.next,
        slopes.channel, 4 * tall * broad, len(table), address(table), 2 * slopes.row,
        2 * slopes.column, address(lines), rows, padded_rows, padded, tall, broad, band, some, line,
    )  # fmt: skip
    pool.run(addresses["weigh_squares"], frame, shares * runs, threads)
    size = padded_rows * padded
    sums = np.empty((9, size), dtype)
    frame = _END_FRAME(address(totals), address(sums), size, shares, _PART)
    pool.run(addresses["end_weights"], frame, -(-size // _PART), threads)
    taps = small_convolution.turn(sums).reshape(padded_rows, padded, 3, 3)
    found = np.ascontiguousarray(taps[:rows, :channels])
    with np.errstate(all="ignore"):
        return found if np.isfinite(np.add.reduce(found, axis=None)) else None
