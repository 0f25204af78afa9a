"""Terms: values in a formula, for which operators write instructions.

Passes that put several instructions in the place of one do the row's formula in this world.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..._array.memory.aliasing import UFUNC_OF, reciprocal, reshape, root
from ..._array.reduce import reduce
from ..._formula.words import WORLDS
from ..ir.program import Instruction, Program, Value, replace_in
from .layout import like

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


class Steps:
    """The instructions that stand for one."""

    def __init__(self, program: Program, i: Instruction) -> None:
        self.program = program
        self.origin = i
        self.found: list[Instruction] = []

    def term(self, value: object) -> Any:
        """An operand of the formula."""
        return Term(self, value) if type(value) is Value else value

    def call(self, function: AnyCallable, name: str, inputs: tuple[object, ...], of: Value) -> Term:
        """A call; its result is like `of`."""
        out = like(self.program, of, of.shape)
        self.add("call", function, name, inputs, (out,))
        return Term(self, out)

    def add(self, kind: str, function: AnyCallable, name: str, inputs: tuple[object, ...],
            outputs: tuple[Value, ...] = ()) -> None:  # fmt: skip
        """An instruction."""
        made = Instruction(kind, function, name, inputs, outputs, where=self.origin.where,
                           pure=kind == "call", holder=False)  # fmt: skip
        made.part = self.origin.part
        self.found.append(made)

    def move(self, target: Value, term: Any, momentum: float) -> None:
        """Moves a running statistic towards a value, in place."""
        step = (term * momentum).value
        self.add("write", UFUNC_OF[operator.mul], "mul", (target, 1 - momentum))
        self.add("write", UFUNC_OF[operator.add], "add", (target, step))

    def giving(self, results: Any) -> list[Instruction]:
        """The instructions without those that no result needs, with the results in their places."""
        places = {term.value.number: out for term, out in zip(results, self.origin.outputs) if out}
        needed, kept = set(places), []
        for i in reversed(self.found):
            if i.kind == "write" or (i.outputs[0] is not None and i.outputs[0].number in needed):
                needed |= {v.number for v in i.reads()}
                kept.append(i)
        for i in kept:
            for o in i.outputs:
                if o is not None and o.view and o.root in places:
                    o.root = places[o.root].root
            i.inputs, i.outputs = replace_in(i.inputs, places), replace_in(i.outputs, places)
        return kept[::-1]


class Term:
    """A value in a formula, for which operators and words write instructions."""

    __slots__ = ("steps", "value")

    def __init__(self, steps: Steps, value: Value) -> None:
        self.steps = steps
        self.value = value

    def _with(self, function: AnyCallable, other: object) -> Term:
        x, y = self.value, other.value if isinstance(other, Term) else other
        larger = y if type(y) is Value and len(y.shape) > len(x.shape) else x
        dims = len(larger.shape)
        if len(x.shape) < dims:
            x = Term(self.steps, x).column(dims).value
        if type(y) is Value and len(y.shape) < dims:
            y = Term(self.steps, y).column(dims).value
        return self.steps.call(UFUNC_OF[function], function.__name__, (x, y), larger)

    def __add__(self, other: object) -> Term:
        return self._with(operator.add, other)

    def column(self, dims: int) -> Term:
        """A vector seen as one number for each channel of so many dimensions."""
        v = self.value
        ones = (1,) * (dims - 2)
        return self.show_as(v.shape + ones, v.strides + v.strides * len(ones)) if ones else self

    def show_as(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Term:
        """The same elements in another shape, of which NumPy makes a view."""
        return self.view(reshape, "reshape", (self.value, shape), shape, strides)

    def view(
        self, function: AnyCallable, name: str, inputs: tuple[object, ...],
        shape: tuple[int, ...], strides: tuple[int, ...],
    ) -> Term:  # fmt: skip
        """A view of the value."""
        program = self.steps.program
        made = self.value.like(len(program.values), kind="result", view=True, holder=None,
                               shape=shape, strides=strides)  # fmt: skip
        program.values.append(made)
        self.steps.add("call", function, name, inputs, (made,))
        return Term(self.steps, made)

    def __sub__(self, other: object) -> Term:
        return self._with(operator.sub, other)

    def __mul__(self, other: object) -> Term:
        return self._with(operator.mul, other)

    def __rtruediv__(self, one: int) -> Term:
        return self.steps.call(reciprocal, "reciprocal", (self.value,), self.value)


def _sum(x: Term, dims: tuple[int, ...]) -> Term:
    kept = tuple(n for d, n in enumerate(x.value.shape) if d not in dims)
    out = like(x.steps.program, x.value, kept)
    x.steps.add("call", reduce.sum, "sum", (x.value, dims, False, None), (out,))
    return Term(x.steps, out)


WORLDS[Term] = {
    "row_sum": _sum,
    "sqrt": lambda x: x.steps.call(root, "sqrt", (x.value,), x.value),
}
