"""Where objects keep their fields: places that are known, and ones that are found on samples.

Machine code that checks what Python objects hold (see `guard_checker`) reads their fields where
they lie. For CPython's own types and for ndarrays the places are known, and tried on samples before
the first use (see `contract`); for classes with slots, which may be interpreted or compiled, they
are found: by changing a field and looking which word has changed. Whatever turns out to be
otherwise than expected raises `Unknown`, and the checks are left to Python.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from . import interpreter
from .memory import byte, half, leads_somewhere, window, word
from .type_flags import keeps_attributes_before, keeps_attributes_inside

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._core.storage import Version
    from ..._tensor.tensor import Tensor

SIZE: Final = 16  # of lists and tuples
DICT_SIZE: Final = 16
LIST_ITEMS: Final = 24
_VERSION: Final = 24
_VALUES: Final = 40  # of a dictionary: where its values lie, if they lie apart
_CELL: Final = 16
_TAG: Final = 384  # of a class's version
_MANAGED: Final = -24  # of CPython 3.11 to 3.14, where a class has a managed dictionary
WEAK: Final = -32  # from 3.12 on: who refers weakly to an object whose dictionary lies before it
#: Where, behind the fields of an object, is said how many attributes lie there (3.13).
COUNTED: Final = 1
_ONES: Final = -1
# In a slot's descriptor its name, and its definition; in that the offset.
MEMBER_NAME, _MEMBER, _MEMBER_OFFSET = 24, 40, 16
#: Offsets in an ndarray.
NDARRAY: Final = {"data": 16, "ndim": 24, "shape": 32, "strides": 40, "base": 48, "dtype": 56,
                  "flags": 64, "weak": 72}  # fmt: skip
#: Bits of an ndarray's flags: may be written; what kernels need to read it, and to write it.
WRITEABLE: Final = 0x400
READ: Final = 0x1 | 0x100  # in C's order, aligned
WRITTEN: Final = READ | WRITEABLE


class Unknown(Exception):
    """An object is laid out in a way that isn't known here."""


class _Plain:
    a: Any


def _words(x: Tensor | AnyCallable) -> list[int]:
    return [word(id(x) + k) for k in range(0, type(x).__basicsize__ // 8 * 8, 8)]


def object_field(
    x: Tensor | AnyCallable, put: Callable[[Any], object], values: Sequence[object]
) -> int:
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


def flag_field(x: Tensor, put: Callable[[bool], object]) -> tuple[int, int, int, int]:
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
            mask = _make_signed(255 << shift)
            return 8 * k, mask, on & mask, off & mask
    raise Unknown(f"a flag of {type(x).__name__}")


def number_field(cell: Version, name: str) -> tuple[int, bool]:
    """Where an object keeps a whole number, and whether as twice the number.

    Raises:
        Unknown: where neither a tagged number nor Python's is found.
    """
    seen = []
    for n in (5, 77, 1 << 40):
        setattr(cell, name, n)
        value = getattr(cell, name)
        words = {k: word(id(cell) + k) for k in range(16, type(cell).__basicsize__, 8)}
        seen.append((n, words, id(value)))
    for k in seen[0][1]:
        if all(words[k] == 2 * n for n, words, _ in seen):
            return k, True
        if all(words[k] == i for _, words, i in seen):
            return k, False
    raise Unknown(f"a number of {type(cell).__name__}")


def same_words(one: object, other: object, apart: int) -> list[tuple[int, int, int]]:
    """The words of two new objects: offset, bits and what they are; but for the count, and a field.

    Raises:
        Unknown: where the two differ.
    """
    size = type(one).__basicsize__
    found = [(k, _ONES, word(id(one) + k)) for k in range(8, size // 8 * 8, 8) if k != apart]
    if any(word(id(other) + k) != expected for k, _, expected in found):
        raise Unknown(f"a new {type(one).__name__}")
    return found


def _make_signed(x: int) -> int:
    return ctypes.c_int64(x).value


# ---- what CPython has ----------------------------------------------------------------------------


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

    def make_setter(name: str) -> Callable[[Any], None]:
        return lambda value: setattr(sample, name, value)

    return {
        name: object_field(sample, make_setter(name), values) for name, values in fields.items()
    }


def slot_offset(x: object, name: str) -> int:
    """Where an object keeps a slot of its class that was made by `__slots__`, and is filled.

    Raises:
        Unknown: where the slot's descriptor doesn't say.
    """
    member = inspect.getattr_static(type(x), name)
    if inspect.ismemberdescriptor(member):
        definition = word(id(member) + _MEMBER)
        offset = word(definition + _MEMBER_OFFSET) if leads_somewhere(definition) else 0
        inside = 16 <= offset <= type(x).__basicsize__ - 8 and not offset % 8
        if inside and word(id(x) + offset) == id(getattr(x, name)):
            return offset
    raise Unknown(f"a slot of {type(x).__name__}")


def dict_offset(x: object) -> int | None:
    """Where an object keeps the address of its dictionary, which must be there; None if unknown."""
    own = getattr(x, "__dict__", None)
    offset = type(x).__dictoffset__
    if type(own) is not dict or interpreter.unknown() is not None:
        return None
    places = [offset] if offset > 0 else [_MANAGED]
    if offset <= 0 and not keeps_attributes_before(type(x)):
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


def tag(kind: type) -> int:
    """A number that every change of a class or of a base of it makes another one; 0: unknown."""
    offset = tag_offset()
    if offset is None:
        return 0
    if not half(id(kind) + offset):
        getattr(kind, "no_such_attribute", None)  # classes get one when they are asked
    return half(id(kind) + offset)


@cache
def tag_offset() -> int | None:
    """Where classes keep such a number; None where that isn't known."""
    size = int(vars(type)["__basicsize__"].__get__(type))
    if interpreter.unknown() is not None or size < _TAG + 8:
        return None

    def sees(kind: type) -> int:
        getattr(kind, "no_such_attribute", None)
        return half(id(kind) + _TAG)

    base = type("Base", (), {})
    kind = type("Kind", (base,), {})
    numbers = [sees(kind), sees(kind)]
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
        numbers.append(sees(kind))
        if sees(kind) != numbers[-1]:
            return None
    distinct = set(numbers[1:])
    return _TAG if len(distinct) == len(changes) + 1 and 0 not in distinct else None


def class_clock(kind: type) -> Any:
    """The bytes of a class's number (see `tag`), for comparing; it must be known."""
    return window(id(kind) + (tag_offset() or 0), 4)


@cache
def version_offset() -> int | None:
    """Where a dictionary keeps a number that every change of it makes another one.

    CPython 3.11 and 3.12 have it (PEP 509); later ones keep it no longer up to date.
    """
    if interpreter.unknown() is not None or sys.version_info[:2] not in ((3, 11), (3, 12)):
        return None
    return _VERSION if changes_are_seen(lambda table: word(id(table) + _VERSION)) else None


def is_split(table: object) -> bool:
    """Whether a dictionary's values lie apart from its keys: as a rule, in the object of which
    they are the attributes.
    """
    return word(id(table) + _VALUES) != 0


def changes_are_seen(now: Callable[[Any], int], split: bool = True) -> bool:
    """Whether each way to change a dictionary makes `now` of it another number than ever, those
    that the interpreter has quickened included; and whether looking makes none.

    `split` says whether dictionaries are tried whose values lie in an object.
    """
    numbers: dict[int, set[int]] = {}

    def moves(table: Any, change: Callable[[], object]) -> bool:
        seen = numbers.setdefault(id(table), set())
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
    if not all(moves(table, change) for change in changes):
        return False
    x = _Plain()
    x.a = 0
    inside = x.__dict__
    if not split:
        if is_split(table) or not is_split(inside):
            return False
        x.__dict__ = inside = {"a": 0}

    def store(n: int) -> None:
        x.a = n

    for n in range(1, 64):  # from some turn on by instructions made for this class
        if not moves(inside, lambda n=n: store(n)) or inside["a"] != n:  # type: ignore[misc]
            return False
    if not moves(inside, lambda: delattr(x, "a")) or not moves(inside, lambda: store(0)):
        return False
    space: dict[str, Any] = {"g": 0}
    exec("def put(n):\n    global g\n    g = n", space)
    for n in range(1, 64):
        if not moves(space, lambda n=n: space["put"](n)) or space["g"] != n:  # type: ignore[misc]
            return False
    still = now(inside), now(space), now(table)
    for _ in range(64):
        _ = x.a, space["g"], table.get("a"), len(table), list(space)
    return still == (now(inside), now(space), now(table))


@cache
def show_untouched(kind: Any) -> bool | None:
    """How instances of a class show that they have no attributes of their own.

    True: in the words before and behind them, see `has_nothing`. False: the address of a dictionary
    is one of their own words, which is 0. None: that isn't known.
    """
    if interpreter.unknown() is not None:
        return None
    one, other, third = (kind.__new__(kind) for _ in range(3))
    if 0 < kind.__dictoffset__ <= kind.__basicsize__ - 8:
        plain = [word(id(x) + kind.__dictoffset__) for x in (one, other, third)]
        one.some_attribute = 1
        _ = other.__dict__
        return None if any(plain) or not all(
            word(id(x) + kind.__dictoffset__) for x in (one, other)
        ) else False  # fmt: skip
    if not shows_attributes(kind) or not all(has_nothing(x) for x in (one, other, third)):
        return None
    one.some_attribute = 1
    _ = other.__dict__
    if has_nothing(one) or has_nothing(other) or not has_nothing(third):
        return None
    kept = weakref.ref(third)
    shown = sys.version_info < (3, 12) or not has_nothing(third)
    return True if shown and kept() is third else None


def shows_attributes(kind: type) -> bool:
    """Whether `has_nothing` can be asked of a class's instances."""
    return keeps_attributes_before(kind) and kind.__dictoffset__ < 0


def has_nothing(x: object) -> bool:
    """Whether an object has no attributes of its own; `guard_checker` asks the same.

    From 3.12 on also whether nobody refers to it weakly, which lies beside; before, that is one of
    its own words.

    The word 24 bytes before it is its dictionary, if that was made. Else how many attributes it has
    is a byte before its table of values, of which 3.11 keeps the address 32 bytes before it, and
    3.12 in the place of the dictionary, less one; from 3.13 on the second byte behind its fields,
    where it has attributes there.
    """
    own = word(id(x) + _MANAGED)
    if sys.version_info >= (3, 12) and word(id(x) + WEAK):
        return False
    if sys.version_info >= (3, 13):
        offset = inside_offset(type(x))
        return not own and (offset == 1 or byte(id(x) + offset + COUNTED) == 0)
    if sys.version_info >= (3, 12):
        return not own or (own % 2 == 1 and byte(own + 1 - 2) == 0)
    values = word(id(x) - 32)
    return not own and (not values or byte(values - 2) == 0)


def inside_offset(kind: type) -> int:
    """Where a class's objects keep their attributes in themselves (3.13); 1 where they don't."""
    inside = sys.version_info >= (3, 13) and keeps_attributes_inside(kind)
    return int(kind.__basicsize__) if inside else 1
