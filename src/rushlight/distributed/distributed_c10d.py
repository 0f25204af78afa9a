"""`torch.distributed.distributed_c10d`: the same names under the module where PyTorch has them."""

from __future__ import annotations

from .messages import *  # noqa: F403
from .messages import __all__ as _messages
from .process_group import *  # noqa: F403
from .process_group import (
    DEFAULT_GROUP_TIMEOUT,
    ProcessGroup,
    __all__ as _groups,
    chosen,
    default_group,
)
from .stores import *  # noqa: F403
from .stores import Store, __all__ as _stores

default_pg_timeout = DEFAULT_GROUP_TIMEOUT


def _get_default_group() -> ProcessGroup:
    return default_group()


def _get_default_store() -> Store | None:
    return default_group().store


def _get_group_size(group: ProcessGroup | None = None) -> int:
    return int(chosen(group).size())


def _rank_not_in_group(group: ProcessGroup | int | None) -> bool:
    return bool(group == -100)


def _get_global_rank(group: ProcessGroup, rank: int) -> int:
    return rank


__all__ = ["default_pg_timeout"]
__all__ += [*_messages, *_groups, *_stores]  # noqa: PLE0604
