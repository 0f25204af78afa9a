"""Copies of which a part is another tensor: a slice, a diagonal, a window of any strides; and the
whole that a slice is part of.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.shape import as_strided as windows
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..rows.composite import composite
from ..rows.row import general, linear
from .slices import strided_arguments

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._tensor.tensor import Tensor

raw = later("_array.shape.indexing")

select_scatter = linear(
    "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    raw.select_scatter,
    self=lambda xp, g, src_shape, dim, index: xp.select_scatter(
        g, xp.zeros(src_shape, g.dtype), dim, index
    ),
    src=lambda xp, g, dim, index: xp.select(g, dim, index),
    holomorphic=False,
    real_only=True,
    saved_as={"src_shape": None},
    samples=lambda mk: [(mk(3, 4), mk(4), 0, 1)],
    doc="A copy whose part at one place of a dimension is `src`.",
    narrow="all",
)
slice_scatter = linear(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) "
    "-> Tensor",
    raw.slice_scatter,
    self=lambda xp, g, src_shape, dim, start, end, step: xp.slice_scatter(
        g, xp.zeros(src_shape, g.dtype), dim, start, end, step
    ),
    src=lambda xp, g, dim, start, end, step: xp.slice(g, dim, start, end, step),
    holomorphic=False,
    real_only=True,
    saved_as={"src_shape": None},
    samples=lambda mk: [(mk(5, 4), mk(2, 4), 0, 1, 5, 2)],
    doc="A copy whose slice of a dimension is `src`.",
    narrow="all",
)


def _memory_of_slice(x: Array, src: Array, dim: int) -> Array:
    if not -(1 << 63) <= dim < 1 << 63:  # it isn't used, but looked at
        raise ValueError(errors.LONG)
    return windows.as_strided(
        x, src.shape, windows.element_strides(src), windows.storage_offset(src)
    )


slice_inverse = general(
    "slice_inverse(Tensor(a) self, Tensor src, int dim=0, int? start=None, int? end=None, "
    "int step=1) -> Tensor(a)",
    lambda x, src, dim, start, end, step: _memory_of_slice(x, src, dim),
    self=lambda xp, g, dim, start, end, step: xp.slice(g, dim, start, end, step),
    src=lambda xp, g, self_shape, dim, start, end, step: xp.slice_scatter(
        g, xp.zeros(self_shape, g.dtype), dim, start, end, step
    ),
    holomorphic=False,
    real_only=True,
    saved_as={"self_shape": None},
    samples=lambda mk: [(mk(4, dtype="int64"), mk(4, dtype="int64"))],
    doc="The memory that a slice is part of, laid out like `src`.",
)
diagonal_scatter = linear(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    raw.diagonal_scatter,
    self=lambda xp, g, src_shape, offset, dim1, dim2: xp.diagonal_scatter(
        g, xp.zeros(src_shape, g.dtype), offset, dim1, dim2
    ),
    src=lambda xp, g, offset, dim1, dim2: xp.diagonal(g, offset, dim1, dim2),
    holomorphic=False,
    saved_as={"src_shape": None},
    samples=lambda mk: [(mk(3, 4), mk(3))],
    doc="A copy whose diagonal is `src`.",
    narrow="all",
)


def _window_places(xp: Any, *geometry: Any) -> Any:
    """Where a window lies in what it is written into; what this doesn't show is one behind."""
    return xp.constant(windows.window_index(*geometry))


def _with_one_more(xp: Any, g: Any) -> Any:
    """A gradient as a row, with a zero for memory that the tensor doesn't show."""
    return xp.cat([xp.reshape(g, (-1,)), xp.zeros((1,), g.dtype)], 0)


as_strided_scatter_ = linear(
    "_as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset, "
    "int[] self_stride, int self_offset) -> Tensor",
    lambda x, src, size, stride, offset, *own: raw.as_strided_scatter(x, src, size, stride, offset),
    self=lambda xp, g, self_shape, size, stride, storage_offset, self_stride, self_offset: (
        xp.reshape(
            xp.slice(
                xp.put(
                    _with_one_more(xp, g),
                    _window_places(
                        xp, self_shape, size, stride, storage_offset, self_stride, self_offset
                    ),
                    xp.zeros(size, g.dtype),
                    False,
                ),
                0,
                0,
                prod(self_shape),
                1,
            ),
            self_shape,
        )
    ),
    src=lambda xp, g, self_shape, size, stride, storage_offset, self_stride, self_offset: xp.take(
        _with_one_more(xp, g),
        _window_places(xp, self_shape, size, stride, storage_offset, self_stride, self_offset),
    ),
    holomorphic=False,
    public=False,
    out=False,
    samples=lambda mk: [(mk(6), mk(2, 2), (2, 2), (2, 1), None, (1,), 0)],
    doc="A copy with `src` written into a window of any strides.",
)


@composite("", method=True)
def as_strided_scatter(
    input: Tensor, src: object, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy with `src` written into a window of any strides."""
    geometry = strided_arguments(input, size, stride, storage_offset)
    if windows.is_overlapping(input._raw):  # the copy has a memory of its own
        geometry = (*geometry[:3], T.contiguous_strides(input._raw.shape), 0)
    return apply_n(as_strided_scatter_.op, [input, src, *geometry])
