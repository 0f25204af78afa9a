"""A `LoopFormula`: what an instruction is to a fusion group.

It says over which shape an instruction works, and where rows end and columns begin: elementwise
work doesn't mind, a softmax runs along the last dimension. It computes results from symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._formula import ir as G
from ..ir.iteration_space import Layout, layout_in
from ..ir.iteration_values import size_of
from ..ir.program import Instruction, Value

if TYPE_CHECKING:
    from ..._formula.ir import Symbol

#: Elements of a row at most, where rows may be shorter.
_LONG: Final = 1 << 15
Body = Callable[[list[Any], "Shared"], tuple[Any, ...]]


class Shared:
    """What several instructions of a kernel compute alike, and factors of sums over everything."""

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}
        self.factors: dict[int, float] = {}
        self.size = 0  # of the kernel's space

    def count(self, x: Symbol, shape: tuple[int, ...]) -> Symbol:
        """What a total of values of a shape adds up: each element once.

        Elements that were expanded lie in one place, and count as often; a shape with one element
        for each row has no more than that.
        """
        return G.everywhere(x) if size_of(shape) == self.size else x


class LoopFormula:
    """An instruction as a formula over a space."""

    def __init__(self, i: Instruction, shape: tuple[int, ...], body: Body, *,
                 split: int | None = None, ended: bool | tuple[bool, ...] = False,
                 read: tuple[Value, ...] | None = None,
                 order: tuple[int, ...] | None = None) -> None:  # fmt: skip
        self.instruction = i
        self.order = order  # the dimensions of results in memory, if another than their own
        self.shape = shape if order is None else tuple(shape[d] for d in order)
        self.body = body
        self.split = split  # None: any
        self.reads = list(dict.fromkeys(i.reads())) if read is None else list(read)
        self.outputs = [o for o in i.outputs if o is not None]
        flags = (ended,) * len(self.outputs) if isinstance(ended, bool) else ended
        self.ended = {o.number for o, flag in zip(self.outputs, flags) if flag}
        self.fixed: set[int] = set()  # operands that must lie in memory
        self.whole: set[int] = set()  # operands that are class numbers
        self.block = 0  # rows of which each column's sum is one of its own; 0: all

    def splits(self) -> list[int]:
        """Where the columns may begin, the likeliest first."""
        if self.split is not None:
            return [self.split]
        found = list(range(len(self.shape) - 1, -1, -1)) or [0]
        # Rows as long as one number of an operand counts for: a channel's plane, and not its lines.
        # Longer ones than that leave threads too few.
        found_at = [k for k in map(self._find_repeats, self.reads) if k]
        first = min((k for k in found_at if size_of(self.shape[k:]) <= _LONG), default=0)
        if first:
            found.remove(first)
            found.insert(0, first)
        return found

    def _find_repeats(self, v: Value) -> int:
        """The dimension from which on a value is one number; 0 where there is none."""
        rank = len(self.shape)
        if self.order is not None or size_of(v.shape) == 1:
            return 0
        k = rank
        while k > rank - len(v.shape) and v.shape[k - 1 - rank] == 1:
            k -= 1
        return k if 0 < k < rank and size_of(self.shape[k:]) > 1 else 0

    def spaces(self) -> list[tuple[int, int]]:
        """The spaces over which it may run, as rows by columns."""
        return [(size_of(self.shape[:k]), size_of(self.shape[k:])) for k in self.splits()]

    def layouts(self, rows: int, columns: int) -> dict[int, Layout] | None:
        """How operands and results lie in a space; None where it isn't one of its own."""
        whole = Layout("f", columns)
        if size_of(self.shape) == 1 and self.split is None and not self.ended:
            if rows * columns != 1 or any(size_of(v.shape) != 1 for v in self.reads):
                return None
            return {v.number: whole for v in (*self.reads, *self.outputs)}
        for k in self.splits():
            if size_of(self.shape[:k]) == rows and size_of(self.shape[k:]) == columns:
                found = self._layouts(k)
                if found is not None:
                    return found
        if self.split is None:
            size = size_of(self.shape)
            flat = self._layouts(0) if size in (rows * columns, rows) else None
            if flat is not None and size == rows * columns:
                return {n: whole if one.kind == "f" else one for n, one in flat.items()}
            if flat is not None and columns > 1:
                return {n: Layout("r", 1) if one.kind == "f" else one for n, one in flat.items()}
        return None

    def _layouts(self, k: int) -> dict[int, Layout] | None:
        found: dict[int, Layout] = {}
        for v in self.reads:
            one = Layout("r", 1) if v.number in self.whole else self._layout(k, v)
            if one is None:
                return None
            found[v.number] = one
        for v in self.outputs:
            if v.number not in self.ended:
                one = self._layout(k, v)
                if one is None or not one.plain or (self.split is None and one.kind != "f"):
                    return None
                if one.kind == "f" and one.step != size_of(self.shape[k:]):
                    return None
                found[v.number] = one
        return found

    def _layout(self, k: int, v: Value) -> Layout | None:
        return layout_in(self.shape, k, v, self.order)


class Reduced(LoopFormula):
    """A reduction along rows, without the dimension that is gone."""

    def _layouts(self, k: int) -> dict[int, Layout] | None:
        kept = self.outputs
        self.outputs = [o for o in kept if o.shape == self.shape]
        try:
            found = super()._layouts(k)
        finally:
            self.outputs = kept
        if found is not None:
            rows = Layout("r", 1)
            ended = self.ended
            found.update(
                (o.number, rows) for o in kept if o.shape != self.shape and o.number not in ended
            )
        return found
