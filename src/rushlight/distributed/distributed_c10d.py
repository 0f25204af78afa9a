"""`torch.distributed.distributed_c10d`: the same names under the module where PyTorch has them."""

from __future__ import annotations

from .coalescing import _coalescing_manager as _coalescing_manager
from .collectives import *  # noqa: F403
from .collectives import __all__ as _collectives
from .debug_levels import DebugLevel, get_debug_level
from .exchanges import *  # noqa: F403
from .exchanges import __all__ as _exchanges
from .file_store import FileStore
from .object_collectives import *  # noqa: F403
from .object_collectives import __all__ as _objects
from .point_to_point import *  # noqa: F403
from .point_to_point import __all__ as _messages
from .process_group import *  # noqa: F403
from .process_group import (
    DEFAULT_GROUP_TIMEOUT,
    ProcessGroup,
    __all__ as _groups,
    choose,
    default_group,
    get_global_rank,
)
from .reduce_op import ReduceOp, reduce_op
from .stores import *  # noqa: F403
from .stores import Store, __all__ as _stores
from .subgroups import *  # noqa: F403
from .subgroups import __all__ as _subgroups
from .tcp_store import TCPStore

default_pg_timeout = DEFAULT_GROUP_TIMEOUT


def _get_default_group() -> ProcessGroup:
    return default_group()


def _get_default_store() -> Store | None:
    return default_group().store


def _get_group_size(group: ProcessGroup | None = None) -> int:
    return int(choose(group).size())


def _rank_not_in_group(group: ProcessGroup | int | None) -> bool:
    return bool(group == -100)


def _get_global_rank(group: ProcessGroup, rank: int) -> int:
    return get_global_rank(group, rank)


__all__ = [
    "DebugLevel", "FileStore", "ReduceOp", "TCPStore", "default_pg_timeout", "get_debug_level",
    "reduce_op",
]  # fmt: skip
__all__ += [*_collectives, *_exchanges, *_messages, *_objects, *_subgroups, *_groups, *_stores]  # noqa: PLE0604
