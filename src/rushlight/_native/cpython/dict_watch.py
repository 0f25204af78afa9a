"""Clocks of dictionaries that keep no version themselves: CPython tells us of each change (3.12+).

Note [Watched dictionaries]
`PyDict_AddWatcher` has a function called before each change of a dictionary for which
`PyDict_Watch` was called. Ours is machine code: it finds the dictionary in a table of addresses,
and adds one to the word that stands beside it. It runs no Python and gives up no lock, so nobody
looks between the word's change and the dictionary's. Words are never freed, nor taken from the
table: at an address where a dictionary was there may be another one, which then has to be watched
anew, and whose word just goes on.
The table is one block: how many places it has less one, then pairs of dictionary and word. It is
replaced whole, by one store, when it is half full.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Final

from ..._base.fork_locks import lock as make_lock
from ..llvm import loader as engine
from ..llvm.emit import I32, I64, PTR, Function, Module, Value
from ..references import keep_forever
from . import interpreter

_FIRST: Final = 256  # places of the first table
_ROOM: Final = 512  # words that are made at once
#: 2**64 divided by the golden ratio, odd, as a signed number: hashes addresses to places.
_FACTOR: Final = 0x9E3779B97F4A7C15 - (1 << 64)
_lock = make_lock()


def _hash(address: int) -> int:
    """The same as the machine code computes."""
    return ((address * _FACTOR) & ((1 << 64) - 1)) >> 32


class _Watch:
    """The table, and the watcher that counts by it."""

    def __init__(self) -> None:
        self.root = self._keep(1)
        self.words: list[int] = []  # addresses of ones that are free
        self.known: dict[int, int] = {}  # the address of a dictionary -> that of its word
        self._renew(_FIRST)
        change = engine.load(_module(ctypes.addressof(self.root)))["dict_changes"]
        self.watcher = int(ctypes.pythonapi.PyDict_AddWatcher(ctypes.c_void_p(change)))

    @staticmethod
    def _keep(count: int) -> ctypes.Array[ctypes.c_int64]:
        made = (ctypes.c_int64 * count)()
        keep_forever(made)
        return made

    def _renew(self, places: int) -> None:
        block = self._keep(1 + 2 * places)
        block[0] = places - 1
        self.block = block
        for table, word in self.known.items():
            self._enter(table, word)
        self.root[0] = ctypes.addressof(block)

    def _enter(self, table: int, word: int) -> None:
        block = self.block
        k = _hash(table) & block[0]
        while block[1 + 2 * k]:
            k = (k + 1) & block[0]
        block[2 + 2 * k] = word  # before what makes it be found
        block[1 + 2 * k] = table

    def place(self, table: dict[object, object]) -> int:
        """The address of the word that counts a dictionary's changes, from now on."""
        with _lock:
            found = self.known.get(id(table))
            if found is None:
                if not self.words:
                    room = self._keep(_ROOM)
                    start = ctypes.addressof(room)
                    self.words = list(range(start, start + 8 * _ROOM, 8))
                found = self.known[id(table)] = self.words.pop()
                self._enter(id(table), found)
                if 2 * len(self.known) > self.block[0]:
                    self._renew(2 * (self.block[0] + 1))
            ctypes.pythonapi.PyDict_Watch(self.watcher, ctypes.py_object(table))
            return found


@cache
def _watch() -> _Watch | None:
    if interpreter.unknown() is not None or sys.version_info < (3, 12):
        return None
    try:
        return _Watch()
    except Exception:  # no watcher is free, or there is no compiler
        return None


def ready() -> bool:
    """Whether dictionaries can be watched."""
    return _watch() is not None


def clock(table: dict[object, object]) -> int:
    """The address of a word that each change of a dictionary makes another one."""
    watch = _watch()
    assert watch is not None
    return watch.place(table)


def _module(root: int) -> Module:
    module = Module("dict_watch")
    f = module.function(
        "dict_changes", [("event", I32), ("table", PTR), ("key", PTR), ("value", PTR)], I32
    )
    block = f.load(_place(f, root), PTR)
    table = f.emit(I64, f"ptrtoint ptr {f.params[1].name} to i64")
    mask = f.load(block, I64)

    def look(carried: list[Value]) -> tuple[Value, list[Value]]:
        (k,) = carried
        found = f.load(f.at(block, k * 2 + 1, I64), I64)
        with f.when(found.eq(table)):
            word = f.load(f.at(block, k * 2 + 2, I64), PTR)
            f.store(word, f.load(word, I64) + 1)
            f.ret(0)
        return found.ne(0), [(k + 1) & mask]

    f.repeat([f.shift_right(table * _FACTOR, 32) & mask], look)
    f.ret(0)
    return module


def _place(f: Function, root: int) -> Value:
    """Where the address of the block lies: the text names it, so that the code can be kept."""
    return f.address_of(f.module.external("dict_watch_root", root, []))
