"""What a step's code may use and nobody can watch: iterators, random numbers, large arrays.

Note [Used or only near]
Such things lie about in many programs (a loader's iterator, a data set) without being part of the
step. They are refused only where code that ran names them: a name stands in the code object that
loads it, as a global, an attribute, a closure's variable or a text for `getattr`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar
from types import CodeType, GeneratorType
from typing import Any, Final

from .._array import recording as A
from .refusal import Refusal

#: Bytes up to which the contents of a NumPy array are compared at each call.
SMALL: Final = 4096
_ANY: Final = frozenset({"getattr", "vars", "__dict__", "attrgetter", "globals", "locals"})
_ENVIRONMENT: Final = frozenset({"environ", "getenv", "environb"})
#: Functions of the library that tell settings which a program may outlive.
_SETTINGS: Final = frozenset({
    "initial_seed", "get_rng_state", "get_num_threads", "get_num_interop_threads",
    "get_float32_matmul_precision", "get_deterministic_debug_mode",
})  # fmt: skip


_WATCHED: Final = (dict, list, deque)


class Opaque:
    """A thing that can't be watched, why, and by which name it was found."""

    __slots__ = ("found", "why", "label")

    def __init__(self, found: Any, why: str, label: str) -> None:
        self.found = found
        self.why = why
        self.label = label

    def name(self) -> str | None:
        """The name under which code can reach it; None where that isn't known."""
        inner = self.label.strip("`").rpartition(".")[2]
        return inner if inner.isidentifier() else None


def why_opaque(x: Any) -> str | None:
    """Why a thing can't be watched; None where it can."""
    kind = type(x)
    module = kind.__module__ or ""
    if isinstance(x, A.ndarray):
        return "a NumPy array that is too large to be compared at each call; use a tensor"
    if isinstance(x, (A.number_types, range, memoryview)):
        return None
    if module.startswith("numpy.random"):
        return "a random generator of NumPy's; use rushlight's"
    if hasattr(kind, "__setitem__") and _foreign(kind) and not isinstance(x, _WATCHED):
        return f"an object of type {kind.__name__}, whose contents can't be compared"
    if isinstance(x, ContextVar):
        return "a context variable"
    if isinstance(x, threading.local):
        return "a variable of each thread's own"
    if isinstance(x, GeneratorType) or (hasattr(kind, "__next__") and _foreign(kind)):
        return "an iterator, which moves on at each call"
    return None


def _foreign(kind: type) -> bool:
    """Whether a class isn't written in Python that the walk could read."""
    # Made by a class statement: Py_TPFLAGS_HEAPTYPE, without Py_TPFLAGS_IMMUTABLETYPE.
    return not kind.__flags__ & (1 << 9) or bool(kind.__flags__ & (1 << 8))


def names_of(codes: Iterable[CodeType]) -> set[str]:
    """All names that some code objects use."""
    found: set[str] = set()
    for code in codes:
        found.update(code.co_names, code.co_freevars, code.co_cellvars)
        found.update(x for x in code.co_consts if isinstance(x, str))
    return found


def refuse_opaque(state: Any, codes: dict[CodeType, Any]) -> None:
    """Refuses a step of which some code that ran uses what can't be watched.

    Raises:
        Refusal: saying what.
    """
    names = names_of(code for code, user in codes.items() if user)
    anything = bool(names & _ANY)
    for x in state.opaque:
        name = x.name()
        if name is None or name in names or anything:
            raise Refusal(f"the step uses {x.label}: {x.why}")
    if names & _ENVIRONMENT:
        raise Refusal("the step reads the environment's variables")
    if state.arrays_named and "random" in names:
        raise Refusal("the step may draw random numbers from NumPy")
    told = names & _SETTINGS
    if told:
        raise Refusal(f"the step asks `{min(told)}`, which may change between calls")


__all__ = ["SMALL", "Opaque", "names_of", "refuse_opaque", "why_opaque"]
