"""Guards in machine code: a snapshot of what they have looked at, compared word for word.

Note [Snapshots]
`Cover` says what a program's guards look at. A snapshot is taken of that, the guards are run, and
it is taken again: if nothing has moved in between, the guards hold whenever the snapshot does, and
machine code compares it (see `_native.cpython.guard_checker`). Where that fails, because something
has changed, the guards themselves decide, and the snapshot is taken anew; ever more seldom, if it
keeps changing.
Dictionaries are compared by their version where Python has one, else (and after a change) entry by
entry. What a snapshot shows is kept alive, so that an address means the same object.
"""

from __future__ import annotations

import ctypes
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import CellType, FunctionType
from typing import Any, Final

from ..._array.memory import aliasing as A, arena
from ..._core.mode import CURRENT
from ..._core.node import Node
from ..._core.storage import CLASSES, TensorBase, Version, new_tensor
from ..._native.cpython import guard_checker as watch, object_layout as layout
from .analysis import Cover
from .conditions import Argument, Looked
from .name_lookups import space_of

_ONES: Final = -1
_PATIENCE: Final = 1 << 12  # calls without a new snapshot, at most
_LASTED: Final = 0.05  # seconds after which a snapshot was worth it


class Fields:
    """Where tensors keep their fields, interpreted or compiled."""

    def __init__(self) -> None:
        array, other = A.empty((1, 2)), A.empty((2, 3))
        if not layout.known(array):
            raise layout.Unknown("arrays or containers")
        t: Any = new_tensor(array)
        fresh: Any = new_tensor(array)
        self.raw = layout.object_field(t, self._put(t, "_raw"), [array, other])
        nodes = [Node.__new__(Node), Node.__new__(Node)]
        tensors = [new_tensor(other), new_tensor(other)]
        cells = [Version(), Version()]
        self.offsets: dict[str, int] = {"_raw": self.raw}
        for name, values in (
            ("_node", nodes), ("hooks", [[], []]), ("_grad", tensors), ("_cell", cells),
        ):  # fmt: skip
            self.offsets[name] = layout.object_field(t, self._put(t, name), values)
        self.flags = {name: layout.flag_field(t, self._put(t, name))
                      for name in ("_plain", "_requires_grad")}  # fmt: skip
        from ..._core.storage import View

        views = [View(fresh, None, 0, 0), View(fresh, None, 0, 0)]
        self.offsets["_view"] = layout.object_field(t, self._put(t, "_view"), views)
        self.number, self.tagged = _number_field(cells[0])
        self.functions = layout.function_fields()
        self.mro = layout.mro_offset()
        self.version = layout.version_offset() or 0
        self.before = layout.untouched(CLASSES.tensor)
        size = CLASSES.tensor.__basicsize__
        one, two = new_tensor(array), new_tensor(other)
        #: Words of a tensor as it is made, but for how often it is held, and its array.
        self.template = [
            (k, _ONES, layout.word(id(one) + k)) for k in range(8, size // 8 * 8, 8)
            if k != self.raw
        ]  # fmt: skip
        if any(layout.word(id(two) + k) != told for k, _, told in self.template):
            raise layout.Unknown("a new tensor")

    @staticmethod
    def _put(t: Any, name: str) -> Callable[[Any], None]:
        return lambda value: setattr(t, name, value)

    def condition(self, name: str, value: Any) -> tuple[int, int, int]:
        """Offset, bits and what they are where a field holds None, True or False."""
        if name in self.flags:
            offset, bits, on, off = self.flags[name]
            return offset, bits, on if value else off
        return self.offsets[name], _ONES, id(value)


def _number_field(cell: Any) -> tuple[int, bool]:
    """Where a version cell keeps its number, and whether as twice the number."""
    seen = []
    for n in (5, 77, 1 << 40):
        cell.n = n
        value = cell.n
        words = {k: layout.word(id(cell) + k) for k in range(16, type(cell).__basicsize__, 8)}
        seen.append((n, words, id(value)))
    for k in seen[0][1]:
        if all(words[k] == 2 * n for n, words, _ in seen):
            return k, True
        if all(words[k] == i for _, words, i in seen):
            return k, False
    raise layout.Unknown("a version cell")


@cache
def fields() -> Fields | None:
    """The fields, or None where they aren't known: guards stay Python then."""
    try:
        return Fields()
    except layout.Unknown:
        return None


class Sentry:
    """An entrance (see `watch`) for the guards of one program, and its tables."""

    def __init__(self, cover: Cover, guarded: Any, slots: dict[str, int], gate: int) -> None:
        """`slots` are the addresses where arguments' arrays are written, by tensors' names."""
        found = fields()
        assert found is not None
        self.fields = found
        self.cover = cover
        self.guarded = guarded
        self.slots = slots
        self.static: dict[str, list[tuple[Any, ...]]] = {}
        self.first: dict[str, int] = {"gate": gate} if gate else {}
        self.inputs: dict[int, Any] = {}  # tensors whose arrays are the same, by their slots
        self.noted: Any = None  # the table `stale`, for writing
        self.clocks: list[Any] = []
        self.failures = 0
        self.rest = 0
        self.last = 0.0
        self.keep: list[Any] = []
        self.state = arena.words(len(watch.WORDS))
        self.address = arena.address(self.state)
        self.enter = watch.entrance(self.address)
        self.rooms: list[Any] = []
        self.free = arena.words(1)
        self.owners = arena.words(len(cover.arguments) + 1)
        for name, value in watch.api().items():
            self.state[watch.WORDS.index(name)] = value
        self.state[watch.WORDS.index("count")] = -1

    # ---- snapshots -----------------------------------------------------------------------------
    def snapshot(self) -> tuple[dict[str, list[Any]], list[Any]]:
        """The entries of each table as everything is now, and what must be kept alive."""
        tables: dict[str, list[Any]] = {name: [] for name in watch.TABLES}
        keep: list[Any] = []
        for one in self.cover.looked.values():
            self._look(one, tables, keep)
        for kind in self.cover.tops:
            self._kind(kind, tables, keep)
        for slot, t in self.inputs.items():
            raw = t._raw
            keep.append(raw)
            tables["held"].append((slot, id(raw)))
            if isinstance(t, TensorBase):
                self._field(t, "_raw", tables, keep)
        if self.cover.apart:
            raws = [t._raw for t in self.cover.fixed.values()]
            own = {id(x): x for raw in raws for x in (raw, A.memory_of(raw))}
            keep.extend(own.values())
            tables["own"] = [(n,) for n in own]
        return tables, keep

    def _kind(self, kind: type, tables: dict[str, list[Any]], keep: list[Any]) -> None:
        """A class and its bases: by the class's number; where it has none, by all that they are."""
        keep.append(kind)
        tag = layout.tag(kind)
        if tag:
            place = id(kind) + (layout.tag_offset() or 0)
            tables["masked"].append((place, (1 << 32) - 1, tag))
            return
        whole = Looked(kind)
        whole.fields.add("__mro__")
        self._look(whole, tables, keep)
        for base in kind.__mro__:
            if not base.__flags__ & (1 << 8):
                whole = Looked(space_of(base) or {})
                whole.whole = True
                self._look(whole, tables, keep)

    def _look(self, one: Looked, tables: dict[str, list[Any]], keep: list[Any]) -> None:
        thing = one.thing
        at = id(thing)
        keep.append(thing)
        for name in sorted(one.fields):
            if name == "__class__":
                keep.append(type(thing))
                tables["exact"].append((at + layout.TYPE, id(type(thing))))
                continue
            if name == "__mro__":
                keep.append(thing.__mro__)
                tables["exact"].append((at + self.fields.mro, id(thing.__mro__)))
                continue
            if name == "__dict__":
                keep.append(thing.__dict__)
                tables["exact"].append((at + (layout.dict_offset(thing) or 0), id(thing.__dict__)))
                continue
            self._field(thing, name, tables, keep)
        for name in sorted(one.noneness):
            if name in self.fields.flags:
                self._field(thing, name, tables, keep)
                continue
            none = getattr(thing, name) is None
            table = tables["exact" if none else "differing"]
            table.append((at + self.fields.offsets[name], id(None)))
        if one.size and not (one.whole and isinstance(thing, list)):
            tables["exact"].append((at + layout.DICT_SIZE, len(thing)))
        if isinstance(thing, list):
            if one.whole:
                items = list(thing)
                keep.append(items)
                tables["lists"].append((at, len(items), [id(x) for x in items]))
        elif one.whole or one.keys:
            self._table(one, tables, keep)

    def _field(self, thing: Any, name: str, tables: dict[str, list[Any]], keep: list[Any]) -> None:
        at = id(thing)
        if isinstance(thing, TensorBase) and name == "writeable":
            bit, place = layout.WRITEABLE, id(thing._raw) + layout.NDARRAY["flags"]
            tables["masked"].append((place, bit, layout.word(place) & bit))
            return
        if isinstance(thing, TensorBase):
            keep.append(getattr(thing, name))
            if name in self.fields.flags:
                offset, bits, on, off = self.fields.flags[name]
                tables["masked"].append((at + offset, bits, on if getattr(thing, name) else off))
                return
            offset = self.fields.offsets[name]
        elif type(thing) is FunctionType:
            offset = self.fields.functions[name]
            keep.append(getattr(thing, name))
        elif type(thing) is not CellType:
            offset = layout.slot_offset(thing, name)
            keep.append(getattr(thing, name))
        else:
            offset = layout.cell_field() or 0
            with suppress(ValueError):
                keep.append(thing.cell_contents)
        tables["exact"].append((at + offset, layout.word(at + offset)))

    def _table(self, one: Looked, tables: dict[str, list[Any]], keep: list[Any]) -> None:
        thing, at = one.thing, id(one.thing)
        version = layout.word(at + self.fields.version) if self.fields.version else 0
        if one.whole and not isinstance(thing, OrderedDict):
            entries = [x for k, v in dict.items(thing) for x in (k, v)]
            size = len(thing)
        else:
            entries, size = [], -1
            for key in one.keys.values():
                missing = not dict.__contains__(thing, key)
                entries += [key, _ABSENT if missing else dict.__getitem__(thing, key)]
        keep.append(entries)
        words = [0 if x is _ABSENT else id(x) for x in entries]
        tables["tables"].append((at, version, size, len(words) // 2, words))

    def take(self, args: Any, kwargs: Any) -> bool | None:
        """Takes a snapshot for which the guards hold; None where they don't.

        False where it isn't worth it, or something moved meanwhile: the guards have held, though.
        """
        if self.guarded(args, kwargs) is None:
            return None
        now = time.perf_counter()
        if now - self.last > _LASTED:
            self.failures = self.rest = 0
        if self.rest > 0:
            self.rest -= 1
            return False
        try:
            before, _ = self.snapshot()
            if self.guarded(args, kwargs) is None:
                return None
            tables, keep = self.snapshot()
        except (AttributeError, KeyError, RuntimeError, layout.Unknown):
            return False  # something went away meanwhile
        self.last = now
        self.failures += 1
        self.rest = min(1 << self.failures // 4, _PATIENCE) - 1
        if tables != before:
            return False
        self._install(tables, keep)
        return True

    def _install(self, tables: dict[str, list[Any]], keep: list[Any]) -> None:
        """Puts the tables into memory, and opens the entrance."""
        place = watch.WORDS.index
        self.state[place("count")] = -1  # nobody may pass meanwhile
        tables = tables | self.static
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
        for spot, words in inner:
            flat[spot] = -1 - len(flat)
            flat.extend(words)
        memory = arena.words(len(flat) + 1)
        base = arena.address(memory)
        for spot, _ in inner:
            flat[spot] = base + 8 * (-1 - flat[spot])
        memory[: len(flat)] = flat
        first = {"gate": arena.address(self.free)} | self.first
        first |= {
            "variable": id(CURRENT), "mode": id(self.cover.mode), "raw": self.fields.raw,
            "version": self.fields.version, "before": int(self.fields.before is True),
            "number": self.fields.number, "tagged": int(self.fields.tagged),
            "apart": int(self.cover.apart), "owners": arena.address(self.owners),
        }  # fmt: skip
        for name, entries in tables.items():
            first[name] = len(entries)
            first[f"{name} at"] = base + 8 * starts[name]
        for name, value in first.items():
            self.state[place(name)] = value
        self.keep = [keep, memory]
        self.noted = arena.table(memory, starts["stale"], max(2 * len(tables["stale"]), 1))
        self.state[place("count")] = len(self.static["arguments"]) + len(self.static["given"])

    def close(self) -> None:
        """Lets nobody pass until the next snapshot."""
        self.state[watch.WORDS.index("count")] = -1

    # ---- what doesn't change -------------------------------------------------------------------
    def settle(self, given: list[int], grads: list[tuple[Any, Any, int]], bumped: list[Any],
               stale: list[Any]) -> None:  # fmt: skip
        """Fills the tables of what is the same in each snapshot.

        `given` are the addresses of the slots of further arguments; of gradients: the leaf, the
        value, the slot; `bumped` are tensors whose writes are counted, `stale` dictionaries.
        """
        f = self.fields
        self.clocks = [ctypes.c_int64.from_address(id(d) + f.version) for d in stale]
        self.static = {
            "arguments": [self._argument(a) for a in self.cover.arguments.values()],
            "given": [(slot,) for slot in given],
            "bare": [(k,) for k, a in enumerate(self.cover.arguments.values()) if a.bare],
            "grads": [
                (id(leaf) + f.offsets["_grad"], self._geometry(v.shape, v.strides, v.dtype), slot)
                for leaf, v, slot in grads
            ],
            "bumps": [(id(t) + f.offsets["_cell"],) for t in bumped],
            "stale": [(id(d) + f.version, 0) for d in stale],
            "template": list(f.template),
        }

    def _argument(self, a: Argument) -> tuple[Any, ...]:
        g = a.geometry
        conditions = [x for name, value in a.fields.items()
                      for x in self.fields.condition(name, value)]  # fmt: skip
        slot = self.slots.get(a.name)
        if slot is None:
            room = arena.words(1)
            self.rooms.append(room)
            slot = arena.address(room)
        told = self._geometry(g.shape, g.strides, g.dtype)
        told[2] = layout.WRITEABLE if a.written else 0
        return id(a.kind), len(a.fields), conditions, told, slot

    def _geometry(self, shape: Any, strides: Any, dtype: Any) -> list[int]:
        flags = A.empty(shape, dtype).flags.num
        return [id(A.ndarray), id(dtype), flags, len(shape), *shape, *strides]

    def versions(self) -> list[int]:
        """The versions of the dictionaries that numbers are computed from."""
        return [clock.value for clock in self.clocks]

    def note(self, versions: list[int]) -> None:
        """Says that numbers have been computed from dictionaries of these versions."""
        self.static["stale"] = [(at, v) for (at, _), v in zip(self.static["stale"], versions)]
        if self.noted is not None:
            for k, version in enumerate(versions):
                self.noted[2 * k + 1] = version


class _Absent:
    """Stands for an entry that a dictionary hasn't."""


_ABSENT: Final = _Absent()
