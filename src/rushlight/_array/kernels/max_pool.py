"""Maxima of windows of planes, and elements put back to their places, by emitted code."""

from __future__ import annotations

import struct
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._native.emitted import max_pool as code
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .launch import address, guard_launch, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array, RawType

Sizes = tuple[int, ...]
_CHUNK: Final = 1 << 15  # elements of a chunk, about
_THREADED: Final = 1 << 17  # elements from which threads are worth waking
_INDEX: Final = np.dtype(np.int64)
_MOST: Final = 1 << 30  # elements of a plane: places are counted in 32 bits
_LARGEST_FRAME = struct.Struct(f"{len(code.LARGEST)}q").pack
_PLACE_FRAME = struct.Struct(f"{len(code.PLACE)}q").pack


@cache
def _code(dtype: RawType) -> dict[str, int]:
    return code.load(F32 if dtype is FLOAT32 else F64)


def _threads(size: int) -> int:
    return get_num_threads() if size >= _THREADED else 1


@guard_launch
def largest(
    x: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes, indices: bool
) -> tuple[Array, Array | None] | None:
    """The largest elements of windows of the last two dimensions, and where they are (if asked)."""
    if len(k) != 2 or not plain(x) or not ready():
        return None
    *lead, high, wide = x.shape
    if not x.size or not prod(out) or high * wide > _MOST:
        return None
    planes = prod(lead)
    y = np.empty((*lead, *out), x.dtype)
    where = np.empty(y.shape, _INDEX) if indices else None
    grain = max(1, _CHUNK // max(high * wide, prod(out)))
    frame = _LARGEST_FRAME(
        address(x), address(y), 0 if where is None else address(where), planes, grain, high, wide,
        *out, *k, *stride, *pad, *dilation,
    )  # fmt: skip
    pool.run(_code(x.dtype)["largest"], frame, -(-planes // grain), _threads(x.size))
    return y, where


@guard_launch
def place(g: Any, indices: Array, size: Sizes) -> Array | None:
    """Zeros with planes of `size`, and each element of g added at its place; or None."""
    if not plain(g) or indices.dtype is not _INDEX or not indices.flags.c_contiguous:
        return None
    if g.shape != indices.shape or not ready():
        return None
    lead = g.shape[: g.ndim - len(size)]
    planes, area, count = prod(lead), prod(size), prod(g.shape[g.ndim - len(size) :])
    x = np.empty((*lead, *size), g.dtype)
    wrong = np.zeros(1, _INDEX)
    grain = max(1, _CHUNK // max(area, count))
    frame = _PLACE_FRAME(
        address(g), address(indices), address(x), planes, grain, count, area, address(wrong)
    )
    pool.run(_code(g.dtype)["place"], frame, -(-planes // grain), _threads(x.size))
    return None if wrong[0] else x
