"""Programs that leave something behind take turns.

Note [Turns]
Two threads may run one step, or two that work on the same accumulators, parameters or counters.
An eager operation in place is done before another thread goes on; a program reads such memory at
one place and writes it at another, with other threads' work between. So a program that writes what
outlives its call has the whole process's turn, from the look at its guards to its last write. Those
that only compute run beside each other. A step that is one call of machine code under the
interpreter's lock needs no turn, but looks at the gate: where somebody has the turn it waits.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import arena
from ..._base.fork_locks import RecursiveLock
from .program import Program, list_written

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

_LASTING: Final = ("write", "grad", "step", "option", "message")


class RunLock:
    """Who may write: a lock, and a word that machine code can look at."""

    def __init__(self) -> None:
        self.lock = RecursiveLock()
        self.gate: Any = arena.table(arena.words(1), 0, 1)


TURN: Final = RunLock()


def _after_fork() -> None:
    """Gives the turn back: the thread that had it may not be there any more."""
    TURN.lock._at_fork_reinit()  # type: ignore[attr-defined]
    TURN.gate[0] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def let_others_run(function: AnyCallable, *args: object) -> None:
    """Calls what waits for other processes, and gives the turn away meanwhile.

    What another thread sends may be what those wait for.
    """
    TURN.gate[0] = 0
    TURN.lock.release()
    try:
        function(*args)
    finally:
        TURN.lock.acquire()
        TURN.gate[0] = 1


def lasting(program: Program) -> bool:
    """Whether a program changes anything that is there after its call, beside its results."""
    return bool(program.effects or program.stores) or any(
        i.kind in _LASTING or list_written(i.row) for i in program.instructions
    )


def in_turn(lines: list[str], names: dict[str, object]) -> list[str]:
    """The lines of a program that has its turn while it runs."""
    names |= {"turn": TURN.lock, "gate": TURN.gate}
    inner = [line for x in lines for line in x.split("\n")]
    return [
        "with turn:", "    gate[0] = 1", "    try:", *("        " + x for x in inner),
        "    finally:", "        gate[0] = 0",
    ]  # fmt: skip
