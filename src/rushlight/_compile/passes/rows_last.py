"""Reductions along other dimensions than the last: copies around rows, which kernels reduce.

What reduces a dimension in the middle gets its operands copied so that this dimension is the last;
a result that varies along it is copied back. That is for values so small that a call from Python
costs more than the copies, and for results that don't lie in memory in the order of their
dimensions.
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
    from ..._base.annotations import Shape

#: Elements up to which a value is copied.
_MOST: Final = 32_768
#: Which operand names the dimensions.
_DIMENSIONS: Final = {
    "amax": 1, "amin": 1, "max": 1, "min": 1, "argmax": 1, "argmin": 1, "vector_norm": 2,
    "var": 1, "std": 1, "var_mean": 1, "std_mean": 1, "sum": 1, "mean": 1,
}  # fmt: skip


def put_rows_last(program: Program) -> None:
    """Has reductions that no kernel knows reduce the last dimension of copies."""
    kept: list[Instruction] = []
    for i in program.instructions:
        kept += _turn(program, i) or [i]
    program.instructions[:] = kept


def _turn(program: Program, i: Instruction) -> list[Instruction] | None:
    form = getattr(i.function, "rows", None)
    place = _DIMENSIONS.get(i.rule) if form is None else form.dim
    if i.kind != "call" or place is None or len(i.inputs) <= place:
        return None
    x = i.inputs[0 if form is None else form.at]
    if type(x) is not Value or 0 in x.shape or size_of(x.shape) > _MOST:
        return None
    outs = [o for o in i.outputs if o is not None]
    m = element_value(i)
    if not outs or any(o.view for o in outs) or (m is not None and is_read(m)):
        return None
    dims = i.inputs[place]
    if dims is not None and not _names_dimensions(dims):
        return None
    over = Reduction(x, dims)
    if over.none:
        return _drop_ones(program, i, x, over.dims) if i.rule in ("sum", "mean") else None
    if dims is None:
        return None
    rank, kept = len(x.shape), [d for d in range(len(x.shape)) if d not in over.dims]
    order = (*kept, *over.dims)
    last = tuple(range(len(kept), rank))
    found: list[Instruction] = []
    inputs = [
        _move(program, v, order, x.shape, found, i) if type(v) is Value else v for v in i.inputs
    ]
    inputs[place] = last[0] if type(dims) is int else last
    outputs: list[Value | None] = []
    back: list[Instruction] = []
    for out in i.outputs:
        if out is None or (len(out.shape) != rank and in_order(out)):
            outputs.append(out)
            continue
        turned = order if len(out.shape) == rank else tuple(range(len(out.shape)))
        made = like(program, out, tuple(out.shape[d] for d in turned))
        outputs.append(made)
        back += _copies(
            program, made, tuple(sorted(range(len(turned)), key=turned.__getitem__)), out, i
        )
    turned_one = Instruction("call", i.function, i.name, tuple(inputs), tuple(outputs), op=i.op,
                             where=i.where, pure=i.pure, several=i.several)  # fmt: skip
    turned_one.part = i.part
    m = element_value(turned_one)
    if m is None or not is_read(m):
        return None
    return [*found, turned_one, *back]


def _drop_ones(
    program: Program, i: Instruction, x: Value, dims: Sequence[int]
) -> list[Instruction] | None:
    """A sum of single elements: 0 added to each, as dimensions of one go."""
    out = i.outputs[0]
    dtype = i.inputs[3] if len(i.inputs) > 3 else None
    if out is None or dtype is not None or x.dtype != out.dtype or x.dtype.name not in FLOATS:
        return None
    kept = [d for d in range(len(x.shape)) if len(out.shape) == len(x.shape) or d not in dims]
    if len(kept) != len(out.shape):
        return None
    shown = _view(program, x, tuple(x.shape[d] for d in kept), tuple(x.strides[d] for d in kept))
    view = Instruction("call", squeeze, "squeeze", (x, tuple(dims)), (shown,), where=i.where,
                       pure=True)  # fmt: skip
    add = Instruction("call", UFUNC_OF[operator.add], "add", (shown, 0.0), (out,), where=i.where,
                      pure=True)  # fmt: skip
    found = [view, add] if shown.shape != x.shape else [add]
    if shown.shape == x.shape:
        add.inputs = (x, 0.0)
    for one in found:
        one.part = i.part
    return found


def _view(program: Program, v: Value, shape: Shape, strides: Shape) -> Value:
    """A new value that shows all of another's memory."""
    shown = v.like(len(program.values), kind="result", view=True, holder=None, shape=shape,
                   strides=strides)  # fmt: skip
    program.values.append(shown)
    return shown


def _names_dimensions(dims: object) -> bool:
    given = dims if isinstance(dims, (tuple, list)) else (dims,)
    return bool(given) and all(type(d) is int for d in given)


def _move(program: Program, v: Value, order: Shape, shape: Shape, found: list[Instruction],
          i: Instruction) -> Value:  # fmt: skip
    """An operand with the dimensions in another order, in order in memory; `found` makes it."""
    if len(v.shape) != len(shape):
        order = tuple(range(len(v.shape)))
    if in_order(v) and order == tuple(range(len(v.shape))):
        return v
    made = like(program, v, tuple(v.shape[d] for d in order))
    found += _copies(program, v, order, made, i)
    return made


def _copies(
    program: Program, v: Value, order: Shape, to: Value, i: Instruction
) -> list[Instruction]:
    """What copies a value whose dimensions are shown in another order."""
    shown = _view(program, v, tuple(v.shape[d] for d in order), tuple(v.strides[d] for d in order))
    view = Instruction("call", permute, "permute", (v, tuple(order)), (shown,), where=i.where,
                       pure=True)  # fmt: skip
    made = copy_to(shown, to)
    for one in (view, made):
        one.part = i.part
    return [view, made]
