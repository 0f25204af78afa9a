"""What instructions mean to a fusion group: as which formula, over which space.

`reductions` and `losses` have theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._formula import gelu
from ..ir.iteration_values import FLOATS, function_of, in_order
from ..ir.program import Instruction, Value
from . import losses, reductions
from .lowering_rule import LoopFormula


def element_value(i: Instruction, written: bool = False) -> LoopFormula | None:
    """What an instruction is to fusion groups; None where it has no part in them.

    `written`: its result goes to memory that is there already.
    """
    outs = [o for o in i.outputs if o is not None]
    if i.kind != "call" or not outs:
        return None
    if any(o.view and not written for o in outs) or any(0 in v.shape for v in (*outs, *i.reads())):
        return None
    if i.outputs[0] is None:
        return reductions.norm_of_rows(i)
    make = _MAKERS.get(i.rule)
    if make is not None and not reductions.compares_two(i):
        if any(o is not None and not in_order(o) for o in i.outputs):
            return None
        return make(i)
    found = losses.by_element(i) or reductions.along_rows(i) or reductions.norm_of_rows(i)
    return found or _elementwise(i)


def _elementwise(i: Instruction) -> LoopFormula | None:
    function = function_of(i)
    out = i.outputs[0]
    if function is None or out is None:
        return None
    order = memory_order(out)
    if order is None:
        return None
    return LoopFormula(
        i, out.shape, lambda args, _: (function(*args),), order=None if in_order(out) else order
    )


def memory_order(v: Value) -> tuple[int, ...] | None:
    """The dimensions of a value from the slowest in memory to the fastest; None with gaps."""
    order = sorted(range(len(v.shape)), key=lambda d: (-v.strides[d], v.shape[d] == 1, d))
    step = v.dtype.itemsize
    for d in reversed(order):
        if v.shape[d] == 1:
            continue
        if v.strides[d] != step:
            return None
        step *= v.shape[d]
    return tuple(order)


def _float(*values: object) -> bool:
    return all(type(v) is Value and v.dtype.name in FLOATS for v in values)


# ---- rows ----------------------------------------------------------------------------------------


def _gelu(i: Instruction) -> LoopFormula | None:
    form = i.inputs[-1] if isinstance(i.inputs[-1], str) else "none"
    back = i.rule == "gelu_backward"
    values = [x for x in i.inputs if type(x) is Value]
    if not _float(*values) or len(values) != 1 + back or form not in ("none", "tanh"):
        return None
    if any(v.shape != i.outputs[0].shape for v in values):  # type: ignore[union-attr]
        return None
    found: Any = gelu.FORMULAS[form][back]
    return LoopFormula(i, values[0].shape, lambda a, _: (found(*a[: 1 + back]),))


_MAKERS: Final[dict[str, Callable[[Instruction], LoopFormula | None]]] = {
    **losses.MAKERS, **reductions.MAKERS,
    "gelu": _gelu, "gelu_backward": _gelu,
}  # fmt: skip
