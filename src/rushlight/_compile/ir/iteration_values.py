"""What instructions mean to a fusion group: elementwise operations and reductions as symbols."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..._array.elementwise.ufuncs import FORMULAS
from ..._array.memory import aliasing as A
from ..._formula.ir import trace
from .program import Instruction, Value
from .ufuncs import ufunc_of

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Positional
    from ..._formula.ir import Symbol

DTYPES: Final = {"float32": "f32", "float64": "f64", "bool": "b1", "int64": "i64"}
FLOATS: Final = ("float32", "float64")


def function_of(i: Instruction) -> AnyCallable | None:
    """The elementwise function that an instruction computes; None where it isn't one."""
    out = i.outputs[0] if len(i.outputs) == 1 else None
    if i.kind != "call" or i.several or out is None:
        return None
    function = _formula_of(i)
    if function is None:
        return None
    operands: list[Any] = []
    for x in i.inputs:
        if type(x) is Value:
            operands.append(DTYPES.get(x.dtype.name, ""))
        elif x is None or (isinstance(x, (int, float, *A.number_types)) and x == x):
            operands.append((type(x), x))
        else:
            return None
    found = _result_of(function, tuple(operands))
    return function if found is not None and found == DTYPES.get(out.dtype.name) else None


def _formula_of(i: Instruction) -> AnyCallable | None:
    ufunc = ufunc_of(i, single=True)
    if ufunc is not None:
        return FORMULAS.get(ufunc)
    if i.op is not None:
        return i.op.formula
    return FORMULAS.get(i.function) or getattr(i.function, "formula", None)


@lru_cache(1024)
def _result_of(function: AnyCallable, operands: Positional) -> str | None:
    """The dtype of a formula's result; None where it means nothing for such operands."""
    names = {f"x{k}": ("f", x) for k, x in enumerate(operands) if type(x) is str}

    def call_with_numbers(*symbols: object) -> Symbol:
        rest = iter(symbols)
        return function(*[next(rest) if type(x) is str else x[1] for x in operands])

    try:
        group = trace("", call_with_numbers, names)
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        return None
    return group.dtype(group.outputs[0].value)


def space_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """A shape as rows by columns."""
    rows = 1
    for n in shape[:-1]:
        rows *= n
    return rows, shape[-1] if shape else 1


def size_of(shape: tuple[int, ...]) -> int:
    """How many elements there are."""
    size = 1
    for n in shape:
        size *= n
    return size


def in_order(value: Value) -> bool:
    """Whether the elements lie one after the other, in C order."""
    step = value.dtype.itemsize
    for n, stride in zip(reversed(value.shape), reversed(value.strides)):
        if n != 1 and stride != step:
            return False
        step *= n
    return True
