"""Constant folding: what a program would compute anew from constants alone in every call.

Masks and ramps that a step makes from numbers, the ones that gradients begin with and what scales
them become arrays that the program keeps. Products with nothing but ones are left out.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from ..._array.memory import aliasing as A
from ..ir.program import Instruction, Program, Value, replace_in

#: Bytes of memory that a folded result may need.
LIMIT: Final = 1 << 20
#: Functions on arrays to which one is the unit, and on which side, beside the rows that say so.
_UNITS: Final[dict[Any, str]] = {
    operator.mul: "both", A.UFUNC_OF[operator.mul]: "both",
    A.UFUNC_OF[operator.truediv]: "right",
}  # fmt: skip


def fold_constants(program: Program) -> None:
    """Does pure calls on constants once; their results become constants, kept by the program."""
    fixed = _shared_memory(program)
    by: dict[int, Any] = {}
    kept = []
    for i in program.instructions:
        i.inputs = replace_in(i.inputs, by)
        other = _find_unchanged(i, fixed)
        if other is not None:
            out = i.outputs[0]
            assert out is not None
            by[out.number] = other
            for v in program.values:  # what shows it shows the operand
                if v.root == out.number and v is not out:
                    v.root, v.offset = other.root, v.offset + other.offset
            continue
        if not _foldable(i, fixed) or not _is_computed(i):
            kept.append(i)
            continue
        program.inputs.extend(o for o in i.outputs if o is not None)
    program.instructions[:] = kept


def _shared_memory(program: Program) -> set[int]:
    """The memory that somebody gets or writes: it is made anew in each call."""
    taken = set(program.written) | {v.root for v in program.outputs_values()}
    for i in program.instructions:
        taken |= i.writes()
        if i.kind != "call" or not i.pure:
            taken.update(v.root for v in i.reads())
    return taken


def _foldable(i: Instruction, taken: set[int]) -> bool:
    if i.kind != "call" or not i.pure or i.part or not any(o is not None for o in i.outputs):
        return False
    if any(v.kind != "constant" for v in i.reads()):
        return False
    size = 0
    for o in i.outputs:
        if o is not None:
            if o.root in taken or o.number in taken:
                return False
            size += 0 if o.view else _bytes(o)
    return size <= LIMIT


def _bytes(o: Value) -> int:
    size = int(o.dtype.itemsize)
    for n, step in zip(o.shape, o.strides):
        size *= n if step else 1
    return size


def _is_computed(i: Instruction) -> bool:
    """Whether the call gives what was recorded; then its outputs are constants."""
    try:
        result = i.function(*_raw(i.inputs))
    except Exception:  # the call is left to say so when it runs
        return False
    results = list(result) if i.several else [result]
    if len(results) < len(i.outputs):
        return False
    arrays = [None if o is None else A.as_array(r) for o, r in zip(i.outputs, results)]
    for o, array in zip(i.outputs, arrays):
        if o is None or array is None:
            continue
        if array.shape != o.shape or array.dtype != o.dtype:
            return False
    for o, array in zip(i.outputs, arrays):
        if o is None or array is None:
            continue
        o.kind, o.raw, o.strides = "constant", array, array.strides
        o.root, o.view, o.offset, o.holder = o.number, False, 0, None
    return True


def _raw(x: Any) -> Any:
    if type(x) is Value:
        return x.raw
    return type(x)(_raw(y) for y in x) if type(x) in (list, tuple) else x


def _find_unchanged(i: Instruction, taken: set[int]) -> Value | None:
    """The operand that a product with ones, or a quotient by ones, gives as it is."""
    if i.kind != "call" or not i.pure or i.part or len(i.inputs) != 2:
        return None
    unit = _UNITS.get(i.function, "") if i.row is None else i.row.unit
    if not unit:
        return None
    out = i.outputs[0]
    x, y = i.inputs
    if type(x) is not Value or (type(y) is Value and y.kind != "constant"):
        x, y = (y, x) if unit == "both" else (None, None)
    if type(x) is not Value or out is None or x.kind == "constant" or out.view:
        return None
    if x.shape != out.shape or x.dtype != out.dtype or x.strides != out.strides:
        return None
    if x.root in taken or out.root in taken or x.kind != "result":
        return None
    if type(y) is Value:
        return x if y.dtype == x.dtype and A.all_ones(y.raw) else None
    return x if type(y) in (int, float) and y == 1 else None
