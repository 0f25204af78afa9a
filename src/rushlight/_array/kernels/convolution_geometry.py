"""The geometry of convolutions over lines: tables that the emitted code follows.

See Note [Lines] in `_native/emitted/convolution.py`. Everything here depends on sizes and strides
alone, so a training loop makes each plan once.

Note [Depth as planes]
A plane of a body's output is a sum over the places of the kernel along the depth, each of which
meets one plane of the input, or none. The planes that are met lie one after the other in a sample,
so a plan of planes becomes one of bodies where each tap is found again in each of them. Planes of
the output that meet the same places of the kernel are made in one call, as samples: these are a
`Run`. Where the padding is met, nothing is summed, so it needs no zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

Pair = tuple[int, int]
Sizes = tuple[int, ...]
#: Elements from sample to sample, channel to channel, row to row, column to column.
Layout = tuple[int, int, int, int]
_PLACES = 1024  # of a band of rows of the output at most,
_LINES = 1 << 17  # and elements of all its lines: they stay in the nearer cache


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """One phase of the result: rows and columns, its first element, and the taps it sums over.

    `shifts` are where the taps begin in a plane, `taps` their places in the kernel.
    """

    rows: int
    columns: int
    start: Pair
    shifts: Any
    taps: tuple[Pair, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How planes become lines, and what is made of them."""

    direct: bool
    table: Any  # for each phase: where to, where from, rows, columns
    plane: int  # elements of the lines of a channel
    pitch: int
    step: Pair  # elements from row to row and from column to column of what is copied
    outputs: tuple[Output, ...]

    def whole(self, taps: int) -> bool:
        """Whether there is one output, which sums over all taps."""
        return len(self.outputs) == 1 and len(self.outputs[0].taps) == taps

    def offsets(self, output: Output, channels: int) -> Array:
        """Where each channel and tap begins in a sample."""
        starts = np.arange(channels, dtype=np.int64) * self.plane
        return np.add.outer(starts, output.shifts).ravel()


@lru_cache(maxsize=512)
def band_of(plan: Plan, rows: int, lanes: int) -> int:
    """How many rows of an output are made at a time, where there are so many channels."""
    most = max(output.rows for output in plan.outputs)
    wide = max(output.columns for output in plan.outputs)
    limit = min(_PLACES, max(_LINES // rows, 8 * lanes))
    best, found = float("inf"), 1
    for high in range(1, max(1, min(most, limit // plan.pitch)) + 1):
        bands = -(-most // high)
        count = (high - 1) * plan.pitch + wide
        tiles, rest = divmod(count, 3 * lanes)
        cost = bands * (12 * tiles + 5 * -(-rest // lanes) + 2)
        if cost <= best:
            best, found = cost, high
    return found


@dataclass(frozen=True, slots=True)
class _Axis:
    """One dimension of planes: which phases are read, and how many places each needs."""

    size: int
    stride: int
    before: int
    room: int
    phases: tuple[int, ...]

    def bounds(self, phase: int) -> Pair:
        """The first and the last place (exclusive) that hold elements and not zeros."""
        first = max(0, -((phase - self.before) // self.stride))
        last = min(self.room, -((phase - self.before - self.size) // self.stride))
        return first, max(first, last)

    def source(self, phase: int) -> int:
        """The element at the first place."""
        return self.bounds(phase)[0] * self.stride + phase - self.before


def _plan(
    axes: tuple[_Axis, _Axis],
    layout: Layout,
    made: list[tuple[int, int, Pair, list[tuple[int, int, int, int]], tuple[Pair, ...]]],
    copied: bool = False,
) -> Plan:
    """`made`: rows, columns, start and, for each tap, phases and places along both axes."""
    _, channel, row, column = layout
    high, wide = axes
    direct = (
        not copied
        and len(high.phases) == len(wide.phases) == 1
        and high.stride == wide.stride == 1
        and not high.before
        and not wide.before
        and high.room <= high.size
        and wide.room <= wide.size
        and column == 1
        and row >= wide.room
    )
    number = {pair: k for k, pair in enumerate(product(high.phases, wide.phases))}
    if direct:
        pitch, area, plane = row, 0, channel
    else:
        # Rows overlap where each begins or ends with zeros.
        bounds = [wide.bounds(phase) for phase in wide.phases]
        spare = [min(first, wide.room - last) for first, last in bounds if first < last]
        shared = min(spare, default=0)
        longest = max(columns for _, columns, _, _, _ in made)
        pitch = max(wide.room - shared, longest)
        area = (high.room - 1) * pitch + wide.room
        plane = area * len(number)
    table = []
    for (r, c), k in number.items():
        (top, bottom), (left, right) = high.bounds(r), wide.bounds(c)
        if top < bottom and left < right:
            to = k * area + top * pitch + left
            source = high.source(r) * row + wide.source(c) * column
            table.append((to, source, bottom - top, right - left))
    outputs = tuple(
        Output(
            rows,
            columns,
            start,
            np.array(
                [number[r, c] * area + a * pitch + b for r, a, c, b in taps], np.int64
            ).reshape(-1),
            places,
        )
        for rows, columns, start, taps, places in made
    )
    step = (high.stride * row, wide.stride * column)
    return Plan(direct, np.array(table, np.int64).reshape(-1, 4), plane, pitch, step, outputs)


@lru_cache(maxsize=512)
def correlating(
    size: Sizes, out: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, layout: Layout,
    copied: bool = False,
) -> Plan:  # fmt: skip
    """The plan of a convolution of planes of `size`; `copied`: also where they could stay."""
    axes, reads = [], []
    for n, o, m, s, p, d in zip(size, out, k, stride, pad, dilation):
        places = [divmod(j * d, s) for j in range(m)]
        room = max(a for a, _ in places) + o
        axes.append(_Axis(n, s, p, room, tuple(sorted({r for _, r in places}))))
        reads.append([(r, a) for a, r in places])
    taps = [(*high, *wide) for high, wide in product(*reads)]
    places_of = tuple(product(range(k[0]), range(k[1])))
    return _plan((axes[0], axes[1]), layout, [(out[0], out[1], (0, 0), taps, places_of)], copied)


@lru_cache(maxsize=512)
def transpose_plan(
    size: Sizes, out: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, layout: Layout,
    copied: bool = False,
) -> Plan:  # fmt: skip
    """The plan of its transpose: from planes of `out` to planes of `size`."""
    axes, lines = [], []
    for n, o, m, s, p, d in zip(size, out, k, stride, pad, dilation):
        phases = []  # rows, first one, and the taps with what they add to the place
        for r in range(min(s, n)):
            taps = [(j, (r + p - d * j) // s) for j in range(m) if (r + p - d * j) % s == 0]
            phases.append((-((r - n) // s), r, taps))
        moves = [move for _, _, taps in phases for _, move in taps]
        before = max(0, -min(moves, default=0))
        ends = [rows + move for rows, _, taps in phases for _, move in taps]
        rooms = [before + max([*ends, 1 - before]), max(rows for rows, _, _ in phases)]
        axes.append(_Axis(o, 1, before, max(rooms), (0,)))
        lines.append([(rows, r, [(j, a + before) for j, a in taps]) for rows, r, taps in phases])
    made = []
    for (rows, r, high), (columns, c, wide) in product(*lines):
        taps_ = [(0, a, 0, b) for (_, a), (_, b) in product(high, wide)]
        places = tuple((i, j) for (i, _), (j, _) in product(high, wide))
        made.append((rows, columns, (r, c), taps_, places))
    return _plan((axes[0], axes[1]), layout, made, copied)


# ---- bodies -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Run:
    """Planes of the output that meet the same places of the kernel: see Note [Depth as planes].

    They are `first`, `first + step`, … (`count` of them). The first one meets the planes `met` of
    the input, for each place in `taps`; the next ones meet those that lie `move` further.
    """

    first: int
    step: int
    count: int
    taps: tuple[int, ...]
    met: tuple[int, ...]
    move: int


@lru_cache(maxsize=512)
def list_runs(
    made: int, read: int, k: int, stride: int, pad: int, dilation: int, transposed: bool = False
) -> tuple[Run, ...]:
    """Every plane of an output of `made` planes, for inputs of `read` planes."""
    step, move = (stride, 1) if transposed else (1, stride)
    runs: list[Run] = []
    for phase in range(min(step, made)):
        for z in range(phase, made, step):
            taps, met = [], []
            for j in range(k):
                if transposed:
                    plane, rest = divmod(z + pad - j * dilation, stride)
                else:
                    plane, rest = z * stride - pad + j * dilation, 0
                if not rest and 0 <= plane < read:
                    taps.append(j)
                    met.append(plane)
            if z > phase and runs[-1].taps == tuple(taps):
                runs[-1] = replace(runs[-1], count=runs[-1].count + 1)
            else:
                runs.append(Run(z, step, 1, tuple(taps), tuple(met), move))
    return tuple(runs)


@lru_cache(maxsize=512)
def deepen(plan: Plan, run: Run, block: int, k: int, depth: int, rows: int) -> Plan:
    """The plan of `block` planes of a run, where that of one plane is `plan`.

    The kernels' planes have `k` rows and lie one below the other, the output's have `rows`; `depth`
    is the number of elements from plane to plane of the input.
    """
    start = min(run.met)
    moved = [[plane - start + b * run.move for plane in run.met] for b in range(block)]
    planes = sorted({plane for some in moved for plane in some})
    if plan.direct:
        area, plane_of, size = depth, {plane: plane for plane in planes}, plan.plane
    else:
        area, plane_of = plan.plane, {plane: k for k, plane in enumerate(planes)}
        size = area * len(planes)
    table = [
        (plane_of[plane] * area + to, plane * depth + source, high, wide)
        for plane in planes
        for to, source, high, wide in plan.table.tolist()
    ]
    outputs = tuple(
        Output(
            found.rows,
            found.columns,
            (b * run.step * rows + found.start[0], found.start[1]),
            np.concatenate([plane_of[plane] * area + found.shifts for plane in some]),
            tuple((i * k + r, c) for i in range(len(some)) for r, c in found.taps),
        )
        for b, some in enumerate(moved)
        for found in plan.outputs
    )
    steps = np.array(table, np.int64).reshape(-1, 4)
    return Plan(plan.direct, steps, size, plan.pitch, plan.step, outputs)
