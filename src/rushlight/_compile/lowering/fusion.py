"""Fusion: which instructions become one kernel.

A `Kernel` collects instructions over one space of rows by columns while the program is read from
the first to the last; an instruction may join a kernel that is already there if all that it reads
is computed before that kernel. So the derivative of an activation and the sum for a bias go into
one pass over memory, and a residual sum into the norm that follows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._formula import ir as G
from ..._formula.ir import Group, GroupError
from ..._native.fusion.row_loops import ROW_LIMIT
from ..._native.fusion.schedule import plan_group
from ..ir.iteration_space import Layout
from ..ir.iteration_values import DTYPES, size_of
from ..ir.program import Value
from .lowering_rule import LoopFormula, Shared

if TYPE_CHECKING:
    from ..._formula.ir import Symbol


class Kernel:
    """Instructions that run in one pass over (R, C)."""

    def __init__(self, rows: int, columns: int, dtype: str) -> None:
        self.rows = rows
        self.columns = columns
        self.dtype = dtype
        self.members: list[LoopFormula] = []
        self.made: dict[int, Value] = {}
        self.layouts: dict[int, Layout] = {}
        self.fixed: set[int] = set()  # must be operands
        self.ended: set[int] = set()  # reductions that are there when the kernel is done
        self.same: dict[int, int] = {}  # values that are others, seen in another shape
        self.own: set[int] = set()  # values that aren't looked up in `same`
        self.shown: set[int] = set()  # values that members read as others, by `same`
        self.operands: list[Value] = []
        self.outputs: list[Value] = []
        self.rooms: list[Value] = []  # results whose memory is only used for what is written there
        self.shared = Shared()
        self.block = 0  # see `LoopFormula`
        self.formulas: list[tuple[list[int], int]] = []  # values of the group: from which, which

    def takes(self, m: LoopFormula) -> dict[int, Layout] | None:
        """How an instruction's values lie in this space; None where it doesn't fit."""
        dtype = dtype_of(m)
        if dtype and self.dtype and dtype != self.dtype:
            return None
        layouts = m.layouts(self.rows, self.columns)
        if layouts is None:
            return None
        here: dict[int, Layout] = {}
        for v in self._in_turn(m):
            n = self._number(v)
            one = here.setdefault(n, self.layouts.get(n, layouts[v.number]))
            if n in self.ended or (one != layouts[v.number] and n in self.made):
                return None
            if one != layouts[v.number] and (
                v.number == n or v.number in self.layouts or v.number in self.shown
            ):
                return None
            if v.number in m.fixed and n in self.made:
                return None
        columns = self.block or any(self.by_column(one) for one in self.members)
        if columns and self.by_column(m) and m.block != self.block:
            return None
        return layouts

    def over_space_of(self, m: LoopFormula) -> Kernel | None:
        """The same instructions over the space of one that has but that, as many rows by columns as
        there are here; None where they don't mind which."""
        if m.split is None or size_of(m.shape) != self.rows * self.columns:
            return None
        ((rows, columns),) = m.spaces()
        if rows == self.rows:
            return None
        found = Kernel(rows, columns, self.dtype)
        found.same = self.same
        for one in self.members:
            layouts = found.takes(one)
            if layouts is None:
                return None
            found.add(one, layouts)
        return found

    def shares_with(self, m: LoopFormula) -> bool:
        """Whether an instruction reads anything that is read or made here."""
        return any(self._number(v) in self.layouts for v in m.reads)

    def by_column(self, m: LoopFormula) -> bool:
        """Whether an instruction has results that are sums down the columns."""
        return bool(m.ended) and m.split is not None and any(
            size_of(o.shape) > 1 for o in m.outputs if o.number in m.ended
        )  # fmt: skip

    def add(self, m: LoopFormula, layouts: dict[int, Layout]) -> None:
        """Takes an instruction in."""
        self.members.append(m)
        self.dtype = self.dtype or dtype_of(m)
        self.block = m.block or self.block
        for v in self._in_turn(m):
            n = self._number(v)
            if self.layouts.setdefault(n, layouts[v.number]) != layouts[v.number]:
                self.own.add(v.number)  # the same elements, read in another way
                self.layouts[v.number] = layouts[v.number]
            elif n != v.number:
                self.shown.add(v.number)
        for out in m.outputs:
            self.made[out.number] = out
            if out.number in m.ended:
                self.ended.add(out.number)
            else:
                self.layouts[out.number] = layouts[out.number]

    def _in_turn(self, m: LoopFormula) -> list[Value]:
        """What an instruction reads: values first, then what shows them in other shapes."""
        return sorted(m.reads, key=lambda v: self.same.get(v.number, v.number) != v.number)

    def layout(self, v: Value) -> Layout:
        """How a value lies in the space."""
        return self.layouts[self._number(v)]

    @property
    def flat(self) -> bool:
        """Whether every value that varies over the space lies in one piece."""
        return all(
            one.plain and (one.kind != "f" or self.rows == 1 or one.step == self.columns)
            for one in (self.layout(v) for v in self.operands)
        )

    def reads(self) -> list[Value]:
        """The values from outside."""
        found: dict[int, Value] = {}
        for m in self.members:
            for v in m.reads:
                n = self._number(v)
                if n not in self.made:
                    found.setdefault(n, v)
        return list(found.values())

    def finish(self, wanted: set[int]) -> Group:
        """The group: operands are what it reads, outputs what others read.

        Raises:
            GroupError: where no kernel computes that.
        """
        self.operands = self.reads()
        self.outputs = [v for n, v in self.made.items() if n in wanted]
        given = {v.number for v in self.outputs}
        roots = {v.root for v in self.outputs if v.kind == "write"} - given
        self.rooms = [self.made[root] for root in roots if root in self.made]
        names = {}
        for k, v in enumerate(self.operands):
            names[f"x{k}"] = (self.layout(v).symbol, DTYPES[v.dtype.name])
        self.shared = Shared()
        self.shared.size = self.rows * self.columns
        group = G.trace("kernel", self._trace, names)
        if self.columns > ROW_LIMIT and not group.elementwise and plan_group(group).scratch:
            raise GroupError("rows are too long for what is kept between passes")
        return group

    def _number(self, v: Value) -> int:
        return v.number if v.number in self.own else self.same.get(v.number, v.number)

    def _trace(self, *symbols: object) -> Any:
        found: dict[int, Any] = {self._number(v): s for v, s in zip(self.operands, symbols)}
        self.formulas.clear()
        for m in self.members:
            inputs = m.instruction.inputs
            args = [found.get(self._number(x)) if type(x) is Value else x for x in inputs]
            for out, made in zip(m.outputs, m.body(args, self.shared)):
                found[out.number] = made
                if len(m.outputs) == 1:
                    symbols_of = [x.value for x in args if isinstance(x, G.Symbol)]
                    self.formulas.append((symbols_of, made.value))
        given = []
        for v in self.outputs:
            symbol = self._broadcast(v, found[v.number])
            old = found.get(self._number(v.holder)) if v.kind == "write" else None
            if old is None or old.value >= len(symbols):  # not there, or made here
                given.append(symbol)
            else:
                given.append(G.into(old, symbol))
        return tuple(given)

    def _broadcast(self, v: Value, symbol: Symbol) -> Symbol:
        """A result that varies less than the memory it goes to, in all places of that."""
        if v.number in self.ended:
            return symbol
        wanted = self.layouts[v.number].kind
        return symbol if symbol.kind == wanted else G.broadcast(symbol, wanted)


def dtype_of(m: LoopFormula) -> str:
    """The float type in which an instruction computes."""
    for v in (*m.reads, *m.outputs):
        if v.dtype.name in ("float32", "float64"):
            return v.dtype.name
    return ""
