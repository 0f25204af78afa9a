"""Fusion groups: what one kernel computes, as plain data.

A group runs over (R, C), rows by columns. Every value has a kind that says how it varies: `f` over
both (R, C), `r` by row (R, 1), `c` by column (1, C), `s` not at all; and a dtype out of f32, f64,
i64, i32 and b1. Instructions are elementwise, or reduce: along a row (the result is an `r`), down
the columns (a `c`) or over everything (an `s`). Column and full reductions end a group: their
results may only be given out. An operand of kind `f%` or `r%` is an `f` or `r` whose rows repeat,
or stay the same for some rows: its frame says how. `row_top` is a maximum that may pass over nan: a
shift, for where the sum that follows has the nan anyway; with a payload any other number for which
exp(x - shift) is in range will do as well. Elementwise work on N numbers is a group
without `r` and `c`.

    softmax = trace("softmax", _softmax, {"x": ("f", "f32")})
    def _softmax(x):
        e = exp(x - row_top(x))
        return e / row_sum(e)

`print(softmax)` shows it; groups are equal and hash alike when they compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .words import (
    WORLDS,
    absolute,
    ceil,
    column_sum,
    cos,
    erf,
    exp,
    expm1,
    floor,
    log,
    log1p,
    log_sigmoid_in_steps,
    maximum,
    minimum,
    pick,
    power,
    rint,
    row_max,
    row_min,
    row_sum,
    row_top,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sqrt,
    tanh,
    trunc,
    where,
)

if TYPE_CHECKING:
    from .._base.annotations import AnyCallable

__all__ = [
    "Group", "GroupError", "Instruction", "Operand", "Output", "Symbol", "absolute", "cast",
    "ceil", "column", "column_sum", "cos", "erf", "exp", "expm1", "floor", "into", "log", "log1p",
    "maximum", "minimum", "one_hot", "pick", "power", "rint", "row", "row_count", "row_max",
    "row_min", "row_sum", "row_top", "rsqrt", "sigmoid", "sign", "sin", "sqrt", "tanh", "total",
    "trace", "trunc", "where",
]  # fmt: skip

KINDS: Final = "srcf"
FLOATS: Final = ("f32", "f64")
DTYPES: Final = ("f32", "f64", "i32", "i64", "b1")

#: Operations on floats, one argument. The flag says that the result costs more to compute again
#: than to keep.
UNARY: Final = {
    "neg": False, "abs": False, "sqrt": True, "rsqrt": True, "exp": True, "expm1": True,
    "log": True, "log1p": True, "tanh": True, "erf": True, "sigmoid": True, "sin": True,
    "cos": True, "floor": False, "ceil": False, "trunc": False, "rint": False,
}  # fmt: skip
BINARY: Final = {
    "add": False, "sub": False, "mul": False, "div": True, "max": False, "min": False, "pow": True,
    "copysign": False, "nextafter": True,
}  # fmt: skip
_WHOLE: Final = frozenset(("add", "sub", "mul", "neg", "max", "min", "abs"))  # of i32, i64 too
COMPARISONS: Final = ("lt", "le", "gt", "ge", "eq", "ne")
LOGICAL: Final = ("and", "or", "xor")
_OPERANDS: Final = (*KINDS, "f%", "r%")
ROW_REDUCTIONS: Final = ("row_sum", "row_max", "row_min", "row_top")
LAST_REDUCTIONS: Final = ("column_sum", "total")
#: How many arguments each operation takes.
ARITY: Final = {
    **dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2), **dict.fromkeys(COMPARISONS, 2),
    **dict.fromkeys(LOGICAL, 2), "not": 1, "where": 3, "cast": 1, "const": 0, "column": 0, "row": 0,
    "row_count": 0,
    "one_hot": 1, "pick": 2, "broadcast_f": 1, "broadcast_r": 1, **dict.fromkeys(ROW_REDUCTIONS, 1),
    **dict.fromkeys(LAST_REDUCTIONS, 1),
}  # fmt: skip


class GroupError(ValueError):
    """A group that means nothing."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An input: how it varies, and its dtype."""

    name: str
    kind: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation on earlier values; `payload` is the number of a constant."""

    op: str
    args: tuple[int, ...]
    kind: str
    dtype: str
    payload: float | int | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A value that is given out; `alias` is the operand whose memory it is written to, or -1."""

    value: int
    alias: int = -1


@dataclass(frozen=True, slots=True)
class Group:
    """Operands, instructions and outputs. Value number i is operand i, then the instructions'.

    Raises: GroupError where kinds, dtypes or the order of values don't fit.
    """

    name: str
    operands: tuple[Operand, ...]
    body: tuple[Instruction, ...]
    outputs: tuple[Output, ...]

    def __post_init__(self) -> None:
        _check(self)

    def kind(self, value: int) -> str:
        """How a value varies."""
        count = len(self.operands)
        return self.operands[value].kind[0] if value < count else self.body[value - count].kind

    def dtype(self, value: int) -> str:
        """The dtype of a value."""
        count = len(self.operands)
        return self.operands[value].dtype if value < count else self.body[value - count].dtype

    def instruction(self, value: int) -> Instruction | None:
        """What computes a value; None for an operand."""
        count = len(self.operands)
        return None if value < count else self.body[value - count]

    @property
    def elementwise(self) -> bool:
        """Whether rows and columns mean nothing, so that any N elements can be worked through."""
        return (
            all(self.kind(v) in "sf" for v in range(len(self.operands) + len(self.body)))
            and not any(i.op in ("column", "row", "pick", "one_hot") for i in self.body)
            and not any(o.kind[1:] for o in self.operands)
        )

    def __str__(self) -> str:
        count = len(self.operands)

        def word(value: int) -> str:
            return self.operands[value].name if value < count else f"%{value}"

        inputs = ", ".join(f"{o.name}: {o.kind} {o.dtype}" for o in self.operands)
        lines = [f"group {self.name}({inputs})"]
        for place, one in enumerate(self.body):
            words = " ".join(map(word, one.args))
            if one.payload is not None:
                words += repr(one.payload) if one.op == "const" else f" with {one.payload!r}"
            lines.append(f"  %{count + place} = {one.op} {words} : {one.kind} {one.dtype}".rstrip())
        for out in self.outputs:
            end = f" into {word(out.alias)}" if out.alias >= 0 else ""
            lines.append(f"  give {word(out.value)}{end}")
        return "\n".join(lines)


def join_kinds(kinds: Sequence[str]) -> str:
    """How the result of an elementwise operation on such values varies."""
    if "f" in kinds or ("r" in kinds and "c" in kinds):
        return "f"
    return "r" if "r" in kinds else "c" if "c" in kinds else "s"


def _result(op: str, kinds: Sequence[str], dtypes: Sequence[str]) -> tuple[str, str | None]:
    """Kind and dtype of an operation's result; None where the dtype is free to choose.

    Raises: GroupError for operands that it doesn't take.
    """
    if op in UNARY or op in BINARY:
        dtype = dtypes[0]
        _need(dtype != "b1" and dtypes[-1] == dtype, op, "takes numbers of one dtype")
        _need(dtype in FLOATS or op in _WHOLE, op, "takes f32 or f64")
        return join_kinds(kinds), dtype
    if op in ROW_REDUCTIONS:
        _need(kinds[0] in "fc", op, "takes a value that varies along the row")
        return "r", dtypes[0]
    if op == "column_sum":
        _need(kinds[0] in "fr", op, "takes a value that varies by row")
        return "c", dtypes[0]
    if op == "total":
        _need(kinds[0] in "fr" and dtypes[0] in FLOATS, op, "takes a float that varies by row")
        return "s", dtypes[0]
    if op == "pick":
        _need(kinds == ["f", "r"] and dtypes[1][0] == "i", op, "takes an f and a whole r")
        return "r", dtypes[0]
    if op == "one_hot":
        _need(kinds == ["r"] and dtypes[0][0] == "i", op, "takes a whole r")
        return "f", "b1"
    if op in ("broadcast_f", "broadcast_r"):
        _need(kinds[0] == "s" or op == "broadcast_f", op, "takes a value that varies less")
        return op[-1], dtypes[0]
    if op == "column":
        return "c", "i32"
    if op in ("row", "row_count"):
        return "r" if op == "row" else "s", "i64"
    kind = join_kinds(kinds)
    if op in ("const", "cast"):
        return kind, None
    if op in COMPARISONS:
        _need(dtypes[0] == dtypes[1], op, "compares one dtype with another")
        _need(dtypes[0] != "b1" or op in ("eq", "ne"), op, "takes numbers")
        return kind, "b1"
    if op in LOGICAL or op == "not":
        _need(all(d == "b1" for d in dtypes), op, "takes b1")
        return kind, "b1"
    _need(dtypes[0] == "b1" and dtypes[1] == dtypes[2], op, "takes a b1 and two of one dtype")
    return kind, dtypes[1]


def _need(condition: bool, op: str, text: str) -> None:
    if not condition:
        raise GroupError(f"{op} {text}")


def _refuse(op: str, text: str) -> None:
    raise GroupError(f"{op} {text}")


def _check(group: Group) -> None:
    # Texts are made only of what is refused: each group of each process comes by here.
    for operand in group.operands:
        if operand.kind not in _OPERANDS or operand.dtype not in DTYPES:
            _refuse("operand", f"{operand}: no such")
    kinds = [o.kind[0] for o in group.operands]  # of values
    dtypes = [o.dtype for o in group.operands]
    count = len(kinds)
    last: set[int] = set()
    for place, one in enumerate(group.body, count):
        op, args = one.op, one.args
        if op not in ARITY:
            _refuse(op, "is no operation")
        if len(args) != ARITY[op]:
            _refuse(op, f"takes {ARITY[op]} arguments")
        for arg in args:
            if not 0 <= arg < place:
                _refuse(op, f"uses value {arg}, which isn't there yet")
            if arg in last:
                _refuse(op, "uses a reduction that ends the group")
        kind, dtype = _result(op, [kinds[a] for a in args], [dtypes[a] for a in args])
        if kind != one.kind or dtype not in (None, one.dtype):
            _refuse(op, f"is {kind} {dtype}")
        if op in LAST_REDUCTIONS:
            last.add(place)
        if op == "pick" and args[0] >= count:
            _refuse(op, "reads an operand")
        kinds.append(one.kind)
        dtypes.append(one.dtype)
    if not group.outputs:
        _refuse(group.name, "gives nothing")
    for out in group.outputs:
        if not 0 <= out.value < len(kinds):
            _refuse("output", "is no value")
        kind = kinds[out.value]
        if out.alias >= 0:
            target = group.operands[out.alias]
            if target.kind not in ("f", "r") or (target.kind, target.dtype) != (
                kind, dtypes[out.value]
            ):  # fmt: skip
                _refuse("output", "is written over another sort of operand")
        elif kind in "cs" and out.value not in last:
            _refuse("output", "of kind c or s must be a reduction")


# ---- tracing -----------------------------------------------------------------------------------


class _Trace:
    def __init__(self, operands: tuple[Operand, ...]) -> None:
        self.operands = operands
        self.body: list[Instruction] = []
        self.known: dict[Any, Symbol] = {}

    def add(
        self, op: str, args: Sequence[Symbol], dtype: str | None = None,
        payload: float | int | None = None,
    ) -> Symbol:  # fmt: skip
        values = tuple([a.value for a in args])
        # 0.0 and -0.0 are equal, and so are 1 and 1.0: their text tells them apart.
        key = (op, values, dtype, repr(payload))
        known = self.known.get(key)
        if known is None:
            kind, given = _result(op, [a.kind for a in args], [a.dtype for a in args])
            dtype = given or dtype or "f32"
            known = Symbol(self, len(self.operands) + len(self.body), kind, dtype)
            self.known[key] = known
            self.body.append(Instruction(op, values, kind, dtype, payload))
        return known


class Symbol:
    """A value of a group that is being traced: arithmetic on it adds instructions."""

    __slots__ = ("dtype", "kind", "trace", "value")

    __array_ufunc__ = None  # arrays and their numbers leave arithmetic with symbols to them

    def __init__(self, trace: _Trace, value: int, kind: str, dtype: str) -> None:
        self.trace = trace
        self.value = value
        self.kind = kind
        self.dtype = dtype

    def like(self, other: Symbol | float | int | bool) -> Symbol:
        """A number as a constant of this dtype; a symbol as it is."""
        if isinstance(other, Symbol):
            return other
        if self.dtype in FLOATS:
            return self.trace.add("const", [], self.dtype, float(other))
        fits = type(other) is not float and (self.dtype != "b1" or other in (0, 1))
        _need(fits, "const", f"{other} is no {self.dtype}")
        return self.trace.add("const", [], self.dtype, int(other))

    def _with(self, op: str, other: Symbol | float, turned: bool = False) -> Symbol:
        if type(other) is not Symbol and other == 1 and op in ("mul", "div") and not (
            turned and op == "div"
        ):  # fmt: skip
            return self  # no digit changes
        second = self.like(other)
        return self.trace.add(op, [second, self] if turned else [self, second])

    def __add__(self, other: Symbol | float) -> Symbol:
        return self._with("add", other)

    def __radd__(self, other: float) -> Symbol:
        return self._with("add", other, True)

    def __sub__(self, other: Symbol | float) -> Symbol:
        return self._with("sub", other)

    def __rsub__(self, other: float) -> Symbol:
        return self._with("sub", other, True)

    def __mul__(self, other: Symbol | float) -> Symbol:
        return self._with("mul", other)

    def __rmul__(self, other: float) -> Symbol:
        return self._with("mul", other, True)

    def __truediv__(self, other: Symbol | float) -> Symbol:
        return self._with("div", other)

    def __rtruediv__(self, other: float) -> Symbol:
        return self._with("div", other, True)

    def __neg__(self) -> Symbol:
        return self.trace.add("neg", [self])

    def __lt__(self, other: Symbol | float) -> Symbol:
        return self._with("lt", other)

    def __le__(self, other: Symbol | float) -> Symbol:
        return self._with("le", other)

    def __gt__(self, other: Symbol | float) -> Symbol:
        return self._with("gt", other)

    def __ge__(self, other: Symbol | float) -> Symbol:
        return self._with("ge", other)

    def __eq__(self, other: Symbol | float) -> Symbol:  # type: ignore[override]
        return self._with("eq", other)

    def __ne__(self, other: Symbol | float) -> Symbol:  # type: ignore[override]
        return self._with("ne", other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise GroupError("a formula branches on a value")

    def __and__(self, other: Symbol | bool) -> Symbol:
        return self if other is True else self._with("and", other)

    def __or__(self, other: Symbol | bool) -> Symbol:
        return self if other is False else self._with("or", other)

    def __xor__(self, other: Symbol | bool) -> Symbol:
        return self if other is False else self._with("xor", other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Symbol:
        return self.trace.add("not", [self])

    def __abs__(self) -> Symbol:
        return self.trace.add("abs", [self])


def _unary(op: str) -> Callable[[Symbol], Symbol]:
    def function(x: Symbol) -> Symbol:
        return x.trace.add(op, [x])

    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"The operation `{op}` on a symbol."
    return function


def _binary(op: str) -> Callable[[Any, Any], Symbol]:
    def function(x: Symbol, y: Any) -> Symbol:
        known: Symbol = x if type(x) is Symbol else y
        return known.trace.add(op, [known.like(x), known.like(y)])

    return function


def _where(condition: Symbol, x: Any, y: Any) -> Symbol:
    known = x if isinstance(x, Symbol) else y
    _need(isinstance(known, Symbol), "where", "takes a symbol among the two")
    return condition.trace.add("where", [condition, known.like(x), known.like(y)])


def _of_rows(op: str) -> Callable[..., Symbol]:
    return lambda x, dim=None: x.trace.add(op, [x])


def _shifted_exp(x: Symbol, dim: None = None) -> Any:
    return exp(x - x.trace.add("row_top", [x], payload=1))


def _sign(x: Symbol) -> Symbol:
    return _where(x > 0, x.like(1), _where(x < 0, x.like(-1), 0))


one_hot = _unary("one_hot")
WORLDS[Symbol] = {
    **{op: _unary(op) for op in (
        "ceil", "cos", "erf", "exp", "expm1", "floor", "log", "log1p", "rint", "rsqrt", "sigmoid",
        "sin", "sqrt", "tanh", "trunc",
    )},
    "absolute": _unary("abs"), "log_sigmoid": log_sigmoid_in_steps, "maximum": _binary("max"),
    "minimum": _binary("min"), "power": _binary("pow"), "sign": _sign, "where": _where,
    "relu": lambda x: _binary("max")(x, 0.0),
    "detach": lambda x: x,
    **{op: _of_rows(op) for op in (*ROW_REDUCTIONS, "column_sum")}, "shifted_exp": _shifted_exp,
    "pick": lambda x, index, dim=None: x.trace.add("pick", [x, index]),
    "place": lambda x, index, like, dim=None: _where(one_hot(index), x, 0.0),
}  # fmt: skip

total = _unary("total")
copysign = _binary("copysign")
nextafter = _binary("nextafter")


def broadcast(x: Symbol, kind: str) -> Symbol:
    """A value that varies less as one of kind `f` or `r`: the same in all places."""
    return x if x.kind == kind else x.trace.add(f"broadcast_{kind}", [x])


def everywhere(x: Symbol) -> Symbol:
    """A value as one that varies over all places: for sums, which count every one of them."""
    return broadcast(x, "f")


def cast(x: Symbol, dtype: str) -> Symbol:
    """The value as another dtype; floats are cut off towards zero."""
    return x if x.dtype == dtype else x.trace.add("cast", [x], dtype)


def column(like: Symbol) -> Symbol:
    """The number of the column, i32."""
    return like.trace.add("column", [])


def row(like: Symbol) -> Symbol:
    """The number of the row, i64."""
    return like.trace.add("row", [])


def row_count(like: Symbol) -> Symbol:
    """How many rows there are, i64: code that reads it is the same for any number of them."""
    return like.trace.add("row_count", [])


@dataclass(frozen=True, slots=True)
class _Into:
    symbol: Symbol
    operand: Symbol


def into(operand: Symbol, symbol: Symbol) -> Any:
    """As a result of a traced function: `symbol`, written over the memory of `operand`."""
    return _Into(symbol, operand)


def trace(name: str, function: AnyCallable, operands: Mapping[str, tuple[str, str]]) -> Group:
    """The group that a Python function of symbols computes; `operands` says kind and dtype of each.

    The function gives a symbol or a tuple of them, each possibly `into` an operand.
    """
    inputs = tuple(Operand(key, kind, dtype) for key, (kind, dtype) in operands.items())
    tracing = _Trace(inputs)
    symbols = [Symbol(tracing, place, o.kind[0], o.dtype) for place, o in enumerate(inputs)]
    found = function(*symbols)
    outputs = []
    for one in found if isinstance(found, tuple | list) else (found,):
        if isinstance(one, _Into):
            outputs.append(Output(one.symbol.value, one.operand.value))
        else:
            outputs.append(Output(one.value))
    tracing.known.clear()  # symbols lead to the trace: that would be a cycle
    return Group(name, inputs, tuple(tracing.body), tuple(outputs))
