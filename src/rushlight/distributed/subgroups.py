"""Several groups at once: of neighbouring ranks, by lists of ranks, or split from another group."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from .process_group import GroupMember, choose, default_group, get_process_group_ranks, new_group

if TYPE_CHECKING:
    from .process_group import ProcessGroup

__all__ = ["new_subgroups", "new_subgroups_by_enumeration", "split_group"]


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup | int, list[ProcessGroup | int]]:
    """Groups of so many neighbouring ranks each: this process's, and all of them.

    Raises:
        ValueError: where they don't come out even.
    """
    ranks = get_process_group_ranks(group)
    size = len(ranks) if group_size is None else group_size
    if size <= 0:
        raise ValueError(f"The arg 'group_size' ({size}) must be positive")
    if len(ranks) < size:
        raise ValueError(
            f"The arg 'group_size' ({size}) must not exceed the world size ({len(ranks)})"
        )
    if len(ranks) % size != 0:
        raise ValueError(f"The world size ({len(ranks)}) must be divisible by 'group_size={size}'")
    lists = [ranks[start : start + size] for start in range(0, len(ranks), size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]] | None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup | int, list[ProcessGroup | int]]:
    """Groups of the ranks in each list: this process's, and all of them.

    Raises:
        ValueError: without lists, and for a rank in two of them.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen: dict[int, Sequence[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(
                    f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}"
                )
            seen[rank] = ranks
    mine: ProcessGroup | int = GroupMember.NON_GROUP_MEMBER
    groups = []
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        groups.append(made)
        if default_group().rank() in ranks:
            mine = made
    return mine, groups


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: object = None,
    group_desc: str | None = None,
) -> ProcessGroup | None:
    """The group of the list that has this process's rank in the parent; None where none has.

    Raises:
        ValueError: without lists, and for lists that have ranks the parent hasn't.
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    parent = choose(parent_pg)
    size = parent.size()
    made = None
    for ranks in split_ranks:
        if any(not 0 <= rank < size for rank in ranks):
            raise ValueError(f"split_group: {list(ranks)} aren't all ranks of a group of {size}")
        if parent.rank() in ranks:
            wanted = [parent.ranks[rank] for rank in ranks]
            made = new_group(wanted, timeout, None, pg_options, True, group_desc)
    return made
