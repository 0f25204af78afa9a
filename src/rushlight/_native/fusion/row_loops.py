"""Fusion groups as machine code: loops over rows, and along each row a loop of vectors per stage.

    kernel = lowered(group, lanes=16)          # text of a module with two functions
    void <name>(ptr frame, i64 chunk)          # rows [chunk * grain, (chunk + 1) * grain)
    void <name>_all(ptr frame, i64 chunks)     # chunks 0 ... chunks - 1, one after the other

A frame is an array of 64-bit words: see `Frame`. Column sums and totals are partial: each chunk
writes its own, (chunks, C) or (chunks,) in float64, and who calls adds them up, so that results are
the same for any number of threads.

A row of at most `REGISTERS` vectors, whose number `vectors` is then a constant of the code, stays
in registers from its first load to its last store. Its length is read from the frame, as others'.

Note [Sums in blocks]
A row's sum has a few vectors of accumulators for 4096 elements at a time; the blocks' sums are
added up in float64. So no sum adds more than 64 terms one after the other in the elements' type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..._formula.ir import FLOATS, Group, Instruction
from ..llvm.emit import F64, I64, PTR, Module, Type, Value
from .lowering import TYPES, Frame, Lowering, apply
from .schedule import Stage, expensive

__all__ = ["REGISTERS", "ROW_LIMIT", "Frame", "lanes_for", "lower_group"]

#: Vectors of a row up to which it stays in registers.
REGISTERS: Final = 8
#: Elements of a row, where values are kept in scratch rows between stages.
ROW_LIMIT: Final = 8192
_BLOCK: Final = 4096  # See Note [Sums in blocks].


def lanes_for(group: Group, vector_bytes: int) -> int:
    """How many elements at a time: what a vector holds of the narrowest float in the group."""
    dtypes = {o.dtype for o in group.operands} | {i.dtype for i in group.body}
    return vector_bytes // (4 if "f32" in dtypes or "f64" not in dtypes else 8)


def lower_group(
    group: Group,
    lanes: int,
    vectors: int | None = None,
    ragged: bool = False,
    inline: bool = True,
    contract: bool = True,
) -> Module:
    """The module with the functions `<name>` and `<name>_all` of a group.

    `vectors` is how many a row has, for rows of few; `ragged` and `inline`: see `Frame`. `contract`
    lets a product and a sum be rounded once.
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


class _Registers(Lowering):
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
            found = [self.splats[value]] * len(self.starts)
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

    def _mask(self, one: Instruction, found: list[Value]) -> list[Value]:
        mask = self.masks[-1]
        if mask is None:
            return found
        return [*found[:-1], self.f.select(mask, found[-1], self._identity(one))]

    def _reduce(self, one: Instruction) -> Value:
        found = self._mask(one, self._vectors(one.args[0]))
        while len(found) > 1:  # pairwise
            pairs = [self._join(one, found[i], found[i + 1]) for i in range(0, len(found) - 1, 2)]
            found = pairs + found[len(pairs) * 2 :]
        return self.f.fold(found[0], lambda a, b: self._join(one, a, b))

    def _row(self) -> None:
        self.known: dict[int, list[Value]] = {}
        for level, stage in enumerate(self.plan.stages):
            self._scalar_instructions("r", level)
            self._splat_rows()
            for value in stage.reductions:
                self.scalars[value] = self._reduce(self._of(value))
        level = len(self.plan.stages)
        while level <= max(self.plan.level):
            self._scalar_instructions("r", level)
            level += 1
        self._splat_rows()
        for stage in self.plan.stages:
            for value in stage.sums:
                one = self._of(value)
                if one.op == "total":
                    if self.group.kind(one.args[0]) != "r":
                        self._add_total(value, self._reduce(one))
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


class _Loops(Lowering):
    """Rows of any length: a loop for each stage, values kept between stages in memory."""

    def _prepare(self) -> None:
        self.rooms = [self.f.scratch(TYPES[d], ROW_LIMIT) for d in self.plan.scratch]

    def _row(self) -> None:
        for level, stage in enumerate(self.plan.stages):
            self._scalar_instructions("r", level)
            self._splat_rows()
            if stage.empty():
                continue
            self._stage(level, stage)
        for level in range(len(self.plan.stages), max(self.plan.level) + 1):
            self._scalar_instructions("r", level)

    def _unroll(self, stage: Stage, level: int) -> int:
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

    def _gather(self, stage: Stage) -> list[int]:
        """The reductions of a stage that have accumulators."""
        group = self.group
        totals = [
            v for v in stage.sums
            if self._of(v).op == "total" and group.kind(self._of(v).args[0]) != "r"
        ]  # fmt: skip
        return stage.reductions + totals

    def _stage(self, level: int, stage: Stage) -> None:
        f = self.f
        gathered = self._gather(stage)
        unrolled = self._unroll(stage, level)
        if not gathered:
            self._pass(level, stage, [], f.constant(I64, 0), self.length, unrolled)
            return
        # See Note [Sums in blocks].
        starts = [f.constant(self._sum_type(v), self._identity(self._of(v))) for v in gathered]
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
        sums = self._combine(gathered, accumulators)
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

    def _combine(self, gathered: list[int], accumulators: Sequence[Value]) -> list[Value]:
        """The accumulators of all unrolled parts, pairwise joined."""
        count = len(gathered)
        found = []
        for place, value in enumerate(gathered):
            one = self._of(value)
            parts = list(accumulators[place::count])
            while len(parts) > 1:
                parts = [self._join(one, parts[i], parts[i + 1]) for i in range(0, len(parts), 2)]
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
        if value in self.splats:
            return self.splats[value]
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
