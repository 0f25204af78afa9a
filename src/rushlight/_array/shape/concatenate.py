"""Arrays joined along dimensions, and split: raw forwards with PyTorch's checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D, errors
from ..axes import LEAD, axis_of
from ..memory.dense_layout import copy_in_format, empty_channels_last, suggests_channels_last
from ..types import convert_array, from_raw, in_order_copy

if TYPE_CHECKING:
    from ..._base.annotations import Arguments, TensorLike
    from ..annotations import Array


def common(arrays: list[Any]) -> list[Any]:
    """The arrays in their common type."""
    dtype = arrays[0].dtype
    for x in arrays:
        if x.dtype is not dtype and x.dtype != dtype:
            break
    else:
        return arrays
    dims: D.dtype | None = None
    zero: D.dtype | None = None
    for x in arrays:
        found = from_raw(x.dtype)
        if x.ndim:
            dims = found if dims is None else D.promote_types(dims, found)
        else:
            zero = found if zero is None else D.promote_types(zero, found)
    wanted = D.combine_levels(dims, zero, None)
    return [convert_array(x, wanted) for x in arrays]


def cat(tensors: list[Array], dim: int = 0) -> Array:
    """The arrays one after the other along a dimension; empty vectors are left out.

    Raises:
        ValueError, RuntimeError, IndexError: for no arrays, or shapes that don't fit.
    """
    if len(tensors) == 2:
        a, b = tensors
        begun = a.shape == (0,) and a.dtype is b.dtype and type(b) is np.ndarray
        if begun and -b.ndim <= dim < b.ndim > 1 and b.size:  # as caches of keys are begun
            copied: Array = in_order_copy(b)
            return copied
        if a.dtype is b.dtype and -a.ndim <= dim < a.ndim == b.ndim and a.size and b.size:
            try:
                if a.flags.c_contiguous and b.flags.c_contiguous:
                    return np.concatenate((a, b), dim)
            except ValueError:
                pass
    return _cat(tensors, dim)


def _cat(tensors: list[Array], dim: int) -> Array:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for place, x in enumerate(tensors):
        if x.ndim == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {place}) cannot be concatenated"
            )
    arrays = common(tensors)
    kept = [x for x in arrays if x.shape != (0,)]
    if not kept:  # whatever the dimension is
        return np.empty((0,), arrays[0].dtype)
    axis = axis_of(dim, kept[0].ndim)
    _check_cat(arrays, kept[0], axis)
    if len(arrays) == 1:
        return copy_in_format(kept[0])
    if all(x.flags.c_contiguous for x in kept):
        return np.concatenate(kept, axis)
    shape = list(kept[0].shape)
    shape[axis] = sum(x.shape[axis] for x in kept)
    make = empty_channels_last if all(map(suggests_channels_last, arrays)) else np.empty
    return np.concatenate(kept, axis, make(shape, arrays[0].dtype))


def _check_cat(arrays: list[Array], first: Array, axis: int) -> None:
    for place, x in enumerate(arrays):
        if x.shape == (0,):
            continue
        if x.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}"
            )
        for d in range(first.ndim):
            if d != axis and x.shape[d] != first.shape[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size "
                    f"{first.shape[d]} but got size {x.shape[d]} for tensor number {place} in "
                    "the list."
                )


def stack(tensors: Arguments, dim: int = 0) -> TensorLike:
    """The arrays along a new dimension.

    Raises:
        RuntimeError, IndexError: for no arrays, or unequal shapes.
    """
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tensors[0].shape
    axis = axis_of(dim, len(shape) + 1)
    for place, x in enumerate(tensors):
        if x.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {errors.shape_text(shape)} "
                "at "
                f"entry 0 and {errors.shape_text(x.shape)} at entry {place}"
            )
    arrays = common(tensors)
    lead = shape[:axis]
    plain = arrays[0].flags.c_contiguous or axis == len(shape)
    if not plain and all(map(suggests_channels_last, arrays)):
        return _cat(arrays, axis).reshape(lead + (len(arrays),) + shape[axis:])
    out = np.empty(lead + (len(arrays),) + shape[axis:], arrays[0].dtype)
    if axis == 0:
        for k, x in enumerate(arrays):
            out[k] = x
    else:
        where = LEAD[axis]
        for k, x in enumerate(arrays):
            out[where + (k,)] = x
    return out


def split_axis(x: Array, dim: int, name: str) -> int:
    """The dimension to split along.

    Raises:
        RuntimeError, IndexError: where there is none.
    """
    if x.ndim == 0:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    return axis_of(dim, x.ndim)


def split(x: Array, split_size: int, dim: int = 0) -> list[Array]:
    """The pieces of a size along a dimension; the last one may be smaller.

    Raises:
        RuntimeError: for a size that isn't positive.
    """
    if split_size < 0 < x.ndim:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    axis = split_axis(x, dim, "split")
    n = x.shape[axis]
    if split_size == 0 and n:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
        )
    if not split_size or not n:
        return [x[...]]
    lead = LEAD[axis]
    return [x[lead + (slice(k, k + split_size),)] for k in range(0, n, split_size)]


def split_with_sizes(x: Array, split_sizes: tuple[int, ...], dim: int = 0) -> list[Array]:
    """The pieces of the given sizes along a dimension.

    Raises:
        RuntimeError: for sizes that don't add up.
    """
    axis = split_axis(x, dim, "split")
    n = x.shape[axis]
    if min(split_sizes, default=0) < 0:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            "split_sizes=" + errors.shape_text(split_sizes)
        )
    if sum(split_sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={errors.shape_text(split_sizes)}"
        )
    pieces: Arguments = []
    lead = LEAD[axis]
    start = 0
    for size in split_sizes:
        pieces.append(x[lead + (slice(start, start + size),)])
        start += size
    return pieces


def unbind(x: Array, dim: int = 0) -> list[Array]:
    """The parts at all places of a dimension.

    Raises:
        IndexError: for a dimension that isn't there.
    """
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {axis_of(dim, 0)} but tensor has no dimensions")
    axis = axis_of(dim, x.ndim)
    lead = LEAD[axis]
    return [x[lead + (k, ...)] for k in range(x.shape[axis])]


def copies(pieces: list[Array]) -> list[Array]:
    """C-contiguous copies."""
    return [piece.copy("C") for piece in pieces]


def block_diag(tensors: list[Array]) -> Array:
    """A matrix with the given ones along its diagonal, zeros elsewhere.

    Raises:
        RuntimeError: for more than two dimensions.
    """
    blocks: Arguments = []
    for place, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{place} has {x.ndim} dimensions"
            )
        blocks.append(x.reshape((1,) * (2 - x.ndim) + x.shape))
    if not blocks:
        return np.empty((1, 0), np.float32)
    blocks = common(blocks)
    shape = (sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks))
    out = np.zeros(shape, blocks[0].dtype)
    row = column = 0
    for b in blocks:
        out[row : row + b.shape[0], column : column + b.shape[1]] = b
        row += b.shape[0]
        column += b.shape[1]
    return out
