"""Messages in which each rank gets a part of its own: of a sum, or from each of the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .coalescing import start
from .collectives import check_whole
from .message_checks import check_alike, check_list, check_sizes, check_tensor, finish, member
from .reduce_op import RedOpType, ReduceOp, check_operation
from .work import Work

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .process_group import ProcessGroup


__all__ = [
    "all_to_all", "all_to_all_single", "reduce_scatter", "reduce_scatter_single",
    "reduce_scatter_tensor",
]  # fmt: skip


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
    check_whole(input, output, pg.size(), "input")
    chosen_op = check_operation(output, op, "reduce_scatter_tensor")
    parts = _cut(input, [output.numel()] * pg.size())
    begin = lambda waits: pg.carrier.reduce_scatter(output, parts, chosen_op, waits)  # noqa: E731
    return start(pg, "reduce_scatter_single", begin, async_op)


reduce_scatter_single = reduce_scatter_tensor


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
