"""Windows over an array's memory: any strides, diagonals, overlapping pieces, parts of complex
numbers.

Note [Windows by buffer]
`np.broadcast_to` and `as_strided` take microseconds, and the first gives an array that can't be
written. `np.ndarray(shape, dtype, buffer, offset, strides)` makes any window over an array's
memory in 0.3 µs; its buffer must be contiguous: the array itself, its transpose, or the array
that owns the memory.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D, errors
from ..axes import axis_of
from ..memory.dense_layout import bits_of
from ..memory.exported import is_fixed
from ..memory.places import (
    address,
    element_strides as element_strides,
    owner,
    storage_offset as storage_offset,
)
from ..types import byte_strides, from_raw, to_raw

if TYPE_CHECKING:
    from ..annotations import RawType


def window(x: Any, shape: tuple[int, ...], strides: tuple[int, ...], skip: int = 0) -> Any:
    """The elements at `strides` (in bytes) from `skip` bytes after the first of `x`, as a view.

    See Note [Windows by buffer]. The window must lie within the elements of `x`.
    """
    bits = bits_of(x.dtype)
    if bits is not x.dtype:
        return window(x.view(bits), shape, strides, skip).view(x.dtype)
    flags = x.flags
    if flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, skip, strides)
    if flags.f_contiguous:
        return np.ndarray(shape, x.dtype, x.T, skip, strides)
    if not x.size:
        return np.ndarray(shape, x.dtype, np.empty(1, x.dtype), 0, strides)
    whole = storage(x)
    if not whole.flags.c_contiguous:
        # A spread NumPy scalar: what lends the memory is no array.
        whole = np.frombuffer(owner(x).base, np.uint8)
    return np.ndarray(shape, x.dtype, whole, address(x) - address(whole) + skip, strides)


def storage(x: Any) -> Any:
    """The C-contiguous array over all the memory that `x` is part of."""
    whole = owner(x)
    bits = bits_of(whole.dtype)
    if bits is not whole.dtype:
        whole = whole.view(bits)
    if not whole.flags.c_contiguous:
        order = sorted(range(whole.ndim), key=lambda d: -whole.strides[d])
        whole = whole.transpose(order)
    return whole


def own_offset(x: Any) -> int:
    """`storage_offset`, but 0 in memory that others look at too.

    A tensor of an array that was itself a part of another begins a storage of its own in PyTorch,
    so what lies before it doesn't say whether its elements may be read as wider ones.
    """
    offset = storage_offset(x)
    return 0 if offset and is_fixed(owner(x)) else offset


def as_strided(
    x: Any,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int | None = None,
    *geometry: Any,
) -> Any:
    """The elements at the given strides in the memory that `x` is part of.

    Raises:
        RuntimeError: where that leaves the memory, or for negative strides.
    """
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    for s in stride:
        if s < 0:
            raise RuntimeError(
                "as_strided: Negative strides are not supported at the moment, got strides: "
                + errors.shape_text(stride)
            )
    whole = storage(x)
    item = x.itemsize
    start = storage_offset(x) if offset is None else offset
    if start < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    for n in size:
        if n < 0:
            raise RuntimeError(
                f"Storage size calculation overflowed with sizes={errors.shape_text(size)} and "
                f"strides={errors.shape_text(stride)}"
            )
    if prod(size):
        need = (start + 1 + sum((n - 1) * s for n, s in zip(size, stride))) * item
        if need > whole.nbytes:
            raise RuntimeError(
                f"setStorage: sizes {errors.shape_text(size)}, strides "
                f"{errors.shape_text(stride)}, "
                f"storage offset {start}, and itemsize {item} requiring a storage size of {need} "
                "are out "
                f"of bounds for storage of size {whole.nbytes}"
            )
    else:
        whole, start = np.empty(1, x.dtype), 0
    strides = tuple([s * item for s in stride])
    bits = bits_of(x.dtype)
    if bits is x.dtype:
        found = np.ndarray(size, x.dtype, whole, start * item, strides)
    else:
        found = np.ndarray(size, bits, whole.view(bits), start * item, strides).view(x.dtype)
    if not x.flags.writeable:  # its owner may be
        found.flags.writeable = False
    return found


def strided_places(size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """Where in memory each element of a strided window lies, counted in elements."""
    places = np.full(size, offset, np.int64)
    for d, (n, s) in enumerate(zip(size, stride)):
        places += (
            np.arange(0, n * s, s).reshape((n,) + (1,) * (len(size) - 1 - d)) if s and n else 0
        )
    return places


def is_overlapping(x: Any) -> bool:
    """Whether elements of an array share memory, as far as its strides tell."""
    reach = 0
    for step, n in sorted((s, n) for s, n in zip(x.strides, x.shape) if n != 1):
        if step <= reach:
            return True
        reach += (n - 1) * step
    return False


def copy_with_storage(x: Any) -> Any:
    """A copy of an array with all the memory that it is part of, at the same place and strides.

    One whose elements share memory is copied into a memory of its own.
    """
    if not x.size or is_overlapping(x):
        return np.array(x, order="C")
    whole = np.array(storage(x).reshape(-1)).view(x.dtype)
    return as_strided(whole, x.shape, element_strides(x), storage_offset(x))


def window_index(
    shape: tuple[int, ...],
    size: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int | None,
    in_stride: tuple[int, ...],
    in_offset: int,
) -> Any:
    """Which element of a tensor (flat, C order) each element of a window over its memory is.

    The tensor has `shape`, `in_stride`, `in_offset`. Places that it doesn't
    show get its number of elements.
    """
    count = prod(shape)
    outer = strided_places(size, stride, in_offset if offset is None else offset)
    inner = strided_places(shape, in_stride, in_offset)
    extent = max(int(outer.max(initial=0)), int(inner.max(initial=0))) + 1
    table = np.full(extent, count, np.int64)
    table[inner.reshape(-1)] = np.arange(count)
    return table[outer]


def diagonal(x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two dimensions, as the last one.

    Raises:
        IndexError, RuntimeError: for dimensions that aren't there, or are the same.
    """
    shape, strides = x.shape, x.strides
    if offset == 0 and dim1 == 0 and dim2 == 1 and len(shape) == 2:
        return window(x, (min(shape),), (strides[0] + strides[1],))
    a, b = axis_of(dim1, len(shape)), axis_of(dim2, len(shape))
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if offset >= 0:
        length = max(min(shape[a], shape[b] - offset), 0)
        skip = offset * strides[b]
    else:
        length = max(min(shape[a] + offset, shape[b]), 0)
        skip = -offset * strides[a]
    rest = [d for d in range(len(shape)) if d != a and d != b]
    return window(
        x,
        tuple([shape[d] for d in rest] + [length]),
        tuple([strides[d] for d in rest] + [strides[a] + strides[b]]),
        skip if length and x.size else 0,
    )


def unfold(x: Any, dimension: int, size: int, step: int) -> Any:
    """All windows of `size` along a dimension, `step` apart; the window is the last dimension.

    Raises:
        RuntimeError: for a size or step that doesn't fit.
    """
    axis = axis_of(dimension, x.ndim)
    shape, strides = x.shape or (1,), x.strides or (x.itemsize,)
    n = shape[axis]
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if x.ndim == 0:
        return window(x, (size,), (x.itemsize,))
    count = (n - size) // step + 1
    return window(
        x,
        (*shape[:axis], count, *shape[axis + 1 :], size),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis]),
    )


def view_as_real(x: Any, part: RawType | None = None) -> Any:
    """A complex array as a real one with a last dimension of real and imaginary part.

    `part` is the type of the parts where the array itself doesn't say.

    Raises:
        RuntimeError: for an array that isn't complex.
    """
    if x.dtype.kind == "W":
        return view_as_real(x.view(np.uint32), np.dtype(np.float16))
    if part is None and x.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    part = x.real.dtype if part is None else part
    if not x.size:
        strides = tuple([s * x.itemsize for s in byte_strides(x)])
        return np.ndarray(x.shape + (2,), part, np.empty(0, part), 0, (*strides, part.itemsize))
    return np.ndarray(
        x.shape + (2,), part, x.view(part), 0, x.strides + (part.itemsize,)
    ) if x.flags.c_contiguous and x.ndim else _parts(x, part)  # fmt: skip


def _parts(x: Any, part: Any) -> Any:
    whole = storage(x)
    skip = address(x) - address(whole)
    return np.ndarray(x.shape + (2,), part, whole, skip, x.strides + (part.itemsize,))


def view_as_complex(x: Any) -> Any:
    """A real array whose last dimension holds real and imaginary parts as a complex one.

    Raises:
        RuntimeError: for other types, shapes and layouts.
    """
    if x.dtype.kind != "f":
        name = D.scalar_name(from_raw(x.dtype))
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            "tensor of "
            f"scalar type: {name}"
        )
    if x.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    *steps, last = byte_strides(x)
    if last != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    for n, s in zip(x.shape, steps):
        if s % 2 and n != 1:
            raise RuntimeError(
                "Tensor must have a stride divisible by 2 for all but last dimension"
            )
    if own_offset(x) % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    wide = to_raw(from_raw(x.dtype).to_complex())
    strides = tuple([s * x.itemsize for s in steps])
    if not x.size:
        return np.ndarray(x.shape[:-1], wide, np.empty(0, wide), 0, strides)
    whole = storage(x)
    return np.ndarray(x.shape[:-1], wide, whole, address(x) - address(whole), strides)


# ---- gradients --------------------------------------------------------------------------------
def diagonal_backward(
    g: Any, input_sizes: tuple[int, ...], offset: int, dim1: int, dim2: int
) -> Any:
    """`g` on the diagonal of zeros."""
    out = np.zeros(input_sizes, g.dtype)
    diagonal(out, offset, dim1, dim2)[...] = g
    return out


def unfold_backward(g: Any, input_sizes: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    """The sum of all windows in `g`, each at its place: one addition for each step that a window
    reaches over, of parts of windows that don't overlap."""
    out = np.zeros(input_sizes or (1,), g.dtype)
    axis = axis_of(dim, len(input_sizes))
    if not input_sizes:
        return g.sum().reshape(()) if size else out.reshape(())
    count, near = g.shape[axis], out.strides[axis]
    if (
        g.shape != (*out.shape[:axis], count, *out.shape[axis + 1 :], size)
        or (count - 1) * step + size > out.shape[axis]
    ):
        raise ValueError("windows reach beyond the end, or aren't of that size")
    strides = (*out.strides[:axis], step * near, *out.strides[axis + 1 :], near)
    for start in range(0, size if g.size else 0, step):
        part = g[..., start : start + step]
        place = np.ndarray(part.shape, out.dtype, out, start * near, strides)
        np.add(place, part, place)
    return out
