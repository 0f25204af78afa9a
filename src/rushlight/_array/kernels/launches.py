"""Calls of emitted functions on arrays that aren't there yet, put together once for some sizes.

An eager call runs them on its arrays (`Launches.run`), a compiled step writes their frames among
its own (`_compile/lowering/convolutions.py`).
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy import empty

from ..._native.emitted import convolution
from ..._native.llvm.emit import F32, F64
from ..._native.threads import thread_pool as pool
from ..types import FLOAT32
from .launch import address

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..annotations import Array, RawType

_PART: Final = 4096  # sums in a chunk
_MUCH: Final = 1 << 16  # sums from which threads are worth waking


class Form(NamedTuple):
    """How an array lies in memory, wherever that is."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: RawType

    @property
    def ndim(self) -> int:
        """Dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides in elements."""
        return tuple([s // self.itemsize for s in self.strides])

    @property
    def in_order(self) -> bool:
        """Whether elements lie one after the other, in C order."""
        step = self.itemsize
        for n, stride in zip(reversed(self.shape), reversed(self.strides)):
            if n != 1 and stride != step:
                return False
            step *= n
        return True


def form_of(x: Array) -> Form:
    """The form of an array."""
    return Form(x.shape, x.strides, x.dtype)


class Place(NamedTuple):
    """So many bytes behind the beginning of an array that is told later; 0 is memory of one's own,
    the first array told is 1."""

    array: int
    offset: int = 0

    def behind(self, size: int) -> Place:
        """So many bytes further."""
        return Place(self.array, self.offset + size)


class Launch(NamedTuple):
    """A call: the function, its frame with zeros for places, which these are, chunks, and whether
    threads are worth waking."""

    function: int
    words: list[int]
    places: list[tuple[int, Place]]
    chunks: int
    shared: bool


@cache
def _packer(words: int) -> Callable[..., bytes]:
    return struct.Struct(f"{words}q").pack


class Launches:
    """Calls in order, with the memory that only they need."""

    def __init__(self, dtype: RawType, threads: int) -> None:
        self.dtype = dtype
        self.threads = threads
        self.size = 0  # of the memory, in bytes
        self.zeros: list[tuple[int, int]] = []  # where it has to be zeros: first byte, bytes
        self.calls: list[Launch] = []
        #: Numbers that must be zeros afterwards, as `zeros`.
        self.checks: tuple[int, int] | None = None
        self.asked = 0  # calls after which these already say whether it is worth going on
        self._tables: list[Any] = []

    def room(self, elements: int, zeros: bool = False, size: int = 0) -> Place:
        """Memory for so many elements, of `size` bytes or the type of all."""
        place = Place(0, self.size)
        some = elements * (size or self.dtype.itemsize)
        if zeros and some:
            self.zeros.append((self.size, some))
        self.size += -(-(some + 64) // 64) * 64
        return place

    def slots(self, elements: int, zeros: int) -> tuple[Place, Place]:
        """Flags of slots of memory, and these; so many elements of each are zeros at first. See
        Note [Slots] in `_native`."""
        flags = self.room(8 * self.threads, True, 8)
        memory = self.room(self.threads * elements)
        size = self.dtype.itemsize
        if zeros == elements:
            self.zeros.append((memory.offset, self.threads * elements * size))
        else:
            for slot in range(self.threads):
                self.zeros.append((memory.offset + slot * elements * size, zeros * size))
        return flags, memory

    def table(self, numbers: Array) -> int:
        """Where a table lies, which is kept."""
        self._tables.append(numbers)
        return address(numbers)

    def check(self, elements: int) -> Place:
        """Room for numbers that say by anything but zeros that the results are none."""
        place = self.room(elements, True)
        self.checks = (place.offset, elements * self.dtype.itemsize)
        return place

    def add(self, function: int, words: Sequence[object], chunks: int, shared: bool = True) -> None:
        """Adds a call with a frame of numbers and places; `shared`: of which threads take
        chunks."""
        plain, places = [0] * len(words), []
        for k, word in enumerate(words):
            if isinstance(word, Place):
                places.append((k, word))
            elif isinstance(word, int):
                plain[k] = int(word)
            else:
                raise TypeError(f"no word of a frame: {word!r}")
        self.calls.append(Launch(function, plain, places, chunks, shared and self.threads > 1))

    def add_shares(self, totals: Place, size: int, shares: int) -> None:
        """Adds a call that adds what the other shares of the samples give to what the first does;
        each is a multiple of the lanes of a vector."""
        if shares > 1:
            adding = self._code()["add_shares"]
            self.add(adding, [totals, size, shares, _PART], -(-size // _PART), size >= _MUCH)

    def pick(self, source: Place, to: Place, rows: Array, columns: Array) -> None:
        """Adds a call that writes a matrix in order, whose elements lie at the sum of what is given
        for their row and for their column."""
        grain = max(1, _PART // max(1, len(columns)))
        tables = [self.table(np.asarray(places, np.int64)) for places in (rows, columns)]
        words = [source, to, len(rows), len(columns), *tables, grain]
        many = len(rows) * len(columns) >= _MUCH
        self.add(self._code()["pick"], words, -(-len(rows) // grain), many)

    def _code(self) -> dict[str, int]:
        return convolution.load(F32 if self.dtype is FLOAT32 else F64)

    def run(self, *arrays: Array | None) -> bool:
        """Makes the calls; whether all that was to be checked is zeros."""
        memory = empty(self.size + 64, np.uint8)
        start = address(memory)
        spare = -start % 64
        for first, size in self.zeros:
            memory[spare + first : spare + first + size] = 0
        at = [start + spare, *[0 if x is None else address(x) for x in arrays]]
        checked = None
        if self.checks is not None:
            first, size = self.checks
            checked = memory[spare + first : spare + first + size].view(self.dtype)
        for number, (function, words, places, chunks, shared) in enumerate(self.calls, 1):
            frame = words.copy()
            for word, (array, offset) in places:
                frame[word] = at[array] + offset
            packed = _packer(len(frame))(*frame)
            pool.run(function, packed, chunks, self.threads if shared else 1)
            if number == self.asked and checked is not None and checked.any():
                return False
        return checked is None or not checked.any()  # a NaN counts as something
