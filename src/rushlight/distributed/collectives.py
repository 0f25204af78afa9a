"""Messages in which all ranks of a group take part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
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
    "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "broadcast", "gather", "monitored_barrier", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "scatter",
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
    _check_whole(output_tensor, input_tensor, pg.size(), "output")
    begin = lambda waits: pg.carrier.all_gather(output_tensor, input_tensor, waits)  # noqa: E731
    return start(pg, "all_gather_single", begin, async_op)


def _check_whole(whole: Tensor, part: Tensor, size: int, name: str) -> None:
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


# ---- one part of all for each ---------------------------------------------------------------
def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: RedOpType = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Makes one of the tensors that all ranks have for this one.

    Raises:
        RuntimeError: for a list of another length, and where the place doesn't fit.
    """
    check_tensor(output, "output")
    check_list(input_list, "input_list")
    check_alike(output, *input_list)
    pg = member(group, "reduce_scatter")
    if pg is None:
        return None
    if len(input_list) != pg.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    check_sizes([output], input_list[pg.rank()], "reduce_scatter")
    op = check_operation(output, op, "reduce_scatter")
    return finish(pg.carrier.reduce_scatter(output, input_list, op, not async_op), async_op)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: RedOpType = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Makes one of the parts that all ranks' tensors have for this rank.

    Raises:
        RuntimeError: for a place of another size or dtype.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    pg = member(group, "reduce_scatter_tensor")
    if pg is None:
        return None
    _check_whole(input, output, pg.size(), "input")
    chosen_op = check_operation(output, op, "reduce_scatter_tensor")
    parts = _cut(input, [output.numel()] * pg.size())
    begin = lambda waits: pg.carrier.reduce_scatter(output, parts, chosen_op, waits)  # noqa: E731
    return start(pg, "reduce_scatter_single", begin, async_op)


all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor


def _cut(tensor: Tensor, lengths: Sequence[int]) -> list[Tensor]:
    """Parts of a tensor's elements in a row: views where it is contiguous."""
    row = tensor.detach().reshape(-1)
    cuts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    return [row[start:end] for start, end in pairwise(cuts)]


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Sends a tensor to each rank, and receives one from each.

    Raises:
        RuntimeError: for lists of another length.
    """
    check_list(output_tensor_list, "output_tensor_list")
    check_list(input_tensor_list, "input_tensor_list")
    check_alike(*output_tensor_list, *input_tensor_list)
    pg = member(group, "all_to_all")
    if pg is None:
        return None
    for name, tensors in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(tensors) != pg.size():
            raise RuntimeError(
                f"ProcessGroupGloo::alltoall: {name} tensor list size {len(tensors)} does not "
                f"match world size {pg.size()}"
            )
    me = pg.rank()
    check_sizes([output_tensor_list[me]], input_tensor_list[me], "alltoall")
    sends, receives = dict(enumerate(input_tensor_list)), dict(enumerate(output_tensor_list))
    work = pg.carrier.exchange("all_to_all", sends, receives, output_tensor_list, not async_op)
    return finish(work, async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Sends a part of a tensor to each rank, and receives a part of another from each.

    Raises:
        RuntimeError: where the parts don't make the tensors.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_alike(output, input)
    pg = member(group, "all_to_all_single")
    if pg is None:
        return None
    size, me = pg.size(), pg.rank()
    sent = _cut(input, _lengths(input, input_split_sizes, size))
    target = output if output.is_contiguous() else output.contiguous()
    places = _cut(target, _lengths(output, output_split_sizes, size))
    check_sizes([places[me]], sent[me], "alltoall_base")
    carrier = pg.carrier
    work: Work = carrier.exchange(
        "all_to_all", dict(enumerate(sent)), dict(enumerate(places)), [output], not async_op
    )
    if target is not output:
        work.wait()
        output.detach().copy_(target)
    return finish(work, async_op)


def _lengths(tensor: Tensor, split: Sequence[int] | None, size: int) -> list[int]:
    """How many elements go with each rank."""
    rows = tensor.shape[0] if tensor.dim() else 1
    if not split:
        if rows % size:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [tensor.numel() // size] * size
    if len(split) != size:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(split) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    each = tensor.numel() // rows if rows else 0
    return [each * count for count in split]


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
