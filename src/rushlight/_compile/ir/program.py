"""The program: what one recorded step does to arrays, as a flat list of instructions.

Values are arrays of fixed shape, dtype and strides. Each is an input (an argument, a tensor that
the step reads from elsewhere, the gradient that a leaf had before the step, a constant) or the
result of one instruction. Values that share memory have the same `root`.

An instruction calls one function on arrays: a raw forward of the table, an operator, a function of
the formulas' namespace. `kind` says what else it does:
    call    nothing: its results are new values (some may be views of its operands)
    write   writes its first operand, through a writer or by copying the function's result
    grad    gives a leaf a gradient, or takes it away
    step    runs an optimizer
    option  sets a number in one of an optimizer's groups
    message exchanges messages with other processes, see `messages`
    expect  goes on only where a condition on numbers has the outcome that it had; else nothing
            of the call may have happened, see `speculation`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..._array.memory import aliasing as T
from .expressions import GIVEN, READ, Expr

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Positional
    from ..._core.op import Op
    from ..._core.storage import TensorBase
    from ..._table.rows.row import Row


@cache
def list_written(row: Row | None) -> tuple[int, ...]:
    """The places of the operands that a row writes: running statistics."""
    params = () if row is None else row.schema.params
    return tuple(place for place, p in enumerate(params) if "!" in p.alias)


def row_major(shape: tuple[int, ...], size: int) -> list[int]:
    """Strides of C order in bytes, for elements of a size."""
    steps = []
    for n in reversed(shape):
        steps.append(size)
        size *= n
    return steps[::-1]


class Value:
    """An array of the program."""

    __slots__ = ("kind", "number", "root", "shape", "dtype", "strides", "raw", "holder", "view",
                 "offset")  # fmt: skip

    def __init__(self, number: int, kind: str, raw: Array, root: int, holder: Any = None) -> None:
        self.number = number
        self.kind = kind  # "argument", "tensor", "gradient", "constant" or "result"
        self.root = root  # the number of the first value in the same memory
        self.shape = raw.shape
        self.dtype = raw.dtype
        self.strides = raw.strides
        self.raw = raw if kind == "constant" else None
        self.holder = holder  # where an input comes from: a position, a tensor, a leaf
        self.view = root != number
        self.offset = 0  # in bytes, from where the root begins

    def __repr__(self) -> str:
        return f"v{self.number}"

    def like(self, number: int, **changes: object) -> Value:
        """Another value of such an array, which isn't there yet, with what is changed."""
        made = Value.__new__(Value)
        for name in Value.__slots__:
            setattr(made, name, changes[name] if name in changes else getattr(self, name))
        made.number, made.raw = number, None
        return made

    def describe(self) -> str:
        """Its number, element type and shape: `v3: float32[32, 64]`."""
        return f"v{self.number}: {self.dtype.name}{list(self.shape)}"


class Instruction:
    """One call on values."""

    __slots__ = ("kind", "function", "name", "inputs", "outputs", "op", "where", "pure", "holder",
                 "several", "part", "row", "rule", "draws", "late")  # fmt: skip

    def __init__(self, kind: str, function: Any, name: str, inputs: Positional,
                 outputs: tuple[Value | None, ...], *, op: Op | None = None, where: Any = None,
                 pure: bool = False, holder: Any = None, several: bool = False,
                 draws: bool = False) -> None:  # fmt: skip
        self.kind = kind
        self.function = function
        self.name = name
        self.inputs = inputs  # values, lists with values, and anything else as it is
        self.outputs = outputs  # None: not a new value
        self.op = op  # the table's operation, where it is one
        self.row = None if op is None else op.row
        #: What lowering knows it by: what the row says, or the name of a function on arrays.
        self.rule = name if self.row is None else self.row.lowering
        self.draws = draws  # random numbers
        self.where = where  # (file, line) in the user's program
        self.pure = pure  # may be left out, or done once for two
        self.late = False  # joins nothing but the last kernel: it is made where it is wanted
        self.part = 0  # 1: belongs to the gradients of results, see `joint.py`
        self.several = several  # the function gives a sequence, of one result at least
        self.holder = holder  # the leaf of a "grad", the optimizer of a "step"

    def reads(self) -> Iterator[Value]:
        """The values among the operands."""
        return values_in(self.inputs)

    def writes(self) -> set[int]:
        """The roots of the memory that it writes."""
        if self.kind == "write":
            return {self.inputs[0].root}
        if self.kind == "call":
            found = (self.inputs[k] for k in list_written(self.row))
            return {x.root for x in found if type(x) is Value}
        return {v.root for v in self.reads()} if self.kind == "step" else set()

    def overwrites(self) -> set[int]:
        """The roots of the memory that may not be read-only: an optimizer only reads gradients."""
        if self.kind == "step":
            return {v.root for v in values_in(self.inputs[:1])}
        return self.writes()

    def __repr__(self) -> str:
        made = ", ".join("_" if v is None else v.describe() for v in self.outputs)
        shown = ", ".join(_format(x) for x in self.inputs)
        text = f"{self.name}({shown})"
        if self.kind == "expect":
            return f"expect {shown.rpartition(', ')[0]} -> {self.inputs[1]}"
        if self.kind == "option":
            return f"option {self.name} <- {shown}"
        if self.kind == "write":
            text = f"{_format(self.inputs[0])} <- {text}"
        return f"{made} = {text}" if made else text


class Program:
    """Everything that a step does, in order."""

    __slots__ = ("answered", "asked", "conditions", "effects", "stores", "values", "instructions",
                 "inputs", "outputs", "leaves", "written", "without", "entry", "joint",
                 "returned")  # fmt: skip

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.inputs: list[Value] = []
        self.instructions: list[Instruction] = []
        self.outputs: Any = None  # the result's structure, see `outputs.py`
        self.conditions: list[Any] = []  # on numbers from outside, with their outcomes
        self.effects: list[Any] = []  # numbers that it leaves outside
        self.stores: list[Any] = []  # what else it leaves there, see `stores.py`
        self.joint: Any = None  # how results are differentiated later, see `joint.py`
        self.returned: list[Value] = []  # values that are given out beside the result
        self.entry: list[tuple[Any, bool]] = []  # whether each leaf came without a gradient
        self.without: list[Any] = []  # leaves that must come without a gradient
        self.leaves: list[Any] = []
        self.written: dict[int, int] = {}  # how often each input's memory is written, by root
        self.asked: list[Callable[[], bool]] = []  # must say yes, see `message_recorder`
        self.answered: dict[int, TensorBase] = {}  # by id: it stands for the hooks of these

    def sources(self) -> list[Any]:
        """Where the numbers come from that differ from call to call."""
        return [leaf.parts[0] for leaf in self._leaves() if leaf.function is GIVEN]

    def read_leaves(self) -> list[Expr]:
        """The leaves of expressions that are read from tensors."""
        return [leaf for leaf in self._leaves() if leaf.function is READ]

    def _leaves(self) -> list[Expr]:
        found: list[Expr] = []
        stack: list[Any] = [i.inputs for i in self.instructions] + [self.outputs]
        stack += [x.shown for x in self.stores]
        stack += [expr for expr, _ in self.conditions] + [e.expr for e in self.effects]
        while stack:
            x = stack.pop()
            if type(x) is Expr:
                if x.function in (READ, GIVEN):
                    found.append(x)
                else:
                    stack.extend(x.parts)
            elif isinstance(x, (list, tuple)):
                stack.extend(x)
            elif isinstance(x, dict):
                stack.extend(x.values())
            elif hasattr(x, "expr"):
                stack.append(x.expr)
            elif hasattr(x, "items"):
                stack.extend(x.items)
        return found

    def path_texts(self) -> list[str]:
        """The conditions of the path that it takes, for reading; not more than a few."""
        conditions = [(expr, outcome, None) for expr, outcome in self.conditions]
        conditions += [(*i.inputs, i.where) for i in self.instructions if i.kind == "expect"]
        texts = []
        for expr, outcome, where in conditions:
            place = "" if where is None else f" ({where[0].rpartition('/')[2]}:{where[1]})"
            texts.append(f"{expr!r} is {outcome}{place}")
        return texts if len(texts) <= 8 else [*texts[:7], f"… and {len(texts) - 7} more"]

    def outputs_values(self) -> list[Value]:
        """The values of which tensors are returned."""
        found: list[Value] = list(self.returned)
        found += [v for effect in self.effects for v in effect.expr.values()]
        if self.joint is not None:
            found += self.joint.grads
        stack = [self.outputs, *[x.shown for x in self.stores]]
        while stack:
            x = stack.pop()
            if type(x) is Value:
                found.append(x)
            elif isinstance(x, (list, tuple)):
                stack.extend(x)
            elif isinstance(x, dict):
                stack.extend(x.values())
            elif hasattr(x, "expr"):
                found.extend(x.expr.values())
            elif hasattr(x, "value"):
                stack.append(x.value)
                if getattr(x, "shared", None) is not None:
                    stack.append(x.shared.source)
            elif hasattr(x, "items"):
                stack.extend(x.items)
        return found

    def bumps(self, value: Value) -> int:
        """How many writes of the program go to an input's memory through an operation in place."""
        return sum(
            1 for i in self.instructions
            if i.kind == "write" and type(i.inputs[0]) is Value and i.inputs[0].root == value.root
        )  # fmt: skip

    def receivers(self) -> list[TensorBase]:
        """The tensors that get gradients within the step."""
        found = [i.holder for i in self.instructions if i.kind == "grad"]
        found += [v.holder for v in self.inputs if v.kind == "gradient"]
        return found + self.without

    def fresh_leaves(self) -> list[Any]:
        """The leaves that got a gradient where they had none, and may not have one before."""
        return self.without

    def plain(self, value: Value) -> bool:
        """Whether a result lies in C order in memory of its own."""
        steps = row_major(value.shape, value.dtype.itemsize)
        return not value.view and value.strides == tuple(steps)

    def alone(self, value: Value) -> bool:
        """Whether no other value shows the memory of a result, and nothing keeps it."""
        if not self.plain(value):
            return False
        return not any(v is not value and v.root == value.root for v in self.values)

    def __str__(self) -> str:
        lines = []
        for value in self.inputs:
            if value.kind != "constant":
                lines.append(f"{value.describe()} = {value.kind}")
        sources = {str(s): s for s in self.sources()}
        lines += [f"{n}: {s.type.__name__} = {s.text}" for n, s in sorted(sources.items())]
        for expr, outcome in self.conditions:
            lines.append(f"where {expr!r} is {outcome}")
        for value in self.inputs:
            if value.kind == "constant":
                lines.append(f"{value.describe()} = constant")
        last = None
        for instruction in self.instructions:
            text = repr(instruction)
            if instruction.where is not None and instruction.where != last:
                last = instruction.where
                text = f"{text:<72}  # {last[0].rpartition('/')[2]}:{last[1]}"
            lines.append(text)
        lines += [repr(effect) for effect in (*self.effects, *self.stores)]
        lines.append(f"return {_format(self.outputs)}")
        return "\n".join(lines)


def values_in(operands: Any) -> Iterator[Value]:
    """The values among operands, those in lists included."""
    for x in operands:
        if type(x) is Value:
            yield x
        elif type(x) is list or type(x) is tuple:
            yield from values_in(x)
        elif type(x) is Expr:
            yield from x.values()


def replace_in(operands: Any, by: dict[int, Any]) -> Any:
    """Operands with some values replaced, by number."""
    kind = type(operands)
    if kind is Value:
        return by.get(operands.number, operands)
    if kind is Expr:
        return operands.map(by)
    if kind is list or kind is tuple:
        return kind(replace_in(x, by) for x in operands)
    return operands


def _format(x: Any) -> str:
    if type(x) is list or type(x) is tuple:
        inner = ", ".join(_format(y) for y in x)
        return f"[{inner}]" if type(x) is list else f"({inner})"
    if T.is_array(x):
        return f"<{x.dtype.name}{list(x.shape)}>"
    if type(x) is Expr:
        return repr(x)
    if "__name__" in type(x).__dict__:  # what a result is made of
        return str(x.__name__)
    if callable(x) or hasattr(x, "__dict__"):
        return getattr(x, "__name__", type(x).__name__)
    return repr(x)


# ---- comparing two recordings --------------------------------------------------------------------


def difference(a: Program, b: Program) -> tuple[str, Any] | None:
    """What differs between two recordings of a step, and where; None where they agree."""
    for x, y in zip(a.instructions, b.instructions):
        where = y.where or x.where
        if x.kind != y.kind or x.name != y.name or not same(x.function, y.function):
            return f"it ran `{y.name}` where it had run `{x.name}`", where
        if x.holder is not y.holder:
            return f"`{x.name}` worked on another object", where
        for p, q in zip(x.inputs, y.inputs):
            if not _same_operand(p, q):
                return _explain_change(x.name, p, q), where
        if len(x.inputs) != len(y.inputs) or not _same_operand(x.outputs, y.outputs):
            return f"`{x.name}` gave or got arrays of other kinds", where
    if len(a.instructions) != len(b.instructions):
        longer = a if len(a.instructions) > len(b.instructions) else b
        extra = longer.instructions[min(len(a.instructions), len(b.instructions))]
        return f"`{extra.name}` ran in only one of two calls", extra.where
    for p, q in zip(a.inputs, b.inputs):
        if p.kind != q.kind or p.number != q.number:
            return "the tensors that it reads differ from call to call", None
        if p.kind != "constant" and not same(p.holder, q.holder):
            return (f"it reads a tensor ({p.describe()}) that is another one in each call", None)
        if p.kind == "constant" and not same(p.raw, q.raw):
            return f"a constant ({p.describe()}) changed", None
    if len(a.inputs) != len(b.inputs):
        return "it reads more tensors in one call than in another", None
    if not same(a.joint, b.joint):
        return "gradients of its results go to other tensors in each call", None
    if not same(a.conditions, b.conditions):
        return _other_conditions(a, b), None
    if not same(a.effects, b.effects):
        return _other_effects(a, b), None
    if a.asked != b.asked or a.answered.keys() != b.answered.keys():
        return "it exchanges messages with other processes in another way in each call", None
    if not same(a.stores, b.stores):
        return "it leaves other things outside in each call", None
    if not same(a.outputs, b.outputs):
        return "what it returns is made differently in each call", None
    return None


def _other_conditions(a: Program, b: Program) -> str:
    for p, q in zip(a.conditions, b.conditions):
        if not same(p, q):
            return f"it went on from `{p[0]!r}` in one call, from `{q[0]!r}` in the next"
    return "it compares the numbers that it is given in another way in each call"


def _other_effects(a: Program, b: Program) -> str:
    for p, q in zip(a.effects, b.effects):
        if not same(p, q):
            if p.source.text != q.source.text:
                break
            return (f"`{p.source.text}` is left as {p.expr!r} by one call, as {q.expr!r} by the "
                    "next")  # fmt: skip
    return "it writes other things outside in each call"


def _explain_change(name: str, p: object, q: object) -> str:
    if isinstance(p, (int, float)) and isinstance(q, (int, float)):
        return f"the number {_format(p)} that `{name}` got was {_format(q)} in the next call"
    return f"`{name}` got {_format(p)} in one call, {_format(q)} in the next"


def _same_operand(p: Any, q: Any) -> bool:
    if type(p) is not type(q):
        return False
    if type(p) is Value:
        return bool(
            p.number == q.number and p.root == q.root and p.shape == q.shape
            and p.dtype == q.dtype and p.strides == q.strides
        )  # fmt: skip
    if type(p) is list or type(p) is tuple:
        return len(p) == len(q) and all(_same_operand(x, y) for x, y in zip(p, q))
    return same(p, q)


def same(p: Any, q: Any) -> bool:
    """Whether two things that aren't values mean the same to a program."""
    if p is q:
        return True
    if type(p) is not type(q):
        return False
    if type(p) is Value:
        return _same_operand(p, q)
    if T.is_array(p):
        return bool(T.same_bytes(p, q))
    if type(p) is float:
        return repr(p) == repr(q)  # nan is itself, -0.0 isn't 0.0
    if isinstance(p, (int, str, bytes, bool, complex)):
        return bool(p == q)
    if type(p) is Expr:
        return p.function is q.function and same(p.parts, q.parts)
    if isinstance(p, (list, tuple)):
        return len(p) == len(q) and all(same(x, y) for x, y in zip(p, q))
    if isinstance(p, dict):
        return list(p) == list(q) and all(same(p[k], q[k]) for k in p)
    if isinstance(p, slice):
        return same((p.start, p.stop, p.step), (q.start, q.stop, q.step))
    if type(p) is FunctionType:
        return (
            p.__code__ is q.__code__
            and same(p.__defaults__, q.__defaults__)
            and same(cells(p), cells(q))
        )
    if hasattr(p, "func") and hasattr(p, "keywords"):
        return same((p.func, p.args, p.keywords), (q.func, q.args, q.keywords))
    slots = getattr(type(p), "same_as", None)
    if slots is not None:
        return bool(p.same_as(q))
    return type(p).__module__ == "numpy" and bool(p == q)


def cells(function: AnyCallable) -> tuple[Any, ...]:
    """What a function has closed over; empty cells are left out."""
    found = []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue
    return tuple(found)
