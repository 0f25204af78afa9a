"""Convolutions with one kernel for each channel, of planes as they lie, by emitted code; or None.

See `_native/emitted/depthwise.py`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import depthwise as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..memory.parallel import get_num_threads
from ..types import FLOAT32
from .convolution_workspace import THREADED
from .launch import address, plain

if TYPE_CHECKING:
    from ..._base.annotations import Shape
    from ..annotations import Array

Sizes = tuple[int, ...]
_TAPS: Final = 25  # of a kernel, at most: they are unrolled
#: Kernels that a package with native code brings along; others are compiled when they come.
FORESEEN: Final = frozenset(
    [(k, k) for k in range(2, 6)] + [(1, k) for k in (3, 5, 7, 9)] + [(k, 1) for k in (3, 5, 7, 9)]
)
_CHUNK: Final = 1 << 15  # elements of a chunk, about
_WIDE: Final = 1 << 15  # columns are counted in 32 bits, and lanes added
_CORRELATE_FRAME = struct.Struct(f"{len(code.CORRELATE)}q").pack
_WEIGH_FRAME = struct.Struct(f"{len(code.WEIGH)}q").pack


def _suits(x: Array, other: Array, k: Sizes, stride: Sizes, dilation: Sizes) -> bool:
    return (
        x.ndim == 4
        and dilation == (1, 1)
        and stride in ((1, 1), (2, 2))
        and 1 < k[0] * k[1] <= _TAPS
        and (k in FORESEEN or target.compiles())
        and max(x.shape[3], other.shape[-1]) < _WIDE
        and plain(x, other)
    )


def _run(
    x: Array, w: Array, bias: Array | None, out: Sizes, stride: Shape, top: int, left: int
) -> Array:
    count, channels, high, wide = x.shape
    y = np.empty((count, channels, *out), x.dtype)
    added = np.zeros(channels, x.dtype) if bias is None else np.ascontiguousarray(bias)
    planes = count * channels
    grain = max(1, _CHUNK // max(high * wide, out[0] * out[1]))
    kernel = (w.shape[2], w.shape[3])
    frame = _CORRELATE_FRAME(
        address(x), address(w), address(added), address(y), planes, channels, grain, high, wide,
        *out, top, left,
    )  # fmt: skip
    threads = get_num_threads() if y.size * kernel[0] * kernel[1] >= THREADED else 1
    place = code.load(F32 if x.dtype is FLOAT32 else F64, kernel, stride)["correlate"]
    pool.run(place, frame, -(-planes // grain), threads)
    return y


def correlate(
    x: Array, w: Array, bias: Array | None, stride: Sizes, pad: Sizes, dilation: Sizes, out: Sizes
) -> Array | None:
    """See `convolution.correlate`."""
    if not _suits(x, w, w.shape[2:], stride, dilation):
        return None
    return _run(x, w, bias, out, stride, *pad)


def correlate_transposed(
    y: Array, w: Array, size: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes
) -> Array | None:
    """See `convolution.correlate_transposed`."""
    if stride != (1, 1) or not _suits(y, w, w.shape[2:], stride, dilation):
        return None
    turned = np.ascontiguousarray(w[:, :, ::-1, ::-1])
    top, left = (m - 1 - p for m, p in zip(w.shape[2:], pad))
    return _run(y, turned, None, size, stride, top, left)


def weigh(x: Array, y: Array, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes) -> Array | None:
    """See `convolution.weigh`."""
    if not _suits(x, y, k, stride, dilation):
        return None
    count, channels, high, wide = x.shape
    d = np.empty((channels, 1, *k), x.dtype)
    frame = _WEIGH_FRAME(
        address(x), address(y), address(d), count, channels, high, wide, *y.shape[2:], *pad
    )
    threads = get_num_threads() if y.size * k[0] * k[1] >= THREADED else 1
    place = code.load(F32 if x.dtype is FLOAT32 else F64, (k[0], k[1]), stride)["weigh"]
    pool.run(place, frame, channels, threads)
    return d
