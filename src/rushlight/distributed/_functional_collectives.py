"""`torch.distributed._functional_collectives`: collectives that give their result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .process_group import ProcessGroup


__all__ = ["all_gather_tensor", "all_reduce", "all_to_all_single_autograd", "wait_tensor"]


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor: nothing is under way."""
    return tensor


def all_reduce(self: Any, reduceOp: str, group: ProcessGroup, tag: str = "") -> Tensor:
    """The tensor: the only process's own."""
    return self.clone()


def all_gather_tensor(self: Any, gather_dim: int, group: ProcessGroup, tag: str = "") -> Tensor:
    """The tensor: the only process's own."""
    return self.clone()


def all_to_all_single_autograd(
    self: Any,
    output_split_sizes: list[int],
    input_split_sizes: list[int],
    group: ProcessGroup,
    tag: str = "",
) -> Tensor:
    """The tensor: the only process sends it to itself."""
    return self.clone()
