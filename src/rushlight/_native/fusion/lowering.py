"""What every way of lowering a group has in common: its frame, its scalars, the loop over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from ..._formula.ir import (
    COMPARISONS,
    FLOATS,
    LAST_REDUCTIONS,
    LOGICAL,
    ROW_REDUCTIONS,
    Group,
    Instruction,
)
from ..llvm.emit import F32, F64, I1, I32, I64, PTR, Function, Type, Value
from ..math import functions as mathematics
from .schedule import Plan, plan_group

TYPES: Final = {"f32": F32, "f64": F64, "i32": I32, "i64": I64, "b1": I1}
_INFINITY: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the words of a frame lie: sizes, then a word for each operand and each output, then
    their strides from row to row in elements, then two words for each operand of kind `f%` or `r%`:
    how many rows it stays the same for, and after how many others it begins anew.

    A word is an address; that of an `s` operand is its number (a float64 or an i64) in a kernel
    lowered with `inline`. The total counts elements where rows are pieces of a flat array, of which
    the last may be short; a `ragged` kernel reads it.
    """

    operands: int
    outputs: int

    ROWS: ClassVar[int] = 0
    COLUMNS: ClassVar[int] = 1
    TOTAL: ClassVar[int] = 2
    GRAIN: ClassVar[int] = 3

    def operand(self, number: int) -> int:
        """The word of an operand."""
        return 4 + number

    def output(self, number: int) -> int:
        """The word of an output."""
        return 4 + self.operands + number

    def operand_stride(self, number: int) -> int:
        """The stride of an operand."""
        return 4 + self.operands + self.outputs + number

    def output_stride(self, number: int) -> int:
        """The stride of an output."""
        return 4 + 2 * self.operands + self.outputs + number

    @property
    def words(self) -> int:
        """The length of a frame, without the words of operands that repeat."""
        return 4 + 2 * (self.operands + self.outputs)


def apply(f: Function, one: Instruction, args: list[Value]) -> Value:
    """An elementwise instruction on scalars or vectors."""
    op = one.op
    if op in ("add", "sub", "mul", "div"):
        return f.binary(op, args[0], args[1])
    if op in COMPARISONS:
        return f.compare(op, args[0], args[1])
    if op in LOGICAL:
        return f.binary(op, args[0], args[1])
    simple: dict[str, Callable[[], Value]] = {
        "neg": lambda: -args[0],
        "not": lambda: ~args[0],
        "abs": lambda: f.abs(args[0]),
        "sqrt": lambda: f.sqrt(args[0]),
        "max": lambda: f.maximum(args[0], args[1]),
        "min": lambda: f.minimum(args[0], args[1]),
        "where": lambda: f.select(args[0], args[1], args[2]),
        "cast": lambda: f.cast(args[0], TYPES[one.dtype]),
        "floor": lambda: f.floor(args[0]),
        "copysign": lambda: f.copysign(args[0], args[1]),
        "rint": lambda: f.round_even(args[0]),
        "broadcast_f": lambda: args[0],
        "broadcast_r": lambda: args[0],
        "ceil": lambda: f.intrinsic("ceil", args[0]),
        "trunc": lambda: f.intrinsic("trunc", args[0]),
    }
    if op in simple:
        return simple[op]()
    function: Callable[..., Value] = getattr(mathematics, "power" if op == "pow" else op)
    return function(f, *args)


class Lowering:
    """What both ways have in common: the frame, the scalars, and the loop over rows."""

    def __init__(
        self, group: Group, f: Function, lanes: int, vectors: int | None, ragged: bool,
        inline: bool,
    ) -> None:  # fmt: skip
        self.group = group
        self.f = f
        self.lanes = lanes
        self.vectors = vectors
        self.ragged = ragged
        self.inline = inline
        self.plan: Plan = plan_group(group)
        self.frame = Frame(len(group.operands), len(group.outputs))
        self.scalars: dict[int, Value] = {}  # values of kind s and r
        self.splats: dict[int, Value] = {}  # the same in all lanes
        self.bases: dict[int, Value] = {}
        self.strides: dict[int, Value] = {}
        self.turns: dict[int, tuple[Value, Value]] = {}  # of operands that repeat
        self.out_bases: dict[int, Value] = {}
        self.out_strides: dict[int, Value] = {}
        self.here: dict[int, Value] = {}  # where the row of an operand begins
        self.out_here: dict[int, Value] = {}
        self.totals = [v for v in self._last() if self._of(v).op == "total"]

    def _of(self, value: int) -> Instruction:
        one = self.group.instruction(value)
        assert one is not None
        return one

    def _last(self) -> list[int]:
        count = len(self.group.operands)
        return [count + p for p, i in enumerate(self.group.body) if i.op in LAST_REDUCTIONS]

    def type(self, value: int) -> Type:
        """The scalar type of a value."""
        return TYPES[self.group.dtype(value)]

    def wide(self, value: int) -> Type:
        """The vector type of a value."""
        return self.type(value).vector(self.lanes)

    def word(self, number: int, type: Type = I64) -> Value:
        """A word of the frame."""
        return self.f.load(self.f.at(self.f.params[0], number, I64), type)

    # -- the whole function -----------------------------------------------------------------

    def emit(self) -> None:
        """Writes the function."""
        f, group = self.f, self.group
        chunk = f.params[1]
        rows, grain = self.word(Frame.ROWS), self.word(Frame.GRAIN)
        self.columns = self.word(Frame.COLUMNS)
        if self.ragged:
            self.total = self.word(Frame.TOTAL)
        first = chunk * grain
        end = first + grain
        last = f.select(end < rows, end, rows)
        for number, operand in enumerate(group.operands):
            slot = self.frame.operand(number)
            if operand.kind != "s":
                self.bases[number] = self.word(slot, PTR)
                self.strides[number] = self.word(self.frame.operand_stride(number))
                if operand.kind[1:]:
                    spot = self.frame.words + 2 * len(self.turns)
                    self.turns[number] = self.word(spot), self.word(spot + 1)
                continue
            type = self.type(number)
            if not self.inline:
                self.scalars[number] = f.load(self.word(slot, PTR), type)
            elif type.is_float:
                self.scalars[number] = f.cast(self.word(slot, F64), type)
            else:
                self.scalars[number] = f.cast(self.word(slot), type)
        for number, out in enumerate(group.outputs):
            base = self.word(self.frame.output(number), PTR)
            kind = group.kind(out.value)
            if kind == "c":
                base = f.at(base, chunk * self.columns, self.type(out.value))
                f.fill(base, 0, self.columns * self.type(out.value).size)
            elif kind == "s":
                base = f.at(base, chunk, F64)
            else:
                self.out_strides[number] = self.word(self.frame.output_stride(number))
            self.out_bases[number] = base
        self._scalar_instructions("s", 0)
        self._prepare()
        for value in self._values("s"):
            self.splats[value] = f.splat(self.scalars[value], self.lanes)
        sums = [f.constant(F64, 0.0) for _ in self.totals]
        with f.loop(first, last, carried=sums) as loop:
            self._begin_row(loop.index)
            self.running = dict(zip(self.totals, loop.carried, strict=True))
            self._row()
            self._end_row(loop.index)
            loop.next(*self.running.values())
        found = dict(zip(self.totals, loop.results, strict=True))
        for number, out in enumerate(group.outputs):
            if out.value in found:
                f.store(self.out_bases[number], found[out.value])
        f.ret()

    def _prepare(self) -> None:
        """What is set up once, before the loop over rows."""

    def _row(self) -> None:
        raise NotImplementedError

    def _values(self, kind: str) -> list[int]:
        count = len(self.group.operands) + len(self.group.body)
        return [v for v in range(count) if self.group.kind(v) == kind and v not in self._last()]

    def _begin_row(self, row: Value) -> None:
        f, group = self.f, self.group
        self.row = row
        for number in [v for v in self.scalars if group.kind(v) == "r"]:
            del self.scalars[number]
            self.splats.pop(number, None)
        for number, operand in enumerate(group.operands):
            if operand.kind[0] in "fr":
                index = row
                if number in self.turns:
                    each, period = self.turns[number]
                    index = (row // each) % period
                place = f.at(self.bases[number], index * self.strides[number], self.type(number))
                self.here[number] = place
                if operand.kind[0] == "r":
                    self.scalars[number] = f.load(place, self.type(number))
            elif operand.kind == "c":
                self.here[number] = self.bases[number]
        for number, base in self.out_bases.items():
            if number in self.out_strides:
                value = group.outputs[number].value
                self.out_here[number] = f.at(base, row * self.out_strides[number], self.type(value))
            else:
                self.out_here[number] = base
        if self.ragged:
            left = self.total - row * self.columns
            self.length = f.select(left < self.columns, left, self.columns)
        else:
            self.length = self.columns

    def _end_row(self, row: Value) -> None:
        """Stores what is one number a row, and adds to totals."""
        for value in self.totals:
            arg = self._of(value).args[0]
            if self.group.kind(arg) == "r":
                self._add_total(value, self.scalars[arg])
        for number, out in enumerate(self.group.outputs):
            if self.group.kind(out.value) == "r":
                self.f.store(self.out_here[number], self.scalars[out.value])

    def _add_total(self, value: int, amount: Value) -> None:
        self.running[value] = self.running[value] + self.f.cast(amount, F64)

    def _scalar_instructions(self, kind: str, level: int) -> None:
        """The instructions of a kind that can be computed now, but for reductions."""
        f = self.f
        for value in self._values(kind):
            one = self.group.instruction(value)
            if one is None or self.plan.level[value] != level or value in self.scalars:
                continue
            if one.op in ROW_REDUCTIONS:
                continue
            if one.op == "const":
                assert one.payload is not None
                self.scalars[value] = f.constant(self.type(value), one.payload)
            elif one.op == "row":
                self.scalars[value] = self.row
            elif one.op == "row_count":
                self.scalars[value] = self.word(Frame.ROWS)
            elif one.op == "pick":
                place = self.scalars[one.args[1]]
                source = f.at(self.here[one.args[0]], f.cast(place, I64), self.type(value))
                self.scalars[value] = f.load(source, self.type(value))
            else:
                self.scalars[value] = apply(f, one, [self.scalars[a] for a in one.args])

    def _splat_rows(self) -> None:
        """The numbers of the row known so far, in all lanes."""
        for value in self._values("r"):
            if value in self.scalars and value not in self.splats:
                self.splats[value] = self.f.splat(self.scalars[value], self.lanes)

    # -- vectors ----------------------------------------------------------------------------

    def _load(self, base: Value, index: Value, value: int, mask: Value | None) -> Value:
        place = self.f.at(base, index, self.type(value))
        if mask is None:
            return self.f.load(place, self.wide(value))
        return self.f.load_masked(place, self.wide(value), mask)

    def _store(self, base: Value, index: Value, found: Value, mask: Value | None) -> None:
        place = self.f.at(base, index, found.type.element)
        if mask is None:
            self.f.store(place, found)
        else:
            self.f.store_masked(place, found, mask)

    def _numbers(self, index: Value) -> Value:
        """The numbers of the columns from `index` on."""
        f = self.f
        wide = I32.vector(self.lanes)
        return f.iota(wide) + f.splat(f.cast(index, I32), self.lanes)

    def _special(self, one: Instruction, index: Value) -> Value | None:
        if one.op == "column":
            return self._numbers(index)
        if one.op == "one_hot":
            wanted = self.f.splat(self.f.cast(self.scalars[one.args[0]], I32), self.lanes)
            return self._numbers(index).eq(wanted)
        return None

    def _identity(self, one: Instruction) -> float | int:
        if one.op in ("row_sum", "total", "column_sum"):
            return 0
        lowest = one.op in ("row_max", "row_top")
        if one.dtype in FLOATS:
            return -_INFINITY if lowest else _INFINITY
        bits = 8 * TYPES[one.dtype].size - 1
        return -(1 << bits) if lowest else (1 << bits) - 1

    def _join(self, one: Instruction, a: Value, b: Value) -> Value:
        if one.op in ("row_sum", "total"):
            return a + b
        if one.op == "row_top":
            return self.f.select(a > b, a, b)
        return self.f.maximum(a, b) if one.op == "row_max" else self.f.minimum(a, b)
