"""Numbers that note what a step does with them while it is recorded.

Note [Numbers in a recorded step]
`item()` gives a `ReadFloat` or `ReadInt`; a number outside of the step that was seen to change from
call to call is a `SymbolicNumber` while the step is recorded. Arithmetic with it gives another,
with the expression that computes it. An operation on tensors takes the expression as an operand. A
comparison is noted as a condition with its outcome: of numbers that are given it becomes a guard,
of numbers that the program itself computes an `expect` instruction. Any other use needs the value
itself: a number that is given is then a constant again, guarded by its value; for a number that was
read the step stays eager.

What `item()` gives are real floats and ints, since users keep them (`history.append(loss.item())`).
C code reads these unseen, which `observation` looks out for. What is given is no float for the same
reason: nothing can read it unseen; it only says that it is one (`__class__`).
"""

from __future__ import annotations

import gc
import operator
from collections import deque
from threading import get_ident
from types import CellType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

from ..._base.referrers import count_references, find_referrers
from ..._core.node import Node
from ..ir.expressions import GIVEN, READ, Expr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._base.annotations import AnyCallable, TensorLike
    from .number_sources import Source
    from .recorder import Recorder

_ARITHMETIC: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_BITS: Final = ("and_", "or_", "xor", "lshift", "rshift")
_DIVISIONS: Final = (operator.truediv, operator.floordiv, operator.mod)
_SHIFTS: Final = (operator.lshift, operator.rshift)
_COMPARISONS: Final = ("lt", "le", "gt", "ge", "eq", "ne")
#: What needs the value itself.
_USES: Final = (
    "divmod", "rdivmod", "int", "float", "complex", "round", "trunc", "floor", "ceil", "hash",
    "format", "str", "repr", "index",
)  # fmt: skip
_METHODS: Final = (
    "is_integer", "hex", "as_integer_ratio", "bit_length", "bit_count", "to_bytes", "conjugate",
)  # fmt: skip


class ReadFloat(float):
    """A float that `item()` has given to a step that is being recorded."""

    recorder: Any
    expr: Any


class ReadInt(int):
    """An integer that `item()` has given to a step that is being recorded."""

    recorder: Any
    expr: Any


class SymbolicNumber:
    """A number that comes from outside of the step, while the step is recorded."""

    __slots__ = ("expr", "recorder", "value")

    def __init__(self, value: Any, recorder: Recorder, expr: object) -> None:
        self.value = value
        self.recorder = recorder
        self.expr = expr

    __class__ = property(lambda self: type(self.value))

    def __array_ufunc__(
        self, ufunc: object, method: str, *inputs: object, **options: object
    ) -> Any:
        """Arithmetic with an array, which needs the value."""
        plain = [used(x, "an array") if type(x) in NUMBERS else x for x in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(used(self, name), name)


class SymbolicFloat(SymbolicNumber):
    """A float that comes from outside."""

    __slots__ = ()


class SymbolicInt(SymbolicNumber):
    """An integer that comes from outside."""

    __slots__ = ()


NUMBERS: Final = (ReadFloat, ReadInt, SymbolicFloat, SymbolicInt)
READS: Final = (ReadFloat, ReadInt)


def is_number(x: TensorLike) -> bool:
    """Whether something is a number that notes what is done with it."""
    return type(x) in NUMBERS


def plain_number(x: Any) -> Any:
    """The number itself, without a note."""
    kind = type(x)
    if kind is ReadFloat:
        return float.__float__(x)
    if kind is ReadInt:
        return int.__int__(x)
    return x.value if kind in (SymbolicFloat, SymbolicInt) else x


def trace_number(value: float, expr: Expr, recorder: Recorder) -> Any:
    """A number that notes what is done with it; the value itself where it isn't one."""
    kind = type(value)
    if kind is not float and kind is not int:
        return value
    number: Any
    if not expr.depends_on_tensors():
        number = (SymbolicFloat if kind is float else SymbolicInt)(value, recorder, expr)
    else:
        number = (ReadFloat if kind is float else ReadInt)(value)
        number.recorder, number.expr = recorder, expr
    recorder.numbers.append(number)
    return number


def trace_source(value: float, source: Source, recorder: Recorder) -> Any:
    """A number that comes from a source outside of the step."""
    return trace_number(value, Expr(GIVEN, source), recorder)


def read(value: Any, where: Any, recorder: Any) -> tuple[Any, Expr]:
    """A number that is read from a value of the program, and its leaf."""
    leaf = Expr(READ, where)
    return trace_number(value, leaf, recorder), leaf


def recorder_of(x: SymbolicNumber | ReadFloat | ReadInt) -> Recorder | None:
    """The recorder that notes what this thread does with a number; None: it's just a number."""
    recorder: Recorder | None = x.recorder
    return recorder if recorder is not None and recorder.thread == get_ident() else None


def used(x: Any, how: str) -> Any:
    """The value, which a use needs that can't be noted."""
    value = plain_number(x)
    recorder = recorder_of(x)
    if recorder is not None:
        recorder.number_used(x, value, how)
    return value


def identical(x: object, y: object) -> bool:
    """Whether two numbers are the same, signs of zeros and kinds included."""
    return type(x) is type(y) and (x == y or x != x) and repr(x) == repr(y)


def release_numbers(numbers: list[Any]) -> None:
    """Makes ordinary numbers of them: the recording is over.

    One that the step has put somewhere, or that a node has saved for its backward, is replaced
    there by the number that it stands for. Most lie in what the step has made, which is young; only
    where that doesn't account for all of them is every object of the process asked.
    """
    left = _find_held_elsewhere(numbers)
    for x in numbers:
        x.recorder = x.expr = None
        del x  # it would be counted below
    numbers.clear()
    for holders_of in (_young_holders, find_referrers):
        left = _find_held_elsewhere(left)
        by = {id(x): plain_number(x) for x in left}
        things = left
        for _ in range(8):  # tuples in tuples
            if not things:
                break
            things, by = _replace(by, [h for h in holders_of(things) if h is not things])


def _find_held_elsewhere(numbers: Sequence[object]) -> list[Any]:
    """Those that something else holds, too."""
    return [x for x, count in zip(numbers, count_references(numbers)) if count]


def _young_holders(things: Sequence[object]) -> list[Any]:
    """What holds some things, of the containers made since the collector was held back."""
    ids = {id(x) for x in things}
    young = gc.get_objects(generation=0)
    return [x for x in young if not ids.isdisjoint(map(id, gc.get_referents(x)))]


def _replace(by: dict[int, Any], holders: Sequence[object]) -> tuple[list[Any], dict[int, Any]]:
    """Puts others in the places of some things; the tuples that hold them, and what replaces those.

    Tuples that the interpreter or the recorder itself holds are left as they are.
    """
    tuples: dict[int, Any] = {}
    for holder in holders:
        # By the methods of the plain types: a class's own may answer with something else.
        if isinstance(holder, list):
            for k, x in enumerate(list.__iter__(holder)):
                if id(x) in by:
                    list.__setitem__(holder, k, by[id(x)])
        elif isinstance(holder, deque):
            for k, x in enumerate(deque.__iter__(holder)):
                if id(x) in by:
                    deque.__setitem__(holder, k, by[id(x)])
        elif isinstance(holder, dict):
            for key, x in [(k, x) for k, x in dict.items(holder) if id(x) in by]:
                dict.__setitem__(holder, key, by[id(x)])
        elif type(holder) is CellType and id(holder.cell_contents) in by:
            holder.cell_contents = by[id(holder.cell_contents)]
        elif isinstance(holder, set):
            for x in [x for x in set.__iter__(holder) if id(x) in by]:
                set.remove(holder, x)
                set.add(holder, by[id(x)])
        elif isinstance(holder, tuple):
            tuples[id(holder)] = holder
        elif isinstance(holder, Node):  # NumPy computes with these in float64
            holder.saved = by.get(id(holder.saved), holder.saved)
        else:
            _replace_slots(holder, by)
            own = getattr(holder, "__dict__", None)
            if type(own) is dict:  # from Python 3.13 on an object itself may hold what is in it
                _replace(by, [own])
    new = {
        key: tuple.__new__(type(x), [by.get(id(y), y) for y in x]) for key, x in tuples.items()
    }  # fmt: skip
    return list(tuples.values()), new


def _replace_slots(holder: object, by: dict[int, object]) -> None:
    for base in type(holder).__mro__:
        names = vars(base).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            member = vars(base).get(name)
            if isinstance(member, MemberDescriptorType):
                found = getattr(holder, name, None)
                if id(found) in by:
                    setattr(holder, name, by[id(found)])


def _part(x: Any) -> Any:
    return x.expr if type(x) in NUMBERS else x


def _compute(function: AnyCallable, recorder: Recorder | None, *operands: object) -> Any:
    """The result of arithmetic, with its expression.

    Whether it raises, and the kind of number that a power is, depends on the operands: that is a
    condition on them.
    """
    plain = [plain_number(x) for x in operands]
    if recorder is None:
        return function(*plain)
    expr = Expr(function, *[_part(x) for x in operands])
    try:
        value = function(*plain)
    except (ArithmeticError, ValueError) as error:
        recorder.note_decision(Expr(ends_as, type(error), function, *expr.parts), True)
        raise
    last = expr.parts[-1]
    if function in _DIVISIONS:
        if type(last) is Expr:
            recorder.note_decision(Expr(bool, last), True)
    elif function in _SHIFTS:
        if type(last) is Expr:
            recorder.note_decision(Expr(operator.ge, last, 0), True)
    elif function is operator.pow:
        base = expr.parts[0]
        if type(base) is float and 0 < base <= 1 and type(plain[1]) is int and plain[1] >= 0:
            recorder.note_decision(Expr(operator.ge, last, 0), True)  # `beta ** step`, cheaply
        else:
            recorder.note_decision(Expr(ends_as, type(value), function, *expr.parts), True)
    if expr.depth() > 64:
        for x in operands:
            if type(x) in NUMBERS:
                used(x, "a long computation")
        return value
    return trace_number(value, expr, recorder)


def ends_as(kind: type, function: AnyCallable, *operands: object) -> bool:
    """Whether arithmetic gives a number of a kind, or raises an error of that class."""
    try:
        return type(function(*operands)) is kind
    except (ArithmeticError, ValueError) as error:
        return type(error) is kind


def _is_plain(x: object) -> bool:
    return type(x) in (int, float, bool) or type(x) in NUMBERS


def _arithmetic(function: AnyCallable) -> tuple[AnyCallable, AnyCallable]:
    def forward(self: Any, other: Any) -> Any:
        if not _is_plain(other):
            return _elsewhere(self, other, function, False)
        return _compute(function, recorder_of(self), self, other)

    def backward(self: Any, other: object) -> Any:
        if not _is_plain(other):
            return _elsewhere(self, other, function, True)
        return _compute(function, recorder_of(self), other, self)

    return forward, backward


def _elsewhere(self: object, other: object, function: AnyCallable, reflected: bool) -> Any:
    """Arithmetic with something that isn't a number: tensors know what to do, others get it."""
    if issubclass(type(self), SymbolicNumber) and not hasattr(type(other), "_raw"):
        value = used(self, "arithmetic")
        return function(other, value) if reflected else function(value, other)
    return NotImplemented


def _compare(function: AnyCallable) -> AnyCallable:
    def compare(self: Any, other: object) -> Any:
        if not _is_plain(other):
            return _elsewhere(self, other, function, False)
        outcome = function(plain_number(self), plain_number(other))
        recorder = recorder_of(self)
        if recorder is not None:
            recorder.note_decision(Expr(function, self.expr, _part(other)), outcome)
        return outcome

    return compare


def _truth(self: Any) -> bool:
    outcome = bool(plain_number(self))
    recorder = recorder_of(self)
    if recorder is not None:
        recorder.note_decision(Expr(bool, self.expr), outcome)
    return outcome


def _unary(function: AnyCallable) -> AnyCallable:
    def compute(self: Any) -> Any:
        return _compute(function, recorder_of(self), self)

    return compute


def _noting(name: str) -> AnyCallable:
    def use(self: object, *args: tuple[object, ...]) -> Any:
        value = used(self, name)
        return getattr(value, name)(*[plain_number(x) for x in args])

    return use


def _reduce(self: SymbolicNumber | ReadFloat | ReadInt, protocol: int) -> tuple[type, tuple[float]]:
    value = used(self, "copying")
    return type(value), (value,)


def _complex(self: Any) -> complex:
    return complex(used(self, "complex"))


def _install() -> None:
    kinds: tuple[tuple[Any, Any], ...] = (
        (ReadFloat, float), (ReadInt, int), (SymbolicFloat, float), (SymbolicInt, int),
    )  # fmt: skip
    for kind, base in kinds:
        for name in (*_ARITHMETIC, *_BITS):
            stem = name.rstrip("_")
            if hasattr(base, f"__{stem}__"):
                forward, backward = _arithmetic(getattr(operator, name))
                setattr(kind, f"__{stem}__", forward)
                setattr(kind, f"__r{stem}__", backward)
        for name in _COMPARISONS:
            setattr(kind, f"__{name}__", _compare(getattr(operator, name)))
        for name in ("neg", "pos", "abs", "invert"):
            if hasattr(base, f"__{name}__"):
                setattr(kind, f"__{name}__", _unary(getattr(operator, name)))
        kind.__bool__ = _truth
        kind.__reduce_ex__ = _reduce
        given = issubclass(kind, SymbolicNumber)
        for name in _USES:
            if hasattr(base, f"__{name}__"):
                setattr(kind, f"__{name}__", _noting(f"__{name}__"))
        for name in () if given else _METHODS:  # a `SymbolicNumber` has no others
            if hasattr(base, name):
                setattr(kind, name, _noting(name))
        if given:
            kind.__complex__ = _complex


_install()
