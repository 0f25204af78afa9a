"""Fusion: chains of elementwise work, broadcasts and reductions become loop nests.

An instruction joins a kernel that is already there if all that it reads from outside is computed
before that kernel; see `fusion`. Else it begins a kernel of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..ir.program import Instruction, replace_in
from ..lowering.fusion import Kernel, dtype_of
from ..lowering.losses import target_of
from ..lowering.lowering_rule import LoopFormula
from ..lowering.lowering_rules import element_value
from ..lowering.reductions import PLACES, dimension_of

if TYPE_CHECKING:
    from ..assembly.plan import Plan

#: Kernels that are looked at for an instruction to join, at most.
_NEAR: Final = 48


def has_joined(plan: Plan, i: Instruction) -> bool:
    """Whether the instruction has become part of a kernel of the plan."""
    m = element_value(renew(plan, i))
    if m is None:
        return False
    named = target_of(i)
    if named is not None and not plan.check(*named):
        return False
    place = join_kernel(plan, m, len(plan.items) - 1 if i.late else 0)
    if place is None:
        return False
    for out in m.outputs:
        if out.dtype.name == "int64" and i.rule in PLACES:
            plan.places[out.number] = dimension_of(i)
    return True


def renew(plan: Plan, i: Instruction) -> Instruction:
    """The instruction on what has been written in place, so that it may join the writing kernel."""
    if not any(v.number in plan.current for v in i.reads()):
        return i
    inputs = replace_in(i.inputs, plan.current)
    made = Instruction(i.kind, i.function, i.name, inputs, i.outputs, op=i.op, where=i.where,
                       pure=i.pure, holder=i.holder, several=i.several)  # fmt: skip
    plan.origin[id(made)] = plan.origin.get(id(i), i)
    plan.renewed.append(made)  # ids stay unique as long as it lives
    return made


def join_kernel(plan: Plan, m: LoopFormula, least: int = 0) -> int | None:
    """The place of the kernel that takes a formula, a new one if need be; None where none does."""
    lowest = max(plan.first, len(plan.items) - _NEAR, least)
    last = len(plan.items) - 1
    for place in range(last, lowest - 1, -1):
        kernel = plan.items[place]
        if not isinstance(kernel, Kernel):
            continue
        # What it would compute there is read by others later: a pass over more memory.
        if place < last and not kernel.shares_with(m):
            continue
        layouts = kernel.takes(m)
        other = None if layouts is not None else kernel.over_space_of(m)
        if other is not None:
            layouts = other.takes(m)
        if layouts is None:
            continue
        # What the kernel makes itself may have been written in place since, by a later one.
        if all(
            plan.when.get(v.root, place) == place
            if plan.same.get(v.number, v.number) in kernel.made
            else plan.ready(v, place)
            for v in m.reads
        ):
            if other is not None:
                vars(kernel).update(vars(other))
            kernel.add(m, layouts)
            break
    else:
        for rows, columns in m.spaces():
            kernel = Kernel(rows, columns, dtype_of(m))
            kernel.same = plan.same
            layouts = kernel.takes(m)
            if layouts is not None:
                break
        else:
            return None
        kernel.add(m, layouts)
        place = plan.append(kernel)
    for v in m.reads:
        plan.readers[v.root] = max(place, plan.readers.get(v.root, 0))
    for out in m.outputs:
        plan.when[out.root] = place
    return place
