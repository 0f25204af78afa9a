"""`loss_parallel`: a loss of classes, where each rank has the logits of some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...._table.rows.reduction_argument import MEAN, NONE
from ..._ground import f
from .._api import DTensor
from .._dispatch import INSTEAD, Replicating
from .._layout import Placements, local_piece
from ..placement_types import Partial, Replicate, Shard

if TYPE_CHECKING:
    from ...._tensor.tensor import Tensor
    from ...annotations import Given
    from ...device_mesh import DeviceMesh

__all__ = ["loss_parallel"]


@contextmanager
def loss_parallel() -> Iterator[None]:
    """Has cross-entropy keep logits cut by class: only one number of each row is sent.

    Within it `cross_entropy` and `CrossEntropyLoss` take logits that one side of the mesh cuts
    along the classes, and targets that are plain where no other side cuts the batch. The backward
    belongs within it, too. Each rank adds up its own classes' exponentials, and has the target's
    logit where the class is its own.

    Returns: a context manager.
    Raises:
        ValueError: for logits whose classes no side cuts, or two, and for plain targets that
            another side cuts.
        NotImplementedError: for the mean over a mesh of several sides.
    Example:
        >>> import rushlight.distributed as dist
        >>> from rushlight.distributed.tensor import Shard, distribute_tensor
        >>> from rushlight.distributed.tensor.parallel import loss_parallel
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> logits = distribute_tensor(torch.zeros(2, 4, requires_grad=True), mesh, [Shard(1)])
        >>> with loss_parallel():
        ...     loss = F.cross_entropy(logits, torch.tensor([0, 3]))
        ...     loss.backward()
        >>> loss.to_local()
        tensor(1.3863, grad_fn=<...>)
        >>> dist.destroy_process_group()
    """
    before = dict(INSTEAD), Replicating.on
    INSTEAD.update(_HANDLERS)
    Replicating.on = True  # a plain target meets its gradient
    try:
        yield
    finally:
        INSTEAD.clear()
        INSTEAD.update(before[0])
        Replicating.on = before[1]


def _side_of(placements: Placements, dim: int) -> int:
    """The side of the mesh that cuts a dimension."""
    sides = [i for i, p in enumerate(placements) if p.is_shard(dim)]
    if len(sides) != 1:
        raise ValueError(
            f"loss_parallel() requires exactly one mesh dim to shard tensor dimension {dim}, but "
            f"got placements {placements} with {len(sides)} such mesh dim(s)."
        )
    for i, placement in enumerate(placements):
        if i != sides[0] and placement.is_partial():
            raise ValueError(
                "loss_parallel() expects non-TP mesh dims to be Shard or Replicate, got "
                f"{placement} at dim {i}."
            )
    return sides[0]


def _log_softmax(func: Given, args: Sequence[Given], kwargs: Given) -> Given:
    """x - top - log Σ exp(x - top): of each row two numbers are sent."""
    x, dim = args[0], args[1] % args[0].dim()
    if not isinstance(x, DTensor):
        return NotImplemented
    _side_of(x.placements, dim)
    shifted = x - _whole(x.amax(dim, True), x, dim)
    total = _whole(shifted.exp().sum(dim, True), x, dim)
    return shifted - total.log()


def _whole(reduced: Given, x: DTensor, dim: int) -> Given:
    """What was reduced along the cut dimension, on every rank of the side that cuts it."""
    wanted = [Replicate() if p.is_shard(dim) else p for p in x.placements]
    return reduced.redistribute(placements=wanted)


def _of_targets(placements: Placements, dim: int) -> Placements:
    """How the targets of logits lie, which have no dimension of classes."""
    return tuple(
        p if not isinstance(p, Shard)
        else Replicate() if p.dim == dim
        else Shard(p.dim - (p.dim > dim))
        for p in placements
    )  # fmt: skip


def _in_place(tensor: Given, placements: Placements, mesh: DeviceMesh) -> DTensor:
    """A tensor that lies as it has to."""
    if isinstance(tensor, DTensor):
        if tensor.placements != placements:
            raise RuntimeError(f"Expected {placements} but got {tensor.placements}.")
        return tensor
    if any(p.is_shard() for p in placements):
        raise ValueError(
            "loss_parallel() requires a DTensor (not a plain torch.Tensor) when the derived "
            f"placements {placements} contain Shard — this happens on a multi-dimensional mesh "
            "with a batch-sharded non-TP dim. Wrap the tensor with DTensor.from_local or "
            "distribute_tensor to make the sharding explicit."
        )
    return DTensor.from_local(tensor, mesh, placements, run_check=False)


def _likelihood(func: Given, args: Sequence[Given], kwargs: Given) -> Given:
    """The negative log likelihood: the rank that has a row's class has its loss."""
    x, target, weight, reduction, ignored = args[:5]
    if not isinstance(x, DTensor):
        return NotImplemented
    dim, mesh = min(x.dim() - 1, 1), x.device_mesh
    side = _side_of(x.placements, dim)
    if reduction == MEAN and mesh.ndim > 1:
        raise NotImplementedError(
            "loss_parallel() with reduction='mean' is only supported on one-dimensional DeviceMesh;"
            f" got mesh with ndim={mesh.ndim}. Use reduction='sum' or 'none' instead."
        )
    where = _of_targets(x.placements, dim)
    target = _in_place(target, where, mesh)
    counted = target != ignored
    index = target * counted
    picked = _pick(x, index.unsqueeze(dim), dim, side).squeeze(dim)
    weights = counted.to(x.dtype)
    if weight is not None:
        whole = _in_place(weight, (Replicate(),) * mesh.ndim, mesh).to_local()
        of_rows = whole.to(x.dtype)[index.to_local()]
        weights = weights * DTensor(of_rows, weights._spec)
    loss = picked.mul(weights).neg()
    loss = loss.masked_fill(~counted, 0.0)
    total = weights.sum()
    if reduction == NONE:
        return loss, total
    loss = loss.sum()
    return (loss / total if reduction == MEAN else loss), total


def _own_part(x: DTensor, index: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Of an index along a cut dimension, the places in this rank's piece, and which are there."""
    length, start = (found[dim] for found in local_piece(x.shape, x.device_mesh, x.placements))
    places = index - start
    here = (places >= 0) & (places < length)
    return f.where(here, places, 0), here


def _pick(x: DTensor, index: DTensor, dim: int, side: int) -> DTensor:
    """`gather` along a dimension that a side cuts."""
    places, here = _own_part(x, index.to_local(), dim)
    local = x._local_tensor
    if local.shape[dim]:
        found = f.where(here, local.gather(dim, places), 0)
    else:
        found = f.zeros(places.shape, dtype=local.dtype)
    parts = list(index.placements)
    parts[side] = Partial()
    out = DTensor(found, index._spec._replace(
        placements=tuple(parts),
        tensor_meta=index._spec.tensor_meta._replace(dtype=local.dtype),
    ))  # fmt: skip
    return out.redistribute(placements=index.placements)


def _scatter(func: Given, args: Sequence[Given], kwargs: Given) -> Given:
    """`scatter` of one value into each row of a tensor that a side cuts along the dimension."""
    x, dim, index, source = args[:4]
    tensors = all(isinstance(t, DTensor) for t in (x, index, source))
    if kwargs or not tensors or index.shape[dim] != 1:
        return NotImplemented
    rows = tuple(Replicate() if p.is_shard(dim) else p for p in x.placements)
    if sum(p.is_shard(dim) for p in x.placements) != 1 or source.placements != rows:
        return NotImplemented
    local, places_of = x._local_tensor, index.redistribute(placements=rows).to_local()
    if not local.shape[dim]:
        return x
    places, here = _own_part(x, places_of, dim)
    values = f.where(here, source.to_local(), local.gather(dim, places))
    return DTensor(local.scatter(dim, places, values), x._spec)


_HANDLERS: dict[str, Callable[..., Given]] = {
    "_log_softmax": _log_softmax, "nll_loss_forward": _likelihood,
    "nll_loss2d_forward": _likelihood, "scatter": _scatter,
}  # fmt: skip
