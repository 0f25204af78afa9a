"""Dead code: calls whose results nobody reads."""

from __future__ import annotations

from ..ir.program import Instruction, Program


def _may_raise(i: Instruction) -> bool:
    """Whether a call may refuse its operands for their values: places, masks, divisors."""
    if i.op is None or all(o is None or o.view for o in i.outputs):
        return False
    kinds = "iu" if i.op.kind == "elementwise" else "iub"
    return any(v.dtype.kind in kinds for v in i.reads())


def without_dead(program: Program) -> None:
    """Leaves out pure calls of which nothing is read, from the last to the first.

    What an eager step would raise for is kept.
    """
    wanted = {v.number for v in program.outputs_values()}
    kept = []
    for i in reversed(program.instructions):
        read = any(out is not None and out.number in wanted for out in i.outputs)
        if i.kind == "call" and i.pure and not read and not _may_raise(i):
            continue
        wanted.update(v.number for v in i.reads())
        kept.append(i)
    kept.reverse()
    program.instructions[:] = kept
    program.inputs[:] = [v for v in program.inputs if v.number in wanted]
