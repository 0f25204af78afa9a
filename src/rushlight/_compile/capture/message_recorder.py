"""The recorder of messages: what a step says to other processes, as calls of the program.

`DistributedDataParallel` tells the recorder which functions exchange its messages, of which tensors
and when. The program calls them at the same places; between them it is what it is without ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..._core.mode import CURRENT, current, derive
from ..ir.messages import Message
from ..ir.run_lock import let_others_run

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from ..ir.program import Program


class MessageRecorder:
    """What a recording knows of other processes."""

    program: Program
    value_of: Any
    value_under: Any
    note_write: Any
    add: Any

    def depends_on(self, question: Callable[[], bool]) -> None:
        """Has the program run only where a question is answered with yes, as it is now.

        The first one of those that are equal counts: later ones may be of what the step has set.
        """
        if not any(question == known for known in self.program.asked):
            self.program.asked.append(question)

    def stands_for_hooks(self, leaves: Sequence[Tensor]) -> None:
        """What the hooks of leaves do is noted as messages: the program doesn't run them."""
        self.program.answered.update({id(leaf): leaf for leaf in leaves})

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A context in which nothing is noted."""
        before = CURRENT.get()
        try:
            CURRENT.set(derive(current(), recorder=None, carrying=False))
            yield
        finally:
            CURRENT.set(before)

    def message(
        self, function: Callable[..., object], name: str, tensors: Sequence[Tensor] = (), *,
        final: bool = False, waits: bool = False, settle: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """Notes a call that exchanges messages, of the tensors' arrays."""
        call = Message(function, final, settle, let_others_run if waits else None)
        values = tuple(self.value_of(t) for t in tensors)
        self.add("message", call, name, values, ())

    def overwritten(self, function: Callable[..., object], name: str, t: Tensor) -> None:
        """Notes that a tensor was written with what a message has brought."""
        value = self.value_under(t)
        self.note_write(t)
        self.add("write", Message(function, False, None, None), name, (value,), (), holder=True)
