"""Reductions along other dimensions than the last: copies around rows, which kernels reduce.

What reduces a dimension in the middle gets its operands copied so that this dimension is the last;
a result that varies along it is copied back. For small values that costs less than a call from
Python.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..._array.memory.aliasing import UFUNC_OF
from ..._array.shape.views import permute, squeeze
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Program, Value
from ..lowering.lowering_rules import element_value
from ..lowering.reductions import Reduction
from .layout import copy_to, is_read, like

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Shape

#: Elements up to which a value is copied.
_MOST: Final = 32_768
#: Which operand names the dimensions.
_DIMENSIONS: Final = {
    "amax": 1, "amin": 1, "max": 1, "min": 1, "argmax": 1, "argmin": 1, "vector_norm": 2,
    "var": 1, "std": 1, "var_mean": 1, "std_mean": 1, "sum": 1, "mean": 1,
}  # fmt: skip


def put_rows_last(program: Program) -> None:
    """Has reductions that no kernel knows reduce copies."""
    kept: list[Instruction] = []
    for i in program.instructions:
        kept += _turn(program, i) or [i]
    program.instructions[:] = kept


def _turn(program: Program, i: Instruction) -> list[Instruction] | None:
    """What takes an instruction's place; None where it is native already, or can't be turned."""
    form = getattr(i.function, "rows", None)
    place = _DIMENSIONS.get(i.rule) if form is None else form.dim
    if i.kind != "call" or place is None or len(i.inputs) <= place:
        return None
    x, dims = i.inputs[0 if form is None else form.at], i.inputs[place]
    if type(x) is not Value or 0 in x.shape or size_of(x.shape) > _MOST:
        return None
    outs = [o for o in i.outputs if o is not None]
    if not outs or any(o.view for o in outs) or _is_native(i) or not _names_dimensions(dims):
        return None
    over = Reduction(x, dims)
    if over.none:
        return _drop_ones(program, i, x, over.dims) if i.rule in ("sum", "mean") else None
    if dims is None:
        return None
    rank = len(x.shape)
    order = (*(d for d in range(rank) if d not in over.dims), *over.dims)
    before, after = _Steps(program, i), _Steps(program, i)
    inputs = [
        before.move(v, order if len(v.shape) == rank else None) if type(v) is Value else v
        for v in i.inputs
    ]
    last = tuple(range(rank - len(over.dims), rank))
    inputs[place] = last[0] if type(dims) is int else last
    outputs = [
        o if o is None else after.move_back(o, order if len(o.shape) == rank else None)
        for o in i.outputs
    ]
    turned = Instruction("call", i.function, i.name, tuple(inputs), tuple(outputs), op=i.op,
                         where=i.where, pure=i.pure, several=i.several)  # fmt: skip
    turned.part = i.part
    return [*before.found, turned, *after.found] if _is_native(turned) else None


def _is_native(i: Instruction) -> bool:
    m = element_value(i)
    return m is not None and is_read(m)


def _names_dimensions(dims: object) -> bool:
    given = dims if isinstance(dims, (tuple, list)) else (dims,)
    return dims is None or (bool(given) and all(type(d) is int for d in given))


def _drop_ones(
    program: Program, i: Instruction, x: Value, dims: Sequence[int]
) -> list[Instruction] | None:
    """A sum of single elements: 0 added to each, as dimensions of one go."""
    out = i.outputs[0]
    dtype = i.inputs[3] if len(i.inputs) > 3 else None
    if out is None or dtype is not None or x.dtype != out.dtype or x.dtype.name not in FLOATS:
        return None
    steps = _Steps(program, i)
    if x.shape != out.shape:
        kept = [d for d in range(len(x.shape)) if d not in dims]
        x = steps.view(squeeze, "squeeze", x, tuple(dims), kept)
    steps.add(UFUNC_OF[operator.add], "add", (x, 0.0), out)
    return steps.found if x.shape == out.shape else None


class _Steps:
    """Instructions that stand around one, or for it."""

    def __init__(self, program: Program, i: Instruction) -> None:
        self.program = program
        self.origin = i
        self.found: list[Instruction] = []

    def add(self, function: AnyCallable, name: str, inputs: tuple[object, ...], out: Value) -> None:
        """A call that makes a value."""
        self._keep(Instruction("call", function, name, inputs, (out,), where=self.origin.where,
                               pure=True))  # fmt: skip

    def _keep(self, made: Instruction) -> None:
        made.part = self.origin.part
        self.found.append(made)

    def view(
        self, function: AnyCallable, name: str, v: Value, dims: Shape, kept: Sequence[int]
    ) -> Value:
        """A value's memory with some dimensions, in some order."""
        shape, strides = tuple(v.shape[d] for d in kept), tuple(v.strides[d] for d in kept)
        shown = v.like(len(self.program.values), kind="result", view=True, holder=None,
                       shape=shape, strides=strides)  # fmt: skip
        self.program.values.append(shown)
        self.add(function, name, (v, dims), shown)
        return shown

    def move(self, v: Value, order: Shape | None) -> Value:
        """A copy with the dimensions in another order, in order in memory; what is so already."""
        if order is None:
            order = tuple(range(len(v.shape)))
        if in_order(v) and list(order) == sorted(order):
            return v
        made = like(self.program, v, tuple(v.shape[d] for d in order))
        self._keep(copy_to(self.view(permute, "permute", v, order, order), made))
        return made

    def move_back(self, out: Value, order: Shape | None) -> Value:
        """What is to be made in place of a result, and is copied into it."""
        if order is None:
            order = tuple(range(len(out.shape)))
        if in_order(out) and list(order) == sorted(order):
            return out
        made = like(self.program, out, tuple(out.shape[d] for d in order))
        back = tuple(sorted(range(len(order)), key=order.__getitem__))
        self._keep(copy_to(self.view(permute, "permute", made, back, back), out))
        return made
