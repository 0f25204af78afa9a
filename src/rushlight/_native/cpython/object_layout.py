"""Where objects keep their fields: found by changing a field and looking which word has changed.

Machine code that checks what Python objects hold (see `watch`) reads their fields where they lie.
For CPython's own types the places are known, and tried on samples before the first use; for classes
with slots, which may be interpreted or compiled, they are found on a sample. Whatever turns out to
be otherwise than expected raises `Unknown`, and the checks are left to Python.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any, Final

from . import builtin_call as door

__all__ = [
    "DICT_SIZE", "LIST_ITEMS", "NDARRAY", "SIZE", "TYPE", "WRITEABLE", "Unknown", "cell_field",
    "dict_offset", "flag_field", "function_fields", "known", "managed", "mro_offset",
    "object_field", "slot_offset", "tag", "tag_offset", "untouched", "version_offset", "word",
]  # fmt: skip

TYPE: Final = 8
SIZE: Final = 16  # of lists and tuples
DICT_SIZE: Final = 16
LIST_ITEMS: Final = 24
_VERSION: Final = 24
_CELL: Final = 16
_TAG: Final = 384  # of a class's version
_MANAGED: Final = -24  # of CPython 3.11 to 3.14, where a class has a managed dictionary
_ONES: Final = -1
_MEMBER, _MEMBER_OFFSET = 40, 16  # a slot's definition in its descriptor, the offset in that
#: Offsets in an ndarray.
NDARRAY: Final = {"data": 16, "ndim": 24, "shape": 32, "strides": 40, "base": 48, "dtype": 56,
                  "flags": 64, "weak": 72}  # fmt: skip
WRITEABLE: Final = 0x400  # the bit of an ndarray's flags


class Unknown(Exception):
    """An object is laid out in a way that isn't known here."""


class _Plain:
    a: Any


def word(address: int) -> int:
    """The word that lies at an address, as a signed integer."""
    return ctypes.c_int64.from_address(address).value


def _words(x: Any) -> list[int]:
    return [word(id(x) + k) for k in range(0, type(x).__basicsize__ // 8 * 8, 8)]


def object_field(x: Any, put: Callable[[Any], object], values: Sequence[Any]) -> int:
    """The offset of the field that `put` sets to an object.

    Raises:
        Unknown: where not exactly one word follows.
    """
    seen = []
    for value in values:
        put(value)
        seen.append(_words(x))
    found = [
        k for k in range(len(seen[0]))
        if all(words[k] == id(value) for words, value in zip(seen, values))
    ]  # fmt: skip
    if len(found) != 1:
        raise Unknown(f"a field of {type(x).__name__}")
    return 8 * found[0]


def flag_field(x: Any, put: Callable[[bool], object]) -> tuple[int, int, int, int]:
    """Where a truth value lies: offset, the bits of that word, and these for True and False.

    Raises:
        Unknown: where neither one word nor one byte follows.
    """
    seen = []
    for value in (True, False, True, False):
        put(value)
        seen.append(_words(x))
    moving = [k for k in range(len(seen[0])) if seen[0][k] != seen[1][k]]
    if len(moving) != 1 or seen[0] != seen[2] or seen[1] != seen[3]:
        raise Unknown(f"a flag of {type(x).__name__}")
    (k,) = moving
    on, off = seen[0][k], seen[1][k]
    if (on, off) == (id(True), id(False)):
        return 8 * k, _ONES, on, off
    for shift in range(0, 64, 8):
        if on ^ off == 1 << shift and not off & 255 << shift:
            mask = _signed(255 << shift)
            return 8 * k, mask, on & mask, off & mask
    raise Unknown(f"a flag of {type(x).__name__}")


def _signed(x: int) -> int:
    return ctypes.c_int64(x).value


# ---- what CPython has ----------------------------------------------------------------------------


def known(probe: Any) -> bool:
    """Whether dictionaries, lists, cells and arrays lie as it is written here.

    `probe` is an array of two dimensions.
    """
    return (
        door._known_python()
        and door._known_layout(probe)
        and _strided(probe)
        and _containers()
        and cell_field() is not None
    )


def _strided(probe: Any) -> bool:
    at = id(probe)
    steps = word(at + NDARRAY["strides"])
    weak = word(at + NDARRAY["weak"])
    shown = probe[1:]
    kept = weakref.ref(shown)
    return (
        [word(steps), word(steps + 8)] == list(probe.strides)
        and not weak
        and word(id(shown) + NDARRAY["base"]) == id(probe)
        and word(id(shown) + NDARRAY["weak"]) == id(kept)
        and word(at + NDARRAY["base"]) == 0
        and _flagged(probe)
    )


def _flagged(probe: Any) -> bool:
    shown = probe[:]
    found = []
    for writable in (True, False):
        shown.flags.writeable = writable
        found.append(word(id(shown) + NDARRAY["flags"]) & 0xFFFFFFFF)
    return found == [shown.flags.num | WRITEABLE, shown.flags.num] and not found[1] & WRITEABLE


@cache
def _containers() -> bool:
    a, b = object(), object()
    table, line, pair = {"a": a, "b": b}, [a, b, a], (a, b)
    return (
        word(id(table) + DICT_SIZE) == 2
        and word(id(line) + SIZE) == 3
        and word(id(pair) + SIZE) == 2
        and [word(word(id(line) + LIST_ITEMS) + 8 * k) for k in range(3)] == [id(x) for x in line]
        and [word(id(pair) + 24 + 8 * k) for k in range(2)] == [id(a), id(b)]
        and word(id(a) + TYPE) == id(object)
    )


@cache
def cell_field() -> int | None:
    """Where a closure's cell keeps its content; None where that isn't known."""
    content = object()

    def inner() -> Any:
        return content

    (cell,) = inner.__closure__ or ()
    return _CELL if word(id(cell) + _CELL) == id(content) else None


@cache
def function_fields() -> dict[str, int]:
    """The offsets of a function's code, defaults, keyword defaults, names and text.

    Raises:
        Unknown: where they aren't found.
    """
    sample = FunctionType((lambda: None).__code__, {})
    other = (lambda: 1).__code__
    fields: dict[str, list[Any]] = {
        "__code__": [other, sample.__code__],
        "__defaults__": [(object(),), (object(), object())],
        "__kwdefaults__": [{"a": 1}, {"b": 2}],
        "__name__": ["one of them", "the other"],
        "__qualname__": ["one way", "the other way"],
        "__doc__": ["one text", "the other text"],
    }

    def putting(name: str) -> Callable[[Any], None]:
        return lambda value: setattr(sample, name, value)

    return {name: object_field(sample, putting(name), values) for name, values in fields.items()}


def slot_offset(x: Any, name: str) -> int:
    """Where an object keeps a slot of its class that was made by `__slots__`, and is filled.

    Raises:
        Unknown: where the slot's descriptor doesn't say.
    """
    member = inspect.getattr_static(type(x), name)
    if inspect.ismemberdescriptor(member):
        offset = word(word(id(member) + _MEMBER) + _MEMBER_OFFSET)
        inside = 16 <= offset <= type(x).__basicsize__ - 8 and not offset % 8
        if inside and word(id(x) + offset) == id(getattr(x, name)):
            return offset
    raise Unknown(f"a slot of {type(x).__name__}")


def dict_offset(x: Any) -> int | None:
    """Where an object keeps the address of its dictionary, which must be there; None if unknown."""
    own = getattr(x, "__dict__", None)
    offset = type(x).__dictoffset__
    if type(own) is not dict or not door._known_python():
        return None
    places = [offset] if offset > 0 else [_MANAGED]
    if offset <= 0 and not managed(type(x)):
        return None
    return next((k for k in places if word(id(x) + k) == id(own)), None)


@cache
def mro_offset() -> int:
    """Where a class keeps the order of its bases.

    Raises:
        Unknown: where it isn't found.
    """
    size = int(vars(type)["__basicsize__"].__get__(type))
    found = [
        k for k in range(0, size, 8)
        if all(word(id(kind) + k) == id(kind.__mro__) for kind in (_Plain, Unknown))
    ]  # fmt: skip
    if len(found) != 1:
        raise Unknown("a class")
    return found[0]


def managed(kind: Any) -> bool:
    """Whether the interpreter keeps the attributes of a class's objects before these."""
    return bool(kind is not None and kind.__flags__ & 1 << 4)  # Py_TPFLAGS_MANAGED_DICT


def tag(kind: type) -> int:
    """A number that every change of a class or of a base of it makes another one; 0: unknown."""
    offset = tag_offset()
    if offset is None:
        return 0
    if not _half(id(kind) + offset):
        getattr(kind, "no_such_attribute", None)  # classes get one when they are asked
    return _half(id(kind) + offset)


def _half(address: int) -> int:
    return ctypes.c_uint32.from_address(address).value


@cache
def tag_offset() -> int | None:
    """Where classes keep such a number; None where that isn't known."""
    size = int(vars(type)["__basicsize__"].__get__(type))
    if not door._known_python() or size < _TAG + 8:
        return None

    def seen(kind: type) -> int:
        getattr(kind, "no_such_attribute", None)
        return _half(id(kind) + _TAG)

    base = type("Base", (), {})
    kind = type("Kind", (base,), {})
    numbers = [seen(kind), seen(kind)]
    changes: list[Callable[[], object]] = [
        lambda: setattr(kind, "a", 1), lambda: setattr(kind, "a", 2), lambda: delattr(kind, "a"),
        lambda: setattr(base, "a", 1), lambda: delattr(base, "a"),
        lambda: setattr(kind, "__bases__", (type("Other", (base,), {}),)),
        lambda: setattr(kind, "__getattr__", lambda self, name: 1),
    ]  # fmt: skip
    if 0 in numbers or numbers[0] != numbers[1]:
        return None
    for change in changes:
        change()
        numbers.append(seen(kind))
        if seen(kind) != numbers[-1]:
            return None
    distinct = set(numbers[1:])
    return _TAG if len(distinct) == len(changes) + 1 and 0 not in distinct else None


@cache
def version_offset() -> int | None:
    """Where a dictionary keeps a number that every change of it makes another one.

    CPython 3.11 has it (PEP 509), later ones are told in another way. None where there is none: the
    entries are looked at then.
    """
    if not door._known_python() or sys.version_info[:2] != (3, 11):
        return None
    return _VERSION if _versions_change() else None


def _versions_change() -> bool:
    """Whether each way to change a dictionary is seen, those that the interpreter has quickened
    included.
    """
    seen: set[int] = set()

    def now(table: Any) -> int:
        return word(id(table) + _VERSION)

    def moved(table: Any, change: Callable[[], object]) -> bool:
        before = now(table)
        change()
        after = now(table)
        fresh = before != after and after not in seen
        seen.add(after)
        return fresh

    table: dict[Any, Any] = {"a": 1, "b": 2, "c": 3, "d": 4}
    changes: list[Callable[[], object]] = [
        lambda: table.__setitem__("a", 5), lambda: table.update(b=6), lambda: table.pop("c"),
        lambda: table.setdefault("e", 7), lambda: table.popitem(), lambda: table.__delitem__("d"),
        lambda: table.__ior__({"f": 8}), lambda: table.clear(), lambda: table.update(a=None),
    ]  # fmt: skip
    if not all(moved(table, change) for change in changes):
        return False
    x = _Plain()
    x.a = 0
    inside = x.__dict__

    def store(n: int) -> None:
        x.a = n

    for n in range(1, 64):  # from some turn on by instructions made for this class
        if not moved(inside, lambda n=n: store(n)) or inside["a"] != n:  # type: ignore[misc]
            return False
    space: dict[str, Any] = {"g": 0}
    exec("def put(n):\n    global g\n    g = n", space)
    for n in range(1, 64):
        if not moved(space, lambda n=n: space["put"](n)) or space["g"] != n:  # type: ignore[misc]
            return False
    still = now(inside), now(space), now(table)
    for _ in range(64):
        _ = x.a, space["g"], table.get("a"), len(table), list(space)
    return still == (now(inside), now(space), now(table))


@cache
def untouched(kind: Any) -> bool | None:
    """How instances of a class show that they have no attributes of their own.

    True: in the words before them (CPython 3.11: no dictionary, and no table of values, or one
    whose byte before the last says that there are none). False: the address of a dictionary is one
    of their own words, which is 0. None: that isn't known.
    """
    if not door._known_python():
        return None
    one, other, third = (kind.__new__(kind) for _ in range(3))
    if 0 < kind.__dictoffset__ <= kind.__basicsize__ - 8:
        plain = [word(id(x) + kind.__dictoffset__) for x in (one, other, third)]
        one.some_attribute = 1
        _ = other.__dict__
        return None if any(plain) or not all(
            word(id(x) + kind.__dictoffset__) for x in (one, other)
        ) else False  # fmt: skip
    if sys.version_info[:2] != (3, 11) or kind.__dictoffset__ >= 0:
        return None
    if not all(_untouched(x) for x in (one, other, third)):
        return None
    one.some_attribute = 1
    _ = other.__dict__
    return True if not _untouched(one) and not _untouched(other) and _untouched(third) else None


def _untouched(x: Any) -> bool:
    if word(id(x) - 24):
        return False
    values = word(id(x) - 32)
    return not values or ctypes.c_uint8.from_address(values - 2).value == 0
