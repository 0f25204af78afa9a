"""What modules of several ranks start from: parameters alike, and rank 0's values everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..autograd.grad_mode import no_grad
from ..nn._ground import f
from .collectives import broadcast
from .object_collectives import all_gather_object

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from ..nn.modules.module import Module
    from .process_group import ProcessGroup

__all__ = ["give_all", "send_from"]

#: Bytes that are broadcast at a time.
_TOGETHER = 1 << 25


def _verify_param_shape_across_processes(
    process_group: ProcessGroup, tensors: Sequence[Tensor], logger: object = None
) -> None:
    """Compares the parameters of all ranks.

    Raises: RuntimeError, where their number or their shapes differ.
    """
    mine = [(tuple(t.shape), str(t.dtype)) for t in tensors]
    gathered: list[Any] = [None] * process_group.size()
    all_gather_object(gathered, mine, process_group)
    me = process_group.rank()
    for rank, theirs in enumerate(gathered):
        if len(theirs) != len(mine):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {me} has {len(mine)} "
                f"params, while rank {rank} has inconsistent {len(theirs)} params."
            )
        for index, (a, b) in enumerate(zip(mine, theirs)):
            if a != b:
                raise RuntimeError(
                    f"[{me}]: params[{index}] in this process with sizes {list(a[0])} appears "
                    f"not to match sizes of the same param in process {rank}."
                )


def _sync_module_states(
    module: Module,
    process_group: ProcessGroup,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Iterable[str],
    broadcast_buffers: bool = True,
) -> None:
    """Gives all ranks the parameters and buffers of one."""
    ignored = set(params_and_buffers_to_ignore)
    named = [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]
    tensors = [t for name, t in named if name not in ignored]
    give_all(tensors, process_group, src, broadcast_bucket_size)


def give_all(
    tensors: list[Tensor], group: ProcessGroup, root: int, together: int = _TOGETHER
) -> None:
    """Gives all ranks what one has."""
    with no_grad():
        for tensor, part in send_from(tensors, group, root, together):
            tensor.detach().copy_(part)


def send_from(
    tensors: list[Tensor], group: ProcessGroup, root: int, together: int = _TOGETHER
) -> list[tuple[Tensor, Tensor]]:
    """What one rank has of each tensor, on the others: many tensors in one message."""
    pairs: list[tuple[Tensor, Tensor]] = []
    by_dtype: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        by_dtype.setdefault(tensor.dtype, []).append(tensor)
    with no_grad():
        for alike in by_dtype.values():
            for some in _chunks(alike, together):
                whole = f.cat([t.detach().reshape(-1) for t in some])
                broadcast(whole, group=group, group_src=root)
                if group.rank() == root:
                    continue
                start = 0
                for t in some:
                    part = whole[start : start + t.numel()]
                    pairs.append((t, part.reshape(t.shape)))
                    start += t.numel()
    return pairs


def _chunks(tensors: list[Tensor], together: int) -> Iterator[list[Tensor]]:
    """Tensors some at a time."""
    some: list[Tensor] = []
    count = 0
    for tensor in tensors:
        some.append(tensor)
        count += tensor.numel() * tensor.element_size()
        if count >= together:
            yield some
            some, count = [], 0
    if some:
        yield some
