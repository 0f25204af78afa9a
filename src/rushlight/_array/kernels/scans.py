"""Running sums and products of rows by emitted code."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import scan
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .launch import address, guard_launch, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

_CHUNK: Final = 1 << 15  # elements of a chunk, about
_THREADED: Final = 1 << 18  # elements from which threads are worth waking
_FRAME = struct.Struct(f"{len(scan.FRAME)}q").pack


@guard_launch
def running(x: Array, product: bool, back: bool = False) -> Array | None:
    """The sums (or products) of each element and those before it in its row, or after it; or None.

    Dtypes: float32 and float64, computed in float64.
    """
    if not plain(x) or not x.ndim or not x.size or not ready():
        return None
    length = x.shape[-1]
    rows = x.size // length
    out = np.empty(x.shape, x.dtype)
    grain = max(8, _CHUNK // length)
    frame = _FRAME(address(x), address(out), rows, length, grain, int(back))
    threads = get_num_threads() if x.size >= _THREADED else 1
    place = scan.load(F32 if x.dtype is FLOAT32 else F64, product)
    pool.run(place, frame, -(-rows // grain), threads)
    return out
