"""Pieces: sums over the first and the last dimensions as two that kernels know.

A channel's sum, over all pictures and all places, is a sum along rows, which joins the kernel that
makes the rows, and a sum down the few columns that are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array.reduce import reduce
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Program, Value
from ..lowering.lowering_rules import element_value
from ..lowering.reductions import Reduction, list_grown
from .layout import like

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

#: Elements of a row below which a pass by rows is slower than one call more.
SHORT: Final = 32
_RULES: Final = ("channel_sums", "sum", "mean", "sum_to")


def in_pieces(program: Program) -> None:
    """Takes sums over dimensions on both sides apart."""
    kept: list[Instruction] = []
    for i in program.instructions:
        kept += _split(program, i) or [i]
    program.instructions[:] = kept


def _split(program: Program, i: Instruction) -> list[Instruction] | None:
    if i.kind != "call" or i.rule not in _RULES or len(i.outputs) != 1:
        return None
    x, out = i.inputs[0], i.outputs[0]
    if type(x) is not Value or out is None or out.view or not in_order(out) or 0 in x.shape:
        return None
    if x.dtype.name not in FLOATS or x.dtype != out.dtype or len(x.shape) < 2:
        return None
    dims: Any = (0, *range(2, len(x.shape)))
    if i.rule == "sum_to":
        dims = list_grown(x.shape, out.shape)
    elif i.rule != "channel_sums":
        dims, _, dtype = (*i.inputs[1:], None, None, None)[:3]
        if dtype is not None or not isinstance(dims, (tuple, list)):
            return None
    over = Reduction(x, dims)
    if over.none:
        return None
    if i.rule == "channel_sums" and (over.whole or over.leading or over.trailing):
        return [_sum(i, reduce.sum, x, tuple(over.dims), out)]
    if over.whole:
        return None
    last = [d for d in over.dims if x.shape[d] != 1]
    first = [d for d in last if d < len(x.shape) - 1 and all(e in last for e in range(d))]
    after = [d for d in last if d not in first]
    wide = size_of(tuple(x.shape[d] for d in after))
    if not first or not after or not Reduction(x, tuple(after)).trailing:
        return None
    function = reduce.mean if i.rule == "mean" else reduce.sum
    # Of short rows there are many columns, which are summed up first.
    rest = tuple(first if wide < SHORT else after)
    between = like(program, x, tuple(1 if d in rest else n for d, n in enumerate(x.shape)))
    ending = _sum(i, function, between, tuple(over.dims), out)
    if i.rule == "sum_to":
        ending = Instruction("call", i.function, i.name, (between, *i.inputs[1:]), (out,), op=i.op,
                            where=i.where, pure=True)  # fmt: skip
        ending.part = i.part
    made = [_sum(i, function, x, rest, between), ending]
    return made if all(map(element_value, made)) else None


def _sum(
    i: Instruction, function: AnyCallable, x: Value, dims: tuple[int, ...], out: Value
) -> Instruction:
    keepdim = len(out.shape) == len(x.shape)
    inputs = (x, dims, keepdim, None)
    made = Instruction("call", function, function.__name__, inputs, (out,), where=i.where,
                       pure=True)  # fmt: skip
    made.part = i.part
    return made
