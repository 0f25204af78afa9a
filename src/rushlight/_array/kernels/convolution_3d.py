"""Convolutions over three dimensions as convolutions of planes, by emitted code; or None.

Note [Depth as channels]
An output plane is a sum over the places of the kernel along the depth, each of which meets one
input plane. So the planes that an output meets count as channels, as many times as there are, and
each output depth as a sample of its own. That copies the input once for each place along the depth:
little beside the products of every plane with all output channels. With strides, the gradient for
the input is one convolution for each phase of the depth.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import kernels
from ..types import FLOAT32, FLOAT64
from . import convolution
from .launch import guard_launch, ready

if TYPE_CHECKING:
    from ..annotations import Array

Sizes = tuple[int, ...]
_BLOCK: Final = 1 << 23  # elements of copied planes at a time


def _suits(x: Array, w: Array, work: int) -> bool:
    return (
        x.ndim == 5
        and x.dtype is w.dtype
        and (x.dtype is FLOAT32 or x.dtype is FLOAT64)
        and work >= kernels.CONVOLUTION
        and ready()
    )


def _stack_planes(x: Array, places: list[list[int]]) -> Array:
    """The planes of x (N, C, D, H, W) at some places along the depth, for each output depth, as
    (N · outputs, C · places, H, W); places outside have zeros."""
    n, channels, depth, *plane = x.shape
    found = np.empty((n, len(places), channels, len(places[0]), *plane), x.dtype)
    for to, row in enumerate(places):
        for k, place in enumerate(row):
            found[:, to, :, k] = x[:, :, place] if 0 <= place < depth else 0
    return found.reshape(n * len(places), -1, *plane)


def _samples(x: Array, outputs: int, places: int) -> int:
    """How many samples to copy at a time."""
    each = int(outputs * places * x.shape[1] * prod(x.shape[3:]))
    return max(1, min(int(x.shape[0]), _BLOCK // max(each, 1)))


def _list_met(out: int, k: int, stride: int, pad: int, dilation: int) -> list[list[int]]:
    """For each output depth, the input depths that it meets."""
    return [[z * stride - pad + j * dilation for j in range(k)] for z in range(out)]


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
    if not _suits(x, w, w.size * x.shape[0] * prod(out)):
        return None
    rows, per_group, k = w.shape[:3]
    flat = np.ascontiguousarray(w).reshape(rows, per_group * k, *w.shape[3:])
    met = _list_met(out[0], k, stride[0], pad[0], dilation[0])
    y = np.empty((x.shape[0], rows, *out), x.dtype)
    block = _samples(x, out[0], k)
    for start in range(0, x.shape[0], block):
        part = _stack_planes(x[start : start + block], met)
        found = convolution.correlate(
            part, flat, bias, stride[1:], pad[1:], dilation[1:], out[1:], groups
        )
        if found is None:
            return None
        y[start : start + block] = found.reshape(-1, out[0], rows, *out[1:]).swapaxes(1, 2)
    return y


@guard_launch
def correlate_transposed(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """See `convolution.correlate_transposed`."""
    count, rows = y.shape[:2]
    if not _suits(y, w, w.size * count * prod(y.shape[2:])):
        return None
    per_group, k = w.shape[1:3]
    x = np.empty((count, per_group * groups, *size), y.dtype)
    for phase in range(min(stride[0], size[0])):
        taps = [j for j in range(k) if (phase + pad[0] - j * dilation[0]) % stride[0] == 0]
        depths = range(phase, size[0], stride[0])
        if not taps:
            x[:, :, phase :: stride[0]] = 0
            continue
        met = [[(z + pad[0] - j * dilation[0]) // stride[0] for j in taps] for z in depths]
        chosen = w[:, :, taps].swapaxes(1, 2)  # (O, taps, C / groups, …)
        flat = np.ascontiguousarray(chosen).reshape(rows * len(taps), per_group, *w.shape[3:])
        block = _samples(y, len(depths), len(taps))
        for start in range(0, count, block):
            part = _stack_planes(y[start : start + block], met)
            found = convolution.correlate_transposed(
                part, flat, size[1:], stride[1:], pad[1:], dilation[1:], groups
            )
            if found is None:
                return None
            found = found.reshape(-1, len(depths), *found.shape[1:]).swapaxes(1, 2)
            x[start : start + block, :, phase :: stride[0]] = found
    return x


@guard_launch
def weigh(
    x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, groups: int
) -> Array | None:
    """See `convolution.weigh`."""
    count, channels = x.shape[:2]
    rows, out = y.shape[1:3]
    if not _suits(x, y, y.size * (channels // groups) * prod(k)):
        return None
    met = _list_met(out, k[0], stride[0], pad[0], dilation[0])
    total: Any = None
    block = _samples(x, out, k[0])
    for start in range(0, count, block):
        part = _stack_planes(x[start : start + block], met)
        slopes = np.ascontiguousarray(y[start : start + block].swapaxes(1, 2))
        found = convolution.weigh(
            part, slopes.reshape(-1, rows, *y.shape[3:]), k[1:], stride[1:], pad[1:],
            dilation[1:], groups,
        )  # fmt: skip
        if found is None:
            return None
        total = found if total is None else total + found
    return total.reshape(rows, channels // groups, *k)
