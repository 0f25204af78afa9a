"""Convolutions of planes as sums of products of matrices: no windows are copied.

Note [Taps]
In a padded plane, read as one line, a place of the kernel is a shift, and rows of the output are
rows of the plane with some elements too many at the end. So

    y[n] = sum over taps t of w[:, :, t] (O, C) times x[n] shifted by t (C, line)

and each product reads x where it lies. With strides the plane is cut into its phases first, so that
a tap is a shift of one of them. The transposed products are the two gradients: of x with
the kernel turned around, of w with lines and channels exchanged.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np

from .. import kernels
from ..parallel import get_num_threads
from ..types import FLOAT32, FLOAT64
from . import matrices
from .launch import address, ready

__all__ = ["correlate", "depthwise", "weigh", "weigh_depthwise"]

Sizes = tuple[int, ...]
_FEW = 8  # channels from which a product for each tap is better than windows
_PARTIAL = 1 << 22  # elements of sums for single samples at most


def _taken(x: Any, other: Any, k: Sizes, channels: int, work: int) -> bool:
    dtype = x.dtype
    if work < kernels.PRODUCT or len(k) != 2 or channels < _FEW or dtype is not other.dtype:
        return False
    if dtype is not FLOAT32 and dtype is not FLOAT64:
        return False
    if not matrices.better():
        kernels.products_off()
        return False
    return True


class _Lines:
    """The lines of planes that are padded and cut into phases: see Note [Taps]."""

    def __init__(
        self, size: Sizes, out: Sizes, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes
    ) -> None:
        self.size, self.pad, self.stride = size, pad, stride
        reach = [(n - 1) * s + d * (m - 1) + 1 for n, s, d, m in zip(out, stride, dilation, k)]
        self.room = tuple([-(-n // s) for n, s in zip(reach, stride)])
        high, self.pitch = self.room
        self.area = high * self.pitch
        self.phases = stride[0] * stride[1]
        self.line = (out[0] - 1) * self.pitch + out[1]
        shifts = []
        for i in range(k[0]):
            for j in range(k[1]):
                (a, r), (b, c) = (
                    divmod(i * dilation[0], stride[0]),
                    divmod(j * dilation[1], stride[1]),
                )
                shifts.append((r * stride[1] + c) * self.area + a * self.pitch + b)
        self.shifts = shifts

    def place(self, x: Any, last: bool) -> Any:
        """x (N, C, H, W) as (N, C, phases * area), or channels last."""
        count, channels = x.shape[:2]
        lead = (count, self.phases, *self.room, channels) if last else (
            count, channels, self.phases, *self.room)  # fmt: skip
        made = np.zeros(lead, x.dtype)
        to = made.transpose(0, 4, 1, 2, 3) if last else made
        for r in range(self.stride[0]):
            for c in range(self.stride[1]):
                phase = to[:, :, r * self.stride[1] + c]
                rows, columns = (
                    self._overlap(n, p, s, start, room)
                    for n, p, s, start, room in zip(
                        self.size, self.pad, self.stride, (r, c), self.room
                    )
                )
                phase[:, :, rows[0], columns[0]] = x[:, :, rows[1], columns[1]]
        shape = (count, -1, channels) if last else (count, channels, -1)
        return made.reshape(shape)

    @staticmethod
    def _overlap(n: int, p: int, s: int, start: int, room: int) -> tuple[slice, slice]:
        """Where the elements start, start + s, ... of a padded line lie, and which they are."""
        first = max(0, -(-(p - start) // s))
        source = first * s + start - p
        length = max(0, min(room - first, -(-(n - source) // s)))
        stop = source + length * s
        return slice(first, first + length), slice(source, stop, s)


def correlate(
    x: Any, w: Any, bias: Any, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes
) -> Any:
    """The convolution of x (N, C, H, W) with w (O, C, *k), plus a bias; None for what is left.

    `w` may have any strides.
    """
    rows, channels, *k = w.shape
    count = x.shape[0]
    work = count * rows * channels * k[0] * k[-1] * out[0] * out[-1]
    if rows < 6 or not _taken(x, w, tuple(k), channels, work):
        return None
    lines = _Lines(x.shape[2:], out, tuple(k), stride, pad, dilation)
    plane = lines.place(x, False)
    dtype, size = x.dtype, x.dtype.itemsize
    # The output's rows are as long as the plane's: what is too much is left away.
    y = np.empty((count, rows, out[0] * lines.pitch), dtype)
    row, column, *steps = (s // size for s in w.strides)
    taps = np.empty((k[0] * k[1], 2), np.int64)
    taps[:, 0] = np.add.outer(np.arange(k[0]) * steps[0], np.arange(k[1]) * steps[1]).ravel()
    taps[:, 1] = lines.shifts
    whole = lines.phases * lines.area
    matrices.summed(
        address(w), address(plane), address(y), (rows, lines.line, channels),
        (0, row, column), (channels * whole, whole, 1), (rows * y.shape[2], y.shape[2], 1),
        count, dtype, taps,
    )  # fmt: skip
    kept = y.reshape(count, rows, out[0], lines.pitch)[..., : out[1]]
    if bias is not None:
        return np.add(kept, bias.reshape(-1, 1, 1))
    return np.ascontiguousarray(kept)


def weigh(x: Any, y: Any, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes) -> Any:
    """The sum over samples of the products that each weight (O, C, *k) scales, or None."""
    count, channels = x.shape[:2]
    rows, *out = y.shape[1:]
    work = y.size * channels * k[0] * k[-1]
    if rows < 8 or not _taken(x, y, k, channels, work):
        return None
    if count * rows * channels > _PARTIAL:
        return None
    lines = _Lines(x.shape[2:], tuple(out), k, stride, pad, dilation)
    plane = lines.place(x, True)
    spread = np.zeros((count, out[0], lines.pitch, rows), x.dtype)
    spread[:, :, : out[1]] = y.transpose(0, 2, 3, 1)
    lines_of_y = spread.reshape(count, -1, rows)[:, : lines.line]
    # The longer side goes along the vectors of a tile.
    turned = rows > channels
    sides = (channels, rows) if turned else (rows, channels)
    total = np.empty((k[0] * k[1], *sides), x.dtype)
    partial = np.empty((count, *sides), x.dtype)
    for tap, shift in enumerate(lines.shifts):
        moved = plane[:, shift : shift + lines.line]
        left, right = (moved, lines_of_y) if turned else (lines_of_y, moved)
        if matrices.product(left.swapaxes(1, 2), right, partial) is None:
            return None
        np.add.reduce(partial, axis=0, out=total[tap])
    order = (2, 1, 0) if turned else (1, 2, 0)
    return np.ascontiguousarray(total.transpose(order)).reshape(rows, channels, *k)


# ---- a plane by a kernel of its own -------------------------------------------------------------
_PLANE_WORK = 1 << 16  # multiplications of a chunk of planes, and of all from which threads help


@cache
def _planes(dtype: Any) -> tuple[dict[str, int], Any, Any]:
    from ..._codegen import planes, pool
    from ..._codegen.emit import F32, F64

    frame = struct.Struct("11q")
    assert frame.size == 8 * len(planes.FRAME)
    return planes.load(F32 if dtype is FLOAT32 else F64), pool.run, frame.pack


def _fit(x: Any, other: Any, k: Sizes) -> bool:
    dtype = x.dtype
    if len(k) != 2 or dtype is not other.dtype or (dtype is not FLOAT32 and dtype is not FLOAT64):
        return False
    return ready()


def _run(name: str, plane: Any, w: Any, y: Any, lines: _Lines, channels: int) -> None:
    addresses, run, pack = _planes(plane.dtype)
    count, shifts = plane.shape[0] * plane.shape[1], np.array(lines.shifts, np.int64)
    each = lines.line * len(shifts)
    grain = max(1, _PLANE_WORK // each)
    frame = pack(
        address(plane), address(w), address(y), address(shifts), lines.line, plane.shape[2],
        y.shape[2], count, channels, len(shifts), grain,
    )  # fmt: skip
    threads = get_num_threads() if each * count >= 4 * _PLANE_WORK else 1
    run(addresses[name], frame, -(-count // grain), threads)


def depthwise(
    x: Any, w: Any, bias: Any, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes
) -> Any:
    """Each plane of x (N, C, H, W) with its kernel of w (C, 1, *k), plus a bias; or None."""
    k = w.shape[2:]
    if not _fit(x, w, k):
        return None
    count, channels = x.shape[:2]
    lines = _Lines(x.shape[2:], out, k, stride, pad, dilation)
    y = np.empty((count, channels, out[0] * lines.pitch), x.dtype)
    _run("planes", lines.place(x, False), np.ascontiguousarray(w), y, lines, channels)
    kept = y.reshape(count, channels, out[0], lines.pitch)[..., : out[1]]
    if bias is not None:
        return np.add(kept, bias.reshape(-1, 1, 1))
    return np.ascontiguousarray(kept)


def weigh_depthwise(x: Any, y: Any, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes) -> Any:
    """The sum over samples of what each weight (C, 1, *k) of `depthwise` scales, or None."""
    if not _fit(x, y, k):
        return None
    count, channels, *out = y.shape
    lines = _Lines(x.shape[2:], tuple(out), k, stride, pad, dilation)
    laid = np.zeros((count, channels, out[0], lines.pitch), x.dtype)
    laid[..., : out[1]] = y
    partial = np.empty((count, channels, k[0] * k[1]), x.dtype)
    flat = laid.reshape(count, channels, -1)
    _run("weights", lines.place(x, False), partial, flat, lines, channels)
    return np.add.reduce(partial, axis=0).reshape(channels, 1, *k)
