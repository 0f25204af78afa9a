"""Finds and classifies the first difference between two observations of a program."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

# In this order they are looked for within a statement.
KINDS = (
    "crash", "hang", "accepted", "refused", "exception type", "message", "warning", "printed",
    "variable", "class", "dtype", "shape", "value", "requires_grad", "is_leaf", "node", "version",
    "stride", "offset", "shares", "is_view", "output_nr", "grad", "graph",
)  # fmt: skip
# After these the two programs are no longer the same.
PARTING = {"accepted", "refused", "variable", "class", "dtype", "shape", "value"}
# Doubles are often made of singles.
RELATIVE = {"torch.float64": 1e-5, "torch.complex128": 1e-5, "torch.float32": 2e-4}
RELATIVE |= {"torch.complex64": 2e-4, "torch.float16": 1e-2, "torch.bfloat16": 4e-2}
OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
    "MatMult": "@", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>",
    "Invert": "~", "USub": "neg", "UAdd": "pos", "Not": "not",
}  # fmt: skip


# What is written in place, what shows memory more than once, and what reads while it writes.
WRITES = re.compile(r"\w_\(|\] ?[-+*/%&|^]*=|[-+*/%&|^]=|out=|inplace=True|_foreach_")
TURNS = re.compile(r"\.(t|permute|transpose|swap\w+|movedim|adjoint)\(|\.(T|H|mT|mH)\b")
WINDOWS = re.compile(r"unfold|as_strided|expand|broadcast|masked_scatter")
SHARED = re.compile(r"(\w+)\.share_memory_\(")
SET = re.compile(r"(\w+)\.set_\(")
INVERTS = re.compile(r"solve|inv|inverse|slogdet|float_power|\*\*|cholesky|cross\(")
#: What has the condition of an inverse twice: its derivative, and what turns by its elements.
TWICE = re.compile(r"backward|grad|jacobian|hessian|jvp|vjp|\b(sin|cos|tan)_?\(")
#: Behind a condition, or a factor, of so much four digits are left of single precision.
LARGE = 1e3
READS_TOO = re.compile(r"(addb?mm|baddbmm|addmv|addr|masked_scatter)_\(|out=")


@dataclass(frozen=True)
class Difference:
    """Where two observations part: the kind, the statement, and what each side shows.

    `tangled`: memory has been written that is shown more than once, or read by the same statement.
    `signs`: the values are the same but for the signs of rows or columns.
    `halves`: the values are the same but for parts of complex numbers that are nan in PyTorch.
    `rounded`: the values agree to the digits of the coarsest floats that come in.
    `bits`: the values are whole numbers that are as near as the bits of nearly equal floats.
    `raised`: what the statement raised in PyTorch.
    `moved`: the variable lies in memory that `share_memory_` was called for.
    `set_view`: a view that is part of a graph has been given other memory by `set_`.
    `mixed`: operands of different layouts meet in the statement.
    `laid_out`: an operand comes in that is laid out in another way on the two sides.
    `singular`: a matrix whose condition costs the digits that are compared has been inverted, or
    factored.
    """

    kind: str
    number: int
    statement: str
    variable: str
    torch: str
    ours: str
    tangled: bool = False
    signs: bool = False
    halves: bool = False
    raised: str = ""
    moved: bool = False
    set_view: bool = False
    mixed: bool = False
    laid_out: bool = False
    rounded: bool = False
    bits: bool = False
    singular: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """What differences of one cause have in common."""
        detail = ""
        if self.kind not in ("value", "grad", "printed", "graph"):
            detail = f"{generalised(self.torch)} -> {generalised(self.ours)}"
        return self.kind, operation(self.statement), detail


def generalised(text: str) -> str:
    """A text without its numbers, sizes and variables' names."""
    text = re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "N", text)
    text = re.sub(r"N(, N)*,?", "N", text)
    return text


def operation(statement: str) -> str:
    """The name of the operation that a statement is about."""
    try:
        node: Any = ast.parse(statement).body[0]
    except SyntaxError:
        return statement
    while isinstance(node, (ast.With, ast.For, ast.If)):
        node = node.body[-1]
    if isinstance(node, ast.AugAssign):
        return OPERATORS[type(node.op).__name__] + "="
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            return "setitem"
        if isinstance(target, ast.Attribute):
            return f".{target.attr}="
    value = getattr(node, "value", node)
    if isinstance(value, ast.Call):
        func = value.func
        return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "call")
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        return OPERATORS[type(value.op).__name__]
    if isinstance(value, ast.Compare):
        return "compare"
    if isinstance(value, ast.Subscript):
        return "getitem"
    if isinstance(value, ast.Attribute):
        return f".{value.attr}"
    return type(value).__name__


def differences(program: list[str], torch: Any, ours: Any) -> Iterator[Difference]:
    """The differences in their order, up to the first after which nothing can be compared.

    Later ones may follow from earlier ones: who goes on behind a difference has named it.
    """
    if isinstance(ours, str):
        yield Difference(ours, len(program) - 1, program[-1], "", "", "")
        return
    mine: dict[str, Any] = {}
    theirs: dict[str, Any] = {}
    muted: set[tuple[str, str]] = set()
    tangled = set_view = False
    worst = 0.0  # condition of what has been inverted
    shared: set[str] = set()
    for number, (a, b) in enumerate(zip(torch, ours)):
        last = number == len(program)
        said = ": ".join(a[0] or ())
        mixed = not last and meets(program[number], theirs)
        turned = laid_out_otherwise(theirs, mine)
        came_in = [] if last else types_of(program[number], theirs)
        if not last:
            shared |= set(SHARED.findall(program[number]))
            views = SET.findall(program[number])
            set_view = set_view or any(theirs.get(n, {}).get("is_view") is True for n in views)
        tangled = tangled or (not last and tangles(program[number], theirs))
        inverts = not last and bool(INVERTS.search(program[number]))
        if inverts:
            worst = max(worst, condition(program[number], theirs))
        for kind, variable, seen, got in of_step(a, b, theirs, mine, last):
            if inverts:
                worst = max(worst, largest(theirs.get(variable, {}).get("values", 0.0)))
            statement = made_by(program, variable) if last else program[number]
            if (kind, variable) not in muted:
                muted.add((kind, variable) if variable else ("", ""))
                signs = kind == "value" and same_but_signs(
                    theirs[variable].get("values"), mine[variable].get("values")
                )
                rounded = kind == "value" and same_but_digits(
                    theirs[variable], mine[variable], came_in
                )
                halves = kind == "value" and same_but_halves(
                    theirs[variable].get("values"), mine[variable].get("values")
                )
                reads = statement.partition(" = ")[2] if last else statement
                laid_out = bool(turned.intersection(re.findall(r"\w+", reads)))
                yield Difference(
                    kind, number, statement, variable, seen, got, tangled, signs, halves, said,
                    not last and shares(variable, shared, theirs), set_view, mixed, laid_out,
                    rounded, kind == "value" and same_but_bits(theirs[variable], mine[variable]),
                    worst ** (2 if TWICE.search(statement) else 1) >= LARGE,
                )  # fmt: skip
            if kind in PARTING:
                return


def tangles(statement: str, states: dict[str, Any]) -> bool:
    """Whether a statement writes memory that it sees more than once."""
    if not WRITES.search(statement):
        return False
    if WINDOWS.search(statement):
        return True
    named = [states[n] for n in re.findall(r"\w+", statement) if "shares" in states.get(n, {})]
    if any(overlaps(state) for state in named):
        return True
    places = [state["shares"] for state in named]
    gaps = any(has_gaps(state) for state in named)
    return (gaps or bool(READS_TOO.search(statement))) and len(set(places)) < len(places)


def condition(statement: str, states: dict[str, Any]) -> float:
    """The largest condition of the matrices that a statement names, of their squares where it
    multiplies; 0 where there are none."""
    named = [states[name] for name in re.findall(r"\w+", statement) if name in states]
    found = max((condition_of(state.get("values")) for state in named), default=0.0)
    return found**2 if " @ " in statement else found


def condition_of(values: Any) -> float:
    """The largest condition of the matrices in nested lists; 0 where there are none."""
    try:
        found = np.asarray(values)
        if found.ndim < 2 or not found.size or found.dtype.kind not in "iufc":
            return 0.0
        found = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
        return float(np.max(np.linalg.cond(found)))
    except (ValueError, np.linalg.LinAlgError):  # ragged, or not finite
        return math.inf


def largest(values: Any) -> float:
    """The largest element, which an inverse of a large condition has."""
    found = np.asarray(values)
    return float(np.abs(found).max()) if found.dtype.kind in "fc" and found.size else 0.0


def laid_out_otherwise(theirs: dict[str, Any], mine: dict[str, Any]) -> set[str]:
    """The variables whose strides are others on the two sides."""
    shown = {n: state["stride"] for n, state in theirs.items() if "stride" in state}
    return {n for n, stride in shown.items() if stride != mine.get(n, {}).get("stride")}


def meets(statement: str, states: dict[str, Any]) -> bool:
    """Whether tensors of different layouts meet."""
    names = [n for n in re.findall(r"\w+", statement) if "stride" in states.get(n, {})]
    orders = {dimensions(states[n]) for n in names if len(states[n]["stride"] or ()) > 1}
    return len(orders) > 1 or bool(names and TURNS.search(statement))


def dimensions(state: dict[str, Any]) -> tuple[int, ...]:
    """The dimensions of more than one place, from the last, by the order in memory."""
    strides = state["stride"]
    rank = len(strides)
    return tuple(sorted((d - rank for d in range(rank)), key=lambda d: -strides[d]))


def shares(variable: str, others: set[str], states: dict[str, Any]) -> bool:
    """Whether a variable lies in the memory of others."""
    place = states.get(variable, {}).get("shares")
    return place is not None and any(
        states.get(other, {}).get("shares") == place for other in others
    )


def has_gaps(state: dict[str, Any]) -> bool:
    """Whether a tensor leaves elements of its memory out: its overlaps aren't looked for."""
    reach = 1
    for stride, n in strided(state):
        if stride != reach:
            return True
        reach *= n
    return False


def strided(state: dict[str, Any]) -> list[tuple[int, int]]:
    """Stride and size of the dimensions that have more than one place, the nearest first."""
    return sorted((s, n) for s, n in zip(state["stride"] or (), state["shape"]) if n != 1)


def overlaps(state: dict[str, Any]) -> bool:
    """Whether a tensor shows an element of its memory more than once."""
    reach = 0
    for stride, n in strided(state):
        if stride <= reach:
            return True
        reach += (n - 1) * stride
    return False


def types_of(statement: str, states: dict[str, Any]) -> list[str]:
    """The types of the tensors that a statement names."""
    return [
        states[n]["dtype"] for n in re.findall(r"\w+", statement) if "dtype" in states.get(n, {})
    ]


def same_but_digits(a: dict[str, Any], b: dict[str, Any], types: list[str]) -> bool:
    """Whether the values of two states agree to the digits of the coarsest of some types."""
    coarsest = max(types, key=lambda dtype: RELATIVE.get(dtype, 0.0), default="")
    return "values" in a and near(a["values"], b["values"], coarsest)


def same_but_bits(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two states hold whole numbers of 32 bits that are as near as `near` wants floats."""

    def close(x: Any, y: Any) -> bool:
        if isinstance(x, (list, tuple)):
            return len(x) == len(y) and all(map(close, x, y))
        return abs(x - y) <= RELATIVE["torch.float32"] * 2**24

    return a.get("dtype") == "torch.int32" and close(a["values"], b["values"])


def same_but_halves(a: Any, b: Any) -> bool:
    """Whether nested complex numbers differ only where one part of PyTorch's is nan."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same_but_halves(x, y) for x, y in zip(a, b))
    if not isinstance(a, complex) or not isinstance(b, complex):
        return False
    parts = ((a.real, b.real), (a.imag, b.imag))
    return all(math.isnan(x) or near(x, y, "torch.complex64") for x, y in parts)


def same_but_signs(a: Any, b: Any) -> bool:
    """Whether two matrices (or stacks of them) differ by the signs of rows or columns alone."""
    if not (isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and a):
        return False
    if not isinstance(a[0], list):
        return False
    if isinstance(a[0][0] if a[0] else None, list):
        return all(near(x, y, "") or same_but_signs(x, y) for x, y in zip(a, b))

    def lines(x: list[Any], y: list[Any]) -> bool:
        return all(near(r, s, "") or near([-v for v in r], s, "") for r, s in zip(x, y))

    return lines(a, b) or lines([*zip(*a)], [*map(list, zip(*b))])


def made_by(program: list[str], variable: str) -> str:
    """The last statement that gives the variable its value, or its last write in place."""
    about = re.compile(rf"(^|: ){variable}( [-+*/%&|^]*=|\.\w+_\(|\[)")
    return next((line for line in reversed(program) if about.search(line)), program[-1])


def of_step(
    a: Any, b: Any, theirs: dict[str, Any], mine: dict[str, Any], last: bool
) -> Iterator[tuple[str, str, str, str]]:
    """Kind, variable and both sides' texts of each difference in a statement."""
    (raised, warned, printed, changed, gone), (raised_b, warned_b, printed_b, changed_b, gone_b) = (
        a,
        b,
    )
    if raised != raised_b:
        if raised is None:
            yield "refused", "", "ok", ": ".join(raised_b)
        elif raised_b is None:
            yield "accepted", "", ": ".join(raised), "ok"
        elif raised[0] != raised_b[0]:
            yield "exception type", "", ": ".join(raised), ": ".join(raised_b)
        else:
            yield "message", "", raised[1], raised_b[1]
    if warned != warned_b:
        yield "warning", "", shown(warned), shown(warned_b)
    if printed != printed_b:
        yield "printed", "", printed, printed_b
    for known, new, lost in ((theirs, changed, gone), (mine, changed_b, gone_b)):
        if last:
            known.clear()
        known.update(new)
        for name in lost:
            del known[name]
    found = []
    touched = set(changed) | set(changed_b) | set(gone) | set(gone_b)
    for name in sorted(touched):
        if (name in theirs) != (name in mine):
            texts = [shown(side[name]) if name in side else "missing" for side in (theirs, mine)]
            found.append(("variable", name, *texts))
        elif name in theirs:
            found += [(k, name, s, t) for k, s, t in of_state(theirs[name], mine[name])]
    yield from sorted(found, key=lambda one: KINDS.index(one[0]))


def of_state(a: dict[str, Any], b: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Kind and both sides' texts of each difference between two states of a variable."""
    if a.keys() != b.keys():
        yield "class", shown(sorted(a)), shown(sorted(b))
        return
    dtype = a.get("dtype", "")
    for field, seen in a.items():
        got = b[field]
        if field == "grad" and isinstance(seen, tuple) and isinstance(got, tuple):
            if seen[:-1] != got[:-1] or not near(seen[-1], got[-1], seen[0]):
                yield "grad", shown(seen), shown(got)
        elif field in ("value", "values"):
            if not near(seen, got, dtype):
                yield "value", shown(seen), shown(got)
        elif seen != got:
            yield field, shown(seen), shown(got)


def near(a: Any, b: Any, dtype: str) -> bool:
    """Whether nested values agree to the digits of the dtype."""
    if isinstance(a, (list, tuple)):
        return (
            isinstance(b, (list, tuple))
            and len(a) == len(b)
            and all(near(x, y, dtype) for x, y in zip(a, b))
        )
    if isinstance(a, complex) or isinstance(b, complex):
        if not isinstance(a, (complex, float, int)) or not isinstance(b, (complex, float, int)):
            return False
        a, b = complex(a), complex(b)
        return near(a.real, b.real, dtype) and near(a.imag, b.imag, dtype)
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        if math.isinf(a) or math.isinf(b):
            return a == b
        bound = RELATIVE.get(dtype, 1e-4)
        return abs(a - b) <= bound * max(1.0, abs(a), abs(b))
    return type(a) is type(b) and bool(a == b)


def shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, str) else value
    return text if len(text) < 1500 else text[:1500] + "..."
