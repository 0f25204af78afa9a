"""Convolutions over three dimensions, and their gradients, as those of planes; or None.

See Note [Depth as planes] in `convolution_geometry`: only the plan is another one, so the emitted
code reads a body's planes where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..memory.parallel import get_num_threads
from . import convolution, convolution_geometry as geometry, small_convolution, winograd
from .convolution_geometry import Plan, Run
from .convolution_workspace import SHARES
from .launch import guard_launch
from .launches import form_of

if TYPE_CHECKING:
    from ..annotations import Array

Sizes = tuple[int, ...]
_BLOCK: Final = 1 << 17  # elements of the planes that are copied at a time: a nearer cache's


def _choose_block(plan: Plan, run: Run, total: int, channels: int) -> int:
    """How many planes of the output are made from a sample's, so that those of the input that
    several of them meet are copied once; `total` is that of all samples together."""
    if plan.direct:
        return 1
    planes = _BLOCK // max(1, channels * plan.plane)
    most = (planes - (max(run.met) - min(run.met) + 1)) // run.move + 1
    return max(1, min(most, run.count, total // SHARES))


def _pair_views(x: Array, y: Array, run: Run, block: int) -> Iterator[tuple[int, Array, Array]]:
    """Views (N, samples, channels, H, W) of both bodies: each sample begins at the planes that
    `block` planes of a run meet first, and at the first of these; with the number of planes."""
    whole, rest = divmod(run.count, block)
    low, first = min(run.met), run.first
    for blocks, planes in ((whole, block), (min(rest, 1), rest)):
        if blocks:
            read = x[:, :, low :: planes * run.move][:, :, :blocks].swapaxes(1, 2)
            yield planes, read, y[:, :, first :: planes * run.step][:, :, :blocks].swapaxes(1, 2)
        low, first = low + whole * block * run.move, first + whole * block * run.step


def _choose_taps(w: Array, run: Run) -> Array:
    """The weights of a run, their planes one below the other: (O, C / groups, taps · H, W)."""
    rows, per_group, _, high, wide = w.shape
    # They rise by equal steps, and a slice takes a third of the time of indices: none for all.
    step = run.taps[1] - run.taps[0] if len(run.taps) > 1 else 1
    chosen = np.ascontiguousarray(w[:, :, run.taps[0] : run.taps[-1] + 1 : step])
    return chosen.reshape(rows, per_group, len(run.taps) * high, wide)


def _run_bodies(
    plans: tuple[Plan, Plan], runs: tuple[Run, ...], x: Array, w: Array, bias: Array | None,
    y: Array, steps: tuple[Sizes, Sizes, Sizes], groups: int, inward: bool,
) -> None:  # fmt: skip
    """Writes to y what is made of x. `plans` of planes, of which the second one always copies, and
    `steps`, their strides, padding and dilation."""
    stride = (1, 1) if inward else steps[0]
    depth, k = x.strides[2] // x.itemsize, w.shape[3]
    for run in runs:
        if not run.taps:
            y[:, :, run.first :: run.step][:, :, : run.count] = (
                0 if bias is None else bias.reshape(-1, 1, 1, 1)
            )
            continue
        chosen = _choose_taps(w, run)
        if groups == 1 and _try_squares(x, chosen, bias, y, steps, inward, run):
            continue
        taps = chosen.shape[2] * chosen.shape[3]
        single = geometry.deepen(plans[1], run, 1, k, depth, y.shape[3])
        small = groups == 1 and single.whole(taps)
        small = small and small_convolution.suits(single, y.shape[1], x.itemsize)
        block = 1 if small else _choose_block(plans[0], run, x.shape[0] * run.count, x.shape[1])
        for planes, read, made in _pair_views(x, y, run, block):
            if small:
                small_convolution.correlate(single, read, chosen, bias, made, inward)
            else:
                plan = geometry.deepen(plans[0], run, planes, k, depth, y.shape[3])
                convolution.run_plan(plan, read, chosen, bias, made, stride, groups, inward)


def _try_squares(
    x: Array, chosen: Array, bias: Array | None, y: Array, steps: tuple[Sizes, Sizes, Sizes],
    inward: bool, run: Run,
) -> bool:  # fmt: skip
    """The same for a run by `winograd`, if it does that."""
    ((_, read, made),) = _pair_views(x, y, run, 1)
    calls = winograd.correlating(
        form_of(read), form_of(chosen), form_of(made), bias is not None, *steps, inward,
        get_num_threads(), (run, x.strides[2] // x.itemsize),
    )  # fmt: skip
    return calls is not None and calls.run(
        read, chosen, None if bias is None else np.ascontiguousarray(bias), made
    )


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
    """See `convolution.correlate`."""
    if not convolution.suits(x, w, (5,)):
        return None
    y = np.empty((x.shape[0], w.shape[0], *out), x.dtype)
    runs = geometry.list_runs(out[0], x.shape[2], w.shape[2], stride[0], pad[0], dilation[0])
    steps = stride[1:], pad[1:], dilation[1:]
    sizes = (x.shape[3:], out[1:], w.shape[3:], *steps, convolution.layout_of(x[:, :, 0]))
    plans = geometry.correlating(*sizes), geometry.correlating(*sizes, True)
    _run_bodies(plans, runs, x, w, bias, y, steps, groups, True)
    return y


@guard_launch
def correlate_transposed(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """See `convolution.correlate_transposed`."""
    if not convolution.suits(y, w, (5,)):
        return None
    x = np.empty((y.shape[0], w.shape[1] * groups, *size), y.dtype)
    along = stride[0], pad[0], dilation[0]
    runs = geometry.list_runs(size[0], y.shape[2], w.shape[2], *along, True)
    steps = stride[1:], pad[1:], dilation[1:]
    sizes = (size[1:], y.shape[3:], w.shape[3:], *steps, convolution.layout_of(y[:, :, 0]))
    plans = geometry.transpose_plan(*sizes), geometry.transpose_plan(*sizes, True)
    _run_bodies(plans, runs, y, w, None, x, steps, groups, False)
    return x


@guard_launch
def weigh(
    x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """See `convolution.weigh`."""
    if not convolution.suits(x, y, (5,)):
        return None
    if groups == 1:
        found = _weigh_squares(x, y, k, stride, pad, dilation)
        if found is not None:
            return found
    per_group, depth = x.shape[1] // groups, x.strides[2] // x.itemsize
    layout = convolution.layout_of(x[:, :, 0])
    sizes: Any = (x.shape[3:], y.shape[3:], k[1:], stride[1:], pad[1:], dilation[1:], layout)
    plan = geometry.correlating(*sizes, True)
    total = np.zeros((y.shape[1], per_group, k[0], prod(k[1:])), x.dtype)
    # One place along the depth at a time, so that each sum is written once.
    for j in range(k[0]):
        before = pad[0] - j * dilation[0]
        for run in geometry.list_runs(y.shape[2], x.shape[2], 1, stride[0], before, 1):
            if run.taps:
                deep = geometry.deepen(plan, run, 1, k[1], depth, y.shape[3])
                for _, read, slopes in _pair_views(x, y, run, 1):
                    found = convolution.weigh_plan(deep, read, slopes, groups)
                    total[:, :, j] = found.reshape(*total.shape[:2], -1)
    return total.reshape(y.shape[1], per_group, *k)


def _weigh_squares(
    x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes
) -> Array | None:
    """The same by `winograd`, if it does that for each run."""
    steps = stride[1:], pad[1:], dilation[1:]
    asked = []
    for run in geometry.list_runs(y.shape[2], x.shape[2], k[0], stride[0], pad[0], dilation[0]):
        if run.taps:
            ((_, read, slopes),) = _pair_views(x, y, run, 1)
            calls = winograd.weighing(
                form_of(read), form_of(slopes), k[1:], *steps, get_num_threads(),
                (run, x.strides[2] // x.itemsize),
            )  # fmt: skip
            if calls is None:
                return None
            asked.append((run, calls, read, slopes))
    total = np.zeros((y.shape[1], x.shape[1], *k), x.dtype)
    for run, calls, read, slopes in asked:
        found = np.empty((*total.shape[:2], len(run.taps), *k[1:]), x.dtype)
        if not calls.run(read, slopes, found):
            return None
        total[:, :, list(run.taps)] += found
    return total
