"""Splitting: a tensor as pieces of it, one after the other along a dimension."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n, apply_view
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..calls.argument_parser import complaint_of_c, is_index
from ..calls.call_errors import combination
from ..rows.composite import METHODS, composite
from ..rows.row import linear
from .slices import slice_

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Namespace, Shape, TensorLike
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor

raw = later("_array.shape.concatenate")


# ---- pieces -----------------------------------------------------------------------------------
def _zeros(xp: Namespace, shape: Shape, dim: int, size: int, dtype: dtype) -> Array:
    whole = list(shape)
    whole[dim % len(whole)] = size
    return xp.zeros(tuple(whole), dtype)


def _pieces(
    xp: Namespace,
    gs: Sequence[TensorLike | None],
    sizes: Sequence[int],
    shape: Shape,
    dtype: dtype,
    dim: int,
) -> TensorLike:
    """The gradients of the pieces joined again; zeros where a piece got none."""
    return xp.cat(
        [_zeros(xp, shape, dim, n, dtype) if g is None else g for g, n in zip(gs, sizes)], dim
    )


def _equal_sizes(n: int, size: int) -> list[int]:
    if not size or not n:
        return [n]
    return [min(size, n - k) for k in range(0, n, size)]


def _split_backward(
    xp: Namespace,
    gs: Sequence[TensorLike | None],
    self_shape: Shape,
    self_dtype: dtype,
    split_size: int,
    dim: int,
) -> TensorLike:
    sizes = _equal_sizes(self_shape[dim % len(self_shape)], split_size)
    return _pieces(xp, gs, sizes, self_shape, self_dtype, dim)


def _sizes_backward(
    xp: Namespace,
    gs: Sequence[TensorLike | None],
    self_shape: Shape,
    self_dtype: dtype,
    split_sizes: Shape,
    dim: int,
) -> TensorLike:
    return _pieces(xp, gs, split_sizes, self_shape, self_dtype, dim)


def _unbind_backward(
    xp: Namespace, gs: Sequence[TensorLike | None], self_shape: Shape, self_dtype: dtype, dim: int
) -> TensorLike:
    axis = dim % len(self_shape)
    part = tuple(self_shape[:axis]) + tuple(self_shape[axis + 1 :])
    return xp.stack([xp.zeros(part, self_dtype) if g is None else g for g in gs], axis)


split_ = linear(
    "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
    raw.split,
    self=_split_backward,
    holomorphic=False,
    public=False,
    samples=lambda mk: [(mk(5, 2), 2), (mk(2, 3), 3, -1)],
    doc="The pieces of a size along a dimension; the last one may be smaller.",
)
split_with_sizes = linear(
    "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    raw.split_with_sizes,
    self=_sizes_backward,
    holomorphic=False,
    samples=lambda mk: [(mk(5, 2), (2, 0, 3)), (mk(2, 3), (3,), -1)],
    doc="The pieces of the given sizes along a dimension.",
)
unsafe_split = linear(
    "unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
    raw.split,
    self=_split_backward,
    holomorphic=False,
    samples=lambda mk: [(mk(5, 2), 2)],
    doc="The pieces of a size along a dimension: the same memory, without the records of a view.",
    narrow="all",
)
unsafe_split_with_sizes = linear(
    "unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
    raw.split_with_sizes,
    self=_sizes_backward,
    holomorphic=False,
    samples=lambda mk: [(mk(5, 2), (2, 3))],
    doc="The pieces of the given sizes along a dimension: the same memory, no views.",
    narrow="all",
)
unbind = linear(
    "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
    raw.unbind,
    self=_unbind_backward,
    holomorphic=False,
    saved_as={"self_shape": None},
    samples=lambda mk: [(mk(3, 2),), (mk(2, 3), -1)],
    doc="The parts at all places of a dimension.",
)


@composite("")
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    """The pieces of a size, or of several sizes, along a dimension."""
    if not isinstance(tensor, TensorBase):  # which PyTorch leaves to whatever it is
        if errors.is_pytorchs(type(tensor)):
            raise TypeError(
                "split(): argument 'tensor' (position 1) must be Tensor, not "
                f"{errors.type_name(tensor)}"
            )
        return tensor.split(split_size_or_sections, dim)
    size = split_size_or_sections
    if type(dim) is int:
        if type(size) is int and size < 2**63:
            return apply_n(split_.op, [tensor, size, dim])
        if type(size) in (tuple, list) and all(type(n) is int for n in size):
            return apply_n(split_with_sizes.op, [tensor, tuple(size), dim])
    if isinstance(size, TensorBase) and size._raw.size == 1:
        size = int(size)  # type: ignore[call-overload]
    called = "split" if isinstance(size, int) else "split_with_sizes"
    problem = complaint_of_c("torch", called, (tensor, size, dim), {})
    if problem is not None:
        raise problem
    dim = index(dim)
    if isinstance(size, int):
        return apply_n(split_.op, [tensor, index(size), dim])
    return apply_n(split_with_sizes.op, [tensor, tuple([int(n) for n in size]), dim])


def _split_method(self: Tensor, split_size: list[int] | int, dim: int = 0) -> tuple[Tensor, ...]:
    """The pieces of a size, or of several sizes, along a dimension."""
    return split(self, split_size, dim)


METHODS["split"] = _split_method
_split_method.__name__ = _split_method.__qualname__ = "split"


def _chunk_size(array: Array, chunks: int, dim: int) -> int:
    if array.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return int(-(-array.shape[axis_of(dim, array.ndim)] // chunks))


@composite("", method=True, numpy_words=True)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` pieces along a dimension, all of one size but the last."""
    size = _chunk_size(input._raw, chunks, dim)
    if not size:
        return apply_n(split_with_sizes.op, [input, (0,) * chunks, dim])
    return apply_n(split_.op, [input, size, dim])


@composite("", method=True)
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` pieces along a dimension: the same memory, without the records of views."""
    size = _chunk_size(input._raw, chunks, dim)
    if not size:
        return apply_n(unsafe_split_with_sizes.op, [input, (0,) * chunks, dim])
    return apply_n(unsafe_split.op, [input, size, dim])


@composite("", method=True, numpy_words=True)
def tensor_split(
    input: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    sections: Any = None,
    indices: Any = None,
) -> tuple[Tensor, ...]:
    """The pieces along a dimension: a number of nearly equal ones, or those between places."""
    where = next(v for v in (indices_or_sections, indices, sections) if v is not None)
    array = input._raw
    if array.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    if isinstance(where, TensorBase):
        where = _places_in(where)
    axis = axis_of(dim, array.ndim)
    n = array.shape[axis]
    if isinstance(where, int):
        if where <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {where}")
        size, more = divmod(n, where)
        ends = [(k + 1) * size + min(k + 1, more) for k in range(where)]
    else:
        ends = [*where, n]
    pieces: list[Any] = []
    start = 0
    for end in ends:
        pieces.append(apply_view(slice_.op, input, (axis, start, end, 1)))
        start = end
    return tuple(pieces)


def _places_in(where: Any) -> list[int] | int:
    array = read_by_python(where, "tensor_split()")
    if array.dtype.kind != "i" or array.itemsize != 8:
        name = T.type_name(array.dtype)[6:-6]
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{name}"
        )
    if array.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            "one-dimensional "
            f"tensor, but got a tensor with {array.ndim} dims"
        )
    return array.tolist()


def _along(name: str, least: int, axis: AnyCallable) -> None:
    def pieces(
        input: Tensor, *indices_or_sections: Any, sections: Any = None, indices: Any = None
    ) -> tuple[Tensor, ...]:
        where: Any = indices_or_sections
        if len(where) < 2:
            where = next(v for v in (*where, indices, sections) if v is not None)
        shape = input._raw.shape
        if len(shape) < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a "
                "tensor with "
                f"{len(shape)} dimensions!"
            )
        if not isinstance(where, list | tuple):
            if not is_index(where):
                raise combination(name, (input, where), {})
            where = int(where)
            if not -(1 << 63) <= where < 1 << 63:
                raise ValueError("Overflow when unpacking long long")
        dim = axis(len(shape))
        if isinstance(where, int) and (not where or shape[dim] % where):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                "dimension "
                f"{shape[dim]} is not divisible by the split_size {where}!"
            )
        return tensor_split(input, where, dim)

    pieces.__name__ = pieces.__qualname__ = name
    pieces.__doc__ = (
        "The pieces along a dimension: a number of equal ones, or those between given places."
    )
    composite("", method=True, name=name)(pieces)


_along("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
_along("vsplit", 2, lambda ndim: 0)
_along("dsplit", 3, lambda ndim: 2)
