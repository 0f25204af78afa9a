"""The strides of new tensors in a memory format."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..memory_format import channels_last_3d, contiguous_format, preserve_format
from ..memory_format import memory_format as MemoryFormat


def steps_of(name: str, shape: tuple[int, ...], wanted: Any, out: Any) -> tuple[int, ...]:
    """The strides of a new tensor in a memory format, in elements.

    Raises:
        TypeError: for what is no format, and where the function takes none.
        RuntimeError: for a rank that the format doesn't have, and beside `out`.
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
