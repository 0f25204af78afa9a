"""Process groups: how they are made, who is in them, and what carries their messages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from .._base.ranks import NO_GROUP, RANKS
from .backends import Backend, check_backend
from .carrier import Carrier, LocalCarrier
from .rendezvous import meet
from .stores import DEFAULT_TIMEOUT, PrefixStore, Store
from .work import Work

if TYPE_CHECKING:
    pass

__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "Work", "destroy_process_group", "get_backend",
    "get_backend_config", "get_global_rank", "get_group_rank", "get_pg_count",
    "get_process_group_ranks",
    "get_rank", "get_world_size",
    "group", "init_process_group", "is_initialized", "new_group",
]  # fmt: skip


class ProcessGroup:
    """Some ranks, and what carries messages between them; `new_group` and their like make it.

    Parameters:
        carrier: what carries the messages; None makes a group of this process alone.
        backend: the name that `get_backend` gives.
        ranks: the ranks of the group's processes among all, in the group's order.
        store: the store by which the group was made.
        name: what the group is filed under.
        description: what it is for, in `group_desc`.
    Raises: TypeError: for ranks that can't be listed.
    Example:
        >>> group = dist.ProcessGroup()
        >>> group.rank(), group.size(), group.name()
        (0, 1, 'gloo')
    """

    def __init__(
        self,
        carrier: Carrier | None = None,
        backend: str = "gloo",
        ranks: Sequence[int] = (0,),
        store: Store | None = None,
        name: str = "0",
        description: str = "default_pg",
    ) -> None:
        self.carrier: Carrier = LocalCarrier(DEFAULT_TIMEOUT * 6) if carrier is None else carrier
        self._backend = backend
        self.ranks = list(ranks)
        self.store = store
        self.group_name = name
        self.group_desc = description
        self.bound_device_id = None

    def rank(self) -> int:
        """The rank of this process in the group."""
        return self.carrier.rank

    def size(self) -> int:
        """How many ranks the group has."""
        return self.carrier.size

    def name(self) -> str:
        """The backend."""
        return self._backend

    def get_group_store(self) -> Store | None:
        """The store by which the group was made."""
        return self.store

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets how long messages may take."""
        self.carrier.timeout = timeout

    def abort(self) -> None:
        """Gives the group up."""
        self.carrier.close()

    def shutdown(self) -> None:
        """Ends the group."""
        self.carrier.close()


class _Current:
    world: ProcessGroup | None = None
    groups: dict[str, ProcessGroup] = {}
    made: int = 0
    made_of: dict[tuple[int, ...], int] = {}

    @classmethod
    def count_here(cls, ranks: Sequence[int]) -> int:
        """The number of the next group of these ranks, which they alone count."""
        count = cls.made_of[tuple(ranks)] = cls.made_of.get(tuple(ranks), 0) + 1
        return count


class _MetaGroup(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group; None before `init_process_group`."""
        return _Current.world

    @WORLD.setter
    def WORLD(cls, group: ProcessGroup | None) -> None:
        _Current.world = group


class group(metaclass=_MetaGroup):
    """`group.WORLD` is the default group; None before `init_process_group`.

    Example:
        >>> dist.group.WORLD is None
        True
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.group.WORLD.size()
        1
    """


class GroupMember(metaclass=_MetaGroup):
    """What `new_group` gives to processes that aren't in it: `GroupMember.NON_GROUP_MEMBER`.

    Example:
        >>> dist.GroupMember.NON_GROUP_MEMBER
        -100
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.GroupMember.WORLD is dist.group.WORLD
        True
    """

    NON_GROUP_MEMBER = -100


def is_initialized() -> bool:
    """Whether `init_process_group` has been called.

    Returns: True until `destroy_process_group` ends all groups.
    Example:
        >>> dist.is_initialized()
        False
    """
    return _Current.world is not None


def default_group() -> ProcessGroup:
    """The default group.

    Raises:
        ValueError: before `init_process_group`.
    """
    if _Current.world is None:
        raise ValueError(NO_GROUP)
    return _Current.world


def world_rank() -> int:
    """The rank of this process among all."""
    return default_group().rank()


def choose(group: ProcessGroup | int | None = None) -> ProcessGroup:
    """The group that is meant: the default one where none is given."""
    return default_group() if group is None else cast("ProcessGroup", group)


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
    """Makes the default group of all processes that call this.

    The processes meet by an address or by a store, and find each other's messages through MPI; one
    process alone needs nothing of that.

    Parameters:
        backend: "gloo", or "mpi" under a launcher of MPI; None means "gloo".
        init_method: where the processes meet: "env://" (the default: by `MASTER_ADDR`,
            `MASTER_PORT`, `RANK` and `WORLD_SIZE`, which torchrun sets), "tcp://host:port" or
            "file:///path".
        timeout: how long the others, and later messages, may take, a `timedelta`; 30 minutes by
            default.
        world_size: how many processes there are; -1 means that the address tells it.
        rank: the number of this one, from 0; -1 means that the address tells it.
        store: a store that all processes reach, in the place of `init_method`.
        group_name, pg_options, device_id: nothing here.
        **options: others of PyTorch's, which change nothing here.
    Raises:
        ValueError: if there is one, and where rank or number of the processes isn't told.
        AssertionError: for a store and an `init_method`, a store without rank or number, and an
            unknown backend.
        RuntimeError: for a backend of other devices, and an address of an unknown kind.
        DistBackendError: for several processes without MPI.
        DistError: where the others don't come within the timeout.
    Example:
        >>> dist.init_process_group("gloo", "tcp://127.0.0.1:29500", rank=0, world_size=1)
        >>> dist.get_rank(), dist.get_world_size(), dist.get_backend()
        (0, 1, 'gloo')
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
    limit = timeout or DEFAULT_GROUP_TIMEOUT
    host = None
    expected = os.environ.get("WORLD_SIZE", "1") if world_size < 0 else str(world_size)
    if expected.isdigit() and int(expected) > 1:
        from .world import import_mpi

        import_mpi()  # says what is lacking before the others are waited for
    if store is None:
        method = init_method or "env://"
        if _launcher_decides(backend, method, rank):
            _Current.world = _group_of_launcher(check_backend(backend), limit)
            return
        place = meet(method, rank, world_size, limit)
        if place.size == 1:
            check_backend(backend)
        store, rank, world_size, host = place
        store.set_timeout(limit)
    name = check_backend(backend)
    if world_size <= 1 and rank <= 0:
        ranks, carrier = [0], cast("Carrier", LocalCarrier(limit))
    else:
        from .mpi_carrier import carrier_over
        from .world import form_world

        world = form_world(PrefixStore("default_pg", store), rank, world_size, host, limit)
        ranks = list(range(world.size))
        carrier = carrier_over(world, "init_process_group", world.comm.Dup, ranks, limit)
    _Current.world = ProcessGroup(carrier, name, ranks, PrefixStore("default_pg", store))
    _Current.groups = {"0": _Current.world}


def _launcher_decides(backend: str | None, method: str, rank: int) -> bool:
    """Whether the program leaves it to a launcher of MPI who is who."""
    if method != "env://" or rank >= 0 or "RANK" in os.environ:
        return False
    from .world import launcher_place

    place = launcher_place()
    return place is not None and (place[1] > 1 or (backend or "").lower() == "mpi")


def _group_of_launcher(name: str, timeout: timedelta) -> ProcessGroup:
    """The default group under a launcher of MPI, which needs no rendezvous for messages.

    Its store is served by rank 0, on a free port that it tells the others.
    """
    import socket

    from .mpi_carrier import carrier_over
    from .tcp_store import TCPStore
    from .world import find_launched_world, this_node

    world = find_launched_world()
    place = None
    if world.rank == 0:
        served = TCPStore("127.0.0.1", 0, None, True, timeout)
        place = (this_node(), socket.gethostname(), served.port)
    node, host, port = world.comm.bcast(place)
    if world.rank != 0:
        near = "127.0.0.1" if node == this_node() else host
        served = TCPStore(near, port, None, False, timeout)
    ranks = list(range(world.size))
    carrier = carrier_over(world, "init_process_group", world.comm.Dup, ranks, timeout)
    group = ProcessGroup(carrier, name, ranks, PrefixStore("default_pg", served))
    _Current.groups = {"0": group}
    return group


def alone(what: str, group: ProcessGroup | int | None = None) -> ProcessGroup | None:
    """The group that is meant, where it is of one process; None before there is one.

    Raises:
        NotImplementedError: for a group of several, for which `what` isn't done yet.
    """
    if _Current.world is None:
        return None
    pg = choose(group)
    if isinstance(pg, ProcessGroup) and pg.size() > 1:
        raise NotImplementedError(f"{what} works in a group of one process so far: this one has "
                                  f"{pg.size()}")  # fmt: skip
    return pg


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Forgets a group; the default one ends all.

    Parameters:
        group: the group; None means the default one.
    Raises: AssertionError: where there is no default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.destroy_process_group()
        >>> dist.is_initialized()
        False
    """
    if group is None and _Current.world is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _Current.world:
        for one in _Current.groups.values():
            one.shutdown()
        _Current.world = None
        _Current.groups = {}
        _Current.made = 0
    elif isinstance(group, ProcessGroup):
        group.shutdown()
        _Current.groups.pop(group.group_name, None)


def is_member(group: ProcessGroup | int | None) -> bool:
    """Whether this process is in a group (None: the default one)."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return False
    choose(group)
    return True


def get_rank(group: ProcessGroup | int | None = None) -> int:
    """The rank of this process.

    Parameters:
        group: the group within which it is counted; None means that of all.
    Returns: a number from 0; -1 where it isn't in the group.
    Raises: ValueError: without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_rank()
        0
    """
    return int(choose(group).rank()) if is_member(group) else -1


def get_world_size(group: ProcessGroup | int | None = None) -> int:
    """The number of ranks.

    Parameters:
        group: the group whose ranks are counted; None means that of all.
    Returns: how many there are; -1 where this process isn't in the group.
    Raises: ValueError: without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_world_size()
        1
    """
    return int(choose(group).size()) if is_member(group) else -1


RANKS.rank, RANKS.count = get_rank, get_world_size


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The backend's name.

    Parameters:
        group: the group that is asked; None means that of all.
    Returns: a `Backend`, which is text.
    Raises: ValueError: where this process isn't in the group, and without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_backend()
        'gloo'
    """
    if not is_member(group):
        raise ValueError("Invalid process group specified")
    return Backend(choose(group).name())


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The backend's name for each device.

    Parameters:
        group: the group that is asked; None means that of all.
    Returns: pairs of a device and a name, as text.
    Raises: ValueError: without a default group, and where this process isn't in the group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_backend_config()
        'cpu:gloo,cuda:gloo'
    """
    if not is_member(group):
        raise ValueError("Invalid process group specified")
    name = choose(group).name()
    return name if ":" in name else f"cpu:{name},cuda:{name}"


def get_pg_count() -> int:
    """How many groups there are that this process is in.

    Returns: a number; 0 before `init_process_group`.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> alone = dist.new_group([0])
        >>> dist.get_pg_count()
        2
    """
    return len(_Current.groups)


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The ranks of a group's processes among all.

    Parameters:
        group: the group that is asked; None means that of all.
    Returns: the ranks, in the group's order.
    Raises:
        ValueError: without a default group.
        KeyError: for what isn't a group, such as `GroupMember.NON_GROUP_MEMBER`.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_process_group_ranks(dist.group.WORLD)
        [0]
    """
    found = choose(group)
    if not isinstance(found, ProcessGroup):
        raise KeyError(found)
    return list(found.ranks)


def _check_known(group: object) -> None:
    if not isinstance(group, ProcessGroup):
        raise ValueError(
            f"Group {group} is not registered, please create group with "
            "torch.distributed.new_group API"
        )


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank within a group of the process with this rank among all.

    Parameters:
        group: the group within which it is counted.
        global_rank: the process's rank among all.
    Returns: its place in the group.
    Raises: ValueError: where it isn't in the group, and for what isn't a group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_group_rank(dist.new_group([0]), 0)
        0
    """
    if group is _Current.world:
        return global_rank
    _check_known(group)
    if global_rank not in group.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group.ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank among all of the process with this rank within a group.

    Parameters:
        group: the group within which it was counted.
        group_rank: the process's place in the group.
    Returns: its rank among all.
    Raises: ValueError: where the group has no such rank, and for what isn't a group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> dist.get_global_rank(dist.new_group([0]), 0)
        0
    """
    if group is _Current.world:
        return group_rank
    _check_known(group)
    if not 0 <= group_rank < len(group.ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: object = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: object = None,
    sort_ranks: bool = True,
) -> Any:
    """A group of some of the ranks, which all of them make.

    All processes call it in the same order, also those that will not be in the group.

    Parameters:
        ranks: which ones; None means all.
        timeout: how long the others, and later messages, may take, a `timedelta`; 30 minutes by
            default.
        backend: the name of what carries the messages; None means that of the default group.
        pg_options, device_id: nothing here.
        use_local_synchronization: whether the processes outside of the group needn't call it.
        group_desc: what the group is for, in its `group_desc`.
        sort_ranks: whether the group has its ranks in order; else as they are given.
    Returns: the group; for ranks outside of it `GroupMember.NON_GROUP_MEMBER`.
    Raises:
        ValueError: for more ranks than there are, ranks that there aren't, or one twice, and
            without a default group.
        AssertionError: for an unknown backend.
        RuntimeError: for a backend of other devices.
        DistStoreError: where the others don't come within the timeout.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> some = dist.new_group([0], group_desc="readers")
        >>> some.size(), some.group_desc
        (1, 'readers')
    """
    world = default_group()
    size = world.size()
    wanted = list(range(size)) if ranks is None else list(ranks)
    if len(wanted) > size:
        raise ValueError("the new group's world size should be less or equal to the world size "
                         "set by init_process_group")  # fmt: skip
    for rank in wanted:
        if not 0 <= rank < size:
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})"
            )
    if len(set(wanted)) != len(wanted):
        raise ValueError(f"ranks list must not contain duplicate entries, got {wanted}")
    if sort_ranks:
        wanted.sort()
    name = world.name() if backend is None else check_backend(backend)
    limit = timeout or DEFAULT_GROUP_TIMEOUT
    _Current.made += 1
    number = str(_Current.made)
    if use_local_synchronization:
        number = f"{'_'.join(map(str, wanted))}:{_Current.count_here(wanted)}"
    if world.rank() not in wanted:
        return GroupMember.NON_GROUP_MEMBER
    assert world.store is not None
    if size == 1:
        carrier = cast("Carrier", LocalCarrier(limit))
    else:
        from .mpi_carrier import carrier_of_some

        carrier = carrier_of_some(wanted, number, world.store, limit)
    described = "undefined" if group_desc is None else group_desc
    store = PrefixStore(f"group_{number}", world.store)
    group = ProcessGroup(carrier, name, wanted, store, number, described)
    _Current.groups[number] = group
    return group


DEFAULT_GROUP_TIMEOUT: Final = DEFAULT_TIMEOUT * 6
