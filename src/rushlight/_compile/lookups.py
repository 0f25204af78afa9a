"""Namespaces in which a step looks names up: each gives what it gave, and what it lacked it lacks.

Note [What isn't there]
`hasattr(model, "scale")`, a handler for `AttributeError`, `getattr` with a default, a global that
a builtin stands in for, a method that a base class has: for all of them it matters that a name is
*not* found somewhere. So every namespace that a step can ask (dictionaries of objects, classes of
all objects on the way with their bases, modules, builtins, the library's own modules as far as its
code ran) is asked for all names that the step's code has, and those that Python itself asks for;
the answers, absence included, are compared before each call.

That would be some thousand questions. But a dictionary has a version where Python shows it, and
then one comparison answers for all names in it. Machine code does the same (see `sentry`).
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Final

from .._codegen import layout


class Missing:
    """Stands for what isn't there."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = Missing()
_VALUE: Final = attrgetter("value")


def special_names() -> frozenset[str]:
    """The names by which Python itself asks classes: operators, `len`, `with`, iteration."""
    kinds: list[Any] = [int, float, str, list, dict, set, type, bytes, property, Exception]
    found = {k for kind in kinds for k in dir(kind) if k.startswith("__")}
    found |= {f"__{k}__" for k in (
        "getattr", "missing", "enter", "exit", "aenter", "aexit", "aiter", "anext", "await", "call",
        "matmul", "rmatmul", "imatmul", "complex", "del", "next", "iter", "get", "set", "delete",
        "set_name", "instancecheck", "subclasscheck", "subclasshook", "fspath", "length_hint",
        "copy", "deepcopy", "array", "array_ufunc", "array_function", "array_interface",
        "array_struct", "array_priority", "torch_function", "torch_dispatch", "dlpack",
        "dlpack_device", "class_getitem", "mro_entries", "match_args", "slots", "post_init",
        "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor",
        "ilshift", "irshift", "contains", "reversed", "bytes", "buffer", "prepare",
    )}  # fmt: skip
    return frozenset(found - {"__doc__", "__dict__", "__weakref__", "__module__"})


SPECIAL: Final = special_names()


def space_of(kind: type) -> dict[str, Any] | None:
    """The dictionary of a class itself; None where it is no ordinary one, as in `ctypes`."""
    found = [x for x in gc.get_referents(type.__dict__["__dict__"].__get__(kind))
             if isinstance(x, dict)]  # fmt: skip
    return found[0] if len(found) == 1 and type(found[0]) is dict else None


class Lookups:
    """Questions to namespaces, with what was answered: a condition, when called."""

    def __init__(self) -> None:
        self.spaces: dict[int, dict[str, Any]] = {}
        self.answers: dict[int, dict[str, Any]] = {}
        self.labels: dict[int, str] = {}
        self.keys: dict[int, list[Any]] = {}  # of namespaces of which everything is asked
        self.kinds: dict[int, tuple[type, Any]] = {}  # by their namespaces, with their bases
        self.tops: list[type] = []  # of these the ones that no other has for a base
        self.clocks: list[Any] = []
        self.versions: list[int] | None = None

    def ask(self, space: dict[str, Any], names: Iterable[str], label: str) -> None:
        """Notes what a namespace has under some names, where that isn't known yet."""
        answers = self.answers.get(id(space))
        if answers is None:
            answers = self.answers[id(space)] = {}
            self.spaces[id(space)] = space
            self.labels[id(space)] = label
        for name in names:
            if name not in answers:
                answers[name] = space.get(name, MISSING)

    def ask_class(self, kind: type, names: Iterable[str], lacking: bool = False) -> None:
        """Asks a class itself, bases apart; of what it has only where `lacking` is false."""
        space = space_of(kind)
        if space is None:
            return
        self.kinds[id(space)] = kind, kind.__mro__
        (self.lack if lacking else self.ask)(space, names, kind.__name__)

    def lack(self, space: dict[str, Any], names: Iterable[str], label: str) -> None:
        """Notes names that a namespace hasn't; what it has is looked at elsewhere."""
        self.ask(space, [k for k in names if k not in space], label)

    def whole(self, space: dict[str, Any], label: str, values: bool = True) -> None:
        """Asks a namespace for all that it has, in order; for the names only, if so wanted."""
        if values:
            self.ask(space, list(space), label)
        else:
            self.ask(space, (), label)
        self.keys[id(space)] = list(space)

    def settle(self) -> None:
        """Prepares the quick comparison: everything is asked."""
        below = {id(base) for kind, mro in self.kinds.values() for base in mro[1:]}
        self.tops = [kind for kind, _ in self.kinds.values() if id(kind) not in below]
        offset, place = layout.version_offset(), layout.tag_offset()
        if offset is None or place is None or not all(map(layout.tag, self.tops)):
            return
        self.clocks = [
            ctypes.c_uint64.from_address(k + offset) for k in self.spaces if k not in self.kinds
        ]
        self.clocks += [ctypes.c_uint32.from_address(id(kind) + place) for kind in self.tops]

    def __call__(self) -> bool:
        """Whether all answers are what they were."""
        clocks = self.clocks
        if not clocks:
            return self.other() is None
        now = [*map(_VALUE, clocks)]
        if now == self.versions:
            return True
        if self.other() is not None:
            return False
        # A class that was changed has no number, 0, until it is asked for something.
        self.versions = now if all(now) else None
        return True

    def other(self) -> tuple[str, str] | None:
        """A name that gives something else by now, and where; None where there is none."""
        for key, answers in self.answers.items():
            get = self.spaces[key].get
            for name, known in answers.items():
                if get(name, MISSING) is not known:
                    return name, self.labels[key]
        for kind, mro in self.kinds.values():
            if kind.__mro__ is not mro:
                return "__bases__", kind.__name__
        for key, known in self.keys.items():
            if list(self.spaces[key]) != known:
                return "__dict__", self.labels[key]
        return None


__all__ = ["MISSING", "SPECIAL", "Lookups", "space_of"]
