"""Batch norms of rows, in training, as the sums and products that kernels know.

The statistics are sums down columns: what comes before joins the first of them, what follows the
norm joins its last step, and running statistics are written by the kernels, too.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..._array.memory.aliasing import UFUNC_OF, reciprocal, root
from ..._array.reduce import reduce
from ..ir.iteration_values import FLOATS, in_order
from ..ir.program import Instruction, Program, Value
from .layout import like

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable


class _Steps:
    """The instructions that stand for one."""

    def __init__(self, program: Program, i: Instruction) -> None:
        self.program = program
        self.origin = i
        self.found: list[Instruction] = []

    def call(self, name: str, function: AnyCallable, inputs: tuple[object, ...], out: Value | None,
             of: Value) -> Value:  # fmt: skip
        """A call; its result is `out`, or new and like `of`."""
        out = like(self.program, of, of.shape) if out is None else out
        self._add("call", name, function, inputs, (out,))
        return out

    def apply(self, operator: AnyCallable, x: Value, y: Any, out: Value | None = None) -> Value:
        """An operator on two values, or a value and a number."""
        larger = y if type(y) is Value and len(y.shape) > len(x.shape) else x
        return self.call(operator.__name__, UFUNC_OF[operator], (x, y), out, larger)

    def down(self, function: AnyCallable, x: Value, of: Value, out: Value | None = None) -> Value:
        """A sum or mean of the rows."""
        return self.call(function.__name__, function, (x, (0,), False, None), out, of)

    def moved(self, target: Value, x: Value, kept: float, part: float) -> None:
        """A running statistic that moves towards a value."""
        step = self.apply(operator.mul, x, part)
        self._add("write", "mul", UFUNC_OF[operator.mul], (target, kept), ())
        self._add("write", "add", UFUNC_OF[operator.add], (target, step), ())

    def _add(self, kind: str, name: str, function: AnyCallable, inputs: tuple[object, ...],
             outputs: tuple[Value, ...]) -> None:  # fmt: skip
        made = Instruction(kind, function, name, inputs, outputs, where=self.origin.where,
                           pure=kind == "call", holder=False)  # fmt: skip
        made.part = self.origin.part
        self.found.append(made)


def apart(program: Program) -> None:
    """Puts simple instructions in the places of batch norms."""
    kept: list[Instruction] = []
    for i in program.instructions:
        make = _FORMS.get(i.rule) if i.kind == "call" else None
        kept += (make(program, i) if make is not None else None) or [i]
    program.instructions[:] = kept


def _usable(x: Value, vectors: tuple[object, ...], training: bool) -> bool:
    """Whether it is a norm of rows in order, and every vector is one number a column."""
    if type(x) is not Value or len(x.shape) != 2 or not in_order(x) or training is not True:
        return False
    return x.shape[0] > 1 and x.dtype.name in FLOATS and all(
        v is None or (type(v) is Value and v.dtype == x.dtype and v.shape == x.shape[1:]
                      and in_order(v))
        for v in vectors
    )  # fmt: skip


def _forward(program: Program, i: Instruction) -> list[Instruction] | None:
    """native_batch_norm(x, weight, bias, mean, variance, training, momentum, eps)."""
    x, weight, bias, running, spread, training, momentum, eps = i.inputs
    outs = i.outputs
    if not _usable(x, (weight, bias, running, spread), training) or len(outs) != 3:
        return None
    out, mean, inverse = outs
    if out is None or mean is None or inverse is None or type(momentum) is not float:
        return None
    if any(o.view or not in_order(o) for o in (out, mean, inverse)):
        return None
    if (weight is None) != (bias is None) or (running is None) != (spread is None):
        return None
    count = x.shape[0]
    s = _Steps(program, i)
    s.down(reduce.mean, x, mean, mean)
    d = s.apply(operator.sub, x, mean)
    variance = s.down(reduce.mean, s.apply(operator.mul, d, d), mean)
    deviation = s.call("sqrt", root, (s.apply(operator.add, variance, float(eps)),), None, mean)
    s.call("reciprocal", reciprocal, (deviation,), inverse, mean)
    hat = s.apply(operator.mul, d, inverse, None if weight is not None else out)
    if weight is not None:
        s.apply(operator.add, s.apply(operator.mul, hat, weight), bias, out)
    if running is not None:
        s.moved(running, mean, 1 - momentum, momentum)
        s.moved(spread, variance, 1 - momentum, momentum * count / (count - 1))
    return s.found


def _backward(program: Program, i: Instruction) -> list[Instruction] | None:
    """batch_norm_backward(g, x, weight, mean, variance, mean, inverse, training, eps, need)."""
    g, x, weight, _, _, mean, inverse, training = i.inputs[:8]
    if not _usable(x, (weight, mean, inverse), training) or mean is None or inverse is None:
        return None
    if type(g) is not Value or g.shape != x.shape or g.dtype != x.dtype or not in_order(g):
        return None
    dx, dw, db = i.outputs
    if any(o is not None and (o.view or not in_order(o)) for o in i.outputs):
        return None
    s = _Steps(program, i)
    hat = s.apply(operator.mul, s.apply(operator.sub, x, mean), inverse)
    level = s.down(reduce.sum, g, mean, db)
    along = s.down(reduce.sum, s.apply(operator.mul, g, hat), mean, dw)
    if dx is not None:
        both = s.apply(operator.add, s.apply(operator.mul, hat, along), level)
        rest = s.apply(operator.sub, g, s.apply(operator.mul, both, 1.0 / x.shape[0]))
        scale = inverse if weight is None else s.apply(operator.mul, inverse, weight)
        s.apply(operator.mul, rest, scale, dx)
    return s.found


_FORMS = {"batch_norm": _forward, "batch_norm_backward": _backward}
