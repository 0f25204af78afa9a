"""Fusion groups as machine code: loops over rows, and along each row a loop of vectors per stage.

    kernel = lowered(group, lanes=16)          # text of a module with two functions
    void <name>(ptr frame, i64 chunk)          # rows [chunk * grain, (chunk + 1) * grain)
    void <name>_all(ptr frame, i64 chunks)     # chunks 0 ... chunks - 1, one after the other

A frame is an array of 64-bit words: see `Frame`. Column sums and totals are partial: each chunk
writes its own, (chunks, C) or (chunks,) in float64, and who calls adds them up, so that results are
the same for any number of threads.

A row of at most `REGISTERS` vectors, whose number `vectors` is then a constant of the code, stays in
registers from its first load to its last store. Its length is read from the frame, as that of others.

Note [Sums in blocks]
A row's sum has a few vectors of accumulators for 4096 elements at a time; the blocks' sums are added
up in float64. So no sum adds more than 64 terms one after the other in the type of the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from . import mathematics
from .emit import F32, F64, I1, I32, I64, PTR, Function, Module, Type, Value
from .group import COMPARISONS, FLOATS, LAST_REDUCTIONS, LOGICAL, ROW_REDUCTIONS, Group, Instruction
from .stages import Plan, Stage, expensive, planned

__all__ = ["REGISTERS", "ROW_LIMIT", "Frame", "lanes_for", "lowered"]

#: Vectors of a row of constant length up to which it stays in registers.
REGISTERS: Final = 8
#: Elements of a row, where values are kept in scratch rows between stages.
ROW_LIMIT: Final = 8192
_BLOCK: Final = 4096  # See Note [Sums in blocks].
TYPES: Final = {"f32": F32, "f64": F64, "i32": I32, "i64": I64, "b1": I1}
_INFINITY: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the words of a frame lie: sizes, then a word for each operand and each output, then
    their strides from row to row in elements.

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
        """The length of a frame."""
        return 4 + 2 * (self.operands + self.outputs)


def lanes_for(group: Group, vector_bytes: int) -> int:
    """How many elements at a time: what a vector holds of the narrowest float in the group."""
    dtypes = {o.dtype for o in group.operands} | {i.dtype for i in group.body}
    return vector_bytes // (4 if "f32" in dtypes or "f64" not in dtypes else 8)


def lowered(
    group: Group,
    lanes: int,
    vectors: int | None = None,
    ragged: bool = False,
    inline: bool = True,
    contract: bool = True,
) -> Module:
    """The module with the functions `<name>` and `<name>_all` of a group.

    `vectors` is how many a row has, for rows of few; `ragged` and `inline` see `Frame`. `contract` lets a product and a sum be rounded once.
    """
    module = Module(group.name)
    one = module.function(group.name, [("frame", PTR), ("chunk", I64)])
    one.contract = contract
    kind = _Loops if vectors is None or vectors > REGISTERS or ragged else _Registers
    kind(group, one, lanes, vectors, ragged, inline).emit()
    every = module.function(f"{group.name}_all", [("frame", PTR), ("chunks", I64)])
    frame, chunks = every.params
    with every.loop(0, chunks) as loop:
        every.call(one, [frame, loop.index])
    every.ret()
    return module


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
        "rint": lambda: f.round_even(args[0]),
        "ceil": lambda: f.intrinsic("ceil", args[0]),
        "trunc": lambda: f.intrinsic("trunc", args[0]),
    }
    if op in simple:
        return simple[op]()
    function: Callable[..., Value] = getattr(mathematics, "power" if op == "pow" else op)
    return function(f, *args)


class _Lowering:
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
        self.plan: Plan = planned(group)
        self.frame = Frame(len(group.operands), len(group.outputs))
        self.scalars: dict[int, Value] = {}  # values of kind s and r
        self.spread: dict[int, Value] = {}  # the same in all lanes
        self.bases: dict[int, Value] = {}
        self.strides: dict[int, Value] = {}
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
            self.spread[value] = f.splat(self.scalars[value], self.lanes)
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
            self.spread.pop(number, None)
        for number, operand in enumerate(group.operands):
            if operand.kind in "fr":
                place = f.at(self.bases[number], row * self.strides[number], self.type(number))
                self.here[number] = place
                if operand.kind == "r":
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
            elif one.op == "pick":
                place = self.scalars[one.args[1]]
                source = f.at(self.here[one.args[0]], f.cast(place, I64), self.type(value))
                self.scalars[value] = f.load(source, self.type(value))
            else:
                self.scalars[value] = apply(f, one, [self.scalars[a] for a in one.args])

    def _spread_rows(self) -> None:
        """The numbers of the row known so far, in all lanes."""
        for value in self._values("r"):
            if value in self.scalars and value not in self.spread:
                self.spread[value] = self.f.splat(self.scalars[value], self.lanes)

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


class _Registers(_Lowering):
    """Rows of a few vectors: each value of the row is computed once and stays in registers."""

    def _prepare(self) -> None:
        assert self.vectors is not None
        self.starts = [self.f.constant(I64, j * self.lanes) for j in range(self.vectors)]
        self.masks: list[Value | None] = [None] * self.vectors
        self.masks[-1] = self.f.mask(self.columns - self.starts[-1], self.lanes)

    def _vectors(self, value: int) -> list[Value]:
        if value in self.known:
            return self.known[value]
        kind = self.group.kind(value)
        one = self.group.instruction(value)
        if kind in "sr":
            found = [self.spread[value]] * len(self.starts)
        elif one is None:
            found = [
                self._load(self.here[value], j, value, m)
                for j, m in zip(self.starts, self.masks, strict=True)
            ]
        else:
            marked = [self._special(one, j) for j in self.starts]
            found = [v for v in marked if v is not None]
        if one is not None and not found:
            parts = [self._vectors(a) for a in one.args]
            found = [apply(self.f, one, list(args)) for args in zip(*parts, strict=True)]
        self.known[value] = found
        return found

    def _masked(self, one: Instruction, found: list[Value]) -> list[Value]:
        mask = self.masks[-1]
        if mask is None:
            return found
        return [*found[:-1], self.f.select(mask, found[-1], self._identity(one))]

    def _reduced(self, one: Instruction) -> Value:
        found = self._masked(one, self._vectors(one.args[0]))
        while len(found) > 1:  # pairwise
            pairs = [
                self._join(one, found[i], found[i + 1]) for i in range(0, len(found) - 1, 2)
            ]
            found = pairs + found[len(pairs) * 2 :]
        return self.f.fold(found[0], lambda a, b: self._join(one, a, b))

    def _row(self) -> None:
        self.known: dict[int, list[Value]] = {}
        for level, stage in enumerate(self.plan.stages):
            self._scalar_instructions("r", level)
            self._spread_rows()
            for value in stage.reductions:
                self.scalars[value] = self._reduced(self._of(value))
        level = len(self.plan.stages)
        while level <= max(self.plan.level):
            self._scalar_instructions("r", level)
            level += 1
        self._spread_rows()
        for stage in self.plan.stages:
            for value in stage.sums:
                one = self._of(value)
                if one.op == "total":
                    if self.group.kind(one.args[0]) != "r":
                        self._add_total(value, self._reduced(one))
                    continue
                self._add_columns(value, self._vectors(one.args[0]))
        results = {
            o: self._vectors(out.value)
            for o, out in enumerate(self.group.outputs)
            if self.group.kind(out.value) == "f"
        }
        for o, vectors in results.items():
            for j, mask, found in zip(self.starts, self.masks, vectors, strict=True):
                self._store(self.out_here[o], j, found, mask)

    def _add_columns(self, value: int, vectors: Sequence[Value]) -> None:
        for o, out in enumerate(self.group.outputs):
            if out.value == value:
                for j, mask, found in zip(self.starts, self.masks, vectors, strict=True):
                    before = self._load(self.out_here[o], j, value, mask)
                    self._store(self.out_here[o], j, before + found, mask)


class _Loops(_Lowering):
    """Rows of any length: a loop for each stage, values kept between stages in memory."""

    def _prepare(self) -> None:
        self.rooms = [self.f.scratch(TYPES[d], ROW_LIMIT) for d in self.plan.scratch]

    def _row(self) -> None:
        for level, stage in enumerate(self.plan.stages):
            self._scalar_instructions("r", level)
            self._spread_rows()
            if stage.empty():
                continue
            self._stage(level, stage)
        for level in range(len(self.plan.stages), max(self.plan.level) + 1):
            self._scalar_instructions("r", level)

    def _unrolled(self, stage: Stage, level: int) -> int:
        """How many vectors a turn works on: several where the work is little."""
        seen: set[int] = set()
        costs = [0]

        def visit(value: int) -> None:
            one = self.group.instruction(value)
            if value in seen or one is None or self.group.kind(value) in "sr":
                return
            seen.add(value)
            if value in self.plan.kept and self.plan.level[value] < level:
                return
            costs[0] += 10 if expensive(self.group, value) else 1
            for arg in one.args:
                visit(arg)

        for root in stage.roots(self.group):
            visit(root)
        return 4 if costs[0] < 6 else 2 if costs[0] < 14 else 1

    def _gathered(self, stage: Stage) -> list[int]:
        """The reductions of a stage that have accumulators."""
        group = self.group
        totals = [
            v for v in stage.sums
            if self._of(v).op == "total" and group.kind(self._of(v).args[0]) != "r"
        ]  # fmt: skip
        return stage.reductions + totals

    def _stage(self, level: int, stage: Stage) -> None:
        f = self.f
        gathered = self._gathered(stage)
        unrolled = self._unrolled(stage, level)
        if not gathered:
            self._pass(level, stage, [], f.constant(I64, 0), self.length, unrolled)
            return
        # See Note [Sums in blocks].
        starts = [
            f.constant(self._sum_type(v), self._identity(self._of(v))) for v in gathered
        ]
        with f.loop(0, self.length, _BLOCK, carried=starts) as blocks:
            end = blocks.index + _BLOCK
            stop = f.select(end < self.length, end, self.length)
            parts = self._pass(level, stage, gathered, blocks.index, stop, unrolled)
            blocks.next(*(
                self._join(self._of(v), before, f.cast(part, self._sum_type(v)))
                for v, before, part in zip(gathered, blocks.carried, parts, strict=True)
            ))  # fmt: skip
        for value, found in zip(gathered, blocks.results, strict=True):
            if value in stage.reductions:
                self.scalars[value] = f.cast(found, self.type(value))
            else:
                self._add_total(value, found)

    def _sum_type(self, value: int) -> Type:
        one = self._of(value)
        return F64 if one.op in ("row_sum", "total") and one.dtype in FLOATS else self.type(value)

    def _pass(
        self, level: int, stage: Stage, gathered: list[int], start: Value, stop: Value,
        unrolled: int,
    ) -> list[Value]:  # fmt: skip
        """A stage over the columns from `start` to `stop`; the reductions as scalars."""
        f, lanes = self.f, self.lanes
        zeros = [
            f.constant(self.wide(v), self._identity(self._of(v))) for v in gathered
        ] * unrolled  # fmt: skip
        count = len(gathered)
        position = start
        accumulators: list[Value] = zeros
        if unrolled > 1:
            length = stop - start
            whole = start + (length - length % (lanes * unrolled))
            with f.loop(start, whole, lanes * unrolled, carried=zeros) as loop:
                after: list[Value] = []
                for u in range(unrolled):
                    mine = loop.carried[u * count : (u + 1) * count]
                    index = loop.index + u * lanes if u else loop.index
                    after += self._body(level, stage, gathered, mine, index, None)
                loop.next(*after)
            accumulators, position = loop.results, whole
        sums = self._combined(gathered, accumulators)
        length = stop - position
        whole = position + (length - length % lanes)
        with f.loop(position, whole, lanes, carried=sums) as loop:
            loop.next(*self._body(level, stage, gathered, loop.carried, loop.index, None))
        sums = loop.results
        rest = stop - whole

        def tail() -> list[Value]:
            return self._body(level, stage, gathered, sums, whole, f.mask(rest, lanes))

        sums = f.choose(rest > 0, tail, lambda: sums)
        found = []
        for value, total in zip(gathered, sums, strict=True):
            one = self._of(value)
            found.append(f.fold(total, lambda a, b, one=one: self._join(one, a, b)))  # type: ignore[misc]
        return found

    def _combined(self, gathered: list[int], accumulators: Sequence[Value]) -> list[Value]:
        """The accumulators of all unrolled parts, pairwise joined."""
        count = len(gathered)
        found = []
        for place, value in enumerate(gathered):
            one = self._of(value)
            parts = list(accumulators[place::count])
            while len(parts) > 1:
                parts = [
                    self._join(one, parts[i], parts[i + 1]) for i in range(0, len(parts), 2)
                ]
            found.append(parts[0])
        return found

    def _body(
        self, level: int, stage: Stage, gathered: list[int], accumulators: Sequence[Value],
        index: Value, mask: Value | None,
    ) -> list[Value]:  # fmt: skip
        """One vector of a stage; the accumulators after it."""
        known: dict[int, Value] = {}
        after = []
        for value, before in zip(gathered, accumulators, strict=True):
            one = self._of(value)
            found = self._vector(one.args[0], level, index, mask, known)
            if mask is not None:
                found = self.f.select(mask, found, self._identity(one))
            after.append(self._join(one, before, found))
        stores: list[tuple[Value, Value]] = []
        for o in stage.stores:
            found = self._vector(self.group.outputs[o].value, level, index, mask, known)
            stores.append((self.out_here[o], found))
        for value in stage.spills:
            place = self.plan.kept[value]
            found = self._vector(value, level, index, mask, known)
            if place < 0:
                stores.append((self.rooms[-1 - place], found))
            elif not (place in stage.stores and self.group.outputs[place].value == value):
                stores.append((self.out_here[place], found))
        for value in stage.sums:
            if value in gathered or self._of(value).op == "total":
                continue
            found = self._vector(self._of(value).args[0], level, index, mask, known)
            for o, out in enumerate(self.group.outputs):
                if out.value == value:
                    before = self._load(self.out_here[o], index, value, mask)
                    stores.append((self.out_here[o], before + found))
        for base, found in stores:
            self._store(base, index, found, mask)
        return after

    def _vector(
        self, value: int, level: int, index: Value, mask: Value | None, known: dict[int, Value]
    ) -> Value:
        if value in self.spread:
            return self.spread[value]
        if value in known:
            return known[value]
        one = self.group.instruction(value)
        if one is None:
            found = self._load(self.here[value], index, value, mask)
        elif value in self.plan.kept and self.plan.level[value] < level:
            place = self.plan.kept[value]
            base = self.rooms[-1 - place] if place < 0 else self.out_here[place]
            found = self._load(base, index, value, mask)
        else:
            special = self._special(one, index)
            if special is None:
                args = [self._vector(a, level, index, mask, known) for a in one.args]
                special = apply(self.f, one, args)
            found = special
        known[value] = found
        return found
