"""Geometry: where the elements of one array lie in the memory of another, and gradients placed
accordingly.

Sizes, strides and offsets are counted in elements, as tensors count them.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..._base import errors
from ..types import address, byte_strides, owner, refuse_overlap
from .as_strided import storage_offset as storage_offset, strided_places, window

Sizes = tuple[int, ...]


def place_in(view: Any, base: Any) -> tuple[Sizes, Sizes, int, Sizes, int]:
    """The shape and strides of `view`, how far after the first of `base` its first lies, the
    strides of `base`, and how far after the first in memory its own first lies.
    """
    whole = owner(base)
    start = 0 if base is whole else storage_offset(base)
    if view.size and base.size and owner(view) is whole:
        offset = (address(view) - address(base)) // int(base.itemsize)
    else:
        offset = storage_offset(view) - start
    return view.shape, byte_strides(view), offset, byte_strides(base), start


def is_c_order(shape: Sizes, stride: Sizes) -> bool:
    """Whether elements at these strides lie in C order without gaps."""
    step = 1
    for n, s in zip(reversed(shape), reversed(stride)):
        if n != 1:
            if s != step:
                return not prod(shape)
            step *= n
    return True


def extent(shape: Sizes, stride: Sizes) -> int:
    """How many elements of memory an array with this geometry reaches over."""
    if not prod(shape):
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, stride))


def copy_with_strides(g: Any, stride: Sizes | None) -> Any:
    """A copy of `g` with strides `stride`, gaps in memory included; in C order for None.

    Raises:
        RuntimeError: where elements would share memory, in PyTorch's words.
    """
    if stride is None or is_c_order(g.shape, stride):
        return np.array(g, order="C")
    buffer = np.empty(extent(g.shape, stride), g.dtype)
    whole = part_of(buffer, g.shape, stride, 0)
    refuse_overlap(whole)
    whole[...] = g
    return whole


def part_of(whole: Any, size: Sizes, stride: Sizes, offset: int) -> Any:
    """The elements at `stride` from `offset` elements after the first of `whole`, as a view.

    Raises:
        RuntimeError: where they aren't in the memory that `whole` is part of.
    """
    if 0 in size:
        return np.empty(size, whole.dtype)
    item = int(whole.itemsize)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    try:
        return window(whole, size, tuple([s * item for s in stride]), offset * item)
    except (TypeError, ValueError):
        need = (offset + extent(size, stride)) * item
        raise RuntimeError(
            f"setStorage: sizes {errors.shape_text(size)}, strides {errors.shape_text(stride)}, "
            f"storage offset {offset}, and itemsize {item} requiring a storage size of {need} "
            f"are out of bounds for storage of size {owner(whole).nbytes}"
        ) from None


def overlaps(shape: Sizes, stride: Sizes) -> bool:
    """Whether several elements of an array with this geometry may share memory.

    Like PyTorch's test this takes some odd geometries without overlap for overlapping; a careful
    addition is right for these too.
    """
    reached = 0
    for s, n in sorted(zip(stride, shape)):
        if n > 1:
            if s <= reached:
                return True
            reached += (n - 1) * s
    return False


def as_strided_backward(
    g: Any, shape: Sizes, in_stride: Sizes, in_offset: int, size: Sizes, stride: Sizes,
    offset: int | None,
) -> Any:  # fmt: skip
    """The gradient of an array of which `g` is that of a window over the same memory.

    Elements of the window that share memory add up; what the array shows several times is divided
    among these places; what it doesn't show is dropped.
    """
    first = in_offset if offset is None else offset
    low = min(first, in_offset)
    count = max(first + extent(size, stride), in_offset + extent(shape, in_stride)) - low
    memory = np.zeros(max(count, 0), g.dtype)
    if g.size:
        if overlaps(size, stride):
            places = strided_places(size, stride, first - low)
            np.add.at(memory, places.reshape(-1), g.reshape(-1))
        else:
            part_of(memory, size, stride, first - low)[...] = g
    if not prod(shape):
        return np.zeros(shape, g.dtype)
    if overlaps(shape, in_stride):
        times = np.zeros(memory.shape, np.int64)
        places = strided_places(shape, in_stride, in_offset - low)
        np.add.at(times, places.reshape(-1), 1)
        memory = (memory / np.maximum(times, 1)).astype(g.dtype, copy=False)
        return memory[places]
    if in_offset == low and count == prod(shape) and is_c_order(shape, in_stride):
        return memory.reshape(shape)
    return np.array(part_of(memory, shape, in_stride, in_offset - low), order="K")


def as_strided_values(
    x: Any, in_stride: Sizes, in_offset: int, size: Sizes, stride: Sizes, offset: int | None
) -> Any:
    """The values in a window over memory into which `x` is laid; zero where `x` isn't.

    The transpose of `as_strided_backward`.
    """
    shape = x.shape
    first = in_offset if offset is None else offset
    low = min(first, in_offset)
    count = max(first + extent(size, stride), in_offset + extent(shape, in_stride)) - low
    memory = np.zeros(max(count, 0), x.dtype)
    if x.size and overlaps(shape, in_stride):
        times = np.zeros(memory.shape, np.int64)
        places = strided_places(shape, in_stride, in_offset - low).reshape(-1)
        np.add.at(times, places, 1)
        np.add.at(memory, places, x.reshape(-1))
        memory = (memory / np.maximum(times, 1)).astype(x.dtype, copy=False)
    elif x.size:
        part_of(memory, shape, in_stride, in_offset - low)[...] = x
    return np.array(part_of(memory, size, stride, first - low), order="C")
