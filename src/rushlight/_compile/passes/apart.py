"""Simple instructions in the places of some that other ones could join."""

from __future__ import annotations

from typing import Final

from ..._array.reduce import reduce
from ..._native.llvm import target
from ..ir.iteration_values import FLOATS, in_order, size_of
from ..ir.program import Instruction, Program, Value, row_major
from . import convolutions, norms
from .terms import Steps


def _sum_repeats(program: Program, i: Instruction) -> list[Instruction] | None:
    """repeat_backward(g, shape, repeats): sums over the repeated dimensions."""
    g, shape, repeats = i.inputs
    out = i.outputs[0]
    if type(g) is not Value or out is None or out.view or not in_order(g) or not in_order(out):
        return None
    if 0 in g.shape or g.dtype != out.dtype or g.dtype.name not in FLOATS:
        return None
    seen: list[int] = []
    dims: list[int] = []
    sizes = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    for d, (times, n) in enumerate(zip(repeats, sizes, strict=True)):
        if times > 1:
            dims.append(len(seen))
            seen.append(times)
        if d >= len(repeats) - len(shape):
            seen.append(n)
    if not dims:
        return None
    steps = Steps(program, i)
    whole = tuple(seen)
    apart_ = steps.term(g).show_as(whole, tuple(row_major(whole, g.dtype.itemsize)))
    inputs = (apart_.value, tuple(dims), False, None)
    return steps.giving([steps.call(reduce.sum, "sum", inputs, out)])


#: Elements from which fewer passes over memory count, where kernels may be in parts.
LARGE: Final = 1 << 18
_FORMS = {**norms.FORMS, **convolutions.FORMS, "repeat_backward": _sum_repeats}


def apart(program: Program) -> None:
    """Takes norms, convolutions and sums over repeats apart."""
    kept: list[Instruction] = []
    for i in program.instructions:
        make = _FORMS.get(i.rule) if i.kind == "call" else None
        if i.rule in norms.FORMS and not target.compiles():  # steps that may stay apart
            make = None if any(size_of(v.shape) >= LARGE for v in i.reads()) else make
        kept += (make(program, i) if make is not None else None) or [i]
    program.instructions[:] = kept
