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

    With two ranks that hold [1., 2.] and [3., 5.], both hold [4., 7.] afterwards.

    Parameters:
        tensor: what this rank gives; written over with the result. May be sparse for a sum.
        op: how the tensors become one, of `ReduceOp`.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any, the same on all ranks, as is the dtype.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        ValueError: without a default group, and for an order, bits or a product of complex numbers.
        TypeError: for what isn't a tensor, and for what isn't an operation.
        RuntimeError: for a mean of whole numbers, bits of floats, and PREMUL_SUM.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.tensor([1.0, 2.0])
        >>> dist.all_reduce(row)
        >>> row
        tensor([1., 2.])
    """
    check_tensor(tensor, "tensor")
    pg = member(group, "all_reduce")
    if pg is None:
        return None
    chosen_op = check_operation(tensor, op, "all_reduce")
    return start(
        pg, "all_reduce", lambda waits: pg.carrier.reduce(tensor, None, chosen_op, waits), async_op
    )


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: RedOpType = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Makes one of all ranks' tensors for each tensor of a list.

    Parameters:
        tensors: what this rank gives; each is written over with its result.
        op: how the tensors become one, of `ReduceOp`.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any; tensors at the same place of the lists have the same on all ranks.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        ValueError: without a default group, and for an order, bits or a product of complex numbers.
        TypeError: for what isn't an operation.
        RuntimeError: for a mean of whole numbers, bits of floats, and PREMUL_SUM.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> rows = [torch.ones(1), torch.zeros(2)]
        >>> dist.all_reduce_coalesced(rows, dist.ReduceOp.MAX)
        >>> rows
        [tensor([1.]), tensor([0., 0.])]
    """
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
    """Makes one of all ranks' tensors, on one of them; those of the others stay.

    Parameters:
        tensor: what this rank gives; written over with the result on the rank that is to have it.
        dst, group_dst: the rank that is to have it, among all or within the group; one of the two.
        op: how the tensors become one, of `ReduceOp`.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any, the same on all ranks, as is the dtype.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        ValueError: where both or neither of `dst` and `group_dst` are given, for a rank outside of
            the group, without a default group, and for an order, bits or a product of complex
            numbers.
        TypeError: for what isn't a tensor, and for what isn't an operation.
        RuntimeError: for a rank that there isn't, a mean of whole numbers, bits of floats, and
            PREMUL_SUM.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.tensor([1.0, 2.0])
        >>> dist.reduce(row, dst=0)
        >>> row
        tensor([1., 2.])
    """
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
    """Gives every rank the tensor of one.

    Parameters:
        tensor: what is sent by that rank; on the others it is written over with it.
        src, group_src: the rank that sends, among all or within the group; one of the two.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any, the same on all ranks, as is the dtype.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        ValueError: where both or neither of `src` and `group_src` are given, for a rank outside of
            the group, and without a default group.
        TypeError: for what isn't a tensor.
        RuntimeError: for a rank that there isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.tensor([1.0, 2.0])
        >>> dist.broadcast(row, src=0)
        >>> row
        tensor([1., 2.])
    """
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

    Parameters:
        tensor_list: a tensor for each rank, to be written over with what that rank gives.
        tensor: what this rank gives.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any; the place of a rank has that of the tensor which it gives.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor, or a list of tensors.
        ValueError: for different dtypes, and without a default group.
        RuntimeError: for a list of another length, and where this rank's place doesn't fit.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> places = [torch.zeros(2) for _ in range(dist.get_world_size())]
        >>> dist.all_gather(places, torch.tensor([1.0, 2.0]))
        >>> places
        [tensor([1., 2.])]
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
    """Puts the tensors of all ranks in a list, for each tensor of another list.

    Parameters:
        output_tensor_lists: for each tensor given, a list with a place for each rank.
        input_tensor_list: what this rank gives.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any; the place of a rank has that of the tensor which it gives.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        ValueError: for different dtypes, and without a default group.
        RuntimeError: for a list that hasn't a place for each rank.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> places = [[torch.zeros(1)], [torch.zeros(2)]]
        >>> dist.all_gather_coalesced(places, [torch.ones(1), torch.ones(2)])
        >>> places
        [[tensor([1.])], [tensor([1., 1.])]]
    """
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

    Parameters:
        output_tensor: what is written over with all of them.
        input_tensor: what this rank gives.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: the input (n, *), the same on all ranks; the output as many elements for each rank, as
        (ranks · n, *) or (ranks, n, *).
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor.
        ValueError: without a default group.
        RuntimeError: for a place of another size or dtype.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> whole = torch.zeros(dist.get_world_size(), 2)
        >>> dist.all_gather_into_tensor(whole, torch.tensor([1.0, 2.0]))
        >>> whole
        tensor([[1., 2.]])
    """
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    pg = member(group, "all_gather_into_tensor")
    if pg is None:
        return None
    check_whole(output_tensor, input_tensor, pg.size(), "output")
    return start(
        pg,
        "all_gather_single",
        lambda waits: pg.carrier.all_gather(output_tensor, input_tensor, waits),
        async_op,
    )


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

    Parameters:
        tensor: what this rank gives.
        gather_list: on that rank a tensor for each rank, to be written over; None on the others.
        dst, group_dst: the rank that gets them, among all or within the group; rank 0 by default.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any, the same for all tensors.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor, or a list of tensors.
        ValueError: without a list on that rank, with one on another, for different dtypes, for both
            `dst` and `group_dst`, and without a default group.
        RuntimeError: for a list of another length, tensors of another shape, and a rank that there
            isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> places = [torch.zeros(2)] if dist.get_rank() == 0 else None
        >>> dist.gather(torch.tensor([1.0, 2.0]), places, dst=0)
        >>> places
        [tensor([1., 2.])]
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

    Parameters:
        tensor: written over with what is meant for this rank.
        scatter_list: on the rank that sends a tensor for each rank; None on the others.
        src, group_src: the rank that sends, among all or within the group; rank 0 by default.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any, the same for all tensors.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor, or a list of tensors.
        ValueError: without a list on that rank, with one on another, for different dtypes, for both
            `src` and `group_src`, and without a default group.
        RuntimeError: for a list of another length, tensors of another shape, and a rank that there
            isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.zeros(2)
        >>> dist.scatter(row, [torch.tensor([1.0, 2.0])] if dist.get_rank() == 0 else None)
        >>> row
        tensor([1., 2.])
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
    """Waits until all ranks have come here.

    Parameters:
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
        device_ids: nothing here: there are no GPUs.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises: ValueError: without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.barrier()
        >>> dist.barrier(async_op=True).wait()
        True
    """
    pg = member(group, "barrier")
    return None if pg is None else finish(pg.carrier.barrier(not async_op), async_op)


def monitored_barrier(
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    wait_all_ranks: bool = False,
) -> None:
    """Waits until all ranks have come here; says which ones haven't within the timeout.

    Parameters:
        group: the ranks that take part; None means all.
        timeout: how long rank 0 waits for the others, a `timedelta`; None means the group's.
        wait_all_ranks: whether the error names all ranks that are away, not the first of them.
    Raises:
        ValueError: without a default group.
        RuntimeError: where a rank doesn't come; on rank 0 it says which.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.monitored_barrier(wait_all_ranks=True)
    """
    pg = member(group, "monitored_barrier")
    if pg is None or pg.size() == 1:
        return
    from .monitored_barrier import wait_for_all

    wait_for_all(pg, timeout or pg.carrier.timeout, wait_all_ranks)
