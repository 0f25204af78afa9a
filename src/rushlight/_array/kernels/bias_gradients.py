"""Sums of planes by emitted code."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import bias_gradients as plane_sums
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .launch import address, guard_launch, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array, RawType

_CHUNK: Final = 1 << 15  # elements of a chunk, about
_THREADED: Final = 1 << 18  # elements from which threads are worth waking
_FRAME = struct.Struct("5q").pack


@cache
def _code(dtype: RawType) -> int:
    return plane_sums.load(F32 if dtype is FLOAT32 else F64)


@guard_launch
def by_plane(x: Array) -> Array | None:
    """The sums of x (N, C, …) over all but its first two dimensions; or None."""
    if not plain(x) or not x.size or not ready():
        return None
    planes = x.shape[0] * x.shape[1]
    area = x.size // planes
    sums = np.empty(x.shape[:2], x.dtype)
    grain = max(1, _CHUNK // area)
    frame = _FRAME(address(x), address(sums), planes, area, grain)
    threads = get_num_threads() if x.size >= _THREADED else 1
    pool.run(_code(x.dtype), frame, -(-planes // grain), threads)
    return sums
