"""Places: containers on which a step may depend, what they hold, and what they hold by now.

Note [By the plain type's way]
An object of a user's class may answer with something else than it holds: by a `__getitem__` of a
list's subclass, by `__getattribute__` or `__setattr__`, by a property that hides a slot. Such
methods are code of the step, and what they read is watched like all else that it reads. So a place
is read and written by the plain type's own means (`list.__getitem__`, the slot's descriptor), never
by asking the object.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from types import CellType, GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import aliasing as A
from ..._base.annotations import AnyCallable
from ..._native.cpython.type_flags import is_heap_type, is_immutable
from ..refusal import is_library
from .name_lookups import MISSING

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..capture.number_sources import Source

_CONTAINERS: Final = (OrderedDict, dict, list, deque, tuple, set, frozenset)
SCALARS: Final = (bool, int, float, complex, str, bytes, type(None))
#: Attributes in C that are looked at anyway.
_SEEN: Final = frozenset({
    "__class__", "__dict__", "__weakref__", "__code__", "__defaults__", "__kwdefaults__",
})  # fmt: skip


class Place:
    """A container on which the step may depend, and its entries when it was looked at."""

    __slots__ = ("container", "kind", "entries", "label", "guarded", "ordered")

    def __init__(self, container: Any, kind: str, entries: dict[Any, Any], label: str) -> None:
        self.container = container
        self.kind = kind  # "dict", "list", "set", "cell", "slots", "class", "array", ...
        self.entries = entries
        self.label = label
        self.guarded: Any = None  # the keys to guard; None: all
        self.ordered = True  # the order of the keys may matter


class AnyNumber:
    """Stands for a number that may be any of its type, where guards look for a value."""

    __slots__ = ("source",)

    def __init__(self, source: Source) -> None:
        self.source = source


def current_entries(place: Place) -> dict[Any, Any]:
    """The entries of a place as they are now; of namespaces only those that were looked at."""
    c = place.container
    kind = place.kind
    if kind == "dict":
        return items_of(c)
    if kind == "list":
        return dict(enumerate(elements_of(c)))
    if kind == "set":
        return {id(y): y for y in elements_of(c)}
    if kind == "array":
        return contents_of(c)
    if kind == "unset":
        return {"it": True} if is_set(place.guarded, c) else {}
    found = {k: entry_of(kind, c, k) for k in place.entries}
    return {k: x for k, x in found.items() if x is not MISSING}


def elements_of(x: object) -> list[object]:
    """The elements of a sequence or a set, in order. See Note [By the plain type's way]."""
    return list(_plain_method(x, "__iter__")(x))


def _plain_method(x: object, name: str) -> AnyCallable:
    """A method of the class of C of which a container is, or is derived."""
    method: AnyCallable = getattr(next(k for k in _CONTAINERS if isinstance(x, k)), name)
    return method


def entry_of(kind: str, container: object, key: object) -> Any:
    """What lies in a place; `MISSING` where there is nothing."""
    if isinstance(container, CellType):
        try:
            return container.cell_contents
        except ValueError:
            return MISSING
    if kind == "class":
        return vars(container).get(str(key), MISSING)
    if kind == "slots":
        return SlotReader(slot_of(container, str(key)))(container)
    if kind == "function":
        return getattr(container, str(key), MISSING)
    try:
        if isinstance(container, dict):
            return dict.__getitem__(container, key)
        return _plain_method(container, "__getitem__")(container, key)
    except LookupError:
        return MISSING


def put_entry(kind: str, container: object, key: object, value: object) -> None:
    """Puts a value into a place."""
    if type(container) is dict:
        container[key] = value
    elif isinstance(container, CellType):
        container.cell_contents = value
    elif kind == "class":
        type.__setattr__(container, str(key), value)
    elif kind == "slots":
        slot_of(container, str(key)).__set__(container, value)
    else:
        _plain_method(container, "__setitem__")(container, key, value)


def slot_of(x: object, name: str) -> MemberDescriptorType:
    """The descriptor of a slot, the first of that name."""
    for base in type(x).__mro__:
        found = vars(base).get(name)
        if type(found) is MemberDescriptorType:
            return found
    raise AttributeError(name)


class SlotReader:
    """What a slot of an object holds; `MISSING` where it holds nothing."""

    __slots__ = ("member",)

    def __init__(self, member: MemberDescriptorType) -> None:
        self.member = member

    def __call__(self, x: object) -> object:
        try:
            return self.member.__get__(x)
        except AttributeError:
            return MISSING


def shows_slot(x: object, name: str) -> bool:
    """Whether asking an object for a name gives what its slot holds."""
    classes = type(x).__mro__[:-1]
    if any("__getattribute__" in vars(base) for base in classes):
        return False
    shown = next(vars(base)[name] for base in classes if name in vars(base))
    return shown is slot_of(x, name)


def items_of(table: dict[Any, Any]) -> dict[Any, Any]:
    """A copy of a dictionary, in its order, without asking a class of the user's."""
    if isinstance(table, OrderedDict):
        return {k: dict.__getitem__(table, k) for k in OrderedDict.__iter__(table)}
    return dict(dict.items(table))


def contents_of(raw: Array) -> dict[str, Any]:
    """All that code can learn of an array."""
    return {"bytes": raw.tobytes(), "shape": str(raw.shape), "dtype": str(raw.dtype)}


def attributes_of(x: object) -> dict[str, Any] | None:
    """The `__dict__` of an object, without running code of its class."""
    try:
        found = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, dict) else None


def is_set(member: Any, x: object) -> bool:
    """Whether a slot of an object holds something."""
    try:
        member.__get__(x)
    except AttributeError:
        return False
    return True


def slots_of(x: object) -> Iterator[tuple[str, MemberDescriptorType]]:
    """The names of an object's slots, as they stand in dictionaries of classes, and the slots."""
    for base in type(x).__mro__:
        found = vars(base).get("__slots__", ()) if base.__module__ != "builtins" else ()
        for name in (found,) if isinstance(found, str) else tuple(found):
            member = vars(base).get(_mangle(base, name))
            if type(member) is MemberDescriptorType:
                yield _mangle(base, name), member


def _mangle(base: type, name: str) -> str:
    private = name.startswith("__") and not name.endswith("__")
    return f"_{base.__name__.lstrip('_')}{name}" if private else name


def plain(x: object) -> bool:
    """Whether something is a number or a text, and no more than its value."""
    return type(x) in SCALARS or isinstance(x, A.number_types)


def in_c(kind: type, name: str) -> bool:
    """Whether objects of a class keep an attribute where no dictionary and no slot shows it."""
    if name in _SEEN:
        return False
    for base in kind.__mro__:
        if name in vars(base):
            found = vars(base)[name]
            mine = is_heap_type(base) and not is_immutable(base)
            return type(found) is GetSetDescriptorType or (
                type(found) is MemberDescriptorType and not mine
            )
    return False


def is_unchanged(old: object, new: object) -> bool:
    """Whether an entry holds what it held: the same object, or an equal number or text."""
    if old is new:
        return True
    if type(old) is not type(new) or not plain(old):
        return False
    return bool(old == new)


def is_library_class(kind: type) -> bool:
    module = getattr(kind, "__module__", "") or ""
    stem = module.partition(".")[0]
    if stem in ("rushlight", "numpy", "builtins", "scipy", "torch"):
        return True
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    if file is None:
        return found is not None and stem != "__main__"
    return is_library(file)
