"""Conditions on Python objects, checked in machine code: a builtin that works through tables.

    enter = entrance(address_of_state)          # a builtin; the state's words: `WORDS`
    enter(tensor, ..., array, ...)                    # None, or the number of a code: see `CODES`

The builtin looks whether everything is as the tables say, writes where the arrays lie that it was
given, runs a native function, and counts writes. Nothing has been done where it gives a code. It
lets no other thread in between the first word that it writes and the end of the native function,
unless the state asks for the interpreter's lock to be given up meanwhile. A `gate` other than 0
says that somebody works with the same frames from Python.

Tables (a number of entries and an address each; words of an entry):
    exact       address, what lies there
    masked      address, bits that matter, these
    differing   address, what doesn't lie there
    tables      dictionary, its clock or 0, what that showed, its size or -1, entries, their address
                (key, value or 0 where there must be none)
    lists       list, its length, the address of its items
    arguments   class, number of fields, their address (offset, bits, these), geometry, where to
                write the array
    own         an array whose memory no argument may show; each shows memory of its own
    held        where to write an array that is the same in each call, the array
    given       where to write the array (arguments behind the tensors)
    bare        place of an argument that may have no attributes of its own, its `inside_offset`
    grads       address of a gradient's address, geometry, where to write its array
    stale       address, what lies there (else: `STALE`)
    bumps       address of the address of a version cell
A geometry is: class, element type, flags that must be set, dimensions, sizes, strides. A
dictionary's size other than -1 means that all its entries are named, in order.

Note [Gradients that nobody holds]
A step that gives a parameter a new gradient may fill the old one, if nobody can tell: only the
parameter holds the tensor, only the tensor the array, the array owns its memory and has no weak
references, and the tensor is, word for word, as a new one would be.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..llvm import loader as engine
from ..llvm.emit import I1, I8, I32, I64, PTR, VOID, Function, Module, Value
from .builtin_call import builtin, entry_of, hand_over
from .interpreter import BYTES, TYPE
from .object_layout import COUNTED, DICT_SIZE, LIST_ITEMS, NDARRAY, SIZE, WEAK

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..llvm.types import Type

#: What the builtin gives: another program is needed; look again; no gradient to fill; numbers have
#: to be computed anew; the native function refuses.
CODES: Final = ("MISS", "UNSURE", "FRESH", "STALE", "REFUSED")
TABLES: Final = ("exact", "masked", "differing", "tables", "lists", "arguments", "own", "held",
                 "given", "bare", "grads", "stale", "bumps", "template")  # fmt: skip
_API: Final = {
    "get": "PyDict_GetItem", "next": "PyDict_Next", "variable_get": "PyContextVar_Get",
    "decref": "Py_DecRef", "long": "PyLong_AsLongLong", "new_long": "PyLong_FromLongLong",
    "save": "PyEval_SaveThread", "restore": "PyEval_RestoreThread",
}  # fmt: skip
#: The words of a state.
WORDS: Final = (
    "none", *CODES, *_API, "variable", "mode", "count", "raw", "before", "tagged", "run",
    "state", "release", "number", "apart", "owners", "gate", *TABLES,
    *(f"{name} at" for name in TABLES),
)  # fmt: skip


def api() -> dict[str, int]:
    """The words that are functions of Python, or objects of its own."""
    found = {name: entry_of(function) for name, function in _API.items()}
    found["none"] = id(None)
    found |= {name: id(number) for number, name in enumerate(CODES)}
    return found


def entrance(state: int) -> AnyCallable:
    """The builtin over a state's words; they must outlive it."""
    return builtin("enter", entry(), struct.pack("q", state))


def entry() -> int:
    """The address of the function behind each entrance."""
    return engine.load(_module())["enter"]


@cache
def _module() -> Module:
    module = Module("watch")
    geometry = _geometry(module)
    table = _table(module)
    f = module.function("enter", [("self", PTR), ("args", PTR), ("count", I64)], PTR)
    _Enter(f, geometry, table).write()
    return module


def _geometry(module: Module) -> Function:
    """1 where an array is as told; 0 where its kind or flags differ, -1 where its sizes do."""
    f = module.function("geometry", [("raw", PTR), ("expected", PTR)], I64)
    f.internal = True
    raw, expected = f.params
    right = f.load(f.at_bytes(raw, TYPE), I64).eq(f.load(expected, I64))
    with f.when(~right):
        f.ret(0)
    count = f.load(f.at(expected, 3, I64), I64)
    with f.when(f.cast(f.load(f.at_bytes(raw, NDARRAY["ndim"]), I32), I64).ne(count)):
        f.ret(-1)
    for place, first in (("shape", f.constant(I64, 4)), ("strides", count + 4)):
        found = f.load(f.at_bytes(raw, NDARRAY[place]), PTR)
        wanted = f.at(expected, first, I64)
        with f.loop(0, count) as loop:
            same = f.load(f.at(found, loop.index, I64), I64).eq(
                f.load(f.at(wanted, loop.index, I64), I64)
            )
            with f.when(~same):
                f.ret(-1)
    same = f.load(f.at_bytes(raw, NDARRAY["dtype"]), I64).eq(f.load(f.at(expected, 1, I64), I64))
    flags = f.cast(f.load(f.at_bytes(raw, NDARRAY["flags"]), I32), I64)
    wanted = f.load(f.at(expected, 2, I64), I64)
    f.ret(f.select(same & (flags & wanted).eq(wanted), f.constant(I64, 1), 0))
    return f


def _table(module: Module) -> Function:
    """Whether a dictionary holds what an entry of `tables` says; then its clock is noted."""
    params = [("at", PTR), ("get", PTR), ("next", PTR)]
    f = module.function("table_holds", params, I64)
    f.internal = True
    entry, get, following = f.params
    size, count = (f.load(f.at(entry, n, I64), I64) for n in (3, 4))
    mapping, clock, wanted = (f.load(f.at(entry, n, I64), PTR) for n in (0, 1, 5))
    place, key, value = (f.scratch(I64) for _ in range(3))
    f.store(place, f.constant(I64, 0))

    def expect(n: Value, found: Value) -> None:
        with f.when(found.ne(f.load(f.at(wanted, n * 2 + 1, I64), I64))):
            f.ret(0)

    def in_order() -> list[Value]:
        with f.when(f.load(f.at_bytes(mapping, DICT_SIZE), I64).ne(size)):
            f.ret(0)
        with f.loop(0, count) as loop:
            there = f.call(following, [mapping, place, key, value], I32)
            expected = f.load(f.at(wanted, loop.index * 2, I64), I64)
            with f.when(there.eq(0) | f.load(key, I64).ne(expected)):
                f.ret(0)
            expect(loop.index, f.load(value, I64))
        return []

    def by_key() -> list[Value]:
        with f.loop(0, count) as loop:
            expected = f.load(f.at(wanted, loop.index * 2, I64), PTR)
            expect(loop.index, f.call(get, [mapping, expected], I64))
        return []

    f.choose(size >= 0, in_order, by_key)
    with f.when(f.load(f.at(entry, 1, I64), I64).ne(0)):
        f.store(f.at(entry, 2, I64), f.load(clock, I64))
    f.ret(1)
    return f


class _Enter:
    """The builtin under construction."""

    def __init__(self, f: Function, geometry: Function, table: Function) -> None:
        self.f = f
        self.geometry = geometry
        self.table = table
        bytes_of_self, self.args, self.count = f.params
        self.state = f.load(f.at_bytes(bytes_of_self, BYTES), PTR)

    def word(self, name: str, type: Type = I64) -> Value:
        return self.f.load(self.f.at(self.state, WORDS.index(name), I64), type)

    def give(self, name: str) -> None:
        hand_over(self.f, self.word(name, PTR))

    def unless(self, condition: Value, code: str) -> None:
        with self.f.when(~condition):
            self.give(code)

    def each(self, name: str, words: int) -> Any:
        """A loop over the entries of a table, of so many words."""
        f = self.f
        start = self.word(f"{name} at", PTR)

        class Entries:
            def __enter__(self) -> Callable[..., Value]:
                self.loop = f.loop(0, count)
                index = self.loop.__enter__().index

                def entry(n: int, type: Type = I64) -> Value:
                    return f.load(f.at(start, index * words + n, I64), type)

                entry.index = index  # type: ignore[attr-defined]
                entry.address = f.at(start, index * words, I64)  # type: ignore[attr-defined]
                return entry

            def __exit__(self, *error: Any) -> None:
                self.loop.__exit__(*error)

        count = self.word(name)
        return Entries()

    def same(self, at: Value, expected: Value) -> Value:
        return self.f.load(at, I64).eq(expected)

    def write(self) -> None:
        """All of it, in order."""
        f = self.f
        self.unless(self.count.eq(self.word("count")), "UNSURE")
        gate = self.f.load(self.word("gate", PTR), I64)
        self.unless(gate.eq(0), "UNSURE")
        self._mode()
        self._fix()  # first of all: looking up an entry may run a tensor's `__hash__`
        self._arguments()
        self._hold()
        self._grads()
        with self.each("bumps", 1) as entry:
            cell = f.load(entry(0, PTR), I64)
            self.unless(cell.ne(self.word("none")), "UNSURE")
        with self.each("stale", 2) as entry:
            self.unless(self.same(entry(0, PTR), entry(1)), "STALE")
        self._run()
        self._bumps()
        self.give("none")

    def _mode(self) -> None:
        f = self.f
        found = f.scratch(I64)
        none = f.constant(PTR, 0)
        state = f.call(self.word("variable_get", PTR), [self.word("variable", PTR), none, found],
                       I32)  # fmt: skip
        self.unless(state.eq(0), "UNSURE")
        mode = f.load(found, PTR)
        f.call(self.word("decref", PTR), [mode], VOID)
        self.unless(f.load(found, I64).eq(self.word("mode")), "UNSURE")

    def _fields(self, x: Value, count: Value, fields: Value, code: str) -> None:
        f = self.f
        with f.loop(0, count) as loop:
            offset, bits, expected = (
                f.load(f.at(fields, loop.index * 3 + n, I64), I64) for n in range(3)
            )
            found = f.load(f.at_bytes(x, offset), I64) & bits
            self.unless(found.eq(expected), code)

    def _array(self, raw: Value, expected: Value, code: str, miss: str) -> None:
        state = self.f.call(self.geometry, [raw, expected])
        self.unless(state >= 0, miss)
        self.unless(state.ne(0), code)

    def _arguments(self) -> None:
        f = self.f
        with self.each("arguments", 5) as entry:
            x = f.load(f.at(self.args, entry.index, I64), PTR)
            self.unless(self.same(f.at_bytes(x, TYPE), entry(0)), "UNSURE")
            self._fields(x, entry(1), entry(2, PTR), "UNSURE")
            raw = f.load(f.at_bytes(x, self.word("raw")), PTR)
            self._array(raw, entry(3, PTR), "UNSURE", "MISS")
            f.store(entry(4, PTR), raw)
        with self.each("bare", 2) as entry:
            x = f.load(f.at(self.args, entry(0), I64), PTR)
            self._bare(x, entry(1), "UNSURE", True)
        with f.when(self.word("apart").ne(0)):
            self._apart()
        behind = self.word("arguments")
        with self.each("given", 1) as entry:
            f.store(entry(0, PTR), f.load(f.at(self.args, behind + entry.index, I64), I64))

    def _bare(self, x: Value, inside: Value, code: str, empty: bool) -> None:
        """An object without attributes of its own, as `has_nothing` tells.

        With `empty` a dictionary without entries will do, and weak references don't matter;
        `inside` is the `inside_offset` of its class.
        """
        f = self.f

        def small(place: Value) -> None:
            self.unless(f.load(place, I8).eq(0), code)

        if not empty and sys.version_info >= (3, 12):
            self.unless(f.load(f.at_bytes(x, WEAK), I64).eq(0), code)
        own = f.load(f.at_bytes(x, -24), I64)
        made = own.ne(0)
        if sys.version_info[:2] == (3, 12):
            apart = (own & 1).ne(0)
            with f.when(apart):
                small(f.at_bytes(f.load(f.at_bytes(x, -24), PTR), -1))
            made = made & ~apart
        with f.when(made):
            if not empty:
                self.give(code)
            else:
                entries = f.load(f.at_bytes(f.load(f.at_bytes(x, -24), PTR), DICT_SIZE), I64)
                self.unless(entries.eq(0), code)
        if sys.version_info >= (3, 13):
            with f.when(own.eq(0) & inside.ne(1)):
                small(f.at_bytes(x, inside + COUNTED))
        elif sys.version_info < (3, 12):
            with f.when(f.load(f.at_bytes(x, -32), I64).ne(0) & own.eq(0)):
                small(f.at_bytes(f.load(f.at_bytes(x, -32), PTR), -2))

    def _apart(self) -> None:
        f = self.f
        own, count = self.word("own at", PTR), self.word("own")
        arguments = self.word("arguments")
        owners = self.word("owners", PTR)
        start = self.word("arguments at", PTR)
        with f.loop(0, arguments) as loop:
            raw = f.load(f.load(f.at(start, loop.index * 5 + 4, I64), PTR), PTR)
            base = f.load(f.at_bytes(raw, NDARRAY["base"]), PTR)

            def shown(raw: Value = raw, base: Value = base) -> list[Value]:
                """A view: what it shows must be an array that owns its memory."""
                kind = f.load(f.at_bytes(raw, TYPE), I64)
                self.unless(self.same(f.at_bytes(base, TYPE), kind), "UNSURE")
                further = f.load(f.at_bytes(base, NDARRAY["base"]), I64)
                self.unless(further.eq(0), "UNSURE")
                return [base]

            owns = f.load(f.at_bytes(raw, NDARRAY["base"]), I64).eq(0)
            (holder,) = f.choose(owns, lambda raw=raw: [raw], shown)  # type: ignore[misc]
            place = f.at(owners, loop.index, I64)
            f.store(place, holder)
            owner = f.load(place, I64)
            with f.loop(0, count) as other:
                self.unless(f.load(f.at(own, other.index, I64), I64).ne(owner), "UNSURE")
            with f.loop(0, loop.index) as other:
                self.unless(f.load(f.at(owners, other.index, I64), I64).ne(owner), "UNSURE")

    def _fix(self) -> None:
        f = self.f
        with self.each("exact", 2) as entry:
            self.unless(self.same(entry(0, PTR), entry(1)), "UNSURE")
        with self.each("masked", 3) as entry:
            self.unless((f.load(entry(0, PTR), I64) & entry(1)).eq(entry(2)), "UNSURE")
        with self.each("differing", 2) as entry:
            self.unless(~self.same(entry(0, PTR), entry(1)), "UNSURE")
        get, following = self.word("get", PTR), self.word("next", PTR)
        with self.each("tables", 6) as entry:
            clocked, clock = entry(1).ne(0), entry(1, PTR)
            (known,) = f.choose(
                clocked, lambda: [self.same(clock, entry(2))], lambda: [f.constant(I1, 0)]
            )
            with f.when(~known):
                holds = f.call(self.table, [entry.address, get, following])
                self.unless(holds.ne(0), "UNSURE")
        with self.each("lists", 3) as entry:
            items = entry(0, PTR)
            self.unless(self.same(f.at_bytes(items, SIZE), entry(1)), "UNSURE")
            found, expected = f.load(f.at_bytes(items, LIST_ITEMS), PTR), entry(2, PTR)
            with f.loop(0, entry(1)) as loop:
                item = f.load(f.at(found, loop.index, I64), I64)
                self.unless(item.eq(f.load(f.at(expected, loop.index, I64), I64)), "UNSURE")

    def _hold(self) -> None:
        f = self.f
        with self.each("held", 2) as entry:
            f.store(entry(0, PTR), entry(1))

    def _grads(self) -> None:
        f = self.f
        none, own = self.word("none"), f.constant(I64, 1)
        fields, words = self.word("template"), self.word("template at", PTR)
        before = self.word("before")
        with self.each("grads", 3) as entry:
            g = f.load(entry(0, PTR), PTR)
            self.unless(f.load(entry(0, PTR), I64).ne(none), "FRESH")
            self.unless(f.load(g, I64).eq(own), "FRESH")
            self._fields(g, fields, words, "FRESH")
            with f.when(before.ne(0)):
                self._bare(g, before, "FRESH", False)
            raw, expected = f.load(f.at_bytes(g, self.word("raw")), PTR), entry(1, PTR)
            self.unless(f.load(raw, I64).eq(own), "FRESH")
            self._array(raw, expected, "FRESH", "FRESH")
            flags = f.cast(f.load(f.at_bytes(raw, NDARRAY["flags"]), I32), I64)
            alone = f.load(f.at_bytes(raw, NDARRAY["base"]), I64) | f.load(
                f.at_bytes(raw, NDARRAY["weak"]), I64
            )
            self.unless(flags.eq(f.load(f.at(expected, 2, I64), I64)) & alone.eq(0), "FRESH")
            f.store(entry(2, PTR), raw)

    def _run(self) -> None:
        f = self.f
        run, state = self.word("run", PTR), self.word("state", PTR)

        def go() -> list[Value]:
            return [f.call(run, [state], I64)]

        def released() -> list[Value]:
            thread = f.call(self.word("save", PTR), [], PTR)
            found = go()
            f.call(self.word("restore", PTR), [thread], VOID)
            return found

        def ran() -> list[Value]:
            return f.choose(self.word("release").ne(0), released, go)

        (refused,) = f.choose(self.word("run").ne(0), ran, lambda: [f.constant(I64, 0)])
        self.unless(refused.eq(0), "REFUSED")

    def _bumps(self) -> None:
        f = self.f
        offset = self.word("number")
        with self.each("bumps", 1) as entry:
            place = f.at_bytes(f.load(entry(0, PTR), PTR), offset)

            def tagged(place: Value = place) -> list[Value]:
                f.store(place, f.load(place, I64) + 2)
                return []

            def counted(place: Value = place) -> list[Value]:
                old = f.load(place, PTR)
                n = f.call(self.word("long", PTR), [old], I64)
                f.store(place, f.call(self.word("new_long", PTR), [n + 1], PTR))
                f.call(self.word("decref", PTR), [old], VOID)
                return []

            f.choose(self.word("tagged").ne(0), tagged, counted)
