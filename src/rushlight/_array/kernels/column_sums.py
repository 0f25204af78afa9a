"""Sums over axes that aren't the last, by emitted code: NumPy has one thread for them."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import column_sums as code
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .launch import address, guard_launch, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

_SHORT: Final = 16  # elements of a line
_LINE: Final = 1024  # sums of a chunk at most: what stays in the nearer cache
_CHUNK: Final = 1 << 14  # elements of a chunk, about
_THREADED: Final = 1 << 17  # elements from which threads are worth waking
_FRAME = struct.Struct(f"{len(code.FRAME)}q").pack


@guard_launch
def add_lines(x: Array, axes: tuple[int, ...]) -> Array | None:
    """The sums over axes beside each other, counted from the front; None for what is left to NumPy.

    Dtypes: float32 and float64, in C order.
    """
    if not axes or not plain(x):
        return None
    low, high = min(axes), max(axes) + 1
    if high - low != len(axes):
        return None
    shape = x.shape
    outer, count, inner = prod(shape[:low]), prod(shape[low:high]), prod(shape[high:])
    if inner < _SHORT or not x.size or not ready():
        return None
    out = np.empty(shape[:low] + shape[high:], x.dtype)
    grain = min(inner, _LINE)
    rows = max(1, _CHUNK // (count * inner))
    chunks = -(-outer // rows) * -(-inner // grain)
    frame = _FRAME(address(x), address(out), outer, count, inner, rows, grain)
    threads = get_num_threads() if x.size >= _THREADED else 1
    pool.run(code.load(F32 if x.dtype is FLOAT32 else F64), frame, chunks, threads)
    return out
