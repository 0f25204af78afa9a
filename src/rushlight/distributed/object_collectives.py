"""Messages that hold Python objects: pickled, with their lengths sent before them."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

from .._base import dtypes as D
from .._tensor.public_functions import own_namespace
from .._tensor.tensor import Tensor
from .collectives import all_gather, broadcast, gather, scatter
from .message_checks import check_root, member
from .point_to_point import recv, send

if TYPE_CHECKING:
    import rushlight as f

    from .._base.annotations import DeviceLike
    from .process_group import ProcessGroup
else:
    f = own_namespace("").module("rushlight's functions")


__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list",
    "scatter_object_list", "send_object_list",
]  # fmt: skip


def _pack(value: object) -> Tensor:
    data = bytearray(pickle.dumps(value))
    out: Tensor = f.frombuffer(data, dtype=D.uint8)
    return out


def _unpack(row: Tensor) -> object:
    return pickle.loads(bytes(row.tolist()) if row.numel() < 64 else row.numpy().tobytes())


def _number(value: int = 0) -> Tensor:
    out: Tensor = f.tensor([value], dtype=D.int64)
    return out


def _room(length: float) -> Tensor:
    out: Tensor = f.empty(int(length), dtype=D.uint8)
    return out


def all_gather_object(
    object_list: list[object], obj: object, group: ProcessGroup | None = None
) -> None:
    """Puts the objects of all ranks in a list, on each of them.

    What comes is unpickled, which runs code that another rank has chosen: gather from those you
    trust.

    Parameters:
        object_list: a list with a place for each rank, to be filled.
        obj: what this rank gives: anything that can be pickled.
        group: the ranks that take part; None means all.
    Raises:
        ValueError: without a default group.
        IndexError: for a list that is too short.
        TypeError or pickle.PicklingError: for what can't be pickled.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> places = [None] * dist.get_world_size()
        >>> dist.all_gather_object(places, {"loss": 0.5})
        >>> places
        [{'loss': 0.5}]
    """
    pg = member(group, "all_gather_object")
    if pg is None:
        return
    if pg.size() == 1:
        object_list[0] = pickle.loads(pickle.dumps(obj))
        return
    row = _pack(obj)
    lengths = [_number() for _ in range(pg.size())]
    all_gather(lengths, _number(row.numel()), pg)
    rows = [_room(length.item()) for length in lengths]
    all_gather(rows, row, pg)
    for i, one in enumerate(rows):
        object_list[i] = _unpack(one)


def gather_object(
    obj: object, object_gather_list: list[object] | None = None, dst: int | None = None,
    group: ProcessGroup | None = None, group_dst: int | None = None,
) -> None:  # fmt: skip
    """Puts the objects of all ranks in a list, on one of them; it unpickles what they send.

    Parameters:
        obj: what this rank gives: anything that can be pickled.
        object_gather_list: on that rank a list with a place for each rank; None on the others.
        dst, group_dst: the rank that gets them, among all or within the group; rank 0 by default.
        group: the ranks that take part; None means all.
    Raises:
        ValueError: without a list on that rank, with one on another, for both `dst` and
            `group_dst`, and without a default group.
        RuntimeError: for a rank that there isn't.
        TypeError or pickle.PicklingError: for what can't be pickled.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> places = [None] if dist.get_rank() == 0 else None
        >>> dist.gather_object("ready", places)
        >>> places
        ['ready']
    """
    pg = member(group, "gather_object")
    if pg is None:
        return
    root = check_root(pg, dst, group_dst, "gather", 0)
    mine = root == pg.rank()
    if mine and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if not mine and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    row = _pack(obj)
    lengths = [_number() for _ in range(pg.size())]
    all_gather(lengths, _number(row.numel()), pg)
    longest = max(int(length.item()) for length in lengths)
    padded = _room(longest)
    padded[: row.numel()] = row
    rows = [_room(longest) for _ in lengths] if mine else None
    gather(padded, rows, group=pg, group_dst=root)
    if object_gather_list is not None and rows is not None:
        for i, (one, length) in enumerate(zip(rows, lengths)):
            object_gather_list[i] = _unpack(one[: int(length.item())])


def broadcast_object_list(
    object_list: list[object],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: DeviceLike | None = None,
    group_src: int | None = None,
) -> None:
    """Gives every rank the objects that one of them has; the others unpickle them.

    Parameters:
        object_list: the objects, on the rank that sends; on the others a list of the same length,
            to be filled.
        src, group_src: the rank that sends, among all or within the group; rank 0 by default.
        group: the ranks that take part; None means all.
        device: nothing here: messages are in the memory of the CPU.
    Raises:
        ValueError: for both `src` and `group_src`, and without a default group.
        RuntimeError: for a rank that there isn't.
        TypeError or pickle.PicklingError: for what can't be pickled.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> plan = ["cosine", 0.1] if dist.get_rank() == 0 else [None, None]
        >>> dist.broadcast_object_list(plan, src=0)
        >>> plan
        ['cosine', 0.1]
    """
    pg = member(group, "broadcast_object_list")
    if pg is None:
        return
    root = check_root(pg, src, group_src, "broadcast", 0)
    if pg.size() == 1:
        return
    rows = [_pack(one) for one in object_list] if root == pg.rank() else []
    lengths = f.tensor([row.numel() for row in rows] or [0] * len(object_list), dtype=D.int64)
    broadcast(lengths, group=pg, group_src=root)
    whole = f.cat(rows) if rows else _room(lengths.sum().item())
    broadcast(whole, group=pg, group_src=root)
    if root != pg.rank():
        _split_into(object_list, whole, lengths)


def _split_into(object_list: list[object], whole: Tensor, lengths: Tensor) -> None:
    start = 0
    for i, length in enumerate(lengths.tolist()):
        object_list[i] = _unpack(whole[start : start + length])
        start += length


def scatter_object_list(
    scatter_object_output_list: list[object],
    scatter_object_input_list: list[object] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Puts one object of a list that one rank has in the first place of another list, on each.

    Parameters:
        scatter_object_output_list: a list whose first place gets what is meant for this rank.
        scatter_object_input_list: on the rank that sends an object for each rank; None on the
            others.
        src, group_src: the rank that sends, among all or within the group; rank 0 by default.
        group: the ranks that take part; None means all.
    Raises:
        ValueError: for an output that is no list, or an empty one, among several ranks without an
            input on the one that sends, for both `src` and `group_src`, and without a default
            group.
        RuntimeError: for a rank that there isn't, and for an input of another length.
        TypeError or pickle.PicklingError: for what can't be pickled.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> mine = [None]
        >>> dist.scatter_object_list(mine, ["first part"] if dist.get_rank() == 0 else None)
        >>> mine
        ['first part']
    """
    pg = member(group, "scatter_object_list")
    if pg is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    root = check_root(pg, src, group_src, "scatter", 0)
    if pg.size() == 1:
        scatter_object_output_list[0] = (scatter_object_input_list or [None])[0]
        return
    rows: list[Tensor] | None = None
    longest = _number()
    lengths = None
    if root == pg.rank():
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        packed = [_pack(one) for one in scatter_object_input_list]
        longest = _number(max(row.numel() for row in packed))
        lengths = [_number(row.numel()) for row in packed]
        rows = []
        for row in packed:
            room = _room(longest.item())
            room[: row.numel()] = row
            rows.append(room)
    broadcast(longest, group=pg, group_src=root)
    mine, length = _room(longest.item()), _number()
    scatter(mine, rows, group=pg, group_src=root)
    scatter(length, lengths, group=pg, group_src=root)
    scatter_object_output_list[0] = _unpack(mine[: int(length.item())])


def send_object_list(
    object_list: list[object],
    dst: int | None = None,
    group: ProcessGroup | None = None,
    device: DeviceLike | None = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Sends objects to a rank.

    Parameters:
        object_list: what is sent: anything that can be pickled.
        dst, group_dst: the rank it goes to, among all or within the group; one of the two.
        group: the group in which it is sent; None means that of all.
        device: nothing here: messages are in the memory of the CPU.
        use_batch: nothing here: there is one way to send.
    Raises:
        ValueError: where both or neither of `dst` and `group_dst` are given, for this rank itself,
            for one outside of the group, and without a default group.
        RuntimeError: for a rank that there isn't.
        TypeError or pickle.PicklingError: for what can't be pickled.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> if dist.get_rank() == 0 and dist.get_world_size() > 1:
        ...     dist.send_object_list(["cosine", 0.1], dst=1)
    """
    rows = [_pack(one) for one in object_list]
    lengths = f.tensor([row.numel() for row in rows], dtype=D.int64)
    send(lengths, dst, group, group_dst=group_dst)
    send(f.cat(rows), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[object],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: DeviceLike | None = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receives objects from a rank, or from whichever sends them, and unpickles them.

    Parameters:
        object_list: a list of as many places as there are objects, to be filled.
        src, group_src: the rank they come from, among all or within the group; neither means any.
        group: the group in which they were sent; None means that of all.
        device: nothing here: messages are in the memory of the CPU.
        use_batch: nothing here: there is one way to receive.
    Returns: the rank that they came from; -1 on ranks outside of `group`.
    Raises:
        ValueError: for both `src` and `group_src`, for this rank itself, for one outside of the
            group, and without a default group.
        RuntimeError: for a rank that there isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> plan = [None, None]
        >>> if dist.get_rank() == 1:
        ...     source = dist.recv_object_list(plan, src=0)
    """
    lengths = f.tensor([0] * len(object_list), dtype=D.int64)
    source = recv(lengths, src, group, group_src=group_src)
    if source < 0:
        return source
    whole = _room(lengths.sum().item())
    recv(whole, source, group)
    _split_into(object_list, whole, lengths)
    return source
