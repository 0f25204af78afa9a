"""Kernels as Python objects: traced and compiled at the first use, called with ndarrays.

Note [Kernels and sizes]
Whether a kernel works is decided by sizes alone, never by what ran before: the same call gives the
same digits each time. The limits are where a kernel wins its loading back within a few calls.

Note [Chunks]
Rows are cut into chunks by their number alone, and sums over rows are added up chunk by chunk, so
results don't depend on the number of threads.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from ..._codegen import engine, pool, target
from ..._codegen.group import Group, Symbol, trace
from ..._codegen.rows import REGISTERS, ROW_LIMIT, Frame, lanes_for, lowered
from ..._codegen.stages import expensive, planned
from .. import kernels
from ..parallel import get_num_threads
from ..types import FLOAT32, FLOAT64

__all__ = ["FLAT", "Code", "Kernel", "address", "chunks_of", "grain_of", "plain", "ready"]

#: Elements of a piece of a flat array.
FLAT: Final = 4096
_CODES: Final[dict[Any, str]] = {FLOAT32: "f32", FLOAT64: "f64"}
# Elements of a chunk at most, and nanoseconds of work from which threads are worth waking.
_CHUNK: Final = 32768
_WORTH_THREADS: Final = 70_000
# How many lengths of rows are remembered.
_KNOWN: Final = 256
# Rows of a chunk at most, where sums over rows are wanted.
_SUMMED: Final = 64


def ready() -> bool:
    """Whether kernels can run here; else they aren't asked again. The first question imports
    llvmlite and tries a small one."""
    if target.available() and _works():
        return True
    kernels.off()
    return False


@cache
def _works() -> bool:
    probe = Kernel(_doubled, "f", "s")
    x = np.arange(100.0, dtype=FLOAT32)
    out = np.empty_like(x)
    try:
        probe.rows(FLOAT32, 2, 50, (x, 2.0), (out,))
    except (RuntimeError, OSError, AttributeError):  # LLVM or the linker refuses
        return False
    return bool((out == 2 * x).all())


def _doubled(x: Symbol, two: Symbol) -> Any:
    return x * two


def plain(x: Any, *others: Any) -> bool:
    """Whether these are C-ordered ndarrays of float32 or float64, of the same dtype (or None)."""
    dtype = x.dtype
    if not (dtype is FLOAT32 or dtype is FLOAT64) or not x.flags.c_contiguous:
        return False
    for other in others:
        if other is not None and (
            type(other) is not np.ndarray
            or other.dtype is not dtype
            or not other.flags.c_contiguous
        ):
            return False
    return True


def _plain_objects() -> bool:
    """Whether an ndarray's data pointer follows its two object words, as in ordinary CPython."""
    if sys.implementation.name != "cpython" or (hasattr(sys, "abiflags") and "t" in sys.abiflags):
        return False
    probe = np.arange(6.0)[2:]
    found = ctypes.c_void_p.from_address(id(probe) + 2 * ctypes.sizeof(ctypes.c_void_p)).value
    return found == probe.ctypes.data


if _plain_objects():
    _pointer = ctypes.c_void_p.from_address

    def address(x: Any) -> int:
        """Where an ndarray's first element lies."""
        return _pointer(id(x) + 16).value or 0

else:

    def address(x: Any) -> int:
        """Where an ndarray's first element lies."""
        return int(x.ctypes.data)


class Code:
    """The functions `<name>` and `<name>_all` of a module, compiled: chunks of some work.

    `cost` is what an element takes in nanoseconds, roughly.
    """

    __slots__ = ("all", "body", "least")

    def __init__(self, module: Any, cost: float) -> None:
        addresses = engine.load(module)
        self.body = addresses[module.name]
        self.least = _WORTH_THREADS / cost
        # A foreign function gives up the interpreter lock.
        whole = addresses[f"{module.name}_all"]
        self.all: Any = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64)(whole)

    def run(self, frame: bytes, chunks: int, work: int) -> None:
        """Does the chunks of a frame, on several threads if so many elements are worth it."""
        if work >= self.least and chunks > 1:
            threads = get_num_threads()
            if threads > 1:
                _shared()(pool.state(threads), self.body, frame, chunks)
                return
        self.all(frame, chunks)


@cache
def _shared() -> Any:
    pointer = ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, pointer, pointer, ctypes.c_char_p, ctypes.c_int64)
    return kind(pool.runner())


class _Compiled(Code):
    """A group as machine code for one dtype, and perhaps one length of rows."""

    __slots__ = ("frame", "group", "pack", "sums")

    def __init__(self, group: Group, vectors: int | None, ragged: bool) -> None:
        super().__init__(
            lowered(
                group, lanes_for(group, target.machine().width), vectors=vectors, ragged=ragged
            ),
            _cost(group),
        )
        self.group = group
        self.frame = Frame(len(group.operands), len(group.outputs))
        words = "".join("d" if o.kind == "s" and o.dtype[0] == "f" else "q" for o in group.operands)
        rest = self.frame.words - 4 - len(group.operands)
        self.pack = struct.Struct(f"4q{words}{rest}q").pack
        self.sums = any(group.kind(o.value) in "cs" for o in group.outputs)


def _cost(group: Group) -> float:
    """Nanoseconds for an element, from figures for AVX-512."""
    values = range(len(group.operands) + len(group.body))
    wide = [v for v in values if group.kind(v) == "f"]
    dear = sum(expensive(group, v) for v in wide)
    memory = sum(o.kind == "f" for o in group.operands) + len(group.outputs)
    size = 2 if any(o.dtype == "f64" for o in group.operands) else 1
    return size * (0.03 * memory + 0.01 * (len(wide) - dear) + 0.1 * dear)


class Kernel:
    """A formula on rows, compiled for float32 and float64 when it is first called.

    `operands` names the kinds of the formula's parameters in order: "f", "r", "c" or "s", of the
    dtype of the call, or a kind and a dtype as in "r i64".
    """

    __slots__ = ("formula", "general", "known", "long", "name", "operands", "whole")

    def __init__(self, formula: Callable[..., Any], *operands: str) -> None:
        self.formula = formula
        self.name = formula.__name__
        self.operands = operands
        self.known: dict[Any, tuple[_Compiled, list[int]]] = {}
        self.general: dict[Any, _Compiled] = {}
        self.whole: dict[Any, _Compiled] = {}
        self.long: bool | None = None

    def group(self, code: str) -> Group:
        """The group for f32 or f64."""
        kinds = {}
        for place, text in enumerate(self.operands):
            kind, _, dtype = text.partition(" ")
            kinds[f"x{place}"] = (kind, dtype or code)
        return trace(f"{self.name}_{code}", self.formula, kinds)

    def _compiled(self, dtype: Any, vectors: int | None, ragged: bool) -> _Compiled:
        return _Compiled(self.group(_CODES[dtype]), vectors, ragged)

    def takes(self, columns: int) -> bool:
        """Whether rows can be that long."""
        if self.long is None:
            self.long = not planned(self.group("f32")).scratch
        return self.long or columns <= ROW_LIMIT

    def flat(self, dtype: Any, inputs: Sequence[Any], outputs: Sequence[Any], size: int) -> None:
        """Runs over `size` elements of flat arrays; numbers stand for operands of kind `s`."""
        found = self.whole.get(dtype)
        if found is None:
            found = self.whole[dtype] = self._compiled(dtype, None, True)
        words = [x if type(x) is float else address(x) for x in inputs]
        words += [address(x) for x in outputs]
        words += [FLAT] * len(words)
        rows, grain = -(-size // FLAT), _CHUNK // FLAT
        found.run(found.pack(rows, FLAT, size, grain, *words), -(-rows // grain), size)

    def rows(
        self, dtype: Any, rows: int, columns: int, inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> None:
        """Runs over C-ordered matrices, (rows,) or (columns,) arrays and numbers, as the kinds say.

        An output of kind `c` has a row for each chunk: see `chunks_of`.
        """
        known = self.known.get((dtype, columns))
        if known is None:
            known = self._for_rows(dtype, columns)
        found, strides = known
        words = [x if type(x) is float else address(x) for x in inputs]
        words += [address(x) for x in outputs]
        words += strides
        grain = grain_of(rows, columns, found.sums)
        frame = found.pack(rows, columns, rows * columns, grain, *words)
        found.run(frame, -(-rows // grain), rows * columns)

    def _for_rows(self, dtype: Any, columns: int) -> tuple[_Compiled, list[int]]:
        """The code for rows of a length, and the strides; kept."""
        lanes = target.machine().width // dtype.itemsize
        vectors = -(-columns // lanes)
        found = self._general(dtype, vectors if vectors <= REGISTERS else None)
        strides = [columns if text[0] == "f" else int(text[0] != "s") for text in self.operands]
        group = found.group
        strides += [columns if group.kind(o.value) == "f" else 1 for o in group.outputs]
        if len(self.known) > _KNOWN:
            self.known.clear()
        self.known[dtype, columns] = found, strides
        return found, strides

    def _general(self, dtype: Any, vectors: int | None = None) -> _Compiled:
        """The code for rows of so many vectors, or of any length."""
        found = self.general.get((dtype, vectors))
        if found is None:
            found = self.general[dtype, vectors] = self._compiled(dtype, vectors, False)
        return found

    def at(self, dtype: Any, rows: int, columns: int, words: Sequence[int]) -> None:
        """Runs on addresses, in the order of operands and outputs, followed by their strides."""
        found = self._general(dtype)
        grain = grain_of(rows, columns, False)
        frame = found.pack(rows, columns, rows * columns, grain, *words)
        found.run(frame, -(-rows // grain), rows * columns)


def grain_of(rows: int, columns: int, summed: bool) -> int:
    """How many rows a chunk has."""
    grain = max(1, _CHUNK // max(columns, 1))
    return min(grain, _SUMMED) if summed else min(grain, max(1, -(-rows // 2)))


def chunks_of(rows: int, columns: int) -> int:
    """How many partial sums over rows a kernel writes."""
    return -(-rows // grain_of(rows, columns, True))
