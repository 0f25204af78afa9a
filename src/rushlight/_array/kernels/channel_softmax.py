"""Softmax along an axis behind which others lie, by emitted code; None where none applies."""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import channel_softmax as code
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .launch import address, guard_launch, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

_BLOCK: Final = 512  # places of a chunk
_SHORT: Final = 2  # places behind the axis: lanes that are empty cost less than rows of their own
_THREADED: Final = 1 << 18  # elements from which threads are worth waking
_FRAME = struct.Struct(f"{len(code.FRAME)}q").pack


@guard_launch
def _along(name: str, axis: int, x: Array, y: Array | None = None) -> Array | None:
    """One of `code.NAMES` of x along an axis; y is its result, for gradients."""
    if not plain(x, y) or not x.size or (y is not None and y.shape != x.shape) or not ready():
        return None
    axis %= x.ndim
    channels, inner = x.shape[axis], 1
    for n in x.shape[axis + 1 :]:
        inner *= n
    if inner < _SHORT:
        return None
    outer = x.size // (channels * inner)
    out = np.empty(x.shape, x.dtype)
    blocks = -(-inner // _BLOCK)
    frame = _FRAME(
        address(x), address(x if y is None else y), address(out), channels, inner, _BLOCK, blocks
    )
    threads = get_num_threads() if x.size >= _THREADED else 1
    place = code.load(F32 if x.dtype is FLOAT32 else F64)[name]
    pool.run(place, frame, outer * blocks, threads)
    return out


softmax = partial(_along, "softmax")
softmax_backward = partial(_along, "softmax_backward")
log_softmax = partial(_along, "log_softmax")
log_softmax_backward = partial(_along, "log_softmax_backward")
