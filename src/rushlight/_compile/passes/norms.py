"""Batch norms, in training and in evaluation, as steps that kernels know.

The row's formulas are done in a world of their own, whose values write instructions. Statistics
of rows are sums down columns, those of planes are sums of planes first (see `split_reductions`):
what comes before joins the first of them, what follows the norm joins its last step, and running
statistics are written by the kernels, too.

Note [Differences are made again]
Differences from the mean are wanted for the variance and for the result, each over all elements. To
subtract again is cheaper than to write them to memory and to read them: each use is an instruction
of its own.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..._array.memory.aliasing import UFUNC_OF, reciprocal, reshape, root
from ..._array.reduce import reduce
from ..._formula.words import WORLDS, sqrt
from ..._table.nn.normalization import channel_gradients, normalise, unbiased_variance
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Program, Value, replace_in
from .layout import like
from .split_reductions import SHORT

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


class _Steps:
    """The instructions that stand for one."""

    def __init__(self, program: Program, i: Instruction) -> None:
        self.program = program
        self.origin = i
        self.found: list[Instruction] = []

    def term(self, value: object) -> Any:
        """An operand of the formula."""
        return _Term(self, value) if type(value) is Value else value

    def call(
        self, function: AnyCallable, name: str, inputs: tuple[object, ...], of: Value
    ) -> _Term:
        """A call; its result is like `of`."""
        out = like(self.program, of, of.shape)
        self.add("call", function, name, inputs, (out,))
        return _Term(self, out)

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


class _Term:
    """A value in a formula, for which operators and words write instructions."""

    __slots__ = ("steps", "value")

    def __init__(self, steps: _Steps, value: Value) -> None:
        self.steps = steps
        self.value = value

    def _with(self, function: AnyCallable, other: object) -> _Term:
        x, y = self.value, other.value if isinstance(other, _Term) else other
        larger = y if type(y) is Value and len(y.shape) > len(x.shape) else x
        dims = len(larger.shape)
        if len(x.shape) < dims:
            x = _Term(self.steps, x).column(dims).value
        if type(y) is Value and len(y.shape) < dims:
            y = _Term(self.steps, y).column(dims).value
        return self.steps.call(UFUNC_OF[function], function.__name__, (x, y), larger)

    def __add__(self, other: object) -> _Term:
        return self._with(operator.add, other)

    def column(self, dims: int) -> _Term:
        """A vector seen as one number for each channel of so many dimensions."""
        v, program = self.value, self.steps.program
        ones = (1,) * (dims - 2)
        if not ones:
            return self
        made = v.like(len(program.values), kind="result", view=True, holder=None,
                      shape=v.shape + ones, strides=v.strides + v.strides * len(ones))  # fmt: skip
        program.values.append(made)
        self.steps.add("call", reshape, "reshape", (v, made.shape), (made,))
        return _Term(self.steps, made)

    def __sub__(self, other: object) -> _Term:
        return self._with(operator.sub, other)

    def __mul__(self, other: object) -> _Term:
        return self._with(operator.mul, other)

    def __rtruediv__(self, one: int) -> _Term:
        return self.steps.call(reciprocal, "reciprocal", (self.value,), self.value)


class _Difference(_Term):
    """x - mean. See Note [Differences are made again]."""

    __slots__ = ("mean", "x")

    def __init__(self, x: _Term, mean: _Term) -> None:
        self.steps, self.x, self.mean = x.steps, x, mean

    @property
    def value(self) -> Value:  # type: ignore[override]
        """The difference, made where it is asked for."""
        found = (self.x - self.mean).value
        self.steps.found[-1].late = True
        return found


def _sum(x: _Term, dims: tuple[int, ...]) -> _Term:
    columns = x.steps.origin.outputs[1] or x.steps.origin.inputs[5]
    return x.steps.call(reduce.sum, "sum", (x.value, dims, False, None), columns)


WORLDS[_Term] = {
    "row_sum": _sum,
    "sqrt": lambda x: x.steps.call(root, "sqrt", (x.value,), x.value),
}


def apart(program: Program) -> None:
    """Puts simple instructions in the places of batch norms."""
    kept: list[Instruction] = []
    for i in program.instructions:
        make = _FORMS.get(i.rule) if i.kind == "call" else None
        kept += (make(program, i) if make is not None else None) or [i]
    program.instructions[:] = kept


def _usable(x: Value, vectors: tuple[object, ...]) -> bool:
    """Whether it is in order, and every vector is one number a channel."""
    if type(x) is not Value or len(x.shape) < 2 or not in_order(x) or 0 in x.shape:
        return False
    return x.dtype.name in FLOATS and all(
        v is None or (type(v) is Value and v.dtype == x.dtype and v.shape == x.shape[1:2]
                      and in_order(v))
        for v in vectors
    )  # fmt: skip


def _along(x: Value, training: bool) -> tuple[int, ...]:
    """The dimensions of a channel in training; none where its sums have no native form."""
    wide = size_of(x.shape[2:])
    if x.shape[0] < 2 or training is not True or (len(x.shape) > 2 and wide < SHORT):
        return ()
    return (0, *range(2, len(x.shape)))


def _forward(program: Program, i: Instruction) -> list[Instruction] | None:
    """native_batch_norm(x, weight, bias, mean, variance, training, momentum, eps)."""
    x, weight, bias, running_mean, running_var, training, momentum, eps = i.inputs
    if not _usable(x, (weight, bias, running_mean, running_var)) or len(i.outputs) != 3:
        return None
    if (weight is None) != (bias is None) or (running_mean is None) != (running_var is None):
        return None
    if training is False:
        return _evaluate(program, i)
    if any(o is not None and (o.view or not in_order(o)) for o in i.outputs):
        return None
    dims = _along(x, training)
    if None in i.outputs or type(momentum) is not float or not dims:
        return None
    steps, count = _Steps(program, i), size_of(x.shape) // x.shape[1]
    x, weight, bias = map(steps.term, (x, weight, bias))
    results: Any = normalise(x, weight, bias, float(eps), dims, 1 / count)
    if len(dims) > 1:
        _, mean, inverse = results
        scale = inverse if weight is None else inverse * weight
        out = _Difference(x, mean) * scale
        results = (out if bias is None else out + bias, mean, inverse)
    if running_mean is not None:
        steps.move(running_mean, results[1], momentum)
        variance = unbiased_variance(results[2], float(eps), count)
        steps.move(running_var, variance, momentum)
    return steps.giving(results)


def _evaluate(program: Program, i: Instruction) -> list[Instruction] | None:
    """The norm by the running statistics; nobody may read the two empty results beside it."""
    read = {v.number for j in program.instructions for v in j.reads()}
    read |= {v.number for v in program.outputs_values()}
    out, *rest = i.outputs
    if out is None or out.view or not in_order(out) or any(o and o.number in read for o in rest):
        return None
    steps = _Steps(program, i)
    x, weight, bias, mean, variance = map(steps.term, i.inputs[:5])
    scale = 1 / sqrt(variance + float(i.inputs[7]))
    result = (x - mean) * (scale if weight is None else scale * weight)
    return steps.giving([result if bias is None else result + bias])


def _backward(program: Program, i: Instruction) -> list[Instruction] | None:
    """batch_norm_backward(g, x, weight, mean, variance, mean, inverse, training, eps, need)."""
    g, x, weight, _, _, mean, inverse, training = i.inputs[:8]
    if not _usable(x, (weight, mean, inverse)) or mean is None or inverse is None:
        return None
    dims = _along(x, training)
    if not dims:
        return None
    if type(g) is not Value or g.shape != x.shape or g.dtype != x.dtype or not in_order(g):
        return None
    if any(o is not None and (o.view or not in_order(o)) for o in i.outputs):
        return None
    steps, count = _Steps(program, i), size_of(x.shape) // x.shape[1]
    g, x, weight, mean, inverse = map(steps.term, (g, x, weight, mean, inverse))
    moved: Any = _Difference(x, mean) if len(dims) > 1 else x - mean
    return steps.giving(channel_gradients(g, moved, inverse, weight, dims, 1 / count))


_FORMS = {"batch_norm": _forward, "batch_norm_backward": _backward}
