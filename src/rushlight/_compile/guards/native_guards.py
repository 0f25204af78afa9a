"""Guards in machine code: a snapshot of what they have looked at, compared word for word.

Note [Snapshots]
`SortedGuards` says what a program's guards look at. A snapshot is taken of that, the guards are
run, and it is taken again: if nothing has moved in between, the guards hold whenever the snapshot
does, and machine code compares it (see `_native.cpython.guard_checker`). Where that fails, because
something has changed, the guards themselves decide, and the snapshot is taken anew; ever more
seldom, if it keeps changing.
Dictionaries are compared by their clocks where Python has such, else (and after a change) entry by
entry. What a snapshot shows is kept alive, so that an address means the same object.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..._array.memory import aliasing as A, arena
from ..._core.mode import CURRENT
from ..._core.node import Node
from ..._core.storage import CLASSES, TensorBase, Version, new_tensor
from ..._native.cpython import contract, dict_clocks, object_layout as layout
from ..._native.cpython.guard_tables import MISSING, Entrance, Snapshot, array_entry, field_address
from ..._native.cpython.type_flags import is_immutable
from .analysis import SortedGuards
from .conditions import Argument, ObjectReads
from .guards import content
from .name_lookups import space_of

if TYPE_CHECKING:
    from ..._array.annotations import RawType
    from ..._base.annotations import Keywords, Positional, Shape
    from ..._tensor.tensor import Tensor

_ONES: Final = -1
_PATIENCE: Final = 1 << 12  # calls without a new snapshot, at most
_LASTED: Final = 0.05  # seconds after which a snapshot was worth it


class Fields:
    """Where tensors keep their fields, interpreted or compiled."""

    def __init__(self) -> None:
        array, other = A.empty((1, 2)), A.empty((2, 3))
        wrong = arena.unreadable() or contract.containers() or contract.slots()
        if wrong is not None:
            raise layout.Unknown(wrong)
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
        self.number, self.tagged = layout.number_field(cells[0], "n")
        self.functions = layout.function_fields()
        self.mro = layout.mro_offset()
        self.clocked = dict_clocks.unknown() is None
        self.before = layout.show_untouched(CLASSES.tensor) if contract.counts() is None else None
        self.inside = layout.inside_offset(CLASSES.tensor) if self.before else 0
        #: Words of a tensor as it is made, but for how often it is held, and its array.
        self.template = layout.same_words(new_tensor(array), new_tensor(other), self.raw)

    @staticmethod
    def _put(t: Tensor, name: str) -> Callable[[Any], None]:
        return lambda value: setattr(t, name, value)

    def condition(self, name: str, value: bool | None) -> tuple[int, int, int]:
        """Offset, bits and what they are where a field holds None, True or False."""
        if name in self.flags:
            offset, bits, on, off = self.flags[name]
            return offset, bits, on if value else off
        return self.offsets[name], _ONES, id(value)


@cache
def _find_fields() -> Fields | str:
    try:
        return Fields()
    except layout.Unknown as error:
        return str(error)


def fields() -> Fields | None:
    """The fields, or None where they aren't known: guards stay Python then."""
    found = _find_fields()
    return found if isinstance(found, Fields) else None


def unreadable() -> str | None:
    """Why guards stay Python; None where they are machine code."""
    found = _find_fields()
    return found if isinstance(found, str) else None


class NativeGuards:
    """An entrance (see `guard_tables`) for the guards of one program, and its tables."""

    def __init__(
        self, guards: SortedGuards, guarded: Any, slots: dict[str, int], gate: int
    ) -> None:
        """`slots` are the addresses where arguments' arrays are written, by tensors' names."""
        found = fields()
        assert found is not None
        self.fields = found
        self.guards = guards
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
        self.entrance = Entrance()
        self.enter = self.entrance.enter
        self.rooms: list[Any] = []
        self.free = arena.words(1)
        self.owners = arena.words(len(guards.arguments) + 1)

    # ---- snapshots -----------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        """Everything that the guards look at, as it is now."""
        now = Snapshot()
        for one in self.guards.looked.values():
            self._look(one, now)
        for kind in self.guards.tops:
            self._kind(kind, now)
        for slot, t in self.inputs.items():
            now.hold(slot, t._raw)
            if isinstance(t, TensorBase):
                self._field(t, "_raw", now)
        if self.guards.apart:
            raws = [t._raw for t in self.guards.fixed.values()]
            now.own(x for raw in raws for x in (raw, A.memory_of(raw)))
        return now

    def _kind(self, kind: type, now: Snapshot) -> None:
        """A class and its bases: by the class's number; where it has none, by all that they are."""
        now.alive(kind)
        if now.class_version(kind):
            return
        whole = ObjectReads(kind)
        whole.fields.add("__mro__")
        self._look(whole, now)
        for base in kind.__mro__:
            if not is_immutable(base):
                whole = ObjectReads(space_of(base) or {})
                whole.whole = True
                self._look(whole, now)

    def _look(self, one: ObjectReads, now: Snapshot) -> None:
        thing = one.thing
        now.alive(thing)
        for name in sorted(one.fields):
            if name == "__class__":
                now.class_of(thing)
            elif name == "__mro__":
                now.bases(thing, self.fields.mro)
            elif name == "__dict__":
                now.attributes(thing)
            else:
                self._field(thing, name, now)
        for name in sorted(one.noneness):
            if name in self.fields.flags:
                self._field(thing, name, now)
            else:
                now.is_none(thing, self.fields.offsets[name], getattr(thing, name) is None)
        if one.size and not (one.whole and isinstance(thing, list)):
            now.length(thing)
        if isinstance(thing, list):
            if one.whole:
                now.items(thing)
        elif one.whole or one.keys:
            self._table(one, now)

    def _field(self, thing: object, name: str, now: Snapshot) -> None:
        if isinstance(thing, TensorBase):
            if name == "writeable":
                now.writable(thing._raw)
            elif name in self.fields.flags:
                offset, bits, on, off = self.fields.flags[name]
                now.bits(thing, offset, bits, on if getattr(thing, name) else off)
            else:
                now.field(thing, self.fields.offsets[name], getattr(thing, name))
        elif type(thing) is FunctionType:
            now.field(thing, self.fields.functions[name], getattr(thing, name))
        elif type(thing) is not CellType:
            now.field(thing, layout.slot_offset(thing, name), getattr(thing, name))
        else:
            now.field(thing, layout.cell_field() or 0, content(thing))

    def _table(self, one: ObjectReads, now: Snapshot) -> None:
        thing = one.thing
        if one.whole and not isinstance(thing, OrderedDict):
            shown = [x for k, v in dict.items(thing) for x in (k, v)]
            size = len(thing)
        else:
            shown, size = [], -1
            for key in one.keys.values():
                missing = not dict.__contains__(thing, key)
                shown += [key, MISSING if missing else dict.__getitem__(thing, key)]
        now.entries(thing, shown, size, self.fields.clocked)

    def take(self, args: Positional, kwargs: Keywords) -> bool | None:
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
            before = self.snapshot().tables
            if self.guarded(args, kwargs) is None:
                return None
            after = self.snapshot()
        except (AttributeError, KeyError, RuntimeError, layout.Unknown):
            return False  # something went away meanwhile
        self.last = now
        self.failures += 1
        self.rest = min(1 << self.failures // 4, _PATIENCE) - 1
        if after.tables != before:
            return False
        self._install(after)
        return True

    def _install(self, found: Snapshot) -> None:
        """Opens the entrance for what a snapshot shows."""
        first = {"gate": arena.address(self.free)} | self.first
        first |= {
            "variable": id(CURRENT), "mode": id(self.guards.mode), "raw": self.fields.raw,
            "before": self.fields.inside,
            "number": self.fields.number, "tagged": int(self.fields.tagged),
            "apart": int(self.guards.apart), "owners": arena.address(self.owners),
        }  # fmt: skip
        self.entrance.install(found.tables | self.static, first, found.keep)

    def close(self) -> None:
        """Lets nobody pass until the next snapshot."""
        self.entrance.close()

    # ---- what doesn't change -------------------------------------------------------------------
    def settle(self, given: list[int], grads: list[tuple[Any, Any, int]], bumped: list[Tensor],
               stale: Sequence[dict[Any, Any]]) -> None:  # fmt: skip
        """Fills the tables of what is the same in each snapshot.

        `given` are the addresses of the slots of further arguments; of gradients: the leaf, the
        value, the slot; `bumped` are tensors whose writes are counted, `stale` dictionaries.
        """
        f = self.fields
        self.clocks = [dict_clocks.bytes_of(d) for d in stale]
        self.static = {
            "arguments": [self._argument(a) for a in self.guards.arguments.values()],
            "given": [(slot,) for slot in given],
            "bare": [
                (k, layout.inside_offset(a.kind))
                for k, a in enumerate(self.guards.arguments.values())
                if a.bare
            ],
            "grads": [
                (
                    field_address(leaf, f.offsets["_grad"]),
                    self._geometry(v.shape, v.strides, v.dtype),
                    slot,
                )
                for leaf, v, slot in grads
            ],
            "bumps": [(field_address(t, f.offsets["_cell"]),) for t in bumped],
            "stale": [(dict_clocks.address(d), 0) for d in stale],
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
        expected = self._geometry(g.shape, g.strides, g.dtype)
        expected[2] = layout.WRITEABLE if a.written else 0
        return id(a.kind), len(a.fields), conditions, expected, slot

    def _geometry(self, shape: Shape, strides: Shape, dtype: RawType) -> list[int]:
        flags = A.empty(shape, dtype).flags.num
        return array_entry(A.ndarray, dtype, flags, shape, strides)

    def versions(self) -> list[int]:
        """The versions of the dictionaries that numbers are computed from."""
        return [int.from_bytes(clock, "little") for clock in self.clocks]

    def note(self, versions: list[int]) -> None:
        """Says that numbers have been computed from dictionaries of these versions."""
        self.static["stale"] = [(at, v) for (at, _), v in zip(self.static["stale"], versions)]
        self.entrance.note("stale", versions)
