"""Instructions that exchange messages with other processes, and what they do to a run.

Note [A message can't be taken back]
A run may be abandoned: a condition turns out otherwise, a row refuses its values. The call then
starts anew, eagerly or by another program, and what the run has changed is put back. Messages are
not: other ranks have them. So those that come before a run is certain (a forward's buffers) are
kept until then, and a second start finds them instead of asking the other ranks again; and a run is
certain when it sends what can't be kept. A step that branches on values after that stays eager.

Note [Replicas stay alike]
One rank may run a program while another records, or runs another one. The means that both get are
the same to the bit, and so must be what becomes of them: the parameters of replicas would drift
apart otherwise. Machine code differs from an eager step in last digits. So what is computed of
means (the optimizer's update, a norm by which gradients are clipped) is left to what an eager step
calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..refusal import Refusal
from .program import Instruction, Program, values_in

__all__ = ["Message", "alike_on_all_ranks", "has_failed", "settle_messages"]

_FAILED: Final = "_of_a_message"


class Message:
    """What an instruction of kind `message` calls.

    `final`: it can't be done twice. `settle`: lets go of what it has kept for a second start.
    `aside`: gives the turn of the process away while the call waits for other ranks.
    """

    __slots__ = ("aside", "final", "function", "settle")

    def __init__(
        self, function: Callable[..., object], final: bool,
        settle: Callable[[], None] | None, aside: Callable[..., object] | None,
    ) -> None:  # fmt: skip
        self.function = function
        self.final = final
        self.settle = settle
        self.aside = aside

    @property
    def __name__(self) -> str:
        return type(self.function).__name__

    def __call__(self, *arrays: object) -> None:
        try:
            if self.aside is None:
                self.function(*arrays)
            else:
                self.aside(self.function, *arrays)
        except Exception as error:
            error.__dict__[_FAILED] = True  # the call isn't tried once more for it
            raise

    def same_as(self, other: Message) -> bool:
        """Whether the other does the same."""
        function: Any = self.function
        return self.final is other.final and function == other.function


def has_failed(error: BaseException) -> bool:
    """Whether a message has failed, and not a row."""
    return _FAILED in getattr(error, "__dict__", ())


def alike_on_all_ranks(program: Program) -> set[int]:
    """The instructions that compute with what messages have brought, by id."""
    of_all: set[int] = set()  # roots
    inputs = {v.root for v in program.inputs if v.kind != "gradient"}
    found: set[int] = set()
    for i in program.instructions:
        read = {v.root for v in values_in(i.inputs)}
        if i.kind == "write" and type(i.function) is Message:
            of_all |= i.writes() - inputs
        elif read & of_all:
            found.add(id(i))
            if i.kind != "step":
                made = {o.root for o in i.outputs if o is not None} | i.writes()
                of_all |= made - inputs
    return found


def _settles(settles: list[Callable[[], None]]) -> Callable[[], None]:
    def settle_all() -> None:
        for settle in settles:
            settle()

    return settle_all


def settle_messages(program: Program) -> None:
    """Has a program let go of what its messages keep as soon as its run is certain.

    Raises:
        Refusal: where it branches on values after messages that can't be taken back.
    """
    messages = [i for i in program.instructions if i.kind == "message"]
    if not messages:
        return
    final = next((i for i in messages if i.function.final), None)
    every = program.instructions
    place = next((k for k, i in enumerate(every) if i is final or i.part), len(every))
    if final is not None:
        for i in every[place:]:
            if i.kind == "expect":
                why = "it branches on a value after gradients have gone to other processes"
                raise Refusal(why, i.where)
    settles = [i.function.settle for i in messages if i.function.settle is not None]
    if settles:
        call = Message(_settles(settles), False, None, None)
        every.insert(place, Instruction("message", call, "settle", (), ()))
