"""What code asks for, as far as its instructions show: names of attributes and globals, imports."""

from __future__ import annotations

import dis
import functools
import importlib.util
import sys
from collections.abc import Callable
from operator import attrgetter, methodcaller
from types import BuiltinFunctionType, CodeType, MethodWrapperType, WrapperDescriptorType
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

_ATTRIBUTES: Final = frozenset({
    "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM", "LOAD_SUPER_ATTR",
})  # fmt: skip
_GLOBALS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL",
                             "LOAD_FROM_DICT_OR_GLOBALS"})  # fmt: skip
#: Bits below the place of a name, which say how it is loaded.
_LOWEST: Final = {
    "LOAD_GLOBAL": 1, "LOAD_ATTR": int(sys.version_info >= (3, 12)), "LOAD_SUPER_ATTR": 2,
}  # fmt: skip
#: What takes the name of an attribute as a text, as its second argument.
_TAKING: Final = frozenset({"getattr", "hasattr", "setattr", "delattr"})
#: What looks at all attributes, or at names that come from elsewhere.
_ANY: Final = frozenset({
    "vars", "__dict__", "dir", "attrgetter", "methodcaller", "__getattribute__", "__dir__",
    "getattr_static", "getmembers", "getmembers_static", "__getstate__", "__reduce__",
    "__reduce_ex__", "__subclasses__", "globals",
})  # fmt: skip
#: Methods of texts, in which `"{0.scale}"` names an attribute.
_FILLING: Final = frozenset({"format", "format_map"})
#: An instruction's number -> its name, and the lowest bit of the place of what it names.
_PLACES: Final = {
    dis.opmap[word]: (word, _LOWEST.get(word, 0))
    for word in sorted(_ATTRIBUTES | _GLOBALS)
    if word in dis.opmap
}
_CALL: Final = "PRECALL" if "PRECALL" in dis.opmap else "CALL"
_LONGEST: Final = 80  # characters of a text that may be a name

T = TypeVar("T")


def _once_per_code(read: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """The function, which reads each code once: every step asks the same library's code again."""
    known: WeakKeyDictionary[CodeType, T] = WeakKeyDictionary()

    @functools.wraps(read)
    def read_once(code: CodeType) -> T:
        try:
            return known[code]
        except KeyError:
            found = known[code] = read(code)
            return found

    return read_once


@_once_per_code
def questions(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The names of attributes, texts that may be such included, and the names of globals."""
    attributes: set[str] = set()
    names: set[str] = set()
    for word, name in _read_names(code):
        (names if word in _GLOBALS else attributes).add(name)
    attributes.update(texts(code.co_consts))
    return frozenset(attributes), frozenset(names)


def _read_names(code: CodeType) -> list[tuple[str, str]]:
    """The instructions that name something, and what: as `dis` has them, in a tenth of its time."""
    if sys.version_info >= (3, 15):  # whose instructions may hold names in another way
        listed = dis.get_instructions(code)
        return [(i.opname, i.argval) for i in listed if i.opname in _ATTRIBUTES | _GLOBALS]
    found: list[tuple[str, str]] = []
    high = 0
    for opcode, low in zip(*[iter(code.co_code)] * 2):
        if opcode == dis.EXTENDED_ARG:
            high = (high | low) << 8
            continue
        if opcode in _PLACES:
            word, lowest = _PLACES[opcode]
            found.append((word, code.co_names[(high | low) >> lowest]))
        high = 0
    return found


def texts(constants: Any) -> set[str]:
    """The texts among constants that may be names: `getattr(x, "a")`, `case Point(a=0)`."""
    found: set[str] = set()
    for x in constants:
        if isinstance(x, str) and len(x) <= _LONGEST:
            found.add(x)
        elif isinstance(x, (tuple, frozenset)):
            found |= texts(x)
    return found


@_once_per_code
def asks_by_any_name(code: CodeType) -> bool:
    """Whether code may ask objects for attributes whose names don't stand in it."""
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    for place, i in enumerate(instructions):
        if i.opname not in _ATTRIBUTES and i.opname not in _GLOBALS and (
            i.opname not in ("LOAD_DEREF", "LOAD_FAST", "LOAD_CLASSDEREF")
        ):  # fmt: skip
            continue
        if i.argval in _FILLING and i.opname in _ATTRIBUTES and (
            place == 0 or _names_attributes(instructions[place - 1])
        ):  # fmt: skip
            return True
        if i.argval in _ANY or (
            i.argval in _TAKING and not (i.opname in _GLOBALS and _constant(instructions, place))
        ):
            return True
    return False


def _names_attributes(loaded: Any) -> bool:
    """Whether a text that is loaded, and then filled, may name attributes or entries."""
    text = loaded.argval if loaded.opname == "LOAD_CONST" else None
    return not isinstance(text, str) or any(
        part.partition(":")[0].partition("}")[0].count(c)
        for part in text.split("{")[1:]
        for c in ".["
    )


def asks(x: object) -> bool:
    """Whether a thing that is called asks for attributes of which it alone knows the names."""
    if type(x) is attrgetter or type(x) is methodcaller:
        return True
    if isinstance(x, (BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType)):
        return x.__name__ in _TAKING or x.__name__ in _ANY or x.__name__ in _FILLING
    return False


def _constant(instructions: list[Any], place: int) -> bool:
    """Whether a function that is loaded is called with a constant text as its second argument."""
    depth = 0
    second: Any = None
    for i in instructions[place + 1 :]:
        if i.opname.startswith(("JUMP", "POP_JUMP", "FOR_ITER", "RETURN", "RAISE")):
            return False
        if i.opname == _CALL and depth == i.arg:
            text = second is not None and second.opname == "LOAD_CONST"
            return text and isinstance(second.argval, str)
        if i.opname in ("CACHE", "NOP", "KW_NAMES") or (
            i.opname == "PUSH_NULL" and i is instructions[place + 1]
        ):
            continue
        effect = dis.stack_effect(i.opcode, i.arg if i.opcode >= dis.HAVE_ARGUMENT else None)
        depth += effect
        if depth < 0:
            return False
        if depth == 2 and effect > 0:
            second = i
        elif depth == 2:
            second = None  # computed
    return False


@_once_per_code
def compares_identity(code: CodeType) -> bool:
    """Whether code asks if one thing is another, or is in a container, constants aside."""
    before = None
    for i in dis.get_instructions(code):
        if i.opname == "CONTAINS_OP" or (
            i.opname == "IS_OP" and (before is None or before.opname != "LOAD_CONST")
        ):
            return True
        before = i
    return any(compares_identity(x) for x in code.co_consts if isinstance(x, CodeType))


@_once_per_code
def matches_classes(code: CodeType) -> bool:
    """Whether code has a pattern of a class, which asks for `__match_args__`."""
    return any(i.opname == "MATCH_CLASS" for i in dis.get_instructions(code))


def list_imported(code: CodeType, space: dict[str, Any]) -> list[str]:
    """The full names of modules that code imports, and of the packages around them."""
    found: list[str] = []
    for level, name in _imports(code):
        if level > 0:
            try:
                name = importlib.util.resolve_name("." * level + name, space["__package__"])
            except (ImportError, KeyError, AttributeError, TypeError, ValueError):
                continue
        parts = name.split(".")
        found += [".".join(parts[: k + 1]) for k in range(len(parts))]
    return list(dict.fromkeys(found))


@_once_per_code
def _imports(code: CodeType) -> list[tuple[int, str]]:
    """How many packages up, and the name that is imported from there."""
    found: list[tuple[int, str]] = []
    before: list[Any] = [None, None]
    for i in dis.get_instructions(code):
        if i.opname == "IMPORT_NAME":
            level = before[-2].argval if before[-2] is not None else 0
            found.append((level if type(level) is int else 0, i.argval))
        before.append(i)
    return found
