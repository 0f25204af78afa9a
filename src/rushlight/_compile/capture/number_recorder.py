"""The recorder of numbers: those that the step reads from tensors, and those that it is given."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..._array.memory import aliasing as A
from ..ir.expressions import READ, Expr, as_it_is
from ..ir.program import Instruction, Program
from .symbolic_numbers import NUMBERS, identical, plain_number, read, release_numbers, used

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import Arguments
    from ..._core.op import Op
    from ...optim.optimizer import Optimizer
    from .recorder import Recorder
    from .symbolic_numbers import SymbolicFloat, SymbolicInt


class NumberRecorder:
    """What a recording knows of numbers. See Note [Numbers in a recorded step]."""

    program: Program
    value_of: Any
    operand: Any
    refuse: Any
    add: Any
    draws: int
    drawn: int

    def __init__(self) -> None:
        self.thread = get_ident()  # the one that records
        self.numbers: list[Any] = []  # that note what is done with them
        self.options: dict[tuple[int, Any], Any] = {}  # of optimizers, as the step found them
        self.plain_reads: list[tuple[Expr, Any]] = []  # leaves of numbers, with their values
        self.reads: list[tuple[Expr, int]] = []  # leaves, and after how many instructions
        self.conditions: list[tuple[Expr, Any]] = []  # on numbers that come from outside
        self.attempt: list[Any] = []  # numbers of a row that hasn't come to its end

    def leaf(self, t: object) -> Expr:
        """The expression that reads a tensor's number, as it is at this place of the program."""
        made = Expr(READ, self.value_of(t))
        self.reads.append((made, len(self.program.instructions)))
        return made

    def item(self, t: object, value: object) -> Any:
        """What `item()` gives: a number that notes what is done with it."""
        if type(value) is bool:
            self.note_decision(self.leaf(t), value)
            return value
        if type(value) not in (float, int):
            self.refuse("the step reads a complex number by `item()`")
            return value
        number, leaf = read(value, self.value_of(t), self)
        self.reads.append((leaf, len(self.program.instructions)))
        self.plain_reads.append((leaf, value))
        return number

    def operands(self, op: Op, args: Arguments, raws: Arguments) -> tuple[Any, ...]:
        """The operands of a row: shapes and places that whole numbers give are constants."""
        found = []
        for k, (arg, raw) in enumerate(zip(args, raws)):
            whole = type(arg) in NUMBERS and type(plain_number(arg)) is int
            if whole and not (_counts(op, k) and self._fits(arg, raws)):
                used(arg, f"`{op.name}`")
                found.append(raw)
            else:
                found.append(self.operand(arg, raw))
        return tuple(found)

    def _fits(self, x: SymbolicInt, raws: Arguments) -> bool:
        """Whether a whole number fits the type that a row computes in: then that is a condition."""
        types = [raw.dtype for raw in raws if A.is_array(raw)]
        bits = 64
        if all(t.kind in "iu" for t in types):
            bits = min((8 * t.itemsize for t in types), default=64)
        unsigned = any(t.kind == "u" for t in types)
        low, high = 0 if unsigned else -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        if not low <= plain_number(x) <= high:
            return False
        if x.recorder is self:
            self.note_decision(Expr(operator.ge, x.expr, low), True)
            self.note_decision(Expr(operator.le, x.expr, high), True)
        return True

    def number(self, x: SymbolicFloat, raw: float, computes: bool = True) -> Any:
        """A number as an operand, where an operation takes it for `raw`.

        A function that doesn't just compute may give another shape for another number.
        """
        value = plain_number(x)
        if x.recorder is not self:
            return raw
        if not computes:
            return used(x, "a size")
        if type(raw) is type(value) and (raw == value or raw != raw):
            return x.expr
        if type(raw) is float and type(value) is int and raw == value:
            return Expr(float, x.expr)
        used(x, "an operation")
        return raw

    def constants(self, x: Any, how: str) -> Any:
        """Arguments in which numbers are no more than their values."""
        kind = type(x)
        if kind in NUMBERS:
            return used(x, how)
        if kind in (list, tuple) and any(type(y) in NUMBERS for y in x):
            return kind([self.constants(y, how) for y in x])
        if kind is tuple and any(type(y) in (list, tuple) for y in x):
            return tuple([self.constants(y, how) for y in x])
        if kind is dict:
            return {k: self.constants(v, how) for k, v in x.items()}
        return x

    def bare(self, raws: Arguments) -> list[Array]:
        """Operands with ordinary numbers in them, for a row that is about to run."""
        self.settle_attempt()
        self.attempt = [x for x in raws if type(x) in NUMBERS]
        self.drawn = self.draws
        return [
            plain_number(x) if type(x) in NUMBERS
            else self.constants(x, "a size") if type(x) in (list, tuple) else x
            for x in raws
        ]  # fmt: skip

    def settle_attempt(self) -> None:
        """Has a row that refused its operands get the same numbers in every call."""
        for x in self.attempt:
            used(x, "an operation that fails")
        self.attempt = []

    def note_decision(self, condition: Expr, outcome: bool) -> None:
        """The step has gone on according to a condition: other outcomes are other programs."""
        if condition.depends_on_tensors():
            self.add("expect", None, "expect", (condition, outcome), ())
        else:
            self.conditions.append((condition, outcome))

    def number_used(self, x: Any, value: object, how: str) -> None:
        """A number was needed as it is: it is a constant of this program."""
        if not x.expr.depends_on_tensors():
            self.conditions.append((Expr(identical, x.expr, value), True))
        elif type(value) is int and how in ("__index__", "__int__", "__hash__"):
            self.note_decision(Expr(operator.eq, x.expr, value), True)
        else:
            shown = how.strip("_")
            self.refuse(f"the step needs a number that it reads by `item()`, for `{shown}`")

    def settle_unseen(self, texts: bool) -> None:
        """Sees to numbers of which nobody knows what became of them.

        C code reads a whole number without asking (`0.5 * n`, `range(n)`): the program expects it
        to be the same. `texts` says whether the step's code uses `%`, which makes texts in the same
        way.
        """
        known = {id(x) for x in self.program.read_leaves()}
        for leaf, value in self.plain_reads:
            if id(leaf) in known:
                continue
            if texts:
                self.refuse("a number that it reads by `item()` may become a text, by `%`")
            elif type(value) is int:
                self.note_decision(Expr(operator.eq, leaf, value), True)

    @contextmanager
    def plain_options(self, optimizer: Optimizer) -> Iterator[None]:
        """Has an optimizer see ordinary numbers; what the step has changed, the program sets."""
        noting: list[tuple[Any, Any, Any]] = []
        for group in optimizer.param_groups:
            for key, x in group.items():
                old = self.options.get((id(group), key), x)
                if type(x) in NUMBERS:
                    noting.append((group, key, x))
                if x is old or (type(x) is type(old) and type(x) in (int, float) and x == old):
                    continue
                expr = x.expr if type(x) in NUMBERS else Expr(as_it_is, x)
                if type(plain_number(x)) in (int, float):
                    self.add("option", None, key, (expr,), (), holder=group)
        for group, key, x in noting:
            group[key] = plain_number(x)
        try:
            yield
        finally:
            for group, key, x in noting:
                group[key] = x

    def close(self) -> None:
        """Makes ordinary numbers of those that were given out: the recording is over."""
        self.options.clear()
        release_numbers(self.numbers)


def settle_reads(recorder: Recorder) -> None:
    """Has numbers read where the step read them: of memory that is written later, from a copy."""
    program = recorder.program
    for leaf, place in reversed(recorder.reads):
        value = leaf.parts[0]
        if any(value.root in i.writes() for i in program.instructions[place:]):
            like = A.pattern(value.shape, value.strides, value.dtype)
            copy = recorder._value("result", A.copy_alike(like))
            made = Instruction("call", A.copy_alike, "copy", (value,), (copy,), pure=True)
            if place < len(program.instructions):
                made.part = program.instructions[place].part
            program.instructions.insert(place, made)
            leaf.parts = (copy,)


def _counts(op: Op, position: int) -> bool:
    """Whether a row computes with the number at a position: it isn't a size or an index."""
    params = getattr(getattr(op.row, "schema", None), "params", ())
    return position < len(params) and params[position].type in ("Scalar", "Tensor", "float")
