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

    With two ranks, rank 0 gets the sum of both first tensors, rank 1 that of both second ones.

    Parameters:
        output: written over with the result.
        input_list: a tensor for each rank.
        op: how the tensors become one, of `ReduceOp`.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any; those for one rank have the same everywhere, and that of its output.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor, or a list of tensors, and for what isn't an operation.
        ValueError: for different dtypes, without a default group, and for an order, bits or a
            product of complex numbers.
        RuntimeError: for a list of another length, where the output doesn't fit, for a mean of
            whole numbers, bits of floats, and PREMUL_SUM.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.zeros(2)
        >>> dist.reduce_scatter(row, [torch.tensor([1.0, 2.0])])
        >>> row
        tensor([1., 2.])
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

    Parameters:
        output: written over with the result.
        input: the parts for all ranks, one after the other.
        op: how the parts become one, of `ReduceOp`.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: the output (n, *), the same on all ranks; the input as many elements for each rank, as
        (ranks · n, *) or (ranks, n, *).
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor, and for what isn't an operation.
        ValueError: without a default group, and for an order, bits or a product of complex numbers.
        RuntimeError: for an input of another size or dtype, a mean of whole numbers, bits of
            floats, and PREMUL_SUM.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.zeros(2)
        >>> dist.reduce_scatter_tensor(row, torch.tensor([[1.0, 2.0]]))
        >>> row
        tensor([1., 2.])
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    pg = member(group, "reduce_scatter_tensor")
    if pg is None:
        return None
    check_whole(input, output, pg.size(), "input")
    chosen_op = check_operation(output, op, "reduce_scatter_tensor")
    parts = _cut(input, [output.numel()] * pg.size())
    return start(
        pg,
        "reduce_scatter_single",
        lambda waits: pg.carrier.reduce_scatter(output, parts, chosen_op, waits),
        async_op,
    )


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

    With two ranks that give [a, b] and [c, d], rank 0 gets [a, c], rank 1 [b, d].

    Parameters:
        output_tensor_list: a tensor for each rank, to be written over with what that rank sends.
        input_tensor_list: a tensor for each rank, which is sent to it.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: any; the place for a rank has that of what it sends.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a list of tensors.
        ValueError: for different dtypes, and without a default group.
        RuntimeError: for lists of another length, and where this rank's own place doesn't fit.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> places = [torch.zeros(2)]
        >>> dist.all_to_all(places, [torch.tensor([1.0, 2.0])])
        >>> places
        [tensor([1., 2.])]
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

    Parameters:
        output: written over with the parts received, one after the other.
        input: the parts that are sent, one after the other.
        output_split_sizes: how many rows come from each rank; None or empty: the same from all.
        input_split_sizes: how many rows go to each rank; None or empty: the same to all.
        group: the ranks that take part; None means all.
        async_op: whether to go on at once and be given a `Work` to wait for.
    Shapes: both (rows, *); the split sizes add up to the rows.
    Returns: a `Work` with `async_op`; else None, as to ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor.
        ValueError: for different dtypes, and without a default group.
        RuntimeError: where the parts don't make the tensors.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.zeros(2)
        >>> dist.all_to_all_single(row, torch.tensor([1.0, 2.0]))
        >>> row
        tensor([1., 2.])
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
