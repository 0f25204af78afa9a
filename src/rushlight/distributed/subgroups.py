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
    """Groups of so many neighbouring ranks each.

    Parameters:
        group_size: how many ranks each has; None means that there is one group of all.
        group: the group that is divided; None means that of all.
        timeout: how long the others, and later messages, may take, a `timedelta`; 30 minutes by
            default.
        backend: the name of what carries the messages; None means that of the default group.
        pg_options: nothing here.
        group_desc: what the groups are for.
    Returns: this process's group, and the list of all of them.
    Raises: ValueError: where they don't come out even, and without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> mine, every = dist.new_subgroups(1)
        >>> mine.size(), len(every)
        (1, 1)
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
    """Groups of the ranks in each list.

    Parameters:
        ranks_per_subgroup_list: the ranks of each group; no rank is in two.
        timeout: how long the others, and later messages, may take, a `timedelta`; 30 minutes by
            default.
        backend: the name of what carries the messages; None means that of the default group.
        pg_options: nothing here.
        group_desc: what the groups are for.
    Returns: this process's group (`GroupMember.NON_GROUP_MEMBER` where no list has it), and the
        list of all of them.
    Raises: ValueError: without lists, for a rank in two of them, for ranks that there aren't, and
        without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> mine, every = dist.new_subgroups_by_enumeration([[0]])
        >>> mine.size(), len(every)
        (1, 1)
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
    """The group of the list that has this process's rank in the parent.

    Parameters:
        parent_pg: the group that is split; None means that of all.
        split_ranks: the ranks of each part, counted within the parent.
        timeout: how long the others, and later messages, may take, a `timedelta`; 30 minutes by
            default.
        pg_options: nothing here.
        group_desc: what the groups are for.
    Returns: the group; None where no list has the rank.
    Raises: ValueError: without lists, for lists that have ranks the parent hasn't, and without a
        default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.split_group(split_ranks=[[0]]).size()
        1
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
