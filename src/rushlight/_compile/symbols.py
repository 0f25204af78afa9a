"""What instructions mean to a fusion group: elementwise operations and reductions as symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._codegen import group as G
from .program import Instruction, Value
from .ufuncs import ufunc_of

DTYPES: Final = {"float32": "f32", "float64": "f64", "bool": "b1", "int64": "i64"}
FLOATS: Final = ("float32", "float64")

_BY_UFUNC: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "true_divide": lambda x, y: x / y, "negative": lambda x: -x,
    "exp": G.exp, "log": G.log, "log1p": G.log1p, "expm1": G.expm1, "tanh": G.tanh,
    "sqrt": G.sqrt, "sin": G.sin, "cos": G.cos, "absolute": G.absolute, "maximum": G.maximum,
    "minimum": G.minimum, "square": lambda x: x * x, "reciprocal": lambda x: 1.0 / x,
    "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y, "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y, "equal": lambda x, y: x.equals(y),
    "not_equal": lambda x, y: x.differs(y), "logical_not": lambda x: ~x,
    "logical_and": lambda x, y: x & y, "logical_or": lambda x, y: x | y,
}  # fmt: skip
_BY_NAME: Final[dict[str, Callable[..., Any]]] = {
    "relu": lambda x: G.maximum(x, 0.0), "sigmoid": G.sigmoid,
    "keep": lambda g, mask: G.where(mask, g, 0.0), "where": lambda c, x, y: G.where(c, x, y),
    "rsqrt": lambda x: G.rsqrt(x), "silu": lambda x: x * G.sigmoid(x),
}  # fmt: skip


def function_of(i: Instruction) -> Callable[..., Any] | None:
    """The elementwise function that an instruction computes; None where it isn't one."""
    if i.kind != "call" or i.several or len(i.outputs) != 1 or i.outputs[0] is None:
        return None
    ufunc = ufunc_of(i)
    if ufunc is not None:
        return _BY_UFUNC.get(ufunc.__name__)
    function = _BY_NAME.get(i.name)
    if function is not None and all(type(x) in (Value, int, float) for x in i.inputs):
        return function
    return None


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


def kind_in(space: tuple[int, ...], value: Value) -> str | None:
    """How a value varies over a space: f, r, c or s; None where it doesn't fit.

    What has been expanded counts as what it was before: strides of zero don't vary.
    """
    if value.dtype.name not in DTYPES:
        return None
    if size_of(value.shape) == 1:
        return "s"
    shape = value.shape
    if len(shape) > len(space):
        return None
    missing = len(space) - len(shape)
    size = value.dtype.itemsize
    strides = [0] * missing + [0 if n == 1 else s for n, s in zip(shape, value.strides)]
    for n, m in zip([1] * missing + list(shape), space):
        if n not in (1, m):
            return None
    lead = [(n, s) for n, s in zip(space[:-1], strides[:-1]) if n != 1]
    last = strides[-1] if space[-1] != 1 else 0
    if last not in (0, size):
        return None
    along = last == size or space[-1] == 1
    if all(s == 0 for _, s in lead):
        if not lead:
            return "f" if last == size else "s"
        return "c" if last == size else "s"
    step = size * (space[-1] if last == size else 1)
    for n, s in reversed(lead):
        if s != step:
            return None
        step *= n
    return "f" if along else "r"


def in_order(value: Value) -> bool:
    """Whether the elements lie one after the other, in C order."""
    step = value.dtype.itemsize
    for n, stride in zip(reversed(value.shape), reversed(value.strides)):
        if n != 1 and stride != step:
            return False
        step *= n
    return True
