"""Fusion: which instructions become one kernel.

A `Kernel` collects instructions over one space of rows by columns while the program is read from
the first to the last; an instruction may join a kernel that is already there if all that it reads
is computed before that kernel. So the derivative of an activation and the sum for a bias go into
one pass over memory.
"""

from __future__ import annotations

from typing import Any, Final

from .._codegen import group as G
from .._codegen.group import Group, GroupError
from .program import Instruction, Value
from .symbols import DTYPES, function_of, kind_in, space_of

ENTROPY: Final = ("_cross_entropy", "cross_entropy_backward")


class Kernel:
    """Instructions that run in one pass over (R, C)."""

    def __init__(self, space: tuple[int, ...]) -> None:
        self.space = space
        self.members: list[Instruction] = []
        self.made: dict[int, Value] = {}
        self.ended: set[int] = set()  # reductions that are there when the kernel is done
        self.operands: list[Any] = []  # values, and `Number`s
        self.outputs: list[Value] = []
        self.into: dict[int, Any] = {}  # output number -> the operand whose memory it takes
        self.totals: list[tuple[Value, float]] = []

    def takes(self, i: Instruction) -> bool:
        """Whether an instruction computes over this space."""
        entropy = i.name in ENTROPY
        for x in i.inputs:
            if entropy and x is i.inputs[-3]:
                continue
            if type(x) is Value:
                if x.number in self.ended:
                    return False
                if x.number not in self.made and kind_in(self.space, x) is None:
                    return False
                if (
                    x.number not in self.made
                    and x.dtype.name == "bool"
                    and kind_in(self.space, x) != "f"
                ):
                    return False
        return not entropy or i.inputs[-4].number not in self.made

    def add(self, i: Instruction) -> None:
        """Takes an instruction in."""
        self.members.append(i)
        for out in i.outputs:
            if out is not None:
                self.made[out.number] = out
                if reduction_of(i) is not None or i.name == "_cross_entropy":
                    self.ended.add(out.number)

    def finish(self, wanted: set[int]) -> Group:
        """The group: operands are what it reads, outputs what others read."""
        reads: dict[int, Value] = {}
        for i in self.members:
            for v in i.reads():
                if v.number not in self.made:
                    reads.setdefault(v.number, v)
        self.operands = list(reads.values())
        self.outputs = [v for n, v in self.made.items() if n in wanted]
        names = {f"x{k}": self._typed(v) for k, v in enumerate(self.operands)}
        return G.trace("kernel", self._traced, names)

    def _typed(self, v: Value) -> tuple[str, str]:
        kind = kind_in(self.space, v)
        if kind is None and v.dtype.name == "int64":
            kind = "r"
        if kind is None:
            raise GroupError("an operand of another space")
        if v.dtype.name == "int64":
            kind = "r"
        return kind, DTYPES[v.dtype.name]

    def _traced(self, *symbols: Any) -> Any:
        found: dict[int, Any] = {v.number: s for v, s in zip(self.operands, symbols)}
        shared: dict[int, Any] = {}
        for i in self.members:
            out = i.outputs[0]
            assert out is not None
            args = [found[x.number] if type(x) is Value else x for x in i.inputs]
            if i.name in ENTROPY:
                found[out.number] = self._entropy(i, args, shared)
                continue
            reduction = reduction_of(i)
            if reduction is not None:
                found[out.number] = self._reduced(reduction, args[0], out)
                continue
            function = function_of(i)
            assert function is not None
            made = function(*self._numbers(args))
            found[out.number] = made
        return tuple(
            found[v.number] if v.number not in self.into
            else G.into(symbols[self.into[v.number]], found[v.number])
            for v in self.outputs
        )  # fmt: skip

    def _numbers(self, args: list[Any]) -> list[Any]:
        """Numbers that come first, where Python's operators would need a symbol."""
        symbol = next(a for a in args if isinstance(a, G.Symbol))
        if isinstance(args[0], G.Symbol):
            return args
        return [symbol.like(float(args[0])), *args[1:]]

    def _reduced(self, reduction: str, x: Any, out: Value) -> Any:
        if reduction == "columns":
            return G.column_sum(x)
        if reduction == "rows":
            return G.row_sum(x)
        self.totals.append((out, 1.0 if reduction == "total" else 1.0 / self.size()))
        return G.total(x)

    def size(self) -> int:
        """How many elements the space has."""
        rows, columns = space_of(self.space)
        return rows * columns

    def _entropy(self, i: Instruction, args: list[Any], shared: dict[int, Any]) -> Any:
        backward = i.name == "cross_entropy_backward"
        logits, target = args[-4], args[-3]
        key = i.inputs[-4].number
        if key not in shared:
            top = G.row_top(logits)
            e = G.exp(logits - top)
            shared[key] = (top, e, G.row_sum(e))
        top, e, s = shared[key]
        rows = space_of(self.space)[0]
        if not backward:
            out = i.outputs[0]
            assert out is not None
            self.totals.append((out, 1.0 / rows if i.inputs[-2] == 1 else 1.0))
            return G.total(G.log(s) + top - G.pick(logits, target))
        g = args[0]
        scale = g * (1.0 / rows) if i.inputs[-2] == 1 else g
        p = e * (1.0 / s)
        return G.where(G.one_hot(target), p - 1.0, p) * scale


def reduction_of(i: Instruction) -> str | None:
    """Which reduction an instruction is: "columns", "total", "mean"; None where it is none."""
    if i.kind != "call" or len(i.outputs) != 1 or i.outputs[0] is None or not i.inputs:
        return None
    x, out = i.inputs[0], i.outputs[0]
    if type(x) is not Value or x.dtype.name not in ("float32", "float64") or x.dtype != out.dtype:
        return None
    if i.name == "sum_to" and len(x.shape) == 2 and out.shape == x.shape[1:]:
        return "columns"
    bare = all(y is None or y is False for y in i.inputs[1:])
    if i.name in ("sum", "mean") and not out.shape and x.shape and bare:
        return "total" if i.name == "sum" else "mean"
    return None


def space_for(i: Instruction) -> tuple[int, ...] | None:
    """The space over which an instruction computes; None where it can't be in a kernel."""
    if i.name in ENTROPY:
        return _space_of_entropy(i)
    if reduction_of(i) is not None:
        shape: tuple[int, ...] = i.inputs[0].shape
        return shape if kind_in(shape, i.inputs[0]) == "f" else None
    if function_of(i) is None:
        return None
    out = i.outputs[0]
    if out is None or not out.shape or 0 in out.shape or out.view:
        return None
    floats = {v.dtype.name for v in (*i.reads(), out) if v.dtype.name != "bool"}
    if len(floats) != 1 or not floats <= {"float32", "float64"} or kind_in(out.shape, out) != "f":
        return None
    kinds = [kind_in(out.shape, v) for v in i.reads()]
    if None in kinds or not ("f" in kinds or ("r" in kinds and "c" in kinds)):
        return None
    space: tuple[int, ...] = out.shape
    return space


def _space_of_entropy(i: Instruction) -> tuple[int, ...] | None:
    logits, target, reduction, ignored = i.inputs[-4:]
    if (
        type(logits) is not Value or type(target) is not Value or len(logits.shape) != 2
        or target.dtype.name != "int64" or logits.dtype.name != "float32" or ignored >= 0
        or target.kind != "argument" or reduction not in (1, 2) or not kind_in(target.shape, target)
        or kind_in(logits.shape, logits) != "f" or logits.shape[1] > 512
    ):  # fmt: skip
        return None
    if i.name == "cross_entropy_backward" and i.inputs[0].shape:
        return None
    space: tuple[int, ...] = logits.shape
    return space
