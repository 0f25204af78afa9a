"""Whose notes the vertices of graphs hold: those of one run at a time."""

from __future__ import annotations

from _thread import allocate_lock
from typing import Final

from .._base.fork_locks import in_child
from .node import Node
from .run import RUNNING, Run

slots: Final = allocate_lock()  # held by the run that uses the scratch in the vertices


class Holder:
    """The run that holds `slots`."""

    __slots__ = ("run",)

    run: Run | None

    def __init__(self) -> None:
        self.run = None


HOLDER: Final = Holder()


def _after_fork() -> None:
    # A run of another thread ended with the fork: what it noted in the vertices would be added to
    # the gradients of the next one. The thread that forked may be in a run itself, which goes on.
    held = HOLDER.run
    run: Run | None = RUNNING.get()
    while run is not None and run is not held:
        run = run.outer
    if run is None:
        if held is not None:
            clean(held.order, held)
            HOLDER.run = None
        if slots.locked():
            slots.release()


def clean(order: list[Node], run: Run) -> None:
    """Leaves no gradient behind in the vertices, whatever happened."""
    for node in order:
        node.acc = None
    for leaf in run.leaves:
        leaf.acc = None
        leaf.pending = 0
        leaf.owned = False


in_child(_after_fork)
