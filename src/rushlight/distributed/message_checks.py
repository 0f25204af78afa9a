"""What every message's arguments are asked before anything is sent."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._tensor.tensor import Tensor
from .process_group import choose, get_group_rank, is_member, world_rank
from .work import Work

if TYPE_CHECKING:
    from .process_group import ProcessGroup

__all__ = [
    "check_alike", "check_list", "check_root", "check_sizes", "check_tensor", "finish", "member",
    "root_of",
]  # fmt: skip


def member(group: ProcessGroup | int | None, function: str) -> ProcessGroup | None:
    """The group that is meant; None, with a warning, where this process isn't in it."""
    if is_member(group):
        return choose(group)
    warnings.warn(
        f"Running {function} on global rank {world_rank()} which does not belong to the given "
        "group.",
        stacklevel=3,
    )
    return None


def check_tensor(tensor: Tensor, name: str) -> None:
    """Refuses what isn't a tensor.

    Raises:
        TypeError: for it.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(tensor)} instead."
        )


def check_list(tensors: Sequence[Tensor], name: str) -> None:
    """Refuses what isn't a list of tensors.

    Raises:
        TypeError: for it.
    """
    if not isinstance(tensors, list) or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(tensors)} with elements of type "
            f"{[type(t) for t in tensors] if isinstance(tensors, list) else None}."
        )


def check_alike(*tensors: Tensor) -> None:
    """Refuses tensors of different dtypes.

    Raises:
        ValueError: for them.
    """
    for tensor in tensors[1:]:
        if tensor.dtype != tensors[0].dtype:
            raise ValueError(
                "Invalid usage of tensors with different dtypes"
                f"Found {tensors[0].dtype} and  {tensor.dtype}"
            )


def check_sizes(places: Sequence[Tensor], tensor: Tensor, function: str) -> None:
    """Refuses places that are of another shape than what is put there.

    Raises:
        RuntimeError: for the first of them.
    """
    for index, place in enumerate(places):
        if tuple(place.shape) != tuple(tensor.shape):
            shapes = [", ".join(map(str, t.shape)) for t in (tensor, place)]
            raise RuntimeError(
                f"ProcessGroupGloo::{function}: invalid tensor size at index {index} (expected "
                f"({shapes[0]}), got ({shapes[1]}))"
            )


def root_of(
    group: ProcessGroup, rank: int | None, group_rank: int | None, default: int | None = None
) -> int:
    """The rank within the group that a global rank or a group's rank means.

    Raises:
        ValueError: for both, for none, and for a rank that isn't in the group.
    """
    if rank is None and group_rank is None:
        rank = default
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if rank is None and group_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group, rank) if rank is not None else int(group_rank or 0)


def check_root(
    group: ProcessGroup, rank: int | None, group_rank: int | None, function: str,
    default: int | None = None,
) -> int:  # fmt: skip
    """The rank within the group that is meant.

    Raises:
        RuntimeError: where the group has no such rank.
    """
    root = root_of(group, rank, group_rank, default)
    if not 0 <= root < group.size():
        raise RuntimeError(f"ProcessGroupGloo::{function}: invalid root rank: {root}")
    return root


def finish(work: Work, async_op: bool) -> Work | None:
    """The work where it was asked for; else waits for it."""
    if async_op:
        return work
    work.wait()
    return None
