"""New tensors in a memory format: their strides, and what is laid out like another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array.number import filling
from ..._array.shape import create as raw
from ..._base import dtypes as D, errors
from ..._base.memory_format import (
    channels_last_3d,
    contiguous_format,
    memory_format as MemoryFormat,
    preserve_format,
)
from . import meta as _meta

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Scalar, TensorLike
    from ..._base.memory_format import memory_format
    from ..._core.storage import TensorBase
    from ..._tensor.tensor import Tensor


def steps_of(
    name: str, shape: tuple[int, ...], wanted: memory_format, out: Tensor | None
) -> tuple[int, ...]:
    """The strides of a new tensor in a memory format, in elements.

    Raises:
        TypeError: for what is no format, and where the function takes none.
        RuntimeError: beside `out`, and where the format doesn't fit.
    """
    if name != "empty":
        raise TypeError(f"{name}() got an unexpected keyword argument 'memory_format'")
    if not isinstance(wanted, MemoryFormat):
        raise TypeError(
            "empty(): argument 'memory_format' must be torch.memory_format, not "
            f"{errors.type_name(wanted)}"
        )
    if out is not None:
        raise RuntimeError("'memory_format' argument is incompatible with 'out' tensor argument")
    if wanted is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    return steps_in(shape, wanted)


def steps_in(shape: tuple[int, ...], wanted: MemoryFormat) -> tuple[int, ...]:
    """The strides of a shape in a memory format, in elements.

    Raises:
        RuntimeError: for a rank that the format doesn't have.
    """
    order = list(range(len(shape)))
    if wanted is not contiguous_format:
        rank = 5 if wanted is channels_last_3d else 4
        if len(shape) != rank:
            raise RuntimeError(
                f"required rank {rank} tensor to use channels_last{'_3d' * (rank == 5)} format"
            )
        order.append(order.pop(1))
    steps, step = [0] * len(shape), 1
    for axis in reversed(order):
        steps[axis] = step
        step *= max(shape[axis], 1)
    return tuple(steps)


def array_like(
    t: TensorBase, dtype: D.dtype, fill: Scalar | None, wanted: memory_format | None
) -> Array:
    """An array shaped like a tensor and laid out like it, or in a memory format.

    Raises:
        RuntimeError: for a rank that the format doesn't have.
    """
    if wanted is None or wanted is preserve_format or wanted is contiguous_format:
        return raw.like(t._raw, dtype, fill, wanted is contiguous_format)
    shape = tuple(t._raw.shape)
    made = raw.empty_strided(shape, steps_in(shape, wanted), dtype)
    if fill is not None:
        made.fill(filling(fill, made.dtype, made.size))
    return made


def empty_on_meta_like(t: Tensor, dtype: D.dtype, wanted: Any, requires_grad: bool) -> TensorLike:
    """The tensor without data that `array_like` would be the array of."""
    if wanted is None or wanted is preserve_format or wanted is contiguous_format:
        return _meta.empty_meta_like(t, dtype, wanted is contiguous_format, requires_grad)
    shape = tuple(t._raw.shape)
    return _meta.empty_strided_meta(shape, steps_in(shape, wanted), dtype, requires_grad)
