"""Convolutions with small kernels by emitted code: see Note [Sums and differences] in `_native`.

Kernels of 3 by 3 and of 2 by 2, those of twice that size with strides of two, and planes of them:
see Note [Windows] there. A `Tiling` says how squares are cut out.

What is made here is checked: a result that isn't finite throughout is made again in the direct way.
So is one with weights of which more than a few are 0, as in masked convolutions: what these hide
must leave no trace, and here it would cancel but for its rounding. (Of a million random numbers one
or two may well be 0.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import convolution as direct, winograd as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..types import FLOAT32
from . import convolution_geometry as geometry
from .convolution_geometry import Layout, Plan, Run
from .convolution_workspace import THREADED, Samples, even, share_samples
from .launches import Form, Launches, Place

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_DEEP: Final = 1 << 14  # products by channels at most: some squares stay in the nearer caches
_FAR: Final = 1 << 21  # bytes of weights that fit no nearer cache, once they are changed
_PART: Final = 4096  # sums of weights in a chunk
_BLOCK: Final = 1 << 18  # elements of squares, once they are changed
Sizes = tuple[int, ...]


@cache
def _code(dtype: RawType, taps: int) -> tuple[dict[str, int], dict[str, int], int, int]:
    """The addresses of the functions, lanes of a vector, and rows of a tile."""
    type = F32 if dtype is FLOAT32 else F64
    return code.load(type, taps), direct.load(type), target.lanes(type), direct.height(type)


# ---- geometry -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class Tiling:
    """How squares of 2 by 2 outputs are made from windows of planes, `step` elements apart.

    `offsets` (outputs, windows, products) are where windows' elements begin, `weights` (outputs,
    weights, windows, 2) their rows and columns in the kernel, `starts` the first row and column of
    each output.
    """

    taps: int
    plan: Plan
    squares: tuple[int, int]
    step: int
    offsets: Array
    weights: Array
    starts: tuple[tuple[int, int], ...]

    @property
    def windows(self) -> int:
        return int(self.offsets.shape[1])


def taps_of(k: Sizes, stride: Sizes, dilation: Sizes) -> int:
    """How many weights along a row make an output, 2 or 3, or 0 for kernels of other kinds."""
    if len(stride) != 2 or k[0] != k[1] or stride[0] != stride[1] or stride[0] > 2:
        return 0
    taps, rest = divmod(k[0], stride[0])
    return 0 if rest or max(dilation) != 1 or taps not in (2, 3) else taps


def _squares(out: Sizes) -> tuple[int, int]:
    return -(-out[0] // 2), -(-out[1] // 2)


def _windows(taps: int, stride: int, pad: int, inward: bool) -> tuple[int, list[tuple[Any, Any]]]:
    """Along an axis: zeros before the first element (fewer than none where windows begin later),
    and for each window its elements and the weights that these meet first."""
    size = np.arange(taps + 1)
    if inward:
        return pad, [
            (phase + stride * size, phase + stride * size[:taps]) for phase in range(stride)
        ]
    largest = [stride * (taps - 1) + (phase + pad) % stride for phase in range(stride)]
    starts = [(phase + pad - last) // stride for phase, last in enumerate(largest)]
    low = min(starts)
    return -low, [
        (start - low + size, last - stride * size[:taps]) for start, last in zip(starts, largest)
    ]


@lru_cache(maxsize=512)
def tile(
    taps: int,
    stride: int,
    pad: Sizes,
    size: Sizes,
    out: Sizes,
    layout: Layout,
    inward: bool,
    deep: tuple[Run, int] | None = None,
) -> Tiling | None:
    """From planes of `size` to those of `out`, or None; `deep` are the planes of bodies that are
    met, and the elements between these."""
    (top, high), (left, wide) = (_windows(taps, stride, p, inward) for p in pad)
    if min(top, left) < 0:
        return None
    members = list(product(high, wide))
    reach = tuple(max(elements[-1] for elements, _ in axis) + 1 for axis in (high, wide))
    squares = _squares(out if inward else (-(-out[0] // stride), -(-out[1] // stride)))
    step = 2 * stride if inward else 2
    whole = tuple((n - 1) * step + 1 for n in squares)
    plan = geometry.correlating(size, whole, reach, (1, 1), (top, left), (1, 1), layout, True)
    planes = 1
    if deep is not None:
        plan = geometry.deepen(plan, deep[0], 1, reach[0], deep[1], out[0])
        planes = len(deep[0].taps)
    shifts = plan.outputs[0].shifts.reshape(planes, *reach)
    offsets = np.stack([shifts[:, r[:, None], c].reshape(planes, -1) for (r, _), (c, _) in members])
    grid = np.stack([
        np.stack(np.broadcast_arrays(r[:, None], c), -1).reshape(-1, 2)
        for (_, r), (_, c) in members
    ])  # fmt: skip
    # A window in each plane, whose weights lie one below the other.
    weights = grid[:, None] + np.arange(planes)[:, None, None] * np.array([taps * stride, 0])
    starts: Any = [(0, 0)]
    if inward:
        offsets, weights = (a.reshape(1, -1, *a.shape[2:]) for a in (offsets, weights))
    else:
        starts = product(range(stride), range(stride))
    return Tiling(
        taps,
        plan,
        squares,
        step,
        np.ascontiguousarray(offsets),
        np.ascontiguousarray(weights.swapaxes(1, 2)),
        tuple(starts),
    )


def suits(
    taps: int,
    itemsize: int,
    out: Sizes,
    count: int,
    channels: int,
    rows: int,
    *,
    sums: bool = False,
    phases: bool = False,
) -> bool:
    """Whether sums of so many samples over so many channels in windows, for so many of the result,
    are worth their changes; `sums` asks for weights, `phases` for one output of several."""
    size = code.products(taps)
    if not taps or channels * size > _DEEP or min(channels, rows) < 8:
        return False
    lanes = target.machine().width // itemsize
    tall, broad = _squares(out)
    squares = tall * broad
    blocks, depth = -(-rows // lanes), -(-channels // lanes) * lanes
    high = -(-rows // 8) * 8
    # Cycles of the products and what is done before and after these, of rows that are moved, of a
    # call, and of weights, which come from afar for every block of samples if there are many.
    each = 1.05 * depth * blocks + 2.5 * depth / lanes + 6 * blocks
    if sums:
        each = (depth * high + 2.5 * (depth + high)) / lanes
    weights = size * rows * depth
    far = sums or weights * itemsize > _FAR
    changed = squares * size * each + (squares + 12 * tall) * (channels + rows)
    changed += (30000 + weights * (3 if far else 2)) / count
    # The direct way has lines, and small planes by their places if there is one output.
    direct = -(-((out[0] - 1) * (out[1] + 1) + out[1]) // lanes) * high
    if not phases:
        direct = min(direct, out[0] * out[1] * blocks)
    return changed < 0.95 * taps**2 * channels * direct


# ---- the output, and the gradient for the input -------------------------------------------------
@lru_cache(maxsize=512)
def correlating(
    x: Form,
    w: Form,
    y: Form,
    biased: bool,
    stride: Sizes,
    pad: Sizes,
    dilation: Sizes,
    inward: bool,
    threads: int,
    deep: tuple[Run, int] | None = None,
) -> Launches | None:
    """What writes to y the convolution of x with w and a bias, or, unless `inward`, its transpose,
    summed over the first dimension of w; None where it would take longer than the direct way. Its
    first call looks for weights that are 0.

    x and y are (N, channels, H, W), or, with `deep` (see `tile`), (N, planes, channels, H, W) and
    the kernels of w planes one below the other.
    """
    planes = 1 if deep is None else len(deep[0].taps)
    taps = taps_of((w.shape[2] // planes, w.shape[3]), stride, dilation)
    if not taps:
        return None
    step, out = stride[0], y.shape[-2:]
    each = out if inward else (-(-out[0] // step), -(-out[1] // step))
    depth = x.shape[-3] * planes * (step**2 if inward else 1)
    count, phases = prod(x.shape[:-3]), each != out
    if not suits(taps, x.itemsize, each, count, depth, y.shape[-3], phases=phases):
        return None
    tiling = tile(taps, step, pad, x.shape[-2:], out, _layout(x), inward, deep)
    if tiling is None:
        return None
    return _correlating(tiling, x, w, y, biased, inward, 1 if inward else step, threads)


def _layout(x: Form) -> Layout:
    first, channel, row, column = x.steps[-4:]
    return first, channel, row, column


def _correlating(
    tiling: Tiling, x: Form, w: Form, y: Form, biased: bool, inward: bool, stride: int, threads: int
) -> Launches:
    """`stride` is that of the outputs."""
    taps, plan, windows = tiling.taps, tiling.plan, tiling.windows
    addresses, others, lanes, high = _code(x.dtype, taps)
    size, weights_of = code.products(taps), taps**2
    read, made = Samples(x), Samples(y)
    count, channels, rows, out = read.count, read.channels, made.channels, y.shape[-2:]
    (tall, broad), outputs = tiling.squares, len(tiling.starts)
    blocks, padded = -(-rows // lanes), -(-channels // lanes) * lanes
    depth, line = padded * windows, blocks * lanes
    work = count * rows * out[0] * out[1] * depth * weights_of
    found = Launches(x.dtype, threads if work >= THREADED else 1)
    over_rows, over_channels, down, right = w.steps
    row_step, sum_step = (over_rows, over_channels) if inward else (over_channels, over_rows)
    # What stands for channels beyond the last one meets zeros.
    over = np.minimum(np.arange(padded), channels - 1) * sum_step
    places = (tiling.weights @ np.array([down, right]))[..., None] + over
    most = min(96, max(24, _BLOCK // (size * max(depth, line))))
    band = min(tall, max(1, most // broad))
    block, parts = 1, 1
    if band == tall:
        block = max(1, min(-(-count // found.threads), most // (tall * broad)))
    elif count < found.threads:
        parts = min(-(-tall // band), -(-found.threads // count))
    chunks = -(-count // block) * parts
    hidden = found.check((1 + chunks) * lanes)
    found.add(addresses["find_hidden"], [Place(2), hidden, prod(w.shape)], 1)
    found.asked = 1
    packed = found.room(outputs * line * weights_of * depth)
    weights = found.room(outputs * line * size * depth)
    for output in range(outputs):
        to = packed.behind(output * line * weights_of * depth * x.itemsize)
        found.add(
            others["pack"],
            [Place(2), to, rows, line, weights_of * depth, row_step, found.table(places[output]),
             blocks, lanes, 0, 0],
            blocks,
        )  # fmt: skip
    found.add(addresses["change_weights"], [packed, weights, depth * lanes], outputs * blocks)
    added = Place(3) if biased and line == rows else found.room(line, True)
    if biased and line != rows:
        found.pick(Place(3), added, np.zeros(1), np.arange(rows))
    some = -(-block * band * broad // high) * high
    checks = hidden.behind(lanes * x.itemsize)
    room, room_turned = even(channels * plan.plane), even(plan.plane * padded)
    aside = room + block * room_turned
    changing = size * (some * (depth + line) + 2 * lanes) + 4 * band * broad * (line + rows) + lanes
    slot = aside + even(changing)
    # Around planes, and beside channels, there are zeros.
    flags, memory = found.slots(slot, room if padded == channels else aside)
    table = np.array([
        (i * made.row + j * made.column, -((i - out[0]) // stride), -((j - out[1]) // stride))
        for i, j in tiling.starts
    ], np.int64)  # fmt: skip
    found.add(
        addresses["correlate_squares"],
        [Place(1), weights, added, Place(4), checks, flags, memory, slot, room, room_turned,
         found.threads, parts, count, block, read.inner, read.outer, made.outer, read.next,
         read.channel, channels, plan.plane, len(plan.table), found.table(plan.table), plan.pitch,
         *plan.step, padded, windows, found.table(tiling.offsets), tiling.step, tall, broad, rows,
         blocks, made.next, made.channel, made.row * stride, made.column * stride, outputs,
         found.table(table), band, some],
        chunks,
    )  # fmt: skip
    return found


# ---- the weights --------------------------------------------------------------------------------
@lru_cache(maxsize=512)
def _slopes_table(line: int, out: Sizes, row: int, column: int) -> tuple[Any, Any]:
    """How the four phases of slopes lie in lines of squares, and where these begin."""
    phases = [(a, b) for a in (0, 1) for b in (0, 1)]
    table = [
        ((2 * a + b) * line, a * row + b * column, (out[0] - a + 1) // 2, (out[1] - b + 1) // 2)
        for a, b in phases
    ]
    return np.array(table, np.int64), np.arange(4, dtype=np.int64) * line


@lru_cache(maxsize=512)
def weighing(
    x: Form,
    y: Form,
    k: Sizes,
    stride: Sizes,
    pad: Sizes,
    dilation: Sizes,
    threads: int,
    deep: tuple[Run, int] | None = None,
) -> Launches | None:
    """What writes the sum over samples of what each weight (O, C, planes, *k) scales; None where it
    would take longer than the direct way. See `correlating`."""
    taps = taps_of(k, stride, dilation)
    if not taps:
        return None
    step, planes = stride[0], 1 if deep is None else len(deep[0].taps)
    out, depth = y.shape[-2:], x.shape[-3] * step**2 * planes
    if not suits(taps, x.itemsize, out, prod(x.shape[:-3]), depth, y.shape[-3], sums=True):
        return None
    tiling = tile(taps, step, pad, x.shape[-2:], out, _layout(x), True, deep)
    return None if tiling is None else _weighing(tiling, x, y, step, threads)


def _weighing(tiling: Tiling, x: Form, y: Form, stride: int, threads: int) -> Launches:
    taps, plan, windows = tiling.taps, tiling.plan, tiling.windows
    addresses, _, lanes, high = _code(x.dtype, taps)
    number, weights_of = code.products(taps), taps**2
    read, slopes = Samples(x), Samples(y)
    count, channels, rows, out = read.count, read.channels, slopes.channels, y.shape[-2:]
    tall, broad = tiling.squares
    table, lines = _slopes_table(tall * broad, out, slopes.row, slopes.column)
    padded, padded_rows = -(-channels // lanes) * lanes, -(-rows // high) * high
    depth = padded * windows
    size = padded_rows * depth
    work = count * rows * channels * windows * weights_of * out[0] * out[1]
    # Sums are read and written for few squares each time, so they must stay in a near cache.
    share, shares, run, runs = share_samples(count, padded_rows // high, 4 * number * size, work)
    found = Launches(x.dtype, threads if work >= THREADED else 1)
    most = min(96, max(24, _BLOCK // (number * depth)))
    band = min(tall, max(1, most // broad))
    block = 1 if band < tall else max(1, min(share, most // (tall * broad)))
    some = block * band * broad
    line = even(some + lanes)
    room, room_turned = even(channels * plan.plane), even(plan.plane * padded)
    room_g = even(run * high * 4 * tall * broad + lanes)
    slot = room + room_turned + room_g
    memory_of = even(slot + number * (some * depth + run * high * line + 2 * lanes))
    flags, memory = found.slots(memory_of, slot)
    totals = found.room(shares * number * size, True)
    found.add(
        addresses["weigh_squares"],
        [Place(1), Place(2), totals, flags, memory, memory_of, room, room_turned, room_g,
         found.threads, count, share, block, runs, run, read.inner, read.outer, slopes.outer,
         read.next, read.channel, channels, plan.plane, len(plan.table), found.table(plan.table),
         plan.pitch, *plan.step, padded, windows, found.table(tiling.offsets), tiling.step, tall,
         broad, slopes.next, slopes.channel, 4 * tall * broad, len(table), found.table(table),
         2 * slopes.row, 2 * slopes.column, found.table(lines), rows, padded_rows, band, some,
         line],
        shares * runs,
    )  # fmt: skip
    sums = found.room(weights_of * size)
    found.add(addresses["end_weights"], [totals, sums, size, shares, _PART], -(-size // _PART))
    # Where the weights of a kernel lie, in order: (windows, taps, taps) with steps apart.
    kernel = np.add.outer(np.arange(windows) * padded, np.arange(weights_of) * size)
    kernel = kernel.reshape(stride, stride, -1, taps, taps).transpose(2, 3, 0, 4, 1).ravel()
    columns = np.add.outer(np.arange(channels), kernel).ravel()
    found.pick(sums, Place(3), np.arange(rows) * depth, columns)
    made = rows * len(columns)
    parts = -(-made // _PART)
    found.add(
        addresses["find_unlimited"], [Place(3), found.check(parts * lanes), made, _PART], parts
    )
    return found
