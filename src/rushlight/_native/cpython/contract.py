"""What the machine code here takes for granted of CPython and NumPy, and whether it is so.

Each assumption is a function that tries it on samples and gives what is otherwise, in words, or
None. They are asked once, before the first use, and cost a fraction of a millisecond together. The
version comes first: a probe of an unknown layout may read where nothing lies. What is otherwise
turns off the ways that depend on it, and nothing else; `docs/notes/cpython.md` lists them.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from . import dict_clocks, interpreter, object_layout as layout
from .memory import leads_somewhere, word
from .object_layout import NDARRAY, WRITEABLE

if TYPE_CHECKING:
    from ..._array.annotations import Array

_NUMPY: Final = "2"  # the major version of its binary interface
Reason = str | None


# ---- Python --------------------------------------------------------------------------------------


@cache
def counts() -> Reason:
    """Why counts of references can't be read; None where they can."""
    wrong = interpreter.unknown()
    if wrong is not None:
        return wrong
    x = object()
    seen = [word(id(x))]
    y = x
    seen.append(word(id(x)))
    del y
    seen.append(word(id(x)))
    return None if seen == [1, 2, 1] else "references are counted otherwise"


@cache
def containers() -> Reason:
    """Why dictionaries, lists, tuples and cells can't be read; None where they can."""
    wrong = interpreter.unknown()
    if wrong is not None:
        return wrong
    a, b = object(), object()
    table, line, pair = {"a": a, "b": b}, [a, b, a], (a, b)
    if word(id(table) + layout.DICT_SIZE) != 2:
        return "dictionaries keep their length elsewhere"
    if word(id(line) + layout.SIZE) != 3 or word(id(pair) + layout.SIZE) != 2:
        return "lists and tuples keep their length elsewhere"
    items = word(id(line) + layout.LIST_ITEMS)
    addresses = [id(x) for x in line]
    if not leads_somewhere(items) or [word(items + 8 * k) for k in range(3)] != addresses:
        return "lists keep their items elsewhere"
    return None if layout.cell_field() is not None else "closures keep their variables elsewhere"


@cache
def slots() -> Reason:
    """Why the place of a slot can't be read from its descriptor; None where it can."""
    wrong = interpreter.unknown()
    if wrong is not None:
        return wrong
    member: Any = vars(_Slotted)["second"]
    x: Any = _Slotted()
    x.first, x.second = object(), object()
    # The name lies beside the definition: a word of the descriptor itself, so it is asked first.
    right = word(id(member) + layout.MEMBER_NAME) == id(member.__name__)
    try:
        right = right and word(id(x) + layout.slot_offset(x, "second")) == id(x.second)
    except layout.Unknown:
        right = False
    return None if right else "slots are described otherwise"


class _Slotted:
    __slots__ = ("first", "second")


# ---- NumPy ---------------------------------------------------------------------------------------


def arrays(probe: object) -> Reason:
    """Why ndarrays can't be read; None where they can. `probe` is a new one of two dimensions."""
    wrong = interpreter.unknown()
    if wrong is not None:
        return wrong
    numpy = sys.modules.get(type(probe).__module__.partition(".")[0])
    version = str(getattr(numpy, "__version__", "?"))
    if version.partition(".")[0] != _NUMPY:
        return f"NumPy {version} is not known"
    return _first((_elements, _shape, _flags, _check_holders), probe)


def _elements(probe: Array) -> Reason:
    """Where the elements lie, and of what type they are."""
    at = id(probe)
    right = (
        word(at + NDARRAY["data"]) == probe.__array_interface__["data"][0]
        and word(at + NDARRAY["dtype"]) == id(probe.dtype)
        and word(at + interpreter.TYPE) == id(type(probe))
    )
    return None if right else "ndarrays keep their elements elsewhere"


def _shape(probe: Array) -> Reason:
    """How many dimensions, sizes and strides; both lie in one piece, which is asked first."""
    at = id(probe)
    shape, strides = word(at + NDARRAY["shape"]), word(at + NDARRAY["strides"])
    right = (
        probe.ndim == 2
        and word(at + NDARRAY["ndim"]) & 0xFFFFFFFF == 2
        and leads_somewhere(shape)
        and strides - shape == 16
        and [word(shape), word(shape + 8)] == list(probe.shape)
        and [word(strides), word(strides + 8)] == list(probe.strides)
    )
    return None if right else "ndarrays keep their shape elsewhere"


def _flags(probe: Array) -> Reason:
    shown = probe[:]
    found = []
    for writable in (True, False):
        shown.flags.writeable = writable
        found.append(word(id(shown) + NDARRAY["flags"]) & 0xFFFFFFFF)
    right = found == [shown.flags.num | WRITEABLE, shown.flags.num] and not found[1] & WRITEABLE
    plain = layout.WRITTEN | WRITEABLE
    right = right and probe.flags.num & plain == plain
    right = right and word(id(probe) + NDARRAY["flags"]) & 0xFFFFFFFF == probe.flags.num
    return None if right else "ndarrays keep their flags elsewhere"


def _check_holders(probe: Array) -> Reason:
    """Whose memory an array shows, and who refers to it weakly."""
    at = id(probe)
    shown = probe[1:]
    kept = weakref.ref(shown)
    right = (
        word(at + NDARRAY["weak"]) == 0
        and word(at + NDARRAY["base"]) == 0
        and word(id(shown) + NDARRAY["base"]) == at
        and word(id(shown) + NDARRAY["weak"]) == id(kept)
    )
    return None if right else "ndarrays keep their base or their weak references elsewhere"


# ---- all of it -----------------------------------------------------------------------------------


def report(probe: object) -> dict[str, Reason]:
    """Each way that depends on a layout, and why it is off; None where it is on."""
    read = arrays(probe)
    guards = read or containers() or slots()
    return {
        "kernels called with ndarrays": read,
        "programs that find their arrays": read,
        "guards in machine code": guards,
        "counts of references": guards or counts(),
        "clocks of dictionaries": dict_clocks.unknown(),
    }


def _first(tries: tuple[Callable[..., Reason], ...], *args: Any) -> Reason:
    return next((wrong for one in tries if (wrong := one(*args)) is not None), None)
