"""Sampling at points of a grid by emitted code: bilinear and nearest; None where none applies."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import grid_sample as code
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .launch import address, guard_launch, plain, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Array

_MODES: Final = (0, 1)  # bilinear, nearest
_FAR: Final = 1 << 16  # numbers of points up to which mirrored places are exact
_MOST: Final = 1 << 24  # elements of a plane: places are whole numbers of 32 bits, and floats
_THREADED: Final = 1 << 16  # values from which threads are worth waking
_FORWARD_FRAME = struct.Struct(f"{len(code.FORWARD)}q").pack
_BACKWARD_FRAME = struct.Struct(f"{len(code.BACKWARD)}q").pack


def _suits(x: Array, grid: Array, mode: int, padding: int) -> bool:
    return (
        mode in _MODES
        and plain(x, grid)
        and x.size > 0
        and prod(x.shape[2:]) < _MOST
        and ready()
        and (padding != code.REFLECTION or -_FAR < grid.min() <= grid.max() < _FAR)
    )


def _code(x: Array, mode: int, padding: int, align: bool) -> dict[str, int]:
    type = F32 if x.dtype is FLOAT32 else F64
    return code.load(type, x.ndim - 2, mode == 1, padding, bool(align))


def _sizes(x: Array, grid: Array) -> tuple[int, ...]:
    return (x.shape[1], prod(grid.shape[1:-1]), *(1,) * (5 - x.ndim), *x.shape[2:])


@guard_launch
def grid_sample(x: Array, grid: Array, mode: int, padding: int, align: bool) -> Array | None:
    """See `grid.grid_sample`."""
    if not _suits(x, grid, mode, padding):
        return None
    y = np.empty((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    frame = _FORWARD_FRAME(address(x), address(grid), address(y), *_sizes(x, grid))
    threads = get_num_threads() if y.size >= _THREADED else 1
    pool.run(_code(x, mode, padding, align)["forward"], frame, x.shape[0], threads)
    return y


@guard_launch
def grid_sample_backward(
    g: Array, x: Array, grid: Array, mode: int, padding: int, align: bool, need: Sequence[bool]
) -> tuple[Array | None, Array | None] | None:
    """See `grid.grid_sample_backward`."""
    g = np.ascontiguousarray(g)
    if not _suits(x, grid, mode, padding) or not plain(x, g):
        return None
    wanted = need[1] and mode == 0
    d_x = np.zeros(x.shape, x.dtype) if need[0] else None
    count, axes, points = x.shape[0], x.ndim - 2, prod(grid.shape[1:-1])
    along = np.empty((count, axes, points), x.dtype) if wanted else None
    frame = _BACKWARD_FRAME(
        address(x), address(grid), address(g), 0 if d_x is None else address(d_x),
        0 if along is None else address(along), *_sizes(x, grid),
    )  # fmt: skip
    threads = get_num_threads() if g.size >= _THREADED else 1
    pool.run(_code(x, mode, padding, align)["backward"], frame, count, threads)
    d_grid = None
    if along is not None:
        d_grid = np.ascontiguousarray(along.swapaxes(1, 2)).reshape(grid.shape)
    elif need[1]:
        d_grid = np.zeros_like(grid)
    return d_x, d_grid
