"""Kernels over rows as Python builtins: the frame is made in machine code, from ndarrays.

    run = launcher("softmax_f32", addresses, [Operand(dtype), Operand(dtype, writes=True)], HALVED)
    run(elements, columns, pool_state, x, out)        # NotImplemented: nothing was done

Below a number of elements, `wakes`, threads share the work only if they are awake.

The shape is taken as it is told: `elements` in rows of `columns`. The builtin checks that each
array is an ndarray of its dtype, C-ordered and aligned, and that what is written may be written;
numbers must be Python floats. It fills in the frame of `lowering.Frame` and cuts the rows into
chunks, by their number alone.

See Note [Builtins without an extension module] in `builtin_call`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..llvm import loader as engine
from ..llvm.emit import I1, I32, I64, PTR, VOID, Function, Module, Value
from ..threads import thread_pool as pool
from .builtin_call import RELEASED, builtin, entry_of, hand_over
from .interpreter import BYTES, FLOAT, TYPE
from .object_layout import NDARRAY, READ, WRITTEN

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..llvm.types import Type

#: Elements of a chunk at most.
CHUNK: Final = 32768
#: Rows of a chunk at most, where chunks write sums of their own.
_SUMMED_ROWS: Final = 64
# How chunks are cut: as large as may be; at least two; with sums of their own.
WHOLE: Final = 0
HALVED: Final = 1
SUMMED: Final = 2

_TABLE: Final = (
    "array", "none", "no", "float", "long", "save", "restore", "body", "all", "runner", "mode",
    "wakes", "count",
)  # fmt: skip
_MOST: Final = 32  # operands
_FIRST: Final = 3  # arguments before them
_NUMBER: Final = 0  # in place of a dtype


@dataclass(frozen=True)
class Operand:
    """An array of a dtype (an object), or a number where there is none. `stride`: of its rows in
    elements; -1 stands for the number of columns."""

    dtype: Any
    stride: int
    writes: bool = False


@cache
def entry() -> int:
    """The address of the function behind each builtin."""
    return engine.load(_module())["launch"]


def launcher(
    name: str,
    body: int,
    whole: int,
    array_type: type,
    operands: Sequence[Operand],
    mode: int,
    wakes: int,
) -> AnyCallable | None:
    """The builtin for a kernel's two functions (see `rows`); None for more operands than it takes.

    It gives None, or NotImplemented where the guards said no.
    """
    if len(operands) > _MOST:
        return None
    words = [
        id(array_type), id(None), id(NotImplemented), id(float),
        entry_of("PyLong_AsLongLong"), entry_of("PyEval_SaveThread"),
        entry_of("PyEval_RestoreThread"), body, whole, pool.runner(), mode, wakes, len(operands),
    ]  # fmt: skip
    for one in operands:
        flags = WRITTEN if one.writes else READ
        words += [_NUMBER if one.dtype is None else id(one.dtype), flags, one.stride]
    return builtin(name, entry(), struct.pack(f"{len(words)}q", *words))


def _module() -> Module:
    module = Module("launcher")
    f = module.function("launch", [("self", PTR), ("args", PTR), ("count", I64)], PTR)
    table, args, count = f.params
    code = _Launch(f, table)
    operands = code.word("count", I64)
    code.refuse_unless(count.eq(operands + _FIRST))
    numbers = [
        f.call(code.word("long", PTR), [f.load(f.at(args, place, I64), PTR)], I64)
        for place in range(_FIRST)
    ]
    elements, columns, state = numbers
    code.refuse_unless((columns > 0) & (elements > 0))
    frame = f.scratch(I64, 4 + 2 * _MOST)
    with f.loop(0, operands) as loop:
        code.operand(args, operands, columns, frame, loop.index)
    rows = (elements + (columns - 1)) // columns
    grain = _least(f, f.constant(I64, CHUNK) // columns, f.constant(I64, 1), True)
    mode = code.word("mode", I64)
    half = _least(f, (rows + 1) // 2, f.constant(I64, 1), True)
    halved = _least(f, grain, half)
    summed = _least(f, grain, f.constant(I64, _SUMMED_ROWS))
    grain = f.select(mode.eq(HALVED), halved, f.select(mode.eq(SUMMED), summed, grain))
    for place, value in enumerate((rows, columns, elements, grain)):
        f.store(f.at(frame, place, I64), value)
    chunks = (rows + (grain - 1)) // grain

    def go() -> list[Value]:
        def shared() -> list[Value]:
            f.call(code.word("runner", PTR), [there, code.word("body", PTR), frame, chunks])
            return []

        def alone() -> list[Value]:
            f.call(code.word("all", PTR), [frame, chunks])
            return []

        def ask() -> list[Value]:
            sleepers = f.atomic_load(f.at_bytes(there, pool.SLEEPERS), I32)
            f.choose((elements < code.word("wakes", I64)) & (sleepers > 0), alone, shared)
            return []

        there = f.emit(PTR, f"inttoptr {state!r} to ptr")
        f.choose(state.eq(0), alone, ask)
        return []

    def released() -> list[Value]:
        thread = f.call(code.word("save", PTR), [], PTR)
        go()
        f.call(code.word("restore", PTR), [thread], VOID)
        return []

    f.choose(elements >= RELEASED, released, go)
    code.give("none")
    return module


def _least(f: Function, a: Value, b: Value, largest: bool = False) -> Value:
    return f.select(a > b if largest else a < b, a, b)


class _Launch:
    """The checks of a launch under construction."""

    def __init__(self, f: Function, table: Value) -> None:
        self.f = f
        self.table = table

    def word(self, name: str, type: Type) -> Value:
        place = BYTES + 8 * _TABLE.index(name)
        return self.f.load(self.f.at_bytes(self.table, place), type)

    def give(self, name: str) -> None:
        """Returns a constant object of Python."""
        hand_over(self.f, self.word(name, PTR))

    def refuse_unless(self, condition: Value) -> None:
        with self.f.when(~condition):
            self.give("no")

    def same(self, a: Value, b: Value) -> Value:
        return self.f.emit(I1, f"icmp eq {a!r}, {b.name}")

    def operand(
        self, args: Value, operands: Value, columns: Value, frame: Value, index: Value
    ) -> None:
        """Checks an argument, and writes its word and its stride into the frame."""
        f = self.f
        argument = f.load(f.at(args, index + _FIRST, I64), PTR)
        start = f.at_bytes(self.table, index * 24 + (BYTES + 8 * len(_TABLE)))
        dtype, flags, stride = (f.load(f.at(start, place, I64), I64) for place in range(3))
        type = f.load(f.at_bytes(argument, TYPE), PTR)

        def number() -> list[Value]:
            self.refuse_unless(self.same(type, self.word("float", PTR)))
            return [f.load(f.at_bytes(argument, FLOAT), I64)]

        def array() -> list[Value]:
            self.refuse_unless(self.same(type, self.word("array", PTR)))
            right = f.load(f.at_bytes(argument, NDARRAY["dtype"]), I64).eq(dtype)
            found = f.cast(f.load(f.at_bytes(argument, NDARRAY["flags"]), I32), I64)
            self.refuse_unless(right & (found & flags).eq(flags))
            return [f.load(f.at_bytes(argument, NDARRAY["data"]), I64)]

        (word,) = f.choose(dtype.eq(_NUMBER), number, array)
        f.store(f.at(frame, index + 4, I64), word)
        step = f.select(stride.eq(-1), columns, stride)
        f.store(f.at(frame, index + operands + 4, I64), step)
