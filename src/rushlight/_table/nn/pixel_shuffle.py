"""Values moved between channels and places: pixel shuffles; and channels among themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array.nn.channels_last import follow_layout
from ..._base.lazy import later
from ..calls.dtype_checks import no_derivative
from ..rows.gradient_kernels import call_row
from ..rows.row import Row, linear

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import Shape, TensorLike

raw = later("_array.nn.im2col")


def _shuffle(x: Array, upscale_factor: int) -> Array:
    r = upscale_factor
    if x.ndim < 3:
        raise RuntimeError(
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with "
            f"{x.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    c = x.shape[-3]
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={c} is not divisible by {r * r}"
        )
    y = raw.shuffle(x, r)
    return follow_layout(y, x)


def _unshuffle(x: Array, downscale_factor: int) -> Array:
    r = downscale_factor
    if x.ndim < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{x.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    h, w = x.shape[-2:]
    for word, axis, size in (("height", -2, h), ("width", -1, w)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but "
                f"input.size({axis})={size} is not divisible by {r}"
            )
    y = raw.unshuffle(x, r)
    return follow_layout(y, x)


def _exchange(x: Array, groups: int) -> Array:
    if x.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}"
        )
    c = x.shape[1]
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if c % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups."
        )
    y = raw.exchange(x, groups)
    return follow_layout(y, x)


def _exchange_back(xp: ModuleType, g: TensorLike, self_shape: Shape, groups: int) -> TensorLike:
    """The shuffle of the other number of groups undoes it."""
    others = self_shape[1] // groups if self_shape[1] else 1
    return call_row(xp, channel_shuffle, g, others)


pixel_shuffle = linear(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    _shuffle,
    self=lambda xp, g, upscale_factor: call_row(xp, pixel_unshuffle, g, upscale_factor),
    namespace=("", "nn.functional"),
    method=False,
    samples=lambda mk: [(mk(2, 4, 2, 3), 2), (mk(9, 1, 2), 3)],
    doc="(*, C r², H, W) as (*, C, H r, W r).",
    narrow="all",
)
pixel_unshuffle: Row = linear(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    _unshuffle,
    self=lambda xp, g, downscale_factor: call_row(xp, pixel_shuffle, g, downscale_factor),
    namespace=("", "nn.functional"),
    method=False,
    samples=lambda mk: [(mk(2, 1, 4, 2), 2), (mk(2, 3, 6), 3)],
    doc="(*, C, H r, W r) as (*, C r², H, W).",
    narrow="all",
)
channel_shuffle = linear(
    "channel_shuffle(Tensor self, int groups) -> Tensor",
    _exchange,
    self=_exchange_back,
    namespace=("", "nn.functional"),
    method=False,
    samples=lambda mk: [(mk(2, 6, 2), 3), (mk(1, 4, 2, 2), 2)],
    doc="The channels of `groups` groups taken in turns.",
)
native_channel_shuffle = linear(
    "native_channel_shuffle(Tensor self, int groups) -> Tensor",
    _exchange,
    self=no_derivative("native_channel_shuffle"),
    node="NotImplemented",
    namespace=("", "nn.functional"),
    method=False,
    samples=lambda mk: [(mk(2, 6, 2), 3)],
    doc="`channel_shuffle`, without a derivative.",
)
