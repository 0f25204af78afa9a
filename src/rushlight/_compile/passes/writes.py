"""In-place writes become results of kernels, given out in the memory of their target.

What reads the target afterwards may join the kernel that writes it, and takes the new value from
there: `x.mul_(a).add_(b)` is one pass over x. A write joins a kernel only if nothing later than
that kernel reads the old value, and if the kernel reads the target's memory in no other geometry.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from ..._array.memory.aliasing import UFUNC_OF
from ..._formula import ir as G
from ..ir.program import Instruction, Value
from ..lowering.fusion import Kernel
from ..lowering.lowering_rule import LoopFormula, Shared
from ..lowering.lowering_rules import element_value
from .fuse import join_kernel, renew

if TYPE_CHECKING:
    from ..._base.annotations import Arguments
    from ..._formula.ir import Symbol
    from ..assembly.plan import Plan
    from ..lowering.commands import Command
    from ..lowering.gemm import Product


def is_fused(plan: Plan, i: Instruction) -> bool:
    """Whether a write has become part of a kernel of the plan."""
    target = i.inputs[0]
    if type(target) is not Value or 0 in target.shape or target.kind == "constant":
        return False
    i = renew(plan, i)
    m = _new_value(plan, target, i)
    if m is None or any(_clashes(v, target) for v in m.reads):
        return False
    least = plan.readers.get(target.root, 0)
    while least < len(plan.items) and _reads_otherwise(plan.items[least], target):
        least += 1
    place = join_kernel(plan, m, least)
    if place is None:
        return False
    forget(plan, target.root)
    made = m.outputs[0]
    for v in plan.program.values[: made.number]:
        if v.root == target.root and _alike(v, target):
            plan.current[v.number] = made
    return True


def forget(plan: Plan, root: int) -> None:
    """Says that memory was written: what is known of its values no longer holds."""
    for number in [n for n, v in plan.current.items() if v.root == root]:
        del plan.current[number]


def _alike(a: Value, b: Value) -> bool:
    return bool(
        a.root == b.root and a.offset == b.offset and a.shape == b.shape
        and a.strides == b.strides and a.dtype == b.dtype
    )  # fmt: skip


def _clashes(v: Value, target: Value) -> bool:
    """Whether a value shows the target's memory in another geometry."""
    return v.root == target.root and not _alike(v, target)


def _reads_otherwise(item: Instruction | Command | Kernel | Product, target: Value) -> bool:
    if not isinstance(item, Kernel):
        return False
    return any(_clashes(v, target) for v in (*item.reads(), *item.made.values()))


def _new_value(plan: Plan, target: Value, i: Instruction) -> LoopFormula | None:
    """The new value of the target, in its memory."""
    out = _new(plan, target)
    first = i.inputs[0]
    name = "add" if i.rule == "add_into" else i.name
    if i.rule == "store":
        found = _lower_fill(i, out, first)
    elif i.holder and i.rule != "add_into":
        found = None  # a writer of its own
    else:
        into = i.rule == "add_into"
        function = UFUNC_OF[operator.add] if into else i.function
        made = Instruction("call", function, name, i.inputs, (out,), op=i.op, pure=True)
        found = element_value(made, written=True)
        if found is not None and (found.ended or found.split is not None):
            found = None
    if found is None:
        plan.program.values.pop()
        return None
    found.instruction.where = i.where
    plan.origin[id(found.instruction)] = plan.origin.get(id(i), i)
    return found


def _new(plan: Plan, target: Value) -> Value:
    made = target.like(len(plan.program.values), kind="write", view=True, holder=target)
    plan.program.values.append(made)
    return made


def _lower_fill(i: Instruction, out: Value, target: Value) -> LoopFormula | None:
    """_zero(x), _fill_(x, number or value), _copy(x, value, ...)."""
    source = i.inputs[1] if len(i.inputs) > 1 else 0
    if type(source) is Value:
        if source.dtype != out.dtype and source.dtype.name not in ("bool", "int64"):
            return None
        if out.dtype.name not in ("float32", "float64", "int64", "bool"):
            return None
        if out.dtype.name in ("int64", "bool") and source.dtype != out.dtype:
            return None
    elif type(source) not in (int, float) or out.dtype.name not in ("float32", "float64"):
        return None
    inputs = (target, source)
    made = Instruction("call", None, i.name, inputs, (out,), pure=True)

    def body(a: Arguments, _: Shared) -> tuple[Symbol, ...]:
        if isinstance(a[1], G.Symbol):
            return (a[1] if a[1].dtype == a[0].dtype else G.cast(a[1], a[0].dtype),)
        return (a[0].like(a[1]),)

    return LoopFormula(made, out.shape, body)
