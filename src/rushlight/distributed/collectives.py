"""Messages in which all ranks of a group take part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from .coalescing import start
from .message_checks import (
    check_alike,
    check_list,
    check_root,
    check_sizes,
    check_tensor,
    finish,
    member,
)
from .reduce_op import RedOpType, ReduceOp, check_operation
from .work import Work, WorkTogether

if TYPE_CHECKING:
    from datetime import timedelta

    from .._tensor.tensor import Tensor
    from .process_group import ProcessGroup


__all__ = [
    "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_single",
    "all_reduce", "all_reduce_coalesced", "barrier", "broadcast", "gather", "monitored_barrier",
    "reduce", "scatter",
]  # fmt: skip


# ---- one tensor of all -----------------------------------------------------------------------
def all_reduce(
    tensor: Tensor,
    op: RedOpType = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Makes one of all ranks' tensors, on each of them: their sum, mean, …, in order of the ranks.

    Raises:
        RuntimeError: for an operation that the dtype hasn't.
    """
    check_tensor(tensor, "tensor")
    pg = member(group, "all_reduce")
    if pg is None:
        return None
    chosen_op = check_operation(tensor, op, "all_reduce")
    begin = lambda waits: pg.carrier.reduce(tensor, None, chosen_op, waits)  # noqa: E731
    return start(pg, "all_reduce", begin, async_op)


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: RedOpType = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Makes one of all ranks' tensors for each tensor of a list."""
    pg = member(group, "all_reduce_coalesced")
    if pg is None:
        return None
    chosen_ops = [check_operation(tensor, op, "all_reduce") for tensor in tensors]
    parts = [pg.carrier.reduce(t, None, one, not async_op) for t, one in zip(tensors, chosen_ops)]
    return finish(WorkTogether(parts, tensors), async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: RedOpType = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Makes one of all ranks' tensors, on one of them; those of the others stay."""
    check_tensor(tensor, "tensor")
    pg = member(group, "reduce")
    if pg is None:
        return None
    root = check_root(pg, dst, group_dst, "reduce")
    op = check_operation(tensor, op, "reduce")
    return finish(pg.carrier.reduce(tensor, root, op, not async_op), async_op)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Gives every rank the tensor of one."""
    check_tensor(tensor, "tensor")
    pg = member(group, "broadcast")
    if pg is None:
        return None
    root = check_root(pg, src, group_src, "broadcast")
    return finish(pg.carrier.broadcast(tensor, root, not async_op), async_op)


# ---- the tensors of all ------------------------------------------------------------------------
def all_gather(
    tensor_list: list[Tensor],
    tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Puts the tensors of all ranks in a list, on each of them; they may be of different sizes.

    Raises:
        RuntimeError: for a list of another length, and where this rank's place doesn't fit.
    """
    check_list(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    check_alike(*tensor_list, tensor)
    pg = member(group, "all_gather")
    if pg is None:
        return None
    _check_length(tensor_list, pg.size())
    check_sizes(tensor_list if pg.size() == 1 else [tensor_list[pg.rank()]], tensor, "allgather")
    return finish(_gather_to_all(pg, tensor_list, tensor, not async_op), async_op)


def _check_length(places: Sequence[object], size: int) -> None:
    if len(places) != size:
        raise RuntimeError(
            "ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length "
            f"{size}, got {len(places)})"
        )


def _gather_to_all(pg: ProcessGroup, places: list[Tensor], tensor: Tensor, waits: bool) -> Work:
    sends = dict.fromkeys(range(pg.size()), tensor)
    work: Work = pg.carrier.exchange("all_gather", sends, dict(enumerate(places)), places, waits)
    return work


def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Puts the tensors of all ranks in a list, for each tensor of another list."""
    pg = member(group, "all_gather_coalesced")
    if pg is None:
        return None
    for places, tensor in zip(output_tensor_lists, input_tensor_list):
        check_alike(*places, tensor)
        _check_length(places, pg.size())
    parts = [
        _gather_to_all(pg, places, tensor, not async_op)
        for places, tensor in zip(output_tensor_lists, input_tensor_list)
    ]
    return finish(WorkTogether(parts, list(chain.from_iterable(output_tensor_lists))), async_op)


def all_gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Puts the tensors of all ranks one after the other in one tensor, on each of them.

    Raises:
        RuntimeError: for a place of another size or dtype.
    """
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    pg = member(group, "all_gather_into_tensor")
    if pg is None:
        return None
    check_whole(output_tensor, input_tensor, pg.size(), "output")
    begin = lambda waits: pg.carrier.all_gather(output_tensor, input_tensor, waits)  # noqa: E731
    return start(pg, "all_gather_single", begin, async_op)


all_gather_single = all_gather_into_tensor


def check_whole(whole: Tensor, part: Tensor, size: int, name: str) -> None:
    """Refuses a tensor that isn't as large as the parts of all ranks together.

    Raises:
        RuntimeError: for it, and for another dtype.
    """
    if whole.dtype != part.dtype:
        raise RuntimeError(f"{name} tensor must have the same type as the other: {whole.dtype} and "
                           f"{part.dtype}")  # fmt: skip
    if whole.numel() != part.numel() * size:
        raise RuntimeError(
            f"{name} tensor size must be equal to world_size times the other's: {whole.numel()} "
            f"elements for {size} times {part.numel()}"
        )


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Puts the tensors of all ranks in a list, on one of them.

    Raises:
        ValueError: without a list on that rank, and with one on another.
        RuntimeError: for a list of another length.
    """
    check_tensor(tensor, "tensor")
    pg = member(group, "gather")
    if pg is None:
        return None
    root = check_root(pg, dst, group_dst, "gather", 0)
    if root == pg.rank():
        if not gather_list:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        _check_count(gather_list, pg.size(), "gather", "output")
        check_list(gather_list, "gather_list")
        check_alike(tensor, *gather_list)
        check_sizes(gather_list, tensor, "gather")
    elif gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    places = list(gather_list or ())
    work = pg.carrier.exchange(
        "gather", {root: tensor}, dict(enumerate(places)), places, not async_op
    )
    return finish(work, async_op)


def _check_count(tensors: Sequence[object], size: int, function: str, which: str) -> None:
    if len(tensors) != size:
        raise RuntimeError(
            f"ProcessGroupGloo::{function}: Incorrect {which} list size {len(tensors)}. "
            f"{which.capitalize()} list size should be {size}, same as size of the process group."
        )


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Gives every rank one tensor of a list that one of them has.

    Raises:
        ValueError: without a list on that rank, and with one on another.
        RuntimeError: for a list of another length.
    """
    check_tensor(tensor, "tensor")
    pg = member(group, "scatter")
    if pg is None:
        return None
    root = check_root(pg, src, group_src, "scatter", 0)
    if root == pg.rank():
        if not scatter_list:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        _check_count(scatter_list, pg.size(), "scatter", "input")
        check_list(scatter_list, "scatter_list")
        check_alike(tensor, *scatter_list)
        check_sizes([tensor] * pg.size(), scatter_list[0], "scatter")
        check_sizes(scatter_list, tensor, "scatter")
    elif scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    sends = dict(enumerate(scatter_list or ()))
    return finish(
        pg.carrier.exchange("scatter", sends, {root: tensor}, [tensor], not async_op), async_op
    )


# ---- waiting -------------------------------------------------------------------------------------
def barrier(
    group: ProcessGroup | None = None,
    async_op: bool = False,
    device_ids: Sequence[int] | None = None,
) -> Work | None:
    """Waits until all ranks have come here."""
    pg = member(group, "barrier")
    return None if pg is None else finish(pg.carrier.barrier(not async_op), async_op)


def monitored_barrier(
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    wait_all_ranks: bool = False,
) -> None:
    """Waits until all ranks have come here; says which ones haven't within the timeout.

    Raises:
        RuntimeError: where one hasn't; on rank 0 it names the first, or with `wait_all_ranks` all.
    """
    pg = member(group, "monitored_barrier")
    if pg is None or pg.size() == 1:
        return
    from .monitored_barrier import wait_for_all

    wait_for_all(pg, timeout or pg.carrier.timeout, wait_all_ranks)
