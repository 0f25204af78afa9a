"""What a step leaves in the user's containers and objects without reading it: effects of a program.

Note [Kept, not read]
A step may do `losses.append(loss.item())` or `self.last = out.detach()`. As long as it never reads
that list or attribute, its old content doesn't matter, and the program writes it last.

Whether it is read is seen in the code objects that ran. A name that leads to the list may only be
loaded for `.append` or `.extend`; a name that is stored may not be loaded at all. The step stays
eager where this can't be seen: with `getattr` or `vars`, with a list inside a tuple or another
list, with a subclass of one of the library's layers, or with code of Python's own library that
looks into objects.
"""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from ...nn.modules.module import Module
from ..guards.captured_state import TABLES, UNUSED, State
from ..guards.places import SCALARS, Place, current_entries, is_library_class
from ..guards.unwatchable import names_of
from ..ir.program import same
from ..refusal import Refusal, is_standard
from .output_structure import describe_result

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from .code_observation import Observation
    from .output_structure import FreshTensor
    from .recorder import Recorder

GROW: Final = ("append", "extend")
_STORES: Final = ("STORE_ATTR", "STORE_GLOBAL", "STORE_NAME", "STORE_DEREF")
_LOADS: Final = ("LOAD_METHOD", "LOAD_ATTR")
_SKIPPED: Final = ("CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "PUSH_NULL", "NOT_TAKEN")
_OTHER: Final = ("LOAD_CLOSURE", "MAKE_CELL", "KW_NAMES")
#: Ways to reach what objects hold without its name.
_HIDDEN: Final = frozenset({
    "getattr", "setattr", "delattr", "hasattr", "vars", "globals", "locals", "dir", "eval", "exec",
    "__dict__", "__getattribute__", "__getstate__", "__reduce__", "__reduce_ex__", "__self__",
    "attrgetter", "itemgetter", "methodcaller", "__closure__", "cell_contents", "__globals__",
})  # fmt: skip
#: Files of Python's library whose code looks into nobody's objects.
_HARMLESS: Final = ("contextlib.py", "functools.py", "abc.py", "_weakrefset.py", "weakref.py",
                    "typing.py", "enum.py", "types.py", "warnings.py", "threading.py",
                    "random.py", "numbers.py")  # fmt: skip
_SPACES: Final = ("SimpleNamespace", "Namespace")


class Added:
    """Things that the step puts at the end of a list."""

    __slots__ = ("container", "shown")

    def __init__(self, container: object, shown: Sequence[object]) -> None:
        self.container = container
        self.shown = shown  # how each is made or found, see `outputs`

    def same_as(self, other: Added) -> bool:
        """Whether the other adds the same to the same list."""
        return self.container is other.container and same(self.shown, other.shown)

    def __repr__(self) -> str:
        return f"{type(self.container).__name__}.extend({len(self.shown)})"


class Stored:
    """A thing that the step leaves in a place."""

    __slots__ = ("container", "key", "kind", "shown")

    def __init__(self, kind: str, container: Any, key: str, shown: FreshTensor) -> None:
        self.kind = kind
        self.container = container
        self.key = key
        self.shown = shown

    def same_as(self, other: Stored) -> bool:
        """Whether the other leaves the same in the same place."""
        there = self.container is other.container and self.key == other.key
        return there and self.kind == other.kind and same(self.shown, other.shown)

    def __repr__(self) -> str:
        return f"{self.key} <- stored"


class Uses:
    """What some code does with names: `("grow",)`, `("read",)`, `("key", k, what follows)`."""

    def __init__(self, codes: Iterable[CodeType]) -> None:
        self.loads: dict[str, set[Any]] = {}
        self.stores: set[str] = set()
        self.hidden = bool(names_of(codes := list(codes)) & _HIDDEN)
        for code in codes:
            self._scan([i for i in dis.get_instructions(code) if i.opname not in _SKIPPED])

    def _scan(self, all_: list[Any]) -> None:
        all_ = [*all_, *[None] * 4]
        for k, i in enumerate(all_):
            if i is None or type(i.argval) is not str or i.opname == "LOAD_CONST":
                continue
            if i.opname in _STORES:
                self.stores.add(i.argval)
            elif "FAST" not in i.opname and i.opname not in _OTHER:
                self.loads.setdefault(i.argval, set()).add(_follow(all_, k + 1))


def _follow(code: list[Any], k: int) -> tuple[str, ...]:
    first, second = code[k], code[k + 1]
    if first is None or second is None:
        return ("read",)
    if first.opname in _LOADS and first.argval in GROW:
        return ("grow",)
    if first.opname == "LOAD_CONST" and type(first.argval) is str:
        if second.opname == "STORE_SUBSCR":
            return ("key", first.argval, "store")
        if second.opname == "BINARY_SUBSCR" or second.argrepr == "[]":
            return ("key", first.argval, _follow(code, k + 2)[0])
    return ("read",)


class SideEffects:
    """What one recorded call has added to lists and left in places that it doesn't read."""

    def __init__(self, state: State, observation: Observation, containers: set[int]) -> None:
        self.state = state
        self.own = observation.own()
        self.containers = containers
        self.looked = any(
            is_standard(code.co_filename) and not code.co_filename.endswith(_HARMLESS)
            and not code.co_filename.startswith("<")
            for code, user in observation.codes.items() if not user
        )  # fmt: skip
        self.uses: Uses | None = None
        self.holders: dict[int, list[tuple[Place, Any]]] | None = None
        self.objects = {id(place): x for place, x in state.objects}
        self.grown: list[tuple[Place, list[Any]]] = []
        self.stored: list[tuple[Place, Any, Any]] = []
        self.loose: list[tuple[Place, Any]] = []
        for place in state.places:
            self._look(place)

    def _look(self, place: Place) -> None:
        if place.kind == "list":
            items = _tail(place)
            if items and self.tells_reads() and self._reach(place.container) == {"grow"}:
                self.grown.append((place, items))
            return
        if place.kind not in ("dict", "names", "cell", "slots", "class"):
            return
        now = current_entries(place)
        if len(now) != len(place.entries):
            return
        for key, old in place.entries.items():
            if key not in now or now[key] is old or type(key) is not str:
                continue
            if type(old) in SCALARS and type(now[key]) is type(old) and now[key] == old:
                continue
            if (id(place.container), key) in self.state.moved:
                continue  # a number's effect, see `sources`
            if self.tells_reads() and self._only_stored(place, key):
                self.stored.append((place, key, now[key]))

    def tells_reads(self) -> bool:
        """Whether names in the code tell all that it reads."""
        if self.uses is None:
            self.uses = Uses(self.own)
        return not (self.uses.hidden or self.looked)

    def _edges(self, x: object) -> list[tuple[Place, Any]] | None:
        """The places that hold a container; None where something else does, too."""
        if self.holders is None:
            self.holders = {}
            for place in self.state.places:
                for key, value in place.entries.items():
                    if type(value) in (list, dict, deque) or isinstance(value, dict):
                        self.holders.setdefault(id(value), []).append((place, key))
        found = self.holders.get(id(x), [])
        return found if len(found) >= self.state.pushes.get(id(x), 0) else None

    def _is_named(self, place: Place, key: object) -> bool:
        """Whether an entry is reached by its name alone."""
        if type(key) is not str or place.kind in ("list", "set", "function", "array"):
            return False
        if place.kind != "dict":
            return True
        x = self.objects.get(id(place))
        if x is None:
            return False
        kind = type(x)
        if isinstance(x, Module):
            if key in TABLES or key in UNUSED or key.startswith("_"):
                return False
            known = Module.__mro__
            return all(base in known or not is_library_class(base) for base in kind.__mro__)
        own = kind.__name__ in _SPACES or not is_library_class(kind)
        return own and not any(is_library_class(base) for base in kind.__mro__[1:-1])

    def _reach(self, x: object) -> set[str]:
        """What the code does with a container that is held by names."""
        edges = self._edges(x)
        if not edges or id(x) in self.containers:
            return {"read"}
        found: set[str] = set()
        for place, key in edges:
            found |= self._entry(place, key)
        return found

    def _entry(self, place: Place, key: Any) -> set[str]:
        """What the code does with the entry of a place."""
        assert self.uses is not None
        if self._is_named(place, key):
            return {how[0] if how[0] != "key" else "key" for how in self.uses.loads.get(key, ())}
        if place.kind != "dict" or id(place) in self.objects or type(key) is not str:
            return {"read"}
        edges = self._edges(place.container)
        if not edges or id(place.container) in self.containers:
            return {"read"}
        found: set[str] = set()
        for outer, name in edges:
            if not self._is_named(outer, name):
                return {"read"}
            for how in self.uses.loads.get(name, ()):
                if how[0] != "key":
                    return {"read"}
                if how[1] == key:
                    found.add(how[2])
        return found

    def _only_stored(self, place: Place, key: str) -> bool:
        assert self.uses is not None
        if self._is_named(place, key):
            return key in self.uses.stores and key not in self.uses.loads
        return self._entry(place, key) == {"store"}

    # ---- the program's part ----------------------------------------------------------------------
    def values(self) -> list[Any]:
        """All that is kept, for those who look for tensors in it."""
        return [items for _, items in self.grown] + [value for *_, value in self.stored]

    def effects(self, result: object, recorder: Recorder, arguments: list[Tensor]) -> list[Any]:
        """The effects, as parts of a program; what they change is no longer watched.

        Raises:
            Refusal: for what can't be made anew, or would be made twice.
        """
        self._check(result)
        found: list[Any] = []
        for place, items in self.grown:
            shown = [describe_result(x, recorder, arguments) for x in items]
            found.append(Added(place.container, shown))
            self._unwatch(place)
        for place, key, value in self.stored:
            shown = describe_result(value, recorder, arguments)
            found.append(Stored(place.kind, place.container, key, shown))
            self.loosen(place, key)
        return found

    def loosen(self, place: Place, key: str) -> None:
        """Has an entry be whatever it is when a call begins."""
        self.state.moved.add((id(place.container), key))
        self.loose.append((place, key))
        _loosen(place, key)

    def loosen_again(self) -> None:
        """The same for all that was loosened, where names were found since: guards are anew."""
        for place, key in self.loose:
            _loosen(place, key)

    def loosen_numbers(self, effects: list[Any]) -> None:
        """The same for places where numbers are left that nothing reads."""
        for effect in effects:
            source, key = effect.source, effect.source.key
            if type(key) is not str:
                continue
            place = next(p for p in self.state.places if p.container is source.container
                         and p.kind == source.kind and key in p.entries)  # fmt: skip
            free = any(x is not None and x.container is place.container and x.key == key
                       for e in effects for x in e.expr.sources())  # fmt: skip
            if not free and self.tells_reads() and self._only_stored(place, key):
                self.loosen(place, key)

    def _unwatch(self, place: Place) -> None:
        """Forgets a list, and what was found in it alone."""
        state = self.state
        state.places = [p for p in state.places if p is not place]
        for value in place.entries.values():
            if state.found_in.get(id(value)) == id(place.container):
                state.tensors.pop(id(value), None)

    def _check(self, result: Any) -> None:
        """Refuses containers that are kept in two places, or were there before."""
        seen: set[int] = set()
        kept = self.values()
        stack = [result, *[x for items in kept[: len(self.grown)] for x in items],
                 *kept[len(self.grown) :]]  # fmt: skip
        if not kept:
            return
        while stack:
            x = stack.pop()
            if type(x) in (list, dict):
                if id(x) in seen or id(x) in self.containers or id(x) in self.state.seen:
                    raise Refusal("the step keeps a list or dict in two places")
                seen.add(id(x))
            if type(x) in (list, tuple):
                stack.extend(x)
            elif type(x) is dict:
                stack.extend(x.values())


def _loosen(place: Place, key: str) -> None:
    guarded = frozenset(place.entries) if place.guarded is None else place.guarded
    place.guarded = frozenset(guarded) - {key}


def _tail(place: Place) -> list[Any]:
    """What was added to a list since it was looked at; nothing where else it was changed."""
    now = list(current_entries(place).values())
    before = len(place.entries)
    if type(place.container) not in (list, deque) or len(now) <= before:
        return []
    if any(place.entries[k] is not now[k] for k in range(before)):
        return []
    return now[before:]
