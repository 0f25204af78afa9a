"""Pieces: sums over the first and the last dimensions as two that kernels know.

A channel's sum, over all pictures and all places, is a sum along rows, which joins the kernel that
makes the rows, and a sum down the few columns that are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array.reduce import reduce
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Program, Value
from ..lowering.reductions import Reduction
from .layout import like

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable

#: Elements of a row below which a pass by rows is slower than one call more.
SHORT: Final = 32


def in_pieces(program: Program) -> None:
    """Takes sums over dimensions on both sides apart."""
    kept: list[Instruction] = []
    for i in program.instructions:
        kept += _split(program, i) or [i]
    program.instructions[:] = kept


def _split(program: Program, i: Instruction) -> list[Instruction] | None:
    if i.kind != "call" or i.rule not in ("channel_sums", "sum", "mean") or len(i.outputs) != 1:
        return None
    x, out = i.inputs[0], i.outputs[0]
    if type(x) is not Value or out is None or out.view or not in_order(out) or 0 in x.shape:
        return None
    if x.dtype.name not in FLOATS or x.dtype != out.dtype or len(x.shape) < 2 or not in_order(x):
        return None
    dims: Any = (0, *range(2, len(x.shape)))
    if i.rule != "channel_sums":
        dims, _, dtype = (*i.inputs[1:], None, None, None)[:3]
        if dtype is not None or not isinstance(dims, (tuple, list)):
            return None
    over = Reduction(x, dims)
    if over.none or over.whole:
        return None
    if over.leading and i.rule == "channel_sums":
        return [_sum(i, reduce.sum, x, tuple(over.dims), out)]
    last = [d for d in over.dims if x.shape[d] != 1]
    first = [d for d in last if d < len(x.shape) - 1 and all(e in last for e in range(d))]
    after = [d for d in last if d not in first]
    wide = size_of(tuple(x.shape[d] for d in after))
    if not first or not after or wide < SHORT:
        return None
    if (
        Reduction(x, tuple(after)).first + len(after) < len(x.shape)
        or not Reduction(x, tuple(after)).trailing
    ):
        return None
    function = reduce.mean if i.rule == "mean" else reduce.sum
    between = like(program, x, x.shape[: after[0]])
    return [
        _sum(i, function, x, tuple(after), between), _sum(i, function, between, tuple(first), out),
    ]  # fmt: skip


def _sum(
    i: Instruction, function: AnyCallable, x: Value, dims: tuple[int, ...], out: Value
) -> Instruction:
    keepdim = len(out.shape) == len(x.shape)
    inputs = (x, dims, keepdim, None)
    made = Instruction("call", function, function.__name__, inputs, (out,), where=i.where,
                       pure=True)  # fmt: skip
    made.part = i.part
    return made
