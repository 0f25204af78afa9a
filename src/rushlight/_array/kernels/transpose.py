"""Copies in C order of arrays whose last axis isn't the one that lies together, by emitted code."""

from __future__ import annotations

import struct
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import transpose as code
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from .launch import address, guard_launch, ready

if TYPE_CHECKING:
    from ..annotations import Array

_BLOCK: Final = 64  # rows of a chunk: what is read and written at a time stays in the cache
_SHORT: Final = 8  # rows and columns from which squares of vectors are worth it
_MANY: Final = 256  # calls at most
_THREADED: Final = 1 << 20  # elements from which threads are worth waking
_FRAME = struct.Struct(f"{len(code.FRAME)}q").pack


@cache
def _code(size: int) -> int:
    # Only bits are moved: what has four bytes goes as float32, what has eight as float64.
    return code.load(F32 if size == 4 else F64)


def _axes(x: Array) -> list[tuple[int, int]]:
    """Lengths and steps in bytes; axes that step over the whole of the next are one with it."""
    found: list[tuple[int, int]] = []
    for n, step in zip(x.shape, x.strides):
        if n == 1:
            continue
        if found and found[-1][1] == step * n:
            found[-1] = (found[-1][0] * n, step)
        else:
            found.append((n, step))
    return found


@guard_launch
def copy_in_order(x: Array) -> Array | None:
    """A copy in C order; or None, where another way is as good."""
    size = x.itemsize
    if size not in (4, 8) or x.dtype.hasobject:
        return None
    axes = _axes(x)
    if len(axes) < 2:
        return None
    *outer, (columns, near), (rows, line) = axes
    if near != size or line % size or line < columns * size or min(rows, columns) < _SHORT:
        return None
    if any(step % size for _, step in outer) or not ready():
        return None
    calls = 1
    for n, _ in outer[:-1]:
        calls *= n
    if calls > _MANY:
        return None
    count, step = outer[-1] if outer else (1, 0)
    out = np.empty(x.shape, x.dtype)
    blocks = -(-rows // _BLOCK)
    threads = get_num_threads() if x.size >= _THREADED else 1
    source, to, whole = address(x), address(out), rows * columns
    for number, place in enumerate(product(*[range(n) for n, _ in outer[:-1]])):
        start = sum(k * step for k, (_, step) in zip(place, outer))
        frame = _FRAME(
            source + start, to + number * count * whole * size, rows, columns, line // size, rows,
            step // size, whole, _BLOCK, blocks,
        )  # fmt: skip
        pool.run(_code(size), frame, count * blocks, threads)
    return out
