"""Dead code: calls whose results nobody reads."""

from __future__ import annotations

from ..program import Program


def without_dead(program: Program) -> None:
    """Leaves out pure calls of which nothing is read, from the last to the first."""
    wanted = {v.number for v in program.outputs_values()}
    kept = []
    for i in reversed(program.instructions):
        read = any(out is not None and out.number in wanted for out in i.outputs)
        if i.kind == "call" and i.pure and not read:
            continue
        wanted.update(v.number for v in i.reads())
        kept.append(i)
    kept.reverse()
    program.instructions[:] = kept
    program.inputs[:] = [v for v in program.inputs if v.number in wanted]
