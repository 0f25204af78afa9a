"""`torch.nested`: several tensors of different sizes in one; see Note [Nested tensors]."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._base.memory_format import jagged, layout as Layout, strided
from ..._core.storage import TensorBase
from . import rules as _rules  # noqa: F401 -- what functions do with nested tensors
from .tensor import NestedTensor, Parts, functions as _functions, make_nested as _nested, of_parts

if TYPE_CHECKING:
    from ..._base.annotations import DeviceLike
    from ..._base.dtypes import dtype as DType
    from ..._tensor.tensor import Tensor

__all__ = [
    "as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged",
    "to_padded_tensor",
]  # fmt: skip


def _layout(given: Layout | None) -> Layout:
    if given is None or given is strided:
        return strided
    if given is not jagged:
        raise RuntimeError(f"Specified layout is unsupported for nested tensors: {given}")
    return jagged


def _check(parts: list[Any], how: Layout) -> list[Any]:
    for place, part in enumerate(parts[1:], 1):
        if part.dim() != parts[0].dim():
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. Found dimension "
                f"{part.dim()} for Tensor at index {place} and dimension {parts[0].dim()} for "
                f"Tensor at index {place - 1}."
            )
    if how is jagged and any(part.shape[1:] != parts[0].shape[1:] for part in parts):
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout. Note "
            "that the jagged layout only represents shapes of the form (B, *_0, D_1, D_2, ..., "
            "D_N), with only a single ragged dimension."
        )
    if how is jagged and not parts:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    return parts


def nested_tensor(
    tensor_list: Sequence[Any],
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> NestedTensor:
    """A nested tensor of copies: a leaf.

    Raises:
        TypeError: for what is no list of tensors or lists of numbers.
        RuntimeError: where the parts have different numbers of dimensions.
    """
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError(
            "Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor"
        )
    how = _layout(layout)
    parts = [
        part.detach() if isinstance(part, TensorBase) else _functions.tensor(part)  # type: ignore[attr-defined]
        for part in tensor_list
    ]
    made = of_parts(_check(parts, how), how)
    if made.held.is_inference() or (dtype is not None and made.dtype != dtype):
        made.held = made.held.to(dtype)
    return _nested(made.held, made.parts, how).requires_grad_(requires_grad)


def as_nested_tensor(
    ts: Any,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    layout: Layout | None = None,
) -> NestedTensor:
    """A nested tensor of tensors, through which gradients flow to these.

    Raises:
        TypeError: for anything else than a tensor or a list of them.
        RuntimeError: where the parts have different numbers of dimensions.
    """
    how = _layout(layout)
    if isinstance(ts, NestedTensor):
        return ts if dtype is None else ts.to(dtype)
    given = list(ts.unbind(0)) if isinstance(ts, TensorBase) else ts  # type: ignore[attr-defined]
    if not isinstance(given, (list, tuple)) or not all(isinstance(t, TensorBase) for t in given):
        raise TypeError(
            "as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of "
            "tensors "
        )
    made = of_parts(_check(list(given), how), how)
    return made if dtype is None else made.to(dtype)


def to_padded_tensor(
    input: NestedTensor, padding: float, output_size: Sequence[int] | None = None
) -> Tensor:
    """The parts in one dense tensor, with `padding` behind those that are smaller.

    Raises:
        RuntimeError: where a part is larger than `output_size`.
    """
    return input.to_padded_tensor(padding, output_size)


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedTensor:
    """A jagged tensor of the parts of `values` that begin at `offsets`, or have these `lengths`.

    Raises:
        RuntimeError: where neither is given.
        NotImplementedError: for parts with gaps between them, or along another dimension.
    """
    if offsets is None and lengths is None:
        raise RuntimeError("At least one of offsets or lengths is required")
    if jagged_dim not in (None, 1) or (offsets is not None and lengths is not None):
        raise NotImplementedError(
            "nested_tensor_from_jagged takes parts along the first dimension, one after the other: "
            "give offsets or lengths, and no jagged_dim"
        )
    if offsets is not None:
        ends = offsets.tolist()
        counts = [b - a for a, b in itertools.pairwise(ends)]
        fits = bool(ends) and ends[0] == 0
    else:
        assert lengths is not None
        counts, fits = lengths.tolist(), True
    if not fits or any(n < 0 for n in counts) or sum(counts) != values.size(0):
        raise RuntimeError("nested_tensor_from_jagged: the parts don't fill the values")
    rest = tuple(values.shape[1:])
    return _nested(values, Parts([(n, *rest) for n in counts]), jagged)


def narrow(
    tensor: Tensor, dim: int, start: Any, length: Any, layout: Layout = strided
) -> NestedTensor:
    """A nested tensor of a part of each row, along dimension 1.

    Raises:
        RuntimeError: along another dimension, and for the strided layout, where starts differ.
    """
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    if layout is not jagged:
        if not isinstance(start, int) or not isinstance(length, int):
            raise RuntimeError("start and length must be integers for the strided layout NT impl")
        return as_nested_tensor(list(tensor.narrow(dim, start, length).unbind(0)))
    starts = _functions.as_tensor(start).expand(tensor.size(0)).tolist()
    lengths = _functions.as_tensor(length).expand(tensor.size(0)).tolist()
    rows = [row.narrow(0, a, n) for row, a, n in zip(tensor.unbind(0), starts, lengths)]
    return as_nested_tensor(rows, layout=jagged)


def masked_select(tensor: Tensor, mask: Tensor) -> NestedTensor:
    """A jagged tensor of the elements of each row that a mask is true at.

    Raises:
        RuntimeError: where the tensor has no rows.
    """
    if tensor.layout is not strided:
        raise RuntimeError(
            f"torch.nested.masked_select requires a strided tensor, given {tensor.layout}"
        )
    rows, places = _functions.broadcast_tensors(tensor, mask)
    found = [row.masked_select(where) for row, where in zip(rows.unbind(0), places.unbind(0))]
    return as_nested_tensor(found, layout=jagged)
