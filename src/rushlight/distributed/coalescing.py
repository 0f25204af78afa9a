"""`_coalescing_manager`: collectives of one kind that are started together, when a block ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from .message_checks import finish
from .process_group import choose
from .work import Work, WorkTogether

if TYPE_CHECKING:
    from .process_group import ProcessGroup

__all__: list[str] = []

#: By group: the collectives that wait for the end of a block, with their kinds.
_WAITING: Final[dict[ProcessGroup, list[tuple[str, Callable[[bool], Work]]]]] = {}


def start(
    group: ProcessGroup, kind: str, begin: Callable[[bool], Work], async_op: bool
) -> Work | None:
    """Starts a collective (`begin` is told whether it is waited for), or has it wait for others."""
    waiting = _WAITING.get(group) if _WAITING else None
    if waiting is None:
        return finish(begin(not async_op), async_op)
    waiting.append((kind, begin))
    return _IllegalWork() if async_op else None


class _IllegalWork(Work):
    """Stands for a collective that hasn't begun."""

    def __getattribute__(self, name: str) -> Any:
        """Refuses.

        Raises:
            ValueError: for what a work has.
        """
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        raise ValueError(f"Illegal to call {name} on IllegalWork object")

    def __init__(self) -> None:
        """Holds nothing."""


class _CoalescingManager:
    """What the block's collectives are waited for by."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None = None) -> None:
        """Adds a work to be waited for."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Waits for all."""
        for work in self.works:
            work.wait()


@contextmanager
def _coalescing_manager(
    group: ProcessGroup | None = None, device: object = None, async_ops: bool | None = False
) -> Iterator[_CoalescingManager]:
    """A block whose sums, gathers or scattered sums start together at its end.

    Raises:
        ValueError: for a block within another of the same group.
        RuntimeError: for collectives of several kinds.
    """
    among = choose(group)
    if among in _WAITING:
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    waiting = _WAITING[among] = []
    manager = _CoalescingManager()
    try:
        yield manager
    finally:
        del _WAITING[among]
    kinds = {kind for kind, _ in waiting}
    if len(kinds) > 1:
        raise RuntimeError(
            "Coalescing manager requires all collectives to be the same type, but got mixed types: "
            f"{kinds}"
        )
    if not waiting:
        return
    works = [begin(not async_ops) for _, begin in waiting]
    together = WorkTogether(works)
    if async_ops:
        manager.append(together)
    else:
        together.wait()
