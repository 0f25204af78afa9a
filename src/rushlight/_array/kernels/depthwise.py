"""Convolutions with one kernel for each channel, of planes as they lie, by emitted code; or None.

See `_native/emitted/depthwise.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..._native.emitted import convolution, depthwise as code
from ..._native.llvm import target
from ..._native.llvm.emit import F32, F64
from ..types import FLOAT32
from .convolution_workspace import THREADED
from .launches import Form, Launches, Place

if TYPE_CHECKING:
    from ..._base.annotations import Shape

Sizes = tuple[int, ...]
_TAPS: Final = 25  # of a kernel, at most: they are unrolled
#: Kernels that a package with native code brings along; others are compiled when they come.
FORESEEN: Final = frozenset(
    [(k, k) for k in range(2, 6)] + [(1, k) for k in (3, 5, 7, 9)] + [(k, 1) for k in (3, 5, 7, 9)]
)
_CHUNK: Final = 1 << 15  # elements of a chunk, about
_WIDE: Final = 1 << 15  # columns are counted in 32 bits, and lanes added


def _suits(x: Form, other: Form, k: Sizes, stride: Sizes, dilation: Sizes) -> bool:
    return (
        dilation == (1, 1)
        and stride in ((1, 1), (2, 2))
        and 1 < k[0] * k[1] <= _TAPS
        and (k in FORESEEN or target.compiles())
        and max(x.shape[3], other.shape[-1]) < _WIDE
        and x.in_order
        and other.in_order
    )


def _run(
    found: Launches, x: Form, y: Form, w: Place, added: Place, kernel: Shape, stride: Shape,
    top: int, left: int,
) -> Launches:  # fmt: skip
    count, channels, high, wide = x.shape
    out = y.shape[2:]
    planes = count * channels
    grain = max(1, _CHUNK // max(high * wide, out[0] * out[1]))
    place = code.load(F32 if x.dtype is FLOAT32 else F64, kernel, stride)["correlate"]
    words = [Place(1), w, added, Place(4), planes, channels, grain, high, wide, *out, top, left]
    found.add(place, words, -(-planes // grain))
    return found


def _launches(x: Form, y: Form, k: Sizes, threads: int) -> Launches:
    count, channels, high, wide = y.shape
    work = count * channels * high * wide * k[0] * k[1]
    return Launches(x.dtype, threads if work >= THREADED else 1)


def correlating(
    x: Form, w: Form, y: Form, biased: bool, stride: Sizes, pad: Sizes, dilation: Sizes,
    threads: int,
) -> Launches | None:  # fmt: skip
    """What makes y of x, w and a bias; see `convolution.correlate`."""
    if not _suits(x, w, w.shape[2:], stride, dilation):
        return None
    found = _launches(x, y, w.shape[2:], threads)
    added = Place(3) if biased else found.room(x.shape[1], True)
    kernel = (w.shape[2], w.shape[3])
    return _run(found, x, y, Place(2), added, kernel, (stride[0], stride[1]), *pad)


def transposing(
    y: Form, w: Form, x: Form, stride: Sizes, pad: Sizes, dilation: Sizes, threads: int
) -> Launches | None:
    """What makes x of y and w; see `convolution.correlate_transposed`."""
    if stride != (1, 1) or not _suits(y, w, w.shape[2:], stride, dilation):
        return None
    found = _launches(y, x, w.shape[2:], threads)
    channels, kernel = w.shape[0], (w.shape[2], w.shape[3])
    taps = kernel[0] * kernel[1]
    turned, added = found.room(channels * taps), found.room(channels, True)
    # Each kernel turned around: its taps from the last to the first.
    words = [Place(2), turned, 1, 1, taps, taps, found.table(np.arange(taps)[::-1].copy()), 1, 1]
    packing = convolution.load(F32 if y.dtype is FLOAT32 else F64)["pack"]
    found.add(packing, [*words, taps, taps], channels, False)
    top, left = (m - 1 - p for m, p in zip(kernel, pad))
    return _run(found, y, x, turned, added, kernel, (1, 1), top, left)


def weighing(
    x: Form, y: Form, k: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes, threads: int
) -> Launches | None:
    """What makes the weights' gradient of x and y; see `convolution.weigh`."""
    if not _suits(x, y, k, stride, dilation):
        return None
    count, channels, high, wide = x.shape
    found = _launches(x, y, k, threads)
    place = code.load(F32 if x.dtype is FLOAT32 else F64, (k[0], k[1]), stride)["weigh"]
    words = [Place(1), Place(2), Place(3), count, channels, high, wide, *y.shape[2:], *pad]
    found.add(place, words, channels)
    return found
