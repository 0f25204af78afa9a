"""The vocabulary of formulas: functions that mean in each world what they mean there.

    def softplus(x, beta, threshold):
        return where(x * beta > threshold, x, log1p(exp(x * beta)) / beta)

On arrays this computes, on Tensors it records a graph, on symbols it writes instructions. A world
gives its functions in `WORLDS`, under the class of its values; operators are methods of that class.
Python numbers belong to no world: arithmetic on them is Python's own.

A word of rows takes a value and the dimensions along which its rows lie, and keeps these as ones.
Symbols have rows and columns, and need no dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .._base.lazy import Function

if TYPE_CHECKING:
    from .._array.nn.generated_losses import _Rounded
    from .._base.annotations import AnyCallable, TensorLike

__all__ = [
    "WORLDS", "Formula", "absolute", "ceil", "column_sum", "cos", "detach", "erf", "exp", "expm1",
    "floor", "formula", "formula_of", "gate", "gate_backward", "keep", "large_of", "log", "log1p",
    "log_sigmoid", "log_sigmoid_in_steps", "maximum", "minimum", "pick", "place", "power", "relu",
    "rint", "row_max", "row_min", "row_sum", "row_top", "rsqrt", "scale_unit", "shifted_exp",
    "sigmoid", "sign", "sin", "sqrt", "tanh", "trunc", "where", "with_formula",
]  # fmt: skip

Word = Callable[..., Any]

#: By the class of a world's values, what each word means for them.
WORLDS: Final[dict[type, Mapping[str, Word]]] = {}
_known: Final[dict[type, Mapping[str, Word] | None]] = {int: None, float: None, bool: None}


def _world(kind: type) -> Mapping[str, Word] | None:
    if kind not in _known:
        found = next((WORLDS[base] for base in kind.__mro__ if base in WORLDS), None)
        if found is None:
            return None  # its world may still come
        _known[kind] = found
    return _known[kind]


def _word(name: str, doc: str) -> Word:
    def word(*operands: object) -> TensorLike | _Rounded:
        for x in operands:
            world = _world(type(x))
            if world is not None:
                return world[name](*operands)
        kinds = ", ".join(type(x).__name__ for x in operands)
        raise TypeError(f"{name}: no formula works on {kinds}")

    word.__name__ = word.__qualname__ = name
    word.__doc__ = doc
    return word


absolute = _word("absolute", "|x|.")
ceil = _word("ceil", "The next whole number above.")
column_sum = _word("column_sum", "The sum over all rows, element by element.")
cos = _word("cos", "The cosine.")
detach = _word("detach", "The value alone, through which no gradient passes.")
erf = _word("erf", "The error function.")
exp = _word("exp", "e to the power of x.")
expm1 = _word("expm1", "exp(x) - 1, without loss near 0.")
floor = _word("floor", "The next whole number below.")
log = _word("log", "The natural logarithm.")
log1p = _word("log1p", "log(1 + x), without loss near 0.")
log_sigmoid = _word("log_sigmoid", "log(sigmoid(x)), which doesn't underflow.")
maximum = _word("maximum", "The larger of two; nan where one is.")
minimum = _word("minimum", "The smaller of two; nan where one is.")
pick = _word("pick", "The element of each row at the place that an index says: (x, index, dim).")
place = _word(
    "place", "x at each row's place, else 0: (x, index, like, dim), x by row, the result as like."
)
power = _word("power", "x to the power of y.")
relu = _word("relu", "x where it is positive, else 0; nan stays.")
rint = _word("rint", "The nearest whole number; of two the even one.")
row_max = _word("row_max", "The largest of each row; nan where one is.")
row_min = _word("row_min", "The smallest of each row; nan where one is.")
row_sum = _word("row_sum", "The sum of each row.")
row_top = _word("row_top", "`row_max` that may pass over nan, and no gradient passes it: a shift.")
rsqrt = _word("rsqrt", "1 / sqrt(x).")
shifted_exp = _word(
    "shifted_exp",
    "exp(x - s), with a number s for each row such that its sum neither overflows nor vanishes.",
)
sigmoid = _word("sigmoid", "1 / (1 + exp(-x)).")
sign = _word("sign", "-1, 0 or 1; 0 for nan.")
sin = _word("sin", "The sine.")
sqrt = _word("sqrt", "The square root.")
tanh = _word("tanh", "The hyperbolic tangent.")
trunc = _word("trunc", "The whole number towards 0.")
_choose = _word("where", "The second where the first is True, else the third.")


def where(condition: object, x: object, y: Any) -> Any:
    """`x` where the condition is True, else `y`; numbers decide as a whole."""
    if type(condition) is bool:
        return x if condition else y
    return _choose(condition, x, y)


def log_sigmoid_in_steps(x: TensorLike) -> TensorLike:
    """`log_sigmoid` for worlds that have no such operation."""
    return minimum(x, 0) - log1p(exp(-absolute(x)))


def scale_unit(g: TensorLike, x: TensorLike, norm: TensorLike) -> TensorLike:
    """g times x / norm, and times zero where the norm is zero: a norm's gradient."""
    zero: object = 0
    return g * where(norm == zero, 0.0, x / norm)


class Formula:
    """A function in the vocabulary, as a row has it until it settles."""

    __slots__ = ("function", "narrow", "override")

    def __init__(self, function: Word, override: Any, narrow: bool = False) -> None:
        self.function = function
        self.override = override
        self.narrow = narrow


def formula(function: Word, *, override: Function | None = None, narrow: bool = False) -> Any:
    """Says that a row's function is in the vocabulary: every world reads it from there.

    `override` computes the same on arrays of float32 or float64, measurably faster; where it gives
    None the formula is taken. `narrow` says that beside 16-bit floats numbers are rounded to 16
    bits, too.
    """
    return Formula(function, override, narrow)


def with_formula(function: Word) -> Callable[[Word], Any]:
    """Says what a hand-written function of arrays computes, in the vocabulary."""

    def set_formula(raw: Any) -> AnyCallable:
        raw.formula = function
        return raw

    return set_formula


def formula_of(raw: Any, known: bool) -> AnyCallable:
    """The formula of a function made from one, with its usual numbers for constants where they are
    known to be given."""
    formula: AnyCallable = raw.formula
    if not known:
        return formula
    names = (*raw.arrays, *raw.numbers)

    def call_bound(*values: Any) -> Any:
        return formula(*[raw.usual.get(p, x) for p, x in zip(names, values, strict=True)])

    call_bound.__name__ = f"{raw.__name__}_usual"
    return call_bound


def large_of(raw: AnyCallable) -> AnyCallable:
    """What has the formula of a function's large arrays: the function where it is made from one."""
    plain = getattr(raw, "plain", raw)
    plain = plain.find() if type(plain) is Function else plain
    found: AnyCallable = getattr(plain, "large", plain)
    return found


def keep(g: Any, mask: Any) -> Any:
    """`g` where `mask` is True, zero elsewhere."""
    return where(mask, g, 0.0)


def gate(a: Any, b: Any) -> Any:
    """What the second half of an array lets through of the first."""
    return a / (1 + exp(-b))


def gate_backward(g: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The gradients of both halves."""
    s = sigmoid(b)
    first = g * s
    return first, first * a * (1 - s)
