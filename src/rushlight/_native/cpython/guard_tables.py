"""What guards compare, as the words of the checker's tables: snapshots, and their entrance.

A `Snapshot` is asked what objects hold now; each answer is an entry of a table (see
`guard_checker`): an address and what lies there. An `Entrance` is the builtin over such tables.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from . import dict_clocks, guard_checker as checker, object_layout as layout
from .guard_checker import TABLES, WORDS
from .interpreter import TYPE
from .memory import word
from .object_layout import NDARRAY, WRITEABLE

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import TensorLike

#: Stands for an entry that a dictionary hasn't.
MISSING: Final = object()


def words(count: int) -> Any:
    """That many words, 0 at first; `address` says where they lie."""
    return (ctypes.c_int64 * count)()


def address(memory: Any) -> int:
    """Where words lie."""
    return ctypes.addressof(memory)


def field_address(x: object, offset: int) -> int:
    """Where a field of an object lies; the object must outlive the use."""
    return id(x) + offset


def array_entry(array_type: type, dtype: Any, flags: int, shape: Any, strides: Any) -> list[int]:
    """What an array is compared with: its class, its elements, flags that it must have, sizes."""
    return [id(array_type), id(dtype), flags, len(shape), *shape, *strides]


class Snapshot:
    """What objects hold now: the entries of each table, and what must be kept alive for them."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Any]] = {name: [] for name in TABLES}
        self.keep: list[Any] = []

    def alive(self, *things: object) -> None:
        """Keeps objects alive, so that their addresses mean them."""
        self.keep.extend(things)

    def field(self, thing: object, offset: int, content: object) -> None:
        """A field as it is now; `content` is the object in it."""
        self.keep.append(content)
        self.tables["exact"].append((id(thing) + offset, word(id(thing) + offset)))

    def bits(self, thing: object, offset: int, bits: int, expected: int) -> None:
        """Some bits of a field."""
        self.tables["masked"].append((id(thing) + offset, bits, expected))

    def is_none(self, thing: TensorLike, offset: int, none: bool) -> None:
        """Whether a field is None."""
        self.tables["exact" if none else "differing"].append((id(thing) + offset, id(None)))

    def class_of(self, thing: object) -> None:
        """The class of an object."""
        self.keep.append(type(thing))
        self.tables["exact"].append((id(thing) + TYPE, id(type(thing))))

    def bases(self, kind: type, offset: int) -> None:
        """The order of a class's bases."""
        self.keep.append(kind.__mro__)
        self.tables["exact"].append((id(kind) + offset, id(kind.__mro__)))

    def attributes(self, thing: object) -> None:
        """Which dictionary an object's attributes lie in."""
        self.keep.append(thing.__dict__)
        place = id(thing) + (layout.dict_offset(thing) or 0)
        self.tables["exact"].append((place, id(thing.__dict__)))

    def length(self, table: Any) -> None:
        """How many entries a dictionary has, or a list items."""
        self.tables["exact"].append((id(table) + layout.DICT_SIZE, len(table)))

    def items(self, line: list[object]) -> None:
        """All items of a list."""
        items = list(line)
        self.keep.append(items)
        self.tables["lists"].append((id(line), len(items), [id(x) for x in items]))

    def entries(self, table: Any, shown: list[Any], size: int, clocked: bool) -> None:
        """Keys and what lies under them, in turn; all in order where `size` isn't -1.

        `clocked` says whether dictionaries have clocks, see `dict_clocks`.
        """
        self.keep.append(shown)
        found = [0 if x is MISSING else id(x) for x in shown]
        clock = dict_clocks.address(table) if clocked else 0
        now = word(clock) if clock else 0
        self.tables["tables"].append((id(table), clock, now, size, len(found) // 2, found))

    def class_version(self, kind: type) -> bool:
        """A class with all its bases, by its number; False where it has none."""
        tag = layout.tag(kind)
        if tag:
            place = id(kind) + (layout.tag_offset() or 0)
            self.tables["masked"].append((place, (1 << 32) - 1, tag))
        return bool(tag)

    def writable(self, array: Array) -> None:
        """Whether an array may be written."""
        place = id(array) + NDARRAY["flags"]
        self.tables["masked"].append((place, WRITEABLE, word(place) & WRITEABLE))

    def hold(self, slot: int, array: Array) -> None:
        """An array that is the same in each call, and the slot that it is written to."""
        self.keep.append(array)
        self.tables["held"].append((slot, id(array)))

    def own(self, arrays: Iterable[Any]) -> None:
        """Arrays whose memory no argument may show."""
        found = {id(x): x for x in arrays}
        self.keep.extend(found.values())
        self.tables["own"] = [(n,) for n in found]


class Entrance:
    """The builtin that compares tables, shut until these are installed."""

    def __init__(self) -> None:
        self._state = words(len(WORDS))
        self.enter = checker.entrance(address(self._state))
        self.keep: list[Any] = []
        self.memory: Any = None
        self.starts: dict[str, int] = {}
        for name, value in checker.api().items():
            self._state[WORDS.index(name)] = value
        self.close()

    def close(self) -> None:
        """Lets nobody pass until the next tables."""
        self._state[WORDS.index("count")] = -1

    def install(
        self, tables: Mapping[str, list[Any]], first: Mapping[str, int], keep: list[object]
    ) -> None:
        """Puts tables into memory, and opens the entrance; `first` are words of the state."""
        self.close()  # nobody may pass meanwhile
        flat: list[int] = []
        inner: list[tuple[int, list[int]]] = []
        starts = {}
        for name, entries in tables.items():
            starts[name] = len(flat)
            for entry in entries:
                for x in entry:
                    if isinstance(x, list):
                        inner.append((len(flat), x))
                        flat.append(0)
                    else:
                        flat.append(x)
        for spot, found in inner:
            flat[spot] = -1 - len(flat)
            flat.extend(found)
        memory = words(len(flat) + 1)
        base = address(memory)
        for spot, _ in inner:
            flat[spot] = base + 8 * (-1 - flat[spot])
        memory[: len(flat)] = flat
        place = WORDS.index
        for name, value in first.items():
            self._state[place(name)] = value
        for name, entries in tables.items():
            self._state[place(name)] = len(entries)
            self._state[place(f"{name} at")] = base + 8 * starts[name]
        self.keep, self.memory, self.starts = keep, memory, starts
        self._state[place("count")] = len(tables["arguments"]) + len(tables["given"])

    def note(self, name: str, expected: list[int]) -> None:
        """Writes anew what lies at the addresses of a table whose entries are such pairs."""
        if self.memory is not None:
            start = self.starts[name]
            for k, value in enumerate(expected):
                self.memory[start + 2 * k + 1] = value
