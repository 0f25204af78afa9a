"""Numbers that differ from call to call become operands of kernels, told before the native calls.

Such a number is a learning rate that is an argument of the step, or a count of steps in a bias
correction. Python computes it, as it did while the step was recorded, and writes it into a word
that kernels read. A number that is read from one of the program's own tensors isn't known before
the kernels run; instructions that need it stay with Python.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from ..._array.memory.aliasing import UFUNC_OF
from ..._array.numpy_namespace import add_scaled
from ..ir.expressions import Expr
from ..ir.iteration_values import FLOATS
from ..ir.program import Instruction, Program, Value

_OPERATORS: Final = (operator.add, operator.sub, operator.mul, operator.truediv)
#: Functions on arrays that take numbers which are given in each call, beside the rows that say so.
_FUNCTIONS: Final = frozenset((
    *_OPERATORS, *map(UFUNC_OF.get, _OPERATORS), operator.pow, add_scaled,
))  # fmt: skip


def bind_scalars(program: Program) -> None:
    """Puts values in the places of numbers that are given in each call."""
    known: dict[Any, Value] = {}
    for k, i in enumerate(program.instructions):
        if i.kind not in ("call", "write") or not _takes_numbers(i):
            continue
        if not any(type(x) is Expr for x in i.inputs):
            continue
        like = i.inputs[0] if i.kind == "write" else i.outputs[0]
        if type(like) is not Value or like.dtype.name not in FLOATS:
            continue
        if any(type(x) is Expr and x.depends_on_tensors() for x in i.inputs):
            continue
        inputs = tuple(_value(program, x, like, known) if type(x) is Expr else x for x in i.inputs)
        program.instructions[k] = _with(i, inputs)


def _takes_numbers(i: Instruction) -> bool:
    return i.function in _FUNCTIONS if i.row is None else i.row.given_numbers


def _value(program: Program, expr: Expr, like: Value, known: dict[Any, Value]) -> Value:
    key = (id(expr), like.dtype)
    if key not in known:
        number = len(program.values)
        made = like.like(number, kind="number", root=number, shape=(), strides=(), view=False,
                         offset=0, holder=expr)  # fmt: skip
        program.values.append(made)
        known[key] = made
    return known[key]


def _with(i: Instruction, inputs: tuple[object, ...]) -> Instruction:
    made = Instruction(i.kind, i.function, i.name, inputs, i.outputs, op=i.op, where=i.where,
                       pure=i.pure, holder=i.holder, several=i.several)  # fmt: skip
    made.part = i.part
    return made
