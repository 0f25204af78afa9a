"""Places: containers on which a step may depend, what they hold, and what they hold by now."""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import aliasing as A
from ..._native.cpython.type_flags import is_heap_type, is_immutable
from ..refusal import is_library

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..capture.number_sources import Source

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
    if kind == "names":
        return {k: c[k] for k in place.entries if k in c}
    if kind == "list":
        return dict(enumerate(c))
    if kind == "set":
        return {id(y): y for y in c}
    if kind == "cell":
        (name,) = place.entries
        try:
            return {name: c.cell_contents}
        except ValueError:
            return {}
    if kind == "class":
        return {k: vars(c)[k] for k in place.entries if k in vars(c)}
    if kind == "array":
        return contents_of(c)
    if kind == "unset":
        return {"it": True} if is_set(place.guarded, c) else {}
    return {k: getattr(c, k) for k in place.entries if hasattr(c, k)}


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


def slots_of(base: type) -> tuple[str, ...]:
    """The names of the slots that a class adds, as they stand in its dictionary."""
    found = vars(base).get("__slots__", ())
    names = (found,) if isinstance(found, str) else tuple(found)
    return tuple(_mangle(base, name) for name in names)


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


def unchanged(old: object, new: object) -> bool:
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
