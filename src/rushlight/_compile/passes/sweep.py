"""Sweeps: an optimizer's update of all its parameters, as kernels that follow one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.program import Instruction
from ..lowering.optimizer_sweeps import sweep_of

if TYPE_CHECKING:
    from ..assembly.plan import Plan


def swept(plan: Plan, i: Instruction) -> bool:
    """Whether an optimizer's step has become a sweep of the plan.

    What comes later can't join what came before: it may read what is swept.
    """
    sweep = sweep_of(i) if i.kind == "step" else None
    if sweep is None:
        return False
    sweep.source = i
    plan.append(sweep)
    plan.first = len(plan.items)
    return True
