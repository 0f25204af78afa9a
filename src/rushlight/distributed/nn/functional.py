"""Messages that gradients go through: from one process to itself, they change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..process_group import alone, chosen
from ..reduce_op import ReduceOp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._tensor.tensor import Tensor
    from ..process_group import ProcessGroup


__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce", "scatter"]


def all_reduce(
    tensor: Tensor, op: object = ReduceOp.SUM, group: ProcessGroup | None = None
) -> Tensor:
    """The sum over the one process that there is: a copy of the tensor."""
    chosen(group)
    alone("torch.distributed.nn", group)
    return tensor.clone()


def reduce(
    tensor: Tensor, dst: int, op: object = ReduceOp.SUM, group: ProcessGroup | None = None
) -> Tensor:
    """The sum over the one process that there is: a copy of the tensor."""
    chosen(group)
    alone("torch.distributed.nn", group)
    return tensor.clone()


def broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> Tensor:
    """The tensor of process 0: a copy."""
    chosen(group)
    alone("torch.distributed.nn", group)
    return tensor.clone()


def all_gather(tensor: Tensor, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all processes: a copy of the one."""
    chosen(group)
    alone("torch.distributed.nn", group)
    return (tensor.clone(),)


def gather(tensor: Tensor, dst: int = 0, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all processes: a copy of the one."""
    chosen(group)
    alone("torch.distributed.nn", group)
    return (tensor.clone(),)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """The tensor for this process: a copy of the only one."""
    chosen(group)
    alone("torch.distributed.nn", group)
    return tensors[0].clone()


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
) -> tuple[Tensor, ...]:
    """The tensors for this process: a copy of each."""
    chosen(group)
    alone("torch.distributed.nn", group)
    return tuple(tensor.clone() for tensor in input_tensor_list)
