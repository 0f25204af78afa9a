"""Namespaces in which a step looks names up: each gives what it gave, and what it lacked it lacks.

Note [What isn't there]
A step can depend on a name that is *not* found: by `hasattr(model, "scale")`, by a handler for
`AttributeError`, by `getattr` with a default, by a builtin that no global hides, by a method that
only a base class has. So each namespace that the step can ask is asked for all names in the step's
code and for those that Python itself looks up. The namespaces are the dictionaries of objects, the
classes of all objects on the way with their bases, modules, builtins, and the library's own modules
as far as its code ran. The answers, absence included, are compared before each call.

That would be some thousand questions. Where Python shows a dictionary's version, one comparison
answers for all names in it. `native_guards` does the same.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any, Final

from ..._native.cpython import dict_clocks, object_layout as layout

#: Names asked of objects, at most: beyond it looking alone takes seconds, and its notes 100s of MB.
MOST_QUESTIONS: Final = 4_000_000


class Missing:
    """Stands for what isn't there."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = Missing()
_JOINED: Final = b"".join


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
    """Questions to namespaces, with what was answered."""

    def __init__(self) -> None:
        self.spaces: dict[int, dict[str, Any]] = {}
        self.answers: dict[int, dict[str, Any]] = {}  # by namespace, what is there by name
        self.absent: dict[int, set[str]] = {}  # and what isn't
        self.labels: dict[int, str] = {}
        self.keys: dict[int, list[Any]] = {}  # of namespaces of which everything is asked
        self.kinds: dict[int, tuple[type, Any]] = {}  # by their namespaces, with their bases
        self.excess: str | None = None  # why nothing was asked: it would be too much

    def ask(self, space: dict[str, Any], names: Iterable[str], label: str) -> None:
        """Notes what a namespace has under some names, where that isn't known yet."""
        if id(space) not in self.spaces:
            self.answers[id(space)], self.absent[id(space)] = {}, set()
            self.spaces[id(space)] = space
            self.labels[id(space)] = label
        answers, absent = self.answers[id(space)], self.absent[id(space)]
        for name in names:
            if name in answers or name in absent:
                continue
            if name in space:
                answers[name] = space[name]
            else:
                absent.add(name)

    def too_many(self, objects: int, names: int) -> bool:
        """Whether asking all objects for all names would be too much; see `MOST_QUESTIONS`."""
        if objects * names > MOST_QUESTIONS:
            many = f"{names} names of {objects} objects"
            self.excess = f"its code reaches more than can be watched: {many}"
        return self.excess is not None

    def ask_class(self, kind: type, names: Iterable[str], lacking: bool = False) -> None:
        """Asks a class itself, bases apart; of what it has only where `lacking` is false."""
        space = space_of(kind)
        if space is None:
            return
        self.kinds[id(space)] = kind, kind.__mro__
        (self.lack if lacking else self.ask)(space, names, kind.__name__)

    def lack(self, space: dict[str, object], names: Iterable[str], label: str) -> None:
        """Notes names that a namespace hasn't; what it has is looked at elsewhere."""
        self.ask(space, [k for k in names if k not in space], label)

    def whole(self, space: dict[str, object], label: str, values: bool = True) -> None:
        """Asks a namespace for all that it has, in order; for the names only, if so wanted."""
        if values:
            self.ask(space, list(space), label)
        else:
            self.ask(space, (), label)
        self.keys[id(space)] = list(space)

    def tops(self) -> list[type]:
        """The classes that no other has for a base: what changes a class changes these."""
        below = {id(base) for kind, mro in self.kinds.values() for base in mro[1:]}
        return [kind for kind, _ in self.kinds.values() if id(kind) not in below]

    def other(self, among: Iterable[int] | None = None) -> tuple[str, str] | None:
        """A name that gives something else by now, and where; None where there is none."""
        for key in self.spaces if among is None else among:
            space = self.spaces[key]
            for name, known in self.answers[key].items():
                if space.get(name, MISSING) is not known:
                    return name, self.labels[key]
            if not space.keys().isdisjoint(self.absent[key]):  # asks the shorter of the two
                return min(self.absent[key] & space.keys()), self.labels[key]
            if key in self.kinds:
                kind, mro = self.kinds[key]
                if kind.__mro__ is not mro:
                    return "__bases__", kind.__name__
            if key in self.keys and list(space) != self.keys[key]:
                return "__dict__", self.labels[key]
        return None

    def asks(self, key: int) -> bool:
        """Whether there is anything to ask a namespace."""
        return bool(self.answers[key] or self.absent[key] or key in self.keys)


class Versions:
    """The condition that no answer has changed, which one comparison tells as a rule."""

    def __init__(self, lookups: Lookups, others: Iterable[dict[Any, Any]]) -> None:
        """`others` are dictionaries that have guards of their own."""
        self.lookups = lookups
        self.clocks: list[Any] = []  # memory of versions
        self.spaces: list[tuple[int, ...]] = []  # the namespaces of lookups that each is for
        self.tags = 0  # bytes at the end that are of classes
        self.known: bytes | None = None  # the versions when all was well
        tops = lookups.tops()
        known = dict_clocks.unknown() is None and layout.tag_offset() is not None
        if not known or not all(map(layout.tag, tops)):
            return
        asked = [k for k in lookups.spaces if k not in lookups.kinds and lookups.asks(k)]
        tables: dict[int, dict[Any, Any]] = {k: lookups.spaces[k] for k in asked}
        tables |= {id(x): x for x in others}
        found = {key: dict_clocks.bytes_of(table) for key, table in tables.items()}
        if None in found.values():
            return
        for key, clock in found.items():
            self.clocks.append(clock)
            self.spaces.append((key,) if key in lookups.spaces else ())
        for top in tops:
            self.clocks.append(layout.class_clock(top))
            bases = {id(base) for base in top.__mro__}
            kinds = lookups.kinds.items()
            self.spaces.append(tuple(k for k, (kind, _) in kinds if id(kind) in bases))
        self.tags = 4 * len(tops)

    def __call__(self) -> bool:
        """Whether all answers are what they were."""
        now = self.find_changes()
        return now is None or self.lookups.other(self._spaces(now)) is None

    def find_changes(self) -> bytes | None:
        """The versions by now; None where no dictionary and no class has changed."""
        now = _JOINED(self.clocks)
        return None if now == self.known else now

    def same(self, now: bytes) -> bool:
        """Whether all answers are what they were, as are the other dictionaries since `now`."""
        if self.lookups.other(self._spaces(now)) is not None:
            return False
        # A class that was changed has no number, 0, until it is asked for something.
        tags = memoryview(now)[len(now) - self.tags :].cast("I")
        self.known = now if now and 0 not in tags else None
        return True

    def _spaces(self, now: bytes) -> Iterable[int]:
        """The namespaces that may have changed: a script's loop writes into its globals always."""
        if self.known is None:
            return self.lookups.spaces
        found: set[int] = set()
        at = 0
        for clock, spaces in zip(self.clocks, self.spaces):
            end = at + len(clock)
            if now[at:end] != self.known[at:end]:
                found.update(spaces)
            at = end
        return found
