"""Common subexpressions: the same call on the same values, done once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir.program import Program, Value, replace_in, same

if TYPE_CHECKING:
    from ..ir.program import Instruction


def without_repeats(program: Program) -> None:
    """Replaces a pure call's results by those of an equal call before it.

    Values in memory that the program writes anywhere take no part: what they hold changes.
    """
    written = set(program.written)
    for i in program.instructions:
        if i.kind == "call" and not i.pure:
            written.update(v.root for v in i.reads())
    returned = {v.number for v in program.outputs_values()}
    by: dict[int, Any] = {}
    roots: dict[int, int] = {}  # memory that is no longer made, and what stands for it
    seen: dict[Any, list[Any]] = {}
    kept = []
    for i in program.instructions:
        i.inputs = replace_in(i.inputs, by)
        for out in i.outputs:
            if out is not None:
                out.root = roots.get(out.root, out.root)
        if not _takes_part(i, written):
            kept.append(i)
            continue
        key = (i.name, tuple(x.number if type(x) is Value else None for x in i.inputs))
        for other in seen.setdefault(key, []):
            if _equal(other, i) and not any(out.number in returned for out in i.outputs if out):
                for old, new in zip(i.outputs, other.outputs):
                    if old is not None:
                        by[old.number] = new
                        if old.root == old.number:
                            roots[old.number] = new.root
                break
        else:
            seen[key].append(i)
            kept.append(i)
    program.instructions[:] = kept


def _takes_part(i: Instruction, written: set[int]) -> bool:
    if i.kind != "call" or not i.pure or i.name == "in_layout":
        return False
    return not any(v.root in written for v in (*i.reads(), *(o for o in i.outputs if o)))


def _equal(a: Instruction, b: Instruction) -> bool:
    if not same(a.function, b.function) or not same(a.inputs, b.inputs):
        return False
    if len(a.outputs) != len(b.outputs):
        return False
    return all((x is None) == (y is None) for x, y in zip(a.outputs, b.outputs))
