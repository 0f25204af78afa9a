"""Elements at places that indices name along an axis, by emitted code: read, or combined."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import places as code
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from .launch import address, guard_launch, ready

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array

_INDEX: Final = np.dtype(np.int64)
_THREADED: Final = 1 << 17  # elements from which threads are worth waking
_NAMES: Final = {np.dtype(name): name for name in code.TYPES}
_FRAME = struct.Struct(f"{len(code.FRAME)}q").pack


def _fits(x: Array, axis: int, index: Array) -> bool:
    """Whether an index has a place for each of the other axes' of x."""
    if index.dtype is not _INDEX or index.ndim != x.ndim or not x.size or not index.size:
        return False
    return all(n == m or a == axis for a, (n, m) in enumerate(zip(x.shape, index.shape)))


def run_kernel(name: str, to: Array, source: Array, index: Array, axis: int, length: int) -> bool:
    """Whether all indices were inside; else what was written is worth nothing."""
    outer, count, inner = (
        prod(index.shape[:axis]), index.shape[axis], prod(index.shape[axis + 1 :]),
    )  # fmt: skip
    wrong = np.zeros(1, _INDEX)
    rows, grain, chunks = code.chunks(outer, count, inner)
    frame = _FRAME(
        address(to), address(source), address(index), address(wrong), outer, count, inner, length,
        rows, grain,
    )  # fmt: skip
    threads = get_num_threads() if index.size >= _THREADED else 1
    pool.run(code.load()[name], frame, chunks, threads)
    return not wrong[0]


@guard_launch
def gather(x: Array, axis: int, index: Array) -> Array | None:
    """See `shape.gather.gather`; None for an index outside, too."""
    size = x.dtype.itemsize
    if size not in code.BITS or x.dtype.hasobject or not _fits(x, axis, index) or not ready():
        return None
    x, index = np.ascontiguousarray(x), np.ascontiguousarray(index)
    out = np.empty(index.shape, x.dtype)
    return out if run_kernel(f"pick_{size}", out, x, index, axis, x.shape[axis]) else None


@guard_launch
def combine(x: Array, axis: int, index: Array, source: TensorLike, word: str) -> Array | None:
    """A copy of x, in C order, combined with `source` where `index` names places; None for an index
    outside, too. `word`: add, multiply, maximum or minimum."""
    name = _NAMES.get(x.dtype)
    if name is None or not _fits(x, axis, index):
        return None
    if getattr(source, "dtype", None) != x.dtype or source.shape != index.shape or not ready():
        return None
    source, index = np.ascontiguousarray(source), np.ascontiguousarray(index)
    out = np.array(x, order="C")
    done = run_kernel(f"{word}_{name}", out, source, index, axis, x.shape[axis])
    return out if done else None


@guard_launch
def write(out: Array, axis: int, index: Array, source: Array) -> bool | None:
    """Whether elements of `source` were written to `out` where `index`, all inside, names places.

    Where a place is named twice the last one stays.
    """
    size = out.dtype.itemsize
    if size not in code.BITS or out.dtype.hasobject or not out.flags.c_contiguous:
        return None
    if source.dtype != out.dtype or source.shape != index.shape or not _fits(out, axis, index):
        return None
    if not ready():
        return None
    source, index = np.ascontiguousarray(source), np.ascontiguousarray(index)
    return run_kernel(f"put_{size}", out, source, index, axis, out.shape[axis])
