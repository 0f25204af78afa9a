"""Fusion: which instructions become one kernel.

A `Kernel` collects instructions over one space of rows by columns while the program is read from
the first to the last; an instruction may join a kernel that is already there if all that it reads
is computed before that kernel. So the derivative of an activation and the sum for a bias go into
one pass over memory, and a residual sum into the norm that follows it.
"""

from __future__ import annotations

from typing import Any

from .._codegen import group as G
from .._codegen.group import Group, GroupError
from .._codegen.rows import ROW_LIMIT
from .._codegen.stages import planned
from .meanings import Meaning, Shared
from .program import Value
from .symbols import DTYPES


class Kernel:
    """Instructions that run in one pass over (R, C)."""

    def __init__(self, rows: int, columns: int, dtype: str) -> None:
        self.rows = rows
        self.columns = columns
        self.dtype = dtype
        self.members: list[Meaning] = []
        self.made: dict[int, Value] = {}
        self.kinds: dict[int, str] = {}
        self.fixed: set[int] = set()  # must be operands
        self.ended: set[int] = set()  # reductions that are there when the kernel is done
        self.same: dict[int, int] = {}  # values that are others, seen in another shape
        self.operands: list[Value] = []
        self.outputs: list[Value] = []
        self.shared = Shared()

    def takes(self, m: Meaning) -> dict[int, str] | None:
        """How an instruction's values vary over this space; None where it doesn't fit."""
        if self.dtype != dtype_of(m):
            return None
        kinds = m.kinds(self.rows, self.columns)
        if kinds is None:
            return None
        for v in m.reads:
            n = self.same.get(v.number, v.number)
            if n in self.ended or self.kinds.get(n, kinds[v.number]) != kinds[v.number]:
                return None
            if v.number in m.fixed and n in self.made:
                return None
        return kinds

    def add(self, m: Meaning, kinds: dict[int, str]) -> None:
        """Takes an instruction in."""
        self.members.append(m)
        for v in m.reads:
            self.kinds[self.same.get(v.number, v.number)] = kinds[v.number]
        for out in m.outputs:
            self.made[out.number] = out
            if out.number in m.ended:
                self.ended.add(out.number)
            else:
                self.kinds[out.number] = kinds[out.number]

    def reads(self) -> list[Value]:
        """The values from outside."""
        found: dict[int, Value] = {}
        for m in self.members:
            for v in m.reads:
                n = self.same.get(v.number, v.number)
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
        names = {}
        for k, v in enumerate(self.operands):
            names[f"x{k}"] = (self.kinds[self._number(v)], DTYPES[v.dtype.name])
        self.shared = Shared()
        group = G.trace("kernel", self._traced, names)
        if self.columns > ROW_LIMIT and not group.elementwise and planned(group).scratch:
            raise GroupError("rows are too long for what is kept between passes")
        return group

    def _number(self, v: Value) -> int:
        return self.same.get(v.number, v.number)

    def _traced(self, *symbols: Any) -> Any:
        found: dict[int, Any] = {self._number(v): s for v, s in zip(self.operands, symbols)}
        for m in self.members:
            inputs = m.instruction.inputs
            args = [found[self._number(x)] if type(x) is Value else x for x in inputs]
            for out, made in zip(m.outputs, m.body(args, self.shared)):
                found[out.number] = made
        return tuple(found[v.number] for v in self.outputs)


def dtype_of(m: Meaning) -> str:
    """The float type in which an instruction computes."""
    for v in (*m.reads, *m.outputs):
        if v.dtype.name in ("float32", "float64"):
            name: str = v.dtype.name
            return name
    return ""
