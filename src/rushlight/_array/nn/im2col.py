"""Patches of planes as columns and back, and values moved between channels and places."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import FLOAT32
from .convolution import Sizes, pad_planes, places, windows

if TYPE_CHECKING:
    from ..annotations import Array


def columns(x: Array, k: Sizes, out: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes) -> Array:
    """The patches of x (N, C, H, W) as columns (N, C · k, patches)."""
    shape = (x.shape[0], x.shape[1] * prod(k), prod(out))
    if not x.size:
        return np.zeros(shape, x.dtype)
    view = windows(pad_planes(x, pad), k, out, stride, dilation)
    return np.array(view, order="C").reshape(shape)


def fold(
    x: Array, size: Sizes, k: Sizes, out: Sizes, stride: Sizes, pad: Sizes, dilation: Sizes
) -> Array:
    """The sums of columns (N, C · k, patches), each at its place in planes of `size`."""
    dtype = x.dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        x = x.astype(FLOAT32)
    count, channels = x.shape[0], x.shape[1] // prod(k)
    room = tuple([n + 2 * p for n, p in zip(size, pad)])
    planes = np.zeros((count, channels, *room), x.dtype)
    split = x.reshape(count, channels, prod(k), *out) if x.size else None
    if split is not None:
        for j, where in enumerate(places(out, k, stride, dilation)):
            planes[where] += split[:, :, j]
    inside: Any = (..., *[slice(p, p + n) for n, p in zip(size, pad)])
    inner = planes[inside]
    return np.ascontiguousarray(inner).astype(dtype, copy=False)


def shuffle(x: Array, r: int) -> Array:
    """(*, C r², H, W) as (*, C, H r, W r)."""
    *lead, c, h, w = x.shape
    n = len(lead)
    split = x.reshape(*lead, c // (r * r), r, r, h, w)
    moved = split.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return np.array(moved, order="C").reshape(*lead, c // (r * r), h * r, w * r)


def unshuffle(x: Array, r: int) -> Array:
    """(*, C, H r, W r) as (*, C r², H, W)."""
    *lead, c, h, w = x.shape
    n = len(lead)
    split = x.reshape(*lead, c, h // r, r, w // r, r)
    moved = split.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return np.array(moved, order="C").reshape(*lead, c * r * r, h // r, w // r)


def exchange(x: Array, groups: int) -> Array:
    """The channels (dimension 1) of `groups` groups taken in turns."""
    if not x.size:
        return np.array(x)
    split = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    return np.array(split.swapaxes(1, 2), order="C").reshape(x.shape)
