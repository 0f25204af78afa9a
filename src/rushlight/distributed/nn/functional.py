"""Messages that gradients go through: backward sends them the other way."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ...autograd.function import Function
from .. import collectives, exchanges
from ..process_group import choose, get_rank
from ..reduce_op import RedOpType, ReduceOp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._tensor.tensor import Tensor
    from ..annotations import Ctx, Gradients
    from ..process_group import ProcessGroup


__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce",
    "reduce_scatter", "scatter",
]  # fmt: skip


def _old(name: str, newer: str) -> None:
    warnings.warn(
        f"torch.distributed.nn.functional.{name} is deprecated, "
        f"use torch.distributed._functional_collectives.{newer} instead.",
        FutureWarning,
        stacklevel=3,
    )


def all_reduce(
    tensor: Tensor, op: object = ReduceOp.SUM, group: ProcessGroup | None = None
) -> Tensor:
    """One tensor made of all ranks', on every rank; gradients are made one in the same way."""
    _old("all_reduce", "all_reduce")
    out: Tensor = _AllReduce.apply(op, choose(group), tensor)
    return out


def reduce(
    tensor: Tensor, dst: int, op: object = ReduceOp.SUM, group: ProcessGroup | None = None
) -> Tensor:
    """One tensor made of all ranks', on rank `dst`, whose gradient goes to all."""
    out: Tensor = _Reduce.apply(dst, op, choose(group), tensor)
    return out


def broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> Tensor:
    """What rank `src` has, on every rank; `src` gets the sum of their gradients."""
    _old("broadcast", "broadcast")
    out: Tensor = _Broadcast.apply(src, choose(group), tensor)
    return out


def all_gather(tensor: Tensor, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on every rank; each gets the sum of its gradients."""
    _old("all_gather", "all_gather_single")
    out: tuple[Tensor, ...] = _AllGather.apply(choose(group), tensor)
    return out


def gather(tensor: Tensor, dst: int = 0, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks on rank `dst`; zeros on the others."""
    out: tuple[Tensor, ...] = _Gather.apply(dst, choose(group), tensor)
    return out


def scatter(tensors: Sequence[Tensor], src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """The tensor of a list on rank `src` that is for this rank."""
    out: Tensor = _Scatter.apply(src, choose(group), *tensors)
    return out


def reduce_scatter(
    output: Tensor,
    input_list: Sequence[Tensor],
    op: object = ReduceOp.SUM,
    group: ProcessGroup | None = None,
) -> Tensor:
    """One of the tensors that all ranks have for this one."""
    _old("reduce_scatter", "reduce_scatter_single")
    out: Tensor = _ReduceScatter.apply(op, choose(group), output, *input_list)
    return out


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
) -> tuple[Tensor, ...]:
    """A tensor from each rank, for a tensor to each."""
    out: tuple[Tensor, ...] = _AllToAll.apply(choose(group), output_tensor_list, *input_tensor_list)
    return out


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: ProcessGroup | None = None,
) -> Tensor:
    """A part from each rank, for a part of a tensor to each."""
    _old("all_to_all_single", "all_to_all_single")
    out: Tensor = _AllToAllSingle.apply(
        choose(group), output, output_split_sizes, input_split_sizes, input
    )
    return out


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Ctx, op: RedOpType, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        out = tensor.detach().contiguous().clone()
        collectives.all_reduce(out, op, group)
        return out

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Ctx, src: int, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        out = tensor.detach().clone()
        collectives.broadcast(out, src, group)
        return out

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        total = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        return None, None, total if get_rank() == ctx.src else total * 0


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Ctx, dst: int, op: RedOpType, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        out = tensor.detach().clone()
        collectives.reduce(out, dst, op, group)
        return out

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _Gather(Function):
    @staticmethod
    def forward(ctx: Ctx, dst: int, group: ProcessGroup, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.dst, ctx.group = dst, group
        places = [tensor.detach().clone().zero_() for _ in range(group.size())]
        here = get_rank() == dst
        collectives.gather(tensor.detach().contiguous(), places if here else None, dst, group)
        return tuple(places)

    @staticmethod
    def backward(ctx: Ctx, *grads: Tensor) -> Gradients:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Ctx, src: int, group: ProcessGroup, *tensors: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        if not all(t.shape == tensors[0].shape for t in tensors):
            raise AssertionError
        out = tensors[0].detach().clone().zero_()
        parts = [t.detach() for t in tensors] if get_rank() == src else None
        collectives.scatter(out, parts, src, group)
        return out

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        return None, None, *_Gather.apply(ctx.src, ctx.group, grad)


class _ReduceScatter(Function):
    @staticmethod
    def forward(
        ctx: Ctx, op: RedOpType, group: ProcessGroup, output: Tensor, *parts: Tensor
    ) -> Tensor:
        ctx.group = group
        out = output.detach().contiguous()
        exchanges.reduce_scatter(out, [p.detach().contiguous() for p in parts], op, group)
        return out

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        return None, None, None, *_AllGather.apply(ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Ctx, group: ProcessGroup, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        own = tensor.detach().contiguous()
        places = [own.clone() for _ in range(group.size())]
        collectives.all_gather(places, own, group)
        return tuple(places)

    @staticmethod
    def backward(ctx: Ctx, *grads: Tensor) -> Gradients:
        own = grads[ctx.group.rank()].detach().contiguous().clone()
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, own, *grads)


class _AllToAll(Function):
    @staticmethod
    def forward(
        ctx: Ctx, group: ProcessGroup, places: list[Tensor], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.group = group
        ctx.shapes = [t.shape for t in tensors]
        exchanges.all_to_all(places, [t.detach().contiguous() for t in tensors], group)
        return tuple(places)

    @staticmethod
    def backward(ctx: Ctx, *grads: Tensor) -> Gradients:
        places = [grads[0].new_empty(shape) for shape in ctx.shapes]
        return None, None, *_AllToAll.apply(ctx.group, places, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(
        ctx: Ctx, group: ProcessGroup, output: Tensor, received: list[int] | None,
        sent: list[int] | None, tensor: Tensor,
    ) -> Tensor:  # fmt: skip
        ctx.group, ctx.received, ctx.sent, ctx.shape = group, received, sent, tensor.shape
        exchanges.all_to_all_single(output, tensor.detach(), received, sent, group)
        return output

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        place = grad.new_empty(ctx.shape)
        back = _AllToAllSingle.apply(ctx.group, place, ctx.sent, ctx.received, grad.contiguous())
        return None, None, None, None, back
