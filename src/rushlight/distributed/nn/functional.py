"""Messages that gradients go through: from one process to itself, they change nothing."""

from __future__ import annotations

from typing import Any

from ..messages import ReduceOp
from ..process_group import chosen

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce", "scatter"]


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The sum over the one process that there is: a copy of the tensor."""
    chosen(group)
    return tensor.clone()


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The sum over the one process that there is: a copy of the tensor."""
    chosen(group)
    return tensor.clone()


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of process 0: a copy."""
    chosen(group)
    return tensor.clone()


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes: a copy of the one."""
    chosen(group)
    return (tensor.clone(),)


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes: a copy of the one."""
    chosen(group)
    return (tensor.clone(),)


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """The tensor for this process: a copy of the only one."""
    chosen(group)
    return tensors[0].clone()


def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: Any = None
) -> tuple[Any, ...]:
    """The tensors for this process: a copy of each."""
    chosen(group)
    return tuple(tensor.clone() for tensor in input_tensor_list)
