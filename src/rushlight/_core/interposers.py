"""What stands between the call of a function and its execution: one list, in one order.

Note [The order of interposers]
A call passes those in `ORDER` from the outermost to the innermost; the first that answers ends it.
The order is PyTorch's: what programs see of a call comes first, what only changes the arguments
before what runs them, a transform before autograd, and what looks below autograd last.

- `anomaly` stands outside because it runs a call as if nothing were on, where nothing else is.
- `functions` (function modes, `__torch_function__`) gets a call as the program has written it: with
  its classes, before types are converted and before batches are taken apart.
- `autocast` converts arguments; transforms and modes see what is computed with.
- `batching` (vmap) turns one call into calls on whole batches, which those below see.
- `recording` of compiled steps sees the parts of a batched call, but what runs on arrays, so that
  of these questions it answers only which tensors are made.
- `modes` (dispatch modes, the profiler) stand below autograd: they see each operation once, with
  the tensors that it gets, and before the classes of these, which a mode may stand in for.
- `classes` are those of tensors with a `__torch_dispatch__`.
- `dataless` gives tensors without data (meta, fake) their shapes; the class of one comes first.
- `tangents` carries forward-mode derivatives along writes, which the operation itself then does.
- `parts` records an operation by PyTorch's steps where saved tensors are watched.

Whoever is in the list is asked only where the mode says that somebody is on (`Mode.interposed`) or
an argument is `_layered`; and only what its class answers: each question has the list of those that
do. Where nobody is on, a call costs the one look at the mode that it costs anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._base.mypyc_words import mypyc_attr
from .mode import Mode
from .op import Op
from .storage import TensorBase

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable, Arguments, Keywords, Positional

#: The answer of one that lets a call pass.
NOT_HANDLED: Final = object()

ORDER: Final = (
    "anomaly", "functions", "autocast", "batching", "recording", "modes", "classes", "dataless",
    "tangents", "parts",
)  # fmt: skip


@mypyc_attr(allow_interpreted_subclasses=True)
class Interposer:
    """One that is asked before something runs: its methods are the questions.

    An answer other than NOT_HANDLED stands for the call. `layered` says that an argument is of a
    class with rules of its own, a batch, or without data.
    """

    def call(self, op: Op, args: Arguments, mode: Mode, layered: bool) -> Any:
        """An operation. `args` may be changed for those that come after."""
        return NOT_HANDLED

    def write(self, op: Op, args: Arguments, writer: Any, mode: Mode, layered: bool) -> Any:
        """An operation that writes into its first argument, which is the answer."""
        return NOT_HANDLED

    def write_out(self, row: Any, args: Arguments, out: Any, mode: Mode) -> Any:
        """An operation that is given `out`, which is the answer."""
        return NOT_HANDLED

    def call_whole(self, function: AnyCallable, args: Positional, kwargs: Keywords) -> Any:
        """A function made of operations, as the program has called it."""
        return NOT_HANDLED

    def call_kind(
        self, kind: str, name: str, function: AnyCallable, args: Positional, kwargs: Keywords
    ) -> Any:
        """A function that is no operation and runs differently under vmap, by its kind."""
        return NOT_HANDLED

    def make(
        self, function: AnyCallable, name: str, args: Positional, kwargs: Keywords, mode: Mode
    ) -> Any:
        """A function that makes a tensor of nothing, or a number of one; `name`: its overload."""
        return NOT_HANDLED

    def look(self, name: str, args: Positional) -> Any:
        """A question about a tensor itself, such as its size, under an operator's name."""
        return NOT_HANDLED

    def take(
        self, method: AnyCallable, t: TensorBase, how: str, args: Positional, kwargs: Keywords
    ) -> Any:
        """A method by which Python takes elements of a tensor; `how`: what messages call it."""
        return NOT_HANDLED

    def ask(self, t: TensorBase, name: str, file: str) -> Any:
        """Code of a file asks about a tensor's memory or history; one who minds raises."""
        return NOT_HANDLED

    def read(self, t: TensorBase) -> Any:
        """The array that holds the elements of `t`; raises where there are none."""
        return NOT_HANDLED

    def receive(self, leaf: TensorBase, g: Any) -> Any:
        """A gradient that arrives at a leaf; an answer says that the leaf has it."""
        return NOT_HANDLED

    def misfit(self, function: AnyCallable, args: Positional, kwargs: Keywords) -> Any:
        """A call whose arguments no overload takes."""
        return NOT_HANDLED

    def explain_failure(self, op: Op, args: Arguments, error: Exception) -> Any:
        """An operation whose forward has raised."""
        return NOT_HANDLED


# Those that answer each question, in the order.
CALL: Final[list[Interposer]] = []
WRITE: Final[list[Interposer]] = []
WRITE_OUT: Final[list[Interposer]] = []
CALL_WHOLE: Final[list[Interposer]] = []
CALL_KIND: Final[list[Interposer]] = []
MAKE: Final[list[Interposer]] = []
LOOK: Final[list[Interposer]] = []
TAKE: Final[list[Interposer]] = []
ASK: Final[list[Interposer]] = []
READ: Final[list[Interposer]] = []
RECEIVE: Final[list[Interposer]] = []
MISFIT: Final[list[Interposer]] = []
FAILED: Final[list[Interposer]] = []
_QUESTIONS: Final[dict[str, list[Interposer]]] = {
    "call": CALL, "write": WRITE, "write_out": WRITE_OUT, "call_whole": CALL_WHOLE,
    "call_kind": CALL_KIND, "make": MAKE, "look": LOOK, "take": TAKE, "ask": ASK, "read": READ,
    "receive": RECEIVE, "misfit": MISFIT, "explain_failure": FAILED,
}  # fmt: skip
#: All that are loaded, by their place in the order.
INTERPOSERS: Final[dict[str, Interposer]] = {}


def interpose(place: str, interposer: Interposer) -> None:
    """Puts an interposer in its place; done once, by the module that has it, when it is loaded."""
    if place in INTERPOSERS or place not in ORDER:
        raise ValueError(f"{place!r} is taken, or no place in the order")
    INTERPOSERS[place] = interposer
    present = [INTERPOSERS[name] for name in ORDER if name in INTERPOSERS]
    for question, those in _QUESTIONS.items():
        passing = getattr(Interposer, question)
        those[:] = [one for one in present if getattr(type(one), question) is not passing]


def call_whole(function: AnyCallable, args: Positional, kwargs: Keywords) -> Any:
    """What the first that answers makes of a function made of operations, or NOT_HANDLED."""
    for interposer in CALL_WHOLE:
        handled = interposer.call_whole(function, args, kwargs)
        if handled is not NOT_HANDLED:
            return handled
    return NOT_HANDLED


def misfit(function: AnyCallable, args: Positional, kwargs: Keywords) -> Any:
    """The same for a call whose arguments no overload takes."""
    for interposer in MISFIT:
        handled = interposer.misfit(function, args, kwargs)
        if handled is not NOT_HANDLED:
            return handled
    return NOT_HANDLED


def look(name: str, args: Positional) -> Any:
    """The same for a question about a tensor itself."""
    for interposer in LOOK:
        handled = interposer.look(name, args)
        if handled is not NOT_HANDLED:
            return handled
    return NOT_HANDLED


def take(method: AnyCallable, t: TensorBase, how: str, args: Positional, kwargs: Keywords) -> Any:
    """The same for a method by which Python takes elements of a tensor."""
    for interposer in TAKE:
        handled = interposer.take(method, t, how, args, kwargs)
        if handled is not NOT_HANDLED:
            return handled
    return NOT_HANDLED


def ask(t: TensorBase, name: str, file: str) -> None:
    """Tells all who mind that code of a file asks about a tensor's memory or history."""
    for interposer in ASK:
        interposer.ask(t, name, file)


def elements_of(t: TensorBase) -> Any:
    """The array to read for the elements of a tensor that isn't plain; raises without data."""
    for interposer in READ:
        handled = interposer.read(t)
        if handled is not NOT_HANDLED:
            return handled
    return t._raw


def receive_gradient(leaf: TensorBase, g: Any) -> bool:
    """Whether somebody has given a leaf a gradient that isn't plain."""
    for interposer in RECEIVE:
        if interposer.receive(leaf, g) is not NOT_HANDLED:
            return True
    return False
