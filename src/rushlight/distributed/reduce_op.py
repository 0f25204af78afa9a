"""`ReduceOp`: how the tensors of all ranks become one, and for which dtypes."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["ReduceOp", "reduce_op"]


class RedOpType(enum.IntEnum):
    """How the tensors of all ranks become one."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


class ReduceOp:
    """How the tensors of all ranks become one: always in the order of the ranks.

    SUM, AVG, PRODUCT, MIN and MAX are of numbers; BAND, BOR and BXOR of the bits of whole numbers
    and truth values; AVG takes floats and complex numbers alone. PREMUL_SUM is refused, as by gloo.

    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.tensor([1, 2])
        >>> dist.all_reduce(row, op=dist.ReduceOp.MAX)
        >>> row
        tensor([1, 2])
    """

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX = (RedOpType(i) for i in range(5))
    BAND, BOR, BXOR, PREMUL_SUM = (RedOpType(i) for i in range(5, 9))


reduce_op = ReduceOp

_BITS = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)
_OF_COMPLEX = (RedOpType.SUM, RedOpType.AVG, RedOpType.PREMUL_SUM)
_NAMES = {
    "int32": "Int", "int64": "Long", "uint8": "Byte", "int8": "Char", "int16": "Short",
    "bool": "Bool",
}  # fmt: skip


def check_operation(tensor: Tensor, op: object, function: str) -> RedOpType:
    """The operation, where it is one for the tensor's dtype.

    Raises:
        ValueError: for an order of complex numbers, their product or their bits.
        RuntimeError: for bits of floats, a mean of whole numbers, and what isn't a sum of sparse
            tensors.
        TypeError: for what isn't an operation.
    """
    if not isinstance(op, RedOpType):
        raise TypeError(f"{function}(): {op!r} is no torch.distributed.ReduceOp")
    if op is RedOpType.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with Gloo")
    if tensor.is_sparse and function == "all_reduce" and op is not RedOpType.SUM:
        raise RuntimeError(
            "ProcessGroupGloo::allreduce: unsupported reduction operation (allreduce of sparse "
            "tensors only works with ReduceOp.SUM)"
        )
    if tensor.is_complex() and op not in _OF_COMPLEX:
        raise ValueError(f"{function} does not support {op} on complex tensors")
    floating = tensor.is_floating_point() or tensor.is_complex()
    if op in _BITS and floating:
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is RedOpType.AVG and not floating:
        name = str(tensor.dtype).rpartition(".")[2]
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {_NAMES.get(name, name)}"
        )
    return op
