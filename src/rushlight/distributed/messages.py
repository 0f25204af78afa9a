"""What processes tell each other, where there is one: each result is what it said itself."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._tensor.tensor import Tensor
from ..autograd.grad_mode import no_grad
from .process_group import GroupMember, Work, chosen

if TYPE_CHECKING:
    from datetime import timedelta

    from .._base.annotations import AnyCallable, DeviceLike
    from .process_group import ProcessGroup


__all__ = [
    "P2POp", "ReduceOp", "all_gather", "all_gather_coalesced", "all_gather_into_tensor",
    "all_gather_object", "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all",
    "all_to_all_single",
    "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "gather",
    "gather_object", "irecv", "isend", "monitored_barrier", "recv", "recv_object_list", "reduce",
    "reduce_op", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor",
    "scatter", "scatter_object_list",
    "send", "send_object_list",
]  # fmt: skip


class RedOpType(enum.IntEnum):
    """How the tensors of all processes become one."""

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
    """How the tensors of all processes become one: of one process, it is its own in each way."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX = (RedOpType(i) for i in range(5))
    BAND, BOR, BXOR, PREMUL_SUM = (RedOpType(i) for i in range(5, 9))


reduce_op = ReduceOp


def _member(group: ProcessGroup | int | None) -> bool:
    if group == GroupMember.NON_GROUP_MEMBER:
        return False
    chosen(group)
    return True


def _check(tensor: Tensor, name: str) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(tensor)} instead."
        )


def _check_list(tensors: list[Tensor], name: str) -> None:
    if not isinstance(tensors, list) or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(tensors)} with elements of type "
            f"{[type(t) for t in tensors] if isinstance(tensors, list) else None}."
        )


def _root(rank: int | None, group_rank: int | None, what: str) -> None:
    asked = rank if rank is not None else group_rank
    if asked not in (None, 0):
        raise RuntimeError(f"ProcessGroupGloo::{what}: invalid root rank: {asked}")


def _passed(async_op: bool, *values: Tensor | Sequence[Tensor]) -> Work | None:
    return Work(values) if async_op else None


def _copy_message(target: Tensor, source: Tensor, what: str, index: int = 0) -> None:
    if tuple(target.shape) != tuple(source.shape):
        shapes = [", ".join(map(str, t.shape)) for t in (source, target)]
        raise RuntimeError(
            f"ProcessGroupGloo::{what}: invalid tensor size at index {index} (expected "
            f"({shapes[0]}), got ({shapes[1]}))"
        )
    with no_grad():
        target.copy_(source)


# ---- all to all ----------------------------------------------------------------------------------
def all_reduce(
    tensor: Tensor,
    op: object = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Leaves the tensor, which is the sum (or mean, …) over the one process that there is."""
    _check(tensor, "tensor")
    return _passed(async_op, tensor) if _member(group) else None


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: object = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Leaves each tensor, which is the sum over the one process that there is."""
    return _passed(async_op, *tensors) if _member(group) else None


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: object = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Leaves the tensor, which is the sum over the one process that there is."""
    _check(tensor, "tensor")
    if not _member(group):
        return None
    _root(dst, group_dst, "reduce")
    return _passed(async_op, tensor)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Leaves the tensor, which is the one that process 0 has.

    Raises:
        RuntimeError: for any other process.
    """
    _check(tensor, "tensor")
    if not _member(group):
        return None
    _root(src, group_src, "broadcast")
    return _passed(async_op, tensor)


def all_gather(
    tensor_list: list[Tensor],
    tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Copies the tensor to the only place of the list."""
    _check_list(tensor_list, "tensor_list")
    _check(tensor, "tensor")
    if not _member(group):
        return None
    _count(tensor_list, "all_gather")
    _copy_message(tensor_list[0], tensor, "allgather")
    return _passed(async_op, tensor_list)


def _count(places: Sequence[object], what: str) -> None:
    if len(places) != 1:
        raise ValueError(
            f"ProcessGroupGloo::{what}: invalid output tensor list at index 0 (expected length 1, "
            f"got {len(places)})"
        )


def all_gather_coalesced(
    output_tensor_lists: Any,
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Copies each tensor to the only place of its list."""
    if not _member(group):
        return None
    for places, tensor in zip(output_tensor_lists, input_tensor_list):
        _copy_message(places[0], tensor, "allgather")
    return _passed(async_op, output_tensor_lists)


def all_gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Copies the tensor."""
    _check(input_tensor, "input_tensor")
    _check(output_tensor, "output_tensor")
    if not _member(group):
        return None
    with no_grad():
        output_tensor.copy_(input_tensor.reshape(output_tensor.shape))
    return _passed(async_op, output_tensor)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: object = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Copies the only tensor of the list."""
    _check(output, "output")
    _check_list(input_list, "input_list")
    if not _member(group):
        return None
    _copy_message(output, input_list[0], "reduce_scatter")
    return _passed(async_op, output)


def reduce_scatter_tensor(
    output: Any,
    input: Tensor,
    op: object = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Copies the tensor."""
    return all_gather_into_tensor(output, input, group, async_op)


all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Copies each tensor to its place."""
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    if not _member(group):
        return None
    for place, tensor in zip(output_tensor_list, input_tensor_list):
        _copy_message(place, tensor, "alltoall")
    return _passed(async_op, output_tensor_list)


def all_to_all_single(
    output: Any,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Copies the tensor."""
    if not _member(group):
        return None
    _copy_message(output, input, "alltoall_base")
    return _passed(async_op, output)


# ---- to and from one -----------------------------------------------------------------------------
def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Copies the only tensor of the list."""
    _check(tensor, "tensor")
    if not _member(group):
        return None
    _root(src, group_src, "scatter")
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _copy_message(tensor, scatter_list[0], "scatter")
    return _passed(async_op, tensor)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copies the tensor to the only place of the list."""
    _check(tensor, "tensor")
    if not _member(group):
        return None
    _root(dst, group_dst, "gather")
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _copy_message(gather_list[0], tensor, "gather")
    return _passed(async_op, gather_list)


def _nobody(verb: str, kind: str, rank: int | None) -> object:
    if rank in (None, 0):
        raise ValueError(
            f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current "
            "process."
        )
    raise RuntimeError(f"{verb}: there is no process {rank}: this is the only one")


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Raises: there is no other process.

    Raises:
        ValueError: for this process itself.
        RuntimeError: for any other.
    """
    _check(tensor, "tensor")
    chosen(group)
    _nobody("send", "destination", dst if dst is not None else group_dst)


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Raises: there is no other process.

    Raises:
        ValueError: for this process itself.
        RuntimeError: for any other.
    """
    _check(tensor, "tensor")
    chosen(group)
    _nobody("recv", "source", src if src is not None else group_src)
    return -1


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Raises as `send` does: there is no other process."""
    send(tensor, dst, group, tag, group_dst)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> None:
    """Raises as `recv` does: there is no other process."""
    recv(tensor, src, group, tag, group_src)


class P2POp:
    """A message from one process to another, for `batch_isend_irecv`."""

    def __init__(
        self,
        op: AnyCallable,
        tensor: Tensor,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.peer = peer if peer is not None else group_peer


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Raises as `send` does: there is no other process."""
    return [p2p.op(p2p.tensor, p2p.peer, p2p.group, p2p.tag) for p2p in p2p_op_list]


# ---- objects -------------------------------------------------------------------------------------
def all_gather_object(
    object_list: list[object], obj: object, group: ProcessGroup | None = None
) -> None:
    """Puts the object in the only place of the list."""
    if _member(group):
        object_list[0] = obj


def gather_object(
    obj: object, object_gather_list: list[object] | None = None, dst: int | None = None,
    group: ProcessGroup | None = None, group_dst: int | None = None,
) -> None:  # fmt: skip
    """Puts the object in the only place of the list."""
    if _member(group):
        if object_gather_list is None:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        object_gather_list[0] = obj


def broadcast_object_list(
    object_list: list[object],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: DeviceLike | None = None,
    group_src: int | None = None,
) -> None:
    """Leaves the objects, which are those of process 0."""
    if _member(group):
        _root(src, group_src, "broadcast")


def scatter_object_list(
    scatter_object_output_list: list[object], scatter_object_input_list: list[object] | None = None,
    src: int | None = None, group: ProcessGroup | None = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """Puts the only object of the input in the first place of the output."""
    if _member(group):
        if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
            raise ValueError(
                "Expected argument scatter_object_output_list to be a list of size at least 1."
            )
        scatter_object_output_list[0] = (scatter_object_input_list or [None])[0]


def send_object_list(
    object_list: list[object],
    dst: int | None = None,
    group: ProcessGroup | None = None,
    **_: object,
) -> None:
    """Raises as `send` does: there is no other process."""
    chosen(group)
    _nobody("send_object_list", "destination", dst)


def recv_object_list(
    object_list: list[object],
    src: int | None = None,
    group: ProcessGroup | None = None,
    **_: object,
) -> int:
    """Raises as `recv` does: there is no other process."""
    chosen(group)
    _nobody("recv_object_list", "source", src)
    return -1


# ---- waiting -------------------------------------------------------------------------------------
def barrier(
    group: ProcessGroup | None = None,
    async_op: bool = False,
    device_ids: Sequence[int] | None = None,
) -> Work | None:
    """Waits for all processes: for none."""
    return _passed(async_op) if _member(group) else None


def monitored_barrier(
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    wait_all_ranks: bool = False,
) -> None:
    """Waits for all processes: for none."""
    _member(group)
