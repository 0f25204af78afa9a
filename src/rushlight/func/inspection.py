"""Looking behind what a function sees under a transform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.storage import TensorBase
from .._tensor.batching import BatchedTensor

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The batch behind a tensor under vmap; of all vmaps, or (`recurse=False`) the innermost.

    Raises:
        TypeError: for something that is no tensor.

    Parameters:
        tensor: what a function under `vmap` is given.
        recurse: whether all layers are taken off.
    Shapes: with the mapped dimensions in front.
    Returns: Tensor: itself where it is no batch.
    Example:
        >>> def f(x):
        ...     print(torch.func.debug_unwrap(x))
        ...     return x
        >>> _ = torch.vmap(f)(torch.tensor([1, 2]))
        tensor([1, 2])
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(
            "is_functorch_wrapped_tensor(): incompatible function arguments. The following "
            "argument types are supported:\n    1. (arg0: torch.Tensor) -> bool\n\nInvoked with: "
            f"{tensor!r}"
        )
    while isinstance(tensor, BatchedTensor):
        tensor = tensor._value
        if not recurse:
            break
    return tensor
