"""`torch.distributed._functional_collectives`: collectives that give their result.

Gradients go through them; a group may be a `DeviceMesh`, a side of one, or a list of ranks.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from ..autograd.function import Function
from . import collectives, exchanges
from ._ground import f
from .nn.functional import _AllReduce, _AllToAllSingle
from .process_group import ProcessGroup, _Current, choose, new_group
from .reduce_op import RedOpType, ReduceOp

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .annotations import Ctx, Gradients, GroupLike


__all__ = [
    "all_gather_single", "all_gather_single_autograd", "all_gather_tensor",
    "all_gather_tensor_autograd", "all_reduce", "all_reduce_coalesced", "all_to_all_single",
    "all_to_all_single_autograd", "broadcast", "reduce_scatter_single",
    "reduce_scatter_single_autograd", "reduce_scatter_tensor", "reduce_scatter_tensor_autograd",
    "wait_tensor",
]  # fmt: skip


def group_of(group: GroupLike) -> ProcessGroup:
    """The group that is meant: a mesh's, a side's (a pair of both), or one of a list of ranks.

    Raises:
        ValueError: for a mesh of several sides.
    """
    if isinstance(group, ProcessGroup):
        return group
    if isinstance(group, str):
        return _Current.groups[group]
    if isinstance(group, tuple) and hasattr(group[0], "get_group"):
        found: ProcessGroup = group[0].get_group(group[1])
        return found
    if hasattr(group, "get_group"):
        if group.ndim != 1:
            raise ValueError("Found more than 1 dimension in the mesh: name one of its sides")
        whole: ProcessGroup = group.get_group()
        return whole
    if group is None:
        return choose()
    ranks = list(group)
    for made in _Current.groups.values():
        if made.ranks == ranks:
            return made
    made_now = new_group(ranks)
    assert isinstance(made_now, ProcessGroup)
    return made_now


def _operation(name: str) -> RedOpType:
    return RedOpType[name.upper()]


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor: nothing is under way."""
    return tensor


def all_reduce(self: Tensor, reduceOp: str, group: GroupLike, tag: str = "") -> Tensor:
    """One tensor made of all ranks', on every rank."""
    out: Tensor = _Reduced.apply(_operation(reduceOp), group_of(group), self)
    return out


def all_reduce_coalesced(
    self: builtins.list[Tensor], reduceOp: str, group: GroupLike, tag: str = ""
) -> builtins.list[Tensor]:
    """One tensor made of all ranks', for each of several."""
    return [all_reduce(tensor, reduceOp, group) for tensor in self]


def broadcast(self: Tensor, src: int, group: GroupLike, tag: str = "") -> Tensor:
    """What the group's rank `src` has."""
    out: Tensor = self.detach().clone()
    collectives.broadcast(out, group=group_of(group), group_src=src)
    return out


def all_gather_single(self: Tensor, gather_dim: int, group: GroupLike, tag: str = "") -> Tensor:
    """The tensors of all ranks, one behind the other in a dimension."""
    out: Tensor = _AllGather.apply(gather_dim, group_of(group), self)
    return out


def reduce_scatter_single(
    self: Tensor, reduceOp: str, scatter_dim: int, group: GroupLike, tag: str = ""
) -> Tensor:
    """This rank's piece (in a dimension) of the one tensor that is made of all ranks'.

    Raises:
        AssertionError: where the dimension has no equal pieces.
    """
    pg = group_of(group)
    if self.size(scatter_dim) % pg.size():
        raise AssertionError(
            f"input dimension {scatter_dim} ({self.size(scatter_dim)} must be a multiple of "
            f"group_size {pg.size()})"
        )
    out: Tensor = _ReduceScatter.apply(_operation(reduceOp), scatter_dim, pg, self)
    return out


def all_to_all_single(
    self: Tensor,
    output_split_sizes: builtins.list[int] | None,
    input_split_sizes: builtins.list[int] | None,
    group: GroupLike,
    tag: str = "",
) -> Tensor:
    """A part of each rank's tensor, for a part of this one to each."""
    own = self.contiguous()
    rows = own.shape[0] if output_split_sizes is None else sum(output_split_sizes)
    place = own.new_empty((rows, *own.shape[1:]))
    out: Tensor = _AllToAllSingle.apply(
        group_of(group), place, output_split_sizes, input_split_sizes, own
    )
    return out


all_gather_tensor = all_gather_single
all_gather_single_autograd = all_gather_tensor_autograd = all_gather_single
reduce_scatter_tensor = reduce_scatter_single
reduce_scatter_single_autograd = reduce_scatter_tensor_autograd = reduce_scatter_single
all_to_all_single_autograd = all_to_all_single


class _Reduced(_AllReduce):
    """Goes backward through sums and means alone."""

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        if ctx.op not in (ReduceOp.SUM, ReduceOp.AVG):
            raise RuntimeError(
                f"all_reduce backward only supports 'sum' reduction, got '{ctx.op.name.lower()}'"
            )
        return _AllReduce.backward(ctx, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Ctx, dim: int, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.dim, ctx.group = dim, group
        own = tensor.detach().contiguous()
        size = group.size()
        if own.dim() == 0:
            own = own.reshape(1)
        out = own.new_empty((own.shape[0] * size, *own.shape[1:]))
        collectives.all_gather_into_tensor(out, own, group)
        return out if dim == 0 else f.cat(out.chunk(size), dim)

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        return None, None, _ReduceScatter.apply(ReduceOp.SUM, ctx.dim, ctx.group, grad)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Ctx, op: RedOpType, dim: int, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.op, ctx.dim, ctx.group = op, dim, group
        parts = [part.contiguous() for part in tensor.detach().chunk(group.size(), dim)]
        out = parts[0].new_empty(parts[0].shape)
        exchanges.reduce_scatter(out, parts, op, group)
        return out

    @staticmethod
    def backward(ctx: Ctx, grad: Tensor) -> Gradients:
        whole = _AllGather.apply(ctx.dim, ctx.group, grad)
        if ctx.op is ReduceOp.AVG:
            whole = whole / ctx.group.size()
        return None, None, None, whole
