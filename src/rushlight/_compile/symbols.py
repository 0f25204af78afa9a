"""What instructions mean to a fusion group: elementwise operations and reductions as symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._array.kernels import formulas
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


def _filled(x: Any, mask: Any, value: Any) -> Any:
    return G.where(mask, value, x)


def _power(x: Any, n: Any) -> Any:
    """x to a small whole number, by products."""
    if n == 1:
        return x
    half = _power(x, n // 2) if n > 3 else x
    if n > 3:
        return half * half if n % 2 == 0 else half * half * x
    return x * x if n == 2 else x * x * x


def _clamped(x: Any, low: Any, high: Any) -> Any:
    return G.minimum(G.maximum(x, low), high)


_BY_NAME: Final[dict[str, Callable[..., Any]]] = {
    "square": lambda x: x * x, "_square_slope": lambda g, x: g * (x * 2.0),
    "relu": lambda x: G.maximum(x, 0.0), "sigmoid": G.sigmoid,
    "keep": lambda g, mask: G.where(mask, g, 0.0), "where": lambda c, x, y: G.where(c, x, y),
    "rsqrt": lambda x: G.rsqrt(x), "silu": formulas.silu, "masked_fill": _filled,
    "silu_backward": formulas.silu_backward, "pow": _power, "_plus": lambda x, y: x + y,
    "leaky_relu": lambda x, slope: G.where(x > 0.0, x, x * slope),
    "clamp": _clamped,
}  # fmt: skip


def function_of(i: Instruction) -> Callable[..., Any] | None:
    """The elementwise function that an instruction computes; None where it isn't one."""
    if i.kind != "call" or i.several or len(i.outputs) != 1 or i.outputs[0] is None:
        return None
    ufunc = ufunc_of(i, single=True)
    if ufunc is not None:
        return _BY_UFUNC.get(ufunc.__name__)
    function = _BY_NAME.get(i.name)
    # A copy in another layout is called `keep` too: it has no mask.
    mask = {"keep": i.inputs[1:2], "where": i.inputs[:1], "masked_fill": i.inputs[1:2]}.get(i.name)
    if mask and (type(mask[0]) is not Value or mask[0].dtype.name != "bool"):
        return None
    if i.name == "pow" and (type(i.inputs[1]) is Value or i.inputs[1] not in (1, 2, 3, 4)):
        return None
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


def kind_in(shape: tuple[int, ...], split: int, value: Value) -> str | None:
    """How a value varies over a space whose rows are the first `split` dimensions: f, r, c or s.

    None where it doesn't fit. What has been expanded counts as what it was before: strides of zero
    don't vary.
    """
    if value.dtype.name not in DTYPES or len(value.shape) > len(shape):
        return None
    if size_of(value.shape) == 1:
        return "s"
    missing = len(shape) - len(value.shape)
    steps = [0] * missing
    for n, m, stride in zip(value.shape, shape[missing:], value.strides):
        if n not in (1, m):
            return None
        steps.append(0 if n == 1 else stride)
    size = value.dtype.itemsize
    along = _runs(shape[split:], steps[split:], size)
    columns = size_of(shape[split:])
    across = _runs(shape[:split], steps[:split], size * columns if along else size)
    if along is None or across is None:
        return None
    if columns == 1:
        along = True
    if across or size_of(shape[:split]) == 1:
        return "f" if along else "r" if across else "s"
    return "c" if along else "s"


def _runs(shape: tuple[int, ...], strides: list[int], step: int) -> bool | None:
    """Whether elements lie one after the other (True), or don't vary (False)."""
    moving = [(n, s) for n, s in zip(shape, strides) if n != 1]
    if all(s == 0 for _, s in moving):
        return False
    for n, s in reversed(moving):
        if s != step:
            return None
        step *= n
    return True


def in_order(value: Value) -> bool:
    """Whether the elements lie one after the other, in C order."""
    step = value.dtype.itemsize
    for n, stride in zip(reversed(value.shape), reversed(value.strides)):
        if n != 1 and stride != step:
            return False
        step *= n
    return True
