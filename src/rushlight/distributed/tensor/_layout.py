"""Where the pieces of a tensor lie, and how a tensor changes from one layout to another.

A layout has a placement for each side of a mesh. A dimension that two sides cut is cut by the first
side, and each piece by the second: pieces are put together from the last side to the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .._functional_collectives import _operation
from .._ground import f
from ..collectives import all_gather, all_reduce
from ..exchanges import all_to_all, reduce_scatter
from .placement_types import Partial, Placement, Replicate, Shard, _NormPartial

if TYPE_CHECKING:
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor
    from ..device_mesh import DeviceMesh

__all__ = ["DTensorSpec", "TensorMeta", "local_piece", "move", "piece", "piece_of_rank"]

Placements = tuple[Placement, ...]


class TensorMeta(NamedTuple):
    """What a tensor is as a whole."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: dtype


class DTensorSpec(NamedTuple):
    """A tensor as a whole, and how it lies over a mesh."""

    mesh: DeviceMesh
    placements: Placements
    tensor_meta: TensorMeta

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole."""
        return self.tensor_meta.shape


def piece(length: int, count: int, index: int) -> tuple[int, int]:
    """Where piece `index` of a dimension begins, and how long it is: the last may be empty."""
    each = -(-length // count)
    start = min(index * each, length)
    return start, min(each, length - start)


def piece_of_rank(
    shape: Sequence[int], mesh: DeviceMesh, placements: Placements, place: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of the piece of the rank at a place of the mesh, and where it begins."""
    lengths, starts = list(shape), [0] * len(shape)
    for side, placement in enumerate(placements):
        if isinstance(placement, Shard):
            start, length = piece(lengths[placement.dim], mesh.size(side), place[side])
            starts[placement.dim] += start
            lengths[placement.dim] = length
    return tuple(lengths), tuple(starts)


def local_piece(
    shape: Sequence[int], mesh: DeviceMesh, placements: Placements
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this rank's piece, and where it begins."""
    place = mesh.get_coordinate()
    if place is None:
        return (0,), (0,) * len(shape)
    return piece_of_rank(shape, mesh, placements, place)


def _lengths(spec: DTensorSpec, placements: Placements, side: int, dim: int) -> list[int]:
    """How long the pieces of a dimension are along a side, for this rank's place on the others."""
    place = list(spec.mesh.get_coordinate() or ())
    out = []
    for index in range(spec.mesh.size(side)):
        place[side] = index
        out.append(piece_of_rank(spec.shape, spec.mesh, placements, place)[0][dim])
    return out


def move(local: Tensor, spec: DTensorSpec, target: Placements) -> Tensor:
    """This rank's piece in another layout of the same mesh."""
    current = list(spec.placements)
    if spec.mesh.get_coordinate() is None or tuple(current) == target:
        return local
    changing = [side for side, (a, b) in enumerate(zip(current, target)) if a != b]
    if len(changing) == 1 and not _cut_again(current, target, changing[0]):
        side = changing[0]
        one = _directly(local, spec, side, current[side], target[side])
        if one is not None:
            return one
    redone = set(changing)
    for side in changing:  # a piece that is cut again is put together before it changes
        redone |= {
            later
            for later in range(side + 1, len(current))
            if any(_cuts_alike(layout[side], layout[later]) for layout in (current, list(target)))
        }
    for side in sorted(redone, reverse=True):
        local = _together(local, spec, tuple(current), side)
        current[side] = Replicate()
    for side in sorted(redone):
        local = _apart(local, spec.mesh, side, target[side])
    return local


def _cuts_alike(a: Placement, b: Placement) -> bool:
    return isinstance(a, Shard) and isinstance(b, Shard) and a.dim == b.dim


def _cut_again(current: Sequence[Placement], target: Placements, side: int) -> bool:
    """Whether another side cuts a dimension that `side` cuts, before or after."""
    return any(
        _cuts_alike(layout[side], layout[other])
        for layout in (current, target)
        for other in range(len(target))
        if other != side
    )


def _directly(
    local: Tensor, spec: DTensorSpec, side: int, current: Placement, target: Placement
) -> Tensor | None:
    """The one message that a change needs where it needs but one; None where it needs more."""
    mesh, group = spec.mesh, spec.mesh.get_group(side)
    if not isinstance(target, Shard):
        return None
    if isinstance(current, Partial):
        local = _summand(local, current)
    cut = [
        local.narrow(target.dim, *piece(local.shape[target.dim], mesh.size(side), i)).contiguous()
        for i in range(mesh.size(side))
    ]
    if isinstance(current, Partial):
        out = f.empty_like(cut[group.rank()])
        reduce_scatter(out, cut, _operation(current.reduce_op), group)
        return _of_sum(out, current)
    if isinstance(current, Shard):
        lengths = _lengths(spec, spec.placements, side, current.dim)
        places = []
        for length in lengths:
            shape = list(cut[group.rank()].shape)
            shape[current.dim] = length
            places.append(local.new_empty(shape))
        all_to_all(places, cut, group)
        return f.cat(places, current.dim)
    return None


def _summand(local: Tensor, placement: Partial) -> Tensor:
    """What is added up of a rank's part: of a norm its power."""
    if not isinstance(placement, _NormPartial) or placement.norm_type == 1:
        return local
    return local * local if placement.norm_type == 2 else local.pow(placement.norm_type)


def _of_sum(total: Tensor, placement: Partial) -> Tensor:
    """The whole of what was added up: of a norm the root."""
    if not isinstance(placement, _NormPartial) or placement.norm_type == 1:
        return total
    return total.sqrt() if placement.norm_type == 2 else total.pow(1 / placement.norm_type)


def _together(local: Tensor, spec: DTensorSpec, current: Placements, side: int) -> Tensor:
    """The whole along a side."""
    placement, group = current[side], spec.mesh.get_group(side)
    if isinstance(placement, Partial):
        out = _summand(local, placement).contiguous()
        if out is local:
            out = out.clone()
        all_reduce(out, _operation(placement.reduce_op), group)
        return _of_sum(out, placement)
    if not isinstance(placement, Shard):
        return local
    places = []
    for length in _lengths(spec, current, side, placement.dim):
        shape = list(local.shape)
        shape[placement.dim] = length
        places.append(local.new_empty(shape))
    all_gather(places, local.contiguous(), group)
    return f.cat(places, placement.dim)


def _apart(local: Tensor, mesh: DeviceMesh, side: int, target: Placement) -> Tensor:
    """This rank's part of what every rank along a side has."""
    place = mesh.get_coordinate()
    assert place is not None
    if isinstance(target, Shard):
        start, length = piece(local.shape[target.dim], mesh.size(side), place[side])
        return local.narrow(target.dim, start, length).contiguous()
    if isinstance(target, Partial) and target.reduce_op == "sum" and place[side] != 0:
        return f.zeros_like(local)
    return local
