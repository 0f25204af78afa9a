"""The process group: one process, which is all of its ranks."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .._base.error_notes import advised
from ..utils._futures import Future
from .stores import DEFAULT_TIMEOUT, HashStore, Store

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor


__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "Work", "destroy_process_group", "get_backend",
    "get_global_rank", "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size",
    "group", "init_process_group", "is_initialized", "new_group",
]  # fmt: skip

NOT_INITIALIZED: Final = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)


class Backend(str):
    """The name of what carries messages between processes: gloo is the one of the CPU."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list: list[str] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name=}")
        return super().__new__(cls, name.lower())


class Work(NamedTuple):
    """A message that has been passed."""

    value: Any = None

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True: it has been passed."""
        return True

    def is_completed(self) -> bool:
        """True: it has been passed."""
        return True

    def is_success(self) -> bool:
        """True: it has been passed."""
        return True

    def exception(self) -> None:
        """None: there was no error."""

    def result(self) -> list[Tensor]:
        """The tensors that were passed."""
        return list(self.value or [])

    def get_future(self) -> Future[Any]:
        """A future that is done."""
        done: Future[Any] = Future()
        done.set_result(self.value)
        return done


class ProcessGroup:
    """A group of one process, of rank 0."""

    def __init__(self, backend: str = "gloo", store: Store | None = None) -> None:
        self._backend = backend
        self.store = store
        self.group_name = "0"
        self.group_desc = "default_pg"

    def rank(self) -> int:
        """0: the only process."""
        return 0

    def size(self) -> int:
        """1: the only process."""
        return 1

    def name(self) -> str:
        """The backend."""
        return self._backend


class _Current:
    world: ProcessGroup | None = None


class _MetaGroup(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group; None before `init_process_group`."""
        return _Current.world

    @WORLD.setter
    def WORLD(cls, group: ProcessGroup | None) -> None:
        _Current.world = group


class group(metaclass=_MetaGroup):
    """`group.WORLD` is the default group."""


class GroupMember(metaclass=_MetaGroup):
    """What `new_group` gives to processes that aren't in it."""

    NON_GROUP_MEMBER = -100


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return _Current.world is not None


def default_group() -> ProcessGroup:
    """The default group.

    Raises:
        ValueError: before `init_process_group`.
    """
    if _Current.world is None:
        raise ValueError(NOT_INITIALIZED)
    return _Current.world


def chosen(group: Any = None) -> Any:
    """The group that is meant: the default one where none is given."""
    return default_group() if group is None else group


def _from_environment(name: str, scheme: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise ValueError(
            f"Error initializing torch.distributed using {scheme} rendezvous: environment variable "
            f"{name} expected, but not set"
        )
    return value


def _check_backend(backend: str | None) -> str:
    names = [part.rpartition(":")[2] for part in (backend or "gloo").lower().split(",")]
    for name in names:
        if name not in Backend.backend_list or name == "undefined":
            raise AssertionError(f"Unknown backend type {name}")
    name = names[0]
    if "gloo" in names or name == "fake":
        return name if len(names) == 1 else ",".join(names)
    if name == "mpi":
        raise RuntimeError(
            "Distributed package doesn't have MPI built in. MPI is only included if you build "
            "PyTorch from source on a host that has MPI installed."
        )
    raise advised(
        RuntimeError(f"Distributed package doesn't have {name.upper()} built in"),
        'there are no GPUs here: use init_process_group("gloo")',
    )


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: object = None,
    device_id: object = None,
    **options: object,
) -> None:
    """Makes the default group, of this process alone.

    Raises:
        ValueError: if there is one, and where rank or number of the processes isn't told.
        RuntimeError: for more than one process, and for a backend of other devices.
    """
    if _Current.world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None:
        if world_size < 1:
            raise AssertionError("world_size must be positive if using store")
        if rank < 0:
            raise AssertionError("rank must be non-negative if using store")
    else:
        scheme = (init_method or "env://").partition("://")[0] + "://"
        if scheme == "env://":
            rank = int(_from_environment("RANK", scheme)) if rank < 0 else rank
            if world_size < 0:
                world_size = int(_from_environment("WORLD_SIZE", scheme))
            _from_environment("MASTER_ADDR", scheme)
            _from_environment("MASTER_PORT", scheme)
        elif rank < 0 or world_size < 0:
            missing = "rank parameter missing" if rank < 0 else "world size parameter missing"
            raise ValueError(
                f"Error initializing torch.distributed using {scheme} rendezvous: {missing}"
            )
    name = _check_backend(backend)
    if world_size > 1 or rank > 0:
        raise advised(
            RuntimeError(
                f"init_process_group: a group of {world_size} processes was asked for (this one is "
                f"rank {rank}), and Rushlight runs in one process"
            ),
            "start the program once, with WORLD_SIZE=1 and RANK=0; it uses several cores by itself",
        )
    _Current.world = ProcessGroup(name, HashStore() if store is None else store)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forgets a group; the default one ends all.

    Raises:
        AssertionError: where there is none.
    """
    if group is None and _Current.world is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _Current.world:
        _Current.world = None


def get_rank(group: ProcessGroup | int | None = None) -> int:
    """0: the rank of the only process; -1 where it isn't in the group."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return -1
    default_group()
    return 0


def get_world_size(group: ProcessGroup | int | None = None) -> int:
    """1: the number of processes; -1 where this one isn't in the group."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return -1
    default_group()
    return 1


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The backend's name."""
    return Backend(chosen(group).name())


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The ranks of a group's processes."""
    chosen(group)
    return [0]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank within a group of the process with this rank.

    Raises:
        ValueError: where it isn't in the group.
    """
    if global_rank != 0:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return 0


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank of the process with this rank within a group.

    Raises:
        ValueError: where the group has no such rank.
    """
    if group_rank != 0:
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return 0


def new_group(
    ranks: Any = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    *args: object,
    **options: object,
) -> Any:
    """A group of some of the processes: of this one, or one that it isn't in.

    Raises:
        ValueError: for more processes than there are, or ranks that there aren't.
    """
    world = default_group()
    if ranks is not None:
        ranks = sorted(ranks)
        if len(ranks) > 1:
            raise ValueError("the new group's world size should be less or equal to the world size "
                             "set by init_process_group")  # fmt: skip
        if any(rank != 0 for rank in ranks):
            raise ValueError("The new group's rank should be within the world_size set by "
                             "init_process_group")  # fmt: skip
        if not ranks:
            return GroupMember.NON_GROUP_MEMBER
    return ProcessGroup(world.name() if backend is None else _check_backend(backend), world.store)


DEFAULT_GROUP_TIMEOUT: Final = DEFAULT_TIMEOUT * 6
