"""What instructions mean to a fusion group: elementwise operations and reductions as symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._formula import ir as G
from ..lowering import elementwise
from ..runtime.ufuncs import ufunc_of
from .program import Instruction, Value

DTYPES: Final = {"float32": "f32", "float64": "f64", "bool": "b1", "int64": "i64"}
FLOATS: Final = ("float32", "float64")

_BY_UFUNC: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "true_divide": lambda x, y: x / y, "negative": lambda x: -x,
    "exp": G.exp, "log": G.log, "log1p": G.log1p, "expm1": G.expm1, "tanh": G.tanh,
    "sqrt": G.sqrt, "sin": G.sin, "cos": G.cos, "absolute": G.absolute, "maximum": G.maximum,
    "minimum": G.minimum, "square": lambda x: x * x, "reciprocal": lambda x: 1.0 / x,
    "floor": G.floor, "ceil": G.ceil, "rint": G.rint, "trunc": G.trunc, "positive": lambda x: x,
    "isnan": lambda x: x.differs(x), "float_power": G.power, "power": G.power,
    "sign": lambda x: G.where(x.equals(x), elementwise.sign(x), x),
    "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y, "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y, "equal": lambda x, y: x.equals(y),
    "not_equal": lambda x, y: x.differs(y), "logical_not": lambda x: ~x,
    "logical_and": lambda x, y: x & y, "logical_or": lambda x, y: x | y,
    "logical_xor": lambda x, y: x ^ y, "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y, "bitwise_xor": lambda x, y: x ^ y, "invert": lambda x: ~x,
    "bitwise_not": lambda x: ~x, "bitwise_invert": lambda x: ~x,
}  # fmt: skip


def function_of(i: Instruction) -> Callable[..., Any] | None:
    """The elementwise function that an instruction computes; None where it isn't one."""
    if i.kind != "call" or i.several or len(i.outputs) != 1 or i.outputs[0] is None:
        return None
    ufunc = ufunc_of(i, single=True)
    if ufunc is not None:
        return _BY_UFUNC.get(ufunc.__name__)
    function = getattr(i.function, "formula", None) or elementwise.FORMULAS.get(i.name)
    # A copy in another layout is called `keep` too: it has no mask.
    mask = {"keep": i.inputs[1:2], "where": i.inputs[:1], "masked_fill": i.inputs[1:2]}.get(i.name)
    if mask and (type(mask[0]) is not Value or mask[0].dtype.name != "bool"):
        return None
    if function is None or not all(type(x) in (Value, int, float) or x is None for x in i.inputs):
        return None
    return function if elementwise.fits(i.name, i.inputs, _is_value) else None


def _is_value(x: Any) -> bool:
    return type(x) is Value


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
