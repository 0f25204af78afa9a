"""Where the numbers of a step come from, if not from tensors: arguments, globals, attributes.

Note [Numbers that change]
A number is a constant of the program at first, checked at each call. Where it turns out to be
another when the step is recorded again, it becomes an input: while the step is recorded a `Given`
stands in its place (see `scalars`), and the program reads it anew in each call. A step may write
such places too (`self.steps += 1`, `self.best = loss.item()`): what it leaves there is an
expression, and writing it is the last thing that the program does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..guards.captured_state import State
from ..guards.name_lookups import MISSING
from ..guards.places import AnyNumber, Place, current_entries, entry_of, put_entry
from ..ir.expressions import Expr, as_it_is
from .other_threads import others_run
from .symbolic_numbers import NUMBERS, identical, plain_number, trace_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..._base.annotations import Keywords, Positional
    from .recorder import Recorder
    from .symbolic_numbers import ReadFloat, SymbolicFloat, SymbolicInt

_SCALARS: Final = (int, float, bool, str, type(None))
_WRITABLE: Final = ("dict", "names", "list", "cell", "slots", "class")


class Source:
    """A place outside of the step that holds a number, or an argument that is one."""

    __slots__ = ("container", "key", "kind", "name", "text", "type")

    def __init__(self, kind: str, container: Any, key: Any, type: type, text: str) -> None:
        self.kind = kind  # "args", "kwargs", or that of a place
        self.container = container
        self.key = key
        self.type = type
        self.text = text
        self.name = ""  # of the variable that holds it in a program

    def __str__(self) -> str:
        return self.name or self.text


class NumberEffect:
    """A number that the step leaves in a place."""

    __slots__ = ("expr", "source")

    def __init__(self, source: Source, expr: Expr) -> None:
        self.source = source
        self.expr = expr

    def same_as(self, other: NumberEffect) -> bool:
        """Whether the other leaves the same in the same place."""
        from ..ir.program import same

        a, b = self.source, other.source
        there = a.kind == b.kind and a.container is b.container and a.key == b.key
        return there and same(self.expr, other.expr)

    def __repr__(self) -> str:
        return f"{self.source.text} <- {self.expr!r}"


def _is_number(x: object) -> bool:
    """Whether another could stand in its place; not for nan, which as a key is itself alone."""
    return (type(x) is float and x == x) or type(x) is int


class Numbers:
    """All that a step has shown of the numbers that it is given."""

    def __init__(self) -> None:
        self.last: dict[Any, Any] = {}
        self.sources: dict[Any, Source] = {}
        self.fixed: set[Any] = set()  # what is needed as it is

    def find_varied(
        self, state: State, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> dict[Any, tuple[Source, Any]]:
        """The numbers that have been others before, by key, with their values."""
        found: dict[Any, tuple[Source, Any]] = {}
        options = _watch_options(state)
        if "type" in state.globals and (state.globals | state.names) & {"int", "float"}:
            return found  # `type(x) is float` isn't true of what stands for a number
        for key, source, value in _numbers(state, args, kwargs):
            known = self.last.get(key)
            self.last[key] = value
            if key in self.fixed:
                continue
            fresh = key not in self.sources and (known is None or known == value)
            if fresh and id(source.container) not in options:
                continue
            mine = self.sources.setdefault(key, source)
            if not mine.name:
                mine.name = f"n{len(self.sources)}"
            found[key] = mine, value
        return found

    def settle(self, conditions: list[Any]) -> None:
        """Notes which of them are needed as they are: these stay constants from now on."""
        for expr, _ in conditions:
            if expr.function is identical and type(expr.parts[0]) is Expr:
                for key, source in self.sources.items():
                    if any(source is x for x in expr.parts[0].sources()):
                        self.fixed.add(key)


def _watch_options(state: State) -> set[int]:
    """The ids of optimizers' groups, where the step's own code may ask for their options.

    Rates change from call to call, and nobody wants a program for each: they are inputs at once.
    """
    if "param_groups" not in state.names:
        return set()
    groups = {id(group) for o in state.optimizers for group in o.param_groups}
    for place in state.places:
        if id(place.container) in groups:
            place.guarded = None
    return groups


def _numbers(
    state: State, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> list[tuple[Any, Source, Any]]:
    found = []
    for k, x in enumerate(args):
        if _is_number(x):
            key: Any = ("args", k, type(x))
            found.append((key, Source("args", None, k, type(x), f"args[{k}]"), x))
    for name, x in kwargs.items():
        if _is_number(x):
            key = ("kwargs", name, type(x))
            found.append((key, Source("kwargs", None, name, type(x), name), x))
    for place in state.places:
        if place.kind not in _WRITABLE:
            continue
        for k, x in place.entries.items():
            if _is_number(x) and (place.guarded is None or k in place.guarded):
                key = (id(place.container), k, type(x))
                text = _describe(place, k)
                found.append((key, Source(place.kind, place.container, k, type(x), text), x))
    return found


def _describe(place: Place, key: int | str) -> str:
    label = place.label.strip("`")
    if place.kind in ("cell", "names"):
        return str(key)
    if isinstance(key, str) and key.isidentifier():
        return f"{key} of an argument" if label == "an argument" else f"{label}.{key}"
    return f"{label}[{key!r}]"


def _is_resized(place: Place) -> bool:
    """Whether entries have come or gone: then the step is refused, and nothing is put back."""
    return place.kind in ("dict", "list") and len(current_entries(place)) != len(place.entries)


#: Methods whose results C takes only as numbers of its own.
_FOR_C: Final = frozenset({
    "__float__", "__int__", "__index__", "__complex__", "__bool__", "__len__", "__length_hint__",
    "__hash__",
})  # fmt: skip


class Substitution:
    """Numbers that note what is done with them, in the places of those that change."""

    def __init__(
        self, found: dict[Any, tuple[Source, Any]], state: State, recorder: Recorder
    ) -> None:
        # What C asks an object's class for it takes only as a number of its own.
        self.found = {} if any(c.co_name in _FOR_C for c in state.codes) else found
        self.state = state
        self.recorder = recorder
        self.placed: list[tuple[Source, Any, Any]] = []
        self.effects: list[NumberEffect] = []

    def why_visible(self) -> str | None:
        """What another thread may come upon, as the reason not to record; None where there is none.

        See Note [Seen by one thread].
        """
        placed = [source for source, _ in self.found.values() if source.kind in _WRITABLE]
        if not placed or not others_run():
            return None
        text = f"{placed[0].text} changes from call to call, and another thread may look at it"
        return f"{text} while the step is recorded"

    def arguments(self, args: Positional, kwargs: Keywords) -> tuple[Any, Any]:
        """The arguments with such numbers among them."""
        new, named = list(args), dict(kwargs)
        for source, value in self.found.values():
            if source.kind == "args":
                new[source.key] = trace_source(value, source, self.recorder)
            elif source.kind == "kwargs":
                named[source.key] = trace_source(value, source, self.recorder)
        return tuple(new), named

    def __enter__(self) -> Substitution:
        for source, value in self.found.values():
            if source.kind in _WRITABLE:
                x = trace_source(value, source, self.recorder)
                self.placed.append((source, value, x))
                self.recorder.options[id(source.container), source.key] = x
                put_entry(source.kind, source.container, source.key, x)
        return self

    def __exit__(self, *_: object) -> None:
        replaced = set()
        for source, value, x in self.placed:
            now = entry_of(source.kind, source.container, source.key)
            if now is x:
                put_entry(source.kind, source.container, source.key, value)
            elif now is not MISSING:
                replaced.add((id(source.container), source.key))
        for place in self.state.places:
            if place.kind not in _WRITABLE or _is_resized(place):
                continue
            for key, old in place.entries.items():
                now = entry_of(place.kind, place.container, key)
                if type(now) in NUMBERS:
                    self._effect(place, key, now, now.expr)
                elif (
                    type(now) in _SCALARS and type(old) in _SCALARS
                    and (place.guarded is None or key in place.guarded)
                    and ((id(place.container), key) in replaced or not _alike(old, now))
                ):  # fmt: skip
                    # A constant, as are the numbers from which it was computed: all are guarded.
                    self._effect(place, key, now, Expr(as_it_is, now))
        self.placed.clear()  # what still holds a number must give it up, see `release_numbers`

    def _effect(
        self,
        place: Place,
        key: int | str,
        value: float | SymbolicFloat | SymbolicInt | ReadFloat | str,
        expr: Expr,
    ) -> None:
        source = Source(place.kind, place.container, key, type(value), _describe(place, key))
        self.effects.append(NumberEffect(source, expr))
        self.state.moved.add((id(place.container), key))
        if type(value) in NUMBERS:  # else it lies there, and another thread may have gone on
            put_entry(place.kind, place.container, key, plain_number(value))


def _alike(old: float | str | None, now: float | str | None) -> bool:
    return old is now or (type(old) is type(now) and identical(old, now))


def free_numbers(
    structure: Any, state: State, found: dict[Any, tuple[Source, Any]]
) -> tuple[tuple[object, ...], object]:
    """The structure of arguments with numbers that may be any; marks places in the state, too."""
    args, kwargs = structure
    new, named = list(args), dict(kwargs)
    places = {
        (id(p.container), key): p for p in state.places if p.kind in _WRITABLE for key in p.entries
    }  # fmt: skip
    for source, _ in found.values():
        if source.kind == "args":
            new[source.key] = AnyNumber(source)
        elif source.kind == "kwargs":
            named[source.key] = AnyNumber(source)
        else:
            place = places.get((id(source.container), source.key))
            if place is not None:  # else nothing reads it, see `stores`
                place.entries[source.key] = AnyNumber(source)
    return tuple(new), named
