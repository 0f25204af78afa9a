"""Messages from one rank to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor.tensor import Tensor
from .message_checks import check_tensor, member, root_of
from .process_group import choose, get_global_rank
from .work import Work

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable
    from .process_group import ProcessGroup


__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _other(pg: ProcessGroup, rank: int | None, group_rank: int | None, kind: str) -> int:
    """The rank within the group that a message goes to or comes from.

    Raises:
        ValueError: for this process itself.
        RuntimeError: where the group has no such rank.
    """
    other = root_of(pg, rank, group_rank)
    if other == pg.rank():
        raise ValueError(
            f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current "
            "process."
        )
    if not 0 <= other < pg.size():
        raise RuntimeError(f"ProcessGroupGloo: invalid {kind} rank: {other}")
    return other


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Starts sending a tensor to a rank; it must stay as it is until the work is done.

    Parameters:
        tensor: what is sent.
        dst, group_dst: the rank it goes to, among all or within the group; one of the two.
        group: the group in which it is sent; None means that of all.
        tag: a number by which the receiver tells messages apart.
    Shapes: any; the receiver's tensor has as many elements.
    Returns: a `Work` to wait for; None on ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor.
        ValueError: where both or neither of `dst` and `group_dst` are given, for this rank itself,
            for one outside of the group, and without a default group.
        RuntimeError: for a rank that there isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> if dist.get_rank() == 0 and dist.get_world_size() > 1:
        ...     dist.isend(torch.ones(2), dst=1).wait()
    """
    return _send(tensor, dst, group, tag, group_dst, "isend", False)


def _send(
    tensor: Tensor, dst: int | None, group: ProcessGroup | None, tag: int, group_dst: int | None,
    function: str, waits: bool,
) -> Work | None:  # fmt: skip
    check_tensor(tensor, "tensor")
    pg = member(group, function)
    if pg is None:
        return None
    work: Work = pg.carrier.send(tensor, _other(pg, dst, group_dst, "destination"), tag, waits)
    return work


def _receive(
    tensor: Tensor, src: int | None, group: ProcessGroup | None, tag: int, group_src: int | None,
    function: str, waits: bool,
) -> Work | None:  # fmt: skip
    check_tensor(tensor, "tensor")
    pg = member(group, function)
    if pg is None:
        return None
    anyone = src is None and group_src is None
    source = None if anyone else _other(pg, src, group_src, "source")
    work: Work = pg.carrier.receive(tensor, source, tag, waits)
    return work


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Starts receiving a tensor from a rank, or from whichever sends one.

    Parameters:
        tensor: written over with what comes.
        src, group_src: the rank it comes from, among all or within the group; neither means any.
        group: the group in which it was sent; None means that of all.
        tag: the number that the sender has given the message.
    Shapes: any; the sender's tensor has as many elements.
    Returns: a `Work` to wait for; None on ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor.
        ValueError: for both `src` and `group_src`, for this rank itself, for one outside of the
            group, and without a default group.
        RuntimeError: for a rank that there isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.empty(2)
        >>> if dist.get_rank() == 1:
        ...     dist.irecv(row, src=0).wait()
    """
    return _receive(tensor, src, group, tag, group_src, "irecv", False)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Sends a tensor to a rank.

    Parameters:
        tensor: what is sent.
        dst, group_dst: the rank it goes to, among all or within the group; one of the two.
        group: the group in which it is sent; None means that of all.
        tag: a number by which the receiver tells messages apart.
    Shapes: any; the receiver's tensor has as many elements.
    Raises:
        TypeError: for what isn't a tensor.
        ValueError: where both or neither of `dst` and `group_dst` are given, for this rank itself,
            for one outside of the group, and without a default group.
        RuntimeError: for a rank that there isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> if dist.get_rank() == 0 and dist.get_world_size() > 1:
        ...     dist.send(torch.ones(2), dst=1)
    """
    work = _send(tensor, dst, group, tag, group_dst, "send", True)
    if work is not None:
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receives a tensor from a rank, or from whichever sends one.

    Parameters:
        tensor: written over with what comes.
        src, group_src: the rank it comes from, among all or within the group; neither means any.
        group: the group in which it was sent; None means that of all.
        tag: the number that the sender has given the message.
    Shapes: any; the sender's tensor has as many elements.
    Returns: the rank that it came from; -1 on ranks outside of `group`.
    Raises:
        TypeError: for what isn't a tensor.
        ValueError: for both `src` and `group_src`, for this rank itself, for one outside of the
            group, and without a default group.
        RuntimeError: for a rank that there isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> row = torch.empty(2)
        >>> if dist.get_rank() == 1:
        ...     source = dist.recv(row, src=0)
    """
    work = _receive(tensor, src, group, tag, group_src, "recv", True)
    if work is None:
        return -1
    work.wait()
    if src is None and group_src is None:
        return work.source_rank()
    return int(src if src is not None else get_global_rank(choose(group), int(group_src or 0)))


class P2POp:
    """A message from one rank to another, for `batch_isend_irecv`.

    Parameters:
        op: `isend` or `irecv`.
        tensor: what is sent, or written over with what comes.
        peer, group_peer: the other rank, among all or within the group; one of the two.
        group: the group in which it is sent; None means that of all.
        tag: a number that tells messages apart.
    Raises:
        TypeError: for what isn't a tensor.
        ValueError: for another function, where both or neither of `peer` and `group_peer` are
            given, for a rank outside of the group, and without a default group.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> right = (dist.get_rank() + 1) % dist.get_world_size()
        >>> dist.P2POp(dist.isend, torch.ones(2), right).peer
        0
    """

    def __init__(
        self,
        op: AnyCallable,
        tensor: Tensor,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, choose(group), tag
        self.group_peer = root_of(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer)


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Starts several messages.

    Parameters:
        p2p_op_list: the messages, as `P2POp`.
    Returns: their works, in order, to be waited for.
    Raises:
        ValueError: for anything but a list of `P2POp`, and for messages of different groups; for a
            message to this rank itself.
        IndexError: for an empty list.
        RuntimeError: for a rank that there isn't.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> here, ranks = dist.get_rank(), dist.get_world_size()
        >>> row, got = torch.ones(2), torch.empty(2)
        >>> if ranks > 1:  # each sends to the next rank, and receives from the one before
        ...     to = dist.P2POp(dist.isend, row, (here + 1) % ranks)
        ...     back = dist.P2POp(dist.irecv, got, (here - 1) % ranks)
        ...     done = [work.wait() for work in dist.batch_isend_irecv([to, back])]
    """
    _check_batch(p2p_op_list)
    works: list[Work | None] = [
        p2p.op(p2p.tensor, group=p2p.group, tag=p2p.tag, **{_PEERS[p2p.op]: p2p.group_peer})
        for p2p in p2p_op_list
    ]
    return [work for work in works if work is not None]


_PEERS = {isend: "group_dst", irecv: "group_src"}


def _check_batch(batch: list[P2POp]) -> None:
    if not isinstance(batch, list) or not all(isinstance(one, P2POp) for one in batch):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``torch.distributed.P2POp``."
        )
    if any(one.group is not batch[0].group for one in batch):
        raise ValueError("All ops need to use the same group.")
    if not batch:
        raise IndexError("list index out of range")
