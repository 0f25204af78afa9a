"""Emitted values with Python's operators, and the loops that carry them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from .types import Type

if TYPE_CHECKING:
    from .emit import Function

Number: TypeAlias = int | float | bool


class Value:
    """One value of a function under construction."""

    __slots__ = ("function", "name", "type")

    def __init__(self, function: Function, type: Type, name: str) -> None:
        self.function = function
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"{self.type} {self.name}"

    def __add__(self, other: Operand) -> Value:
        return self.function.binary("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return self.function.binary("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return self.function.binary("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return self.function.binary("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return self.function.binary("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return self.function.binary("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return self.function.binary("div", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self.function.binary("div", other, self)

    def __floordiv__(self, other: Operand) -> Value:
        """The quotient of integers, towards zero."""
        return self.function.binary("div", self, other)

    def __mod__(self, other: Operand) -> Value:
        """The remainder with the sign of the dividend."""
        return self.function.binary("rem", self, other)

    def __and__(self, other: Operand) -> Value:
        return self.function.binary("and", self, other)

    def __or__(self, other: Operand) -> Value:
        return self.function.binary("or", self, other)

    def __xor__(self, other: Operand) -> Value:
        return self.function.binary("xor", self, other)

    def __lshift__(self, other: Operand) -> Value:
        return self.function.binary("shl", self, other)

    def __rshift__(self, other: Operand) -> Value:
        """Shifted right with the sign kept; see `Function.shift_right` for zeros."""
        return self.function.binary("ashr", self, other)

    def __invert__(self) -> Value:
        return self.function.binary("xor", self, True if self.type.scalar == "i1" else -1)

    def __neg__(self) -> Value:
        if self.type.is_float:
            return self.function.emit(self.type, f"fneg {self!r}")
        return self.function.binary("sub", 0, self)

    def __lt__(self, other: Operand) -> Value:
        return self.function.compare("lt", self, other)

    def __le__(self, other: Operand) -> Value:
        return self.function.compare("le", self, other)

    def __gt__(self, other: Operand) -> Value:
        return self.function.compare("gt", self, other)

    def __ge__(self, other: Operand) -> Value:
        return self.function.compare("ge", self, other)

    def eq(self, other: Operand) -> Value:
        return self.function.compare("eq", self, other)

    def ne(self, other: Operand) -> Value:
        return self.function.compare("ne", self, other)

    def __bool__(self) -> bool:
        raise TypeError("an emitted value is known when the code runs: use select, choose or when")


Operand: TypeAlias = Value | Number


class Loop:
    """A loop under construction: its `index`, the values it carries, and what they end as."""

    __slots__ = ("carried", "index", "results", "successors")

    def __init__(self, index: Value, carried: list[Value]) -> None:
        self.index = index
        self.carried = carried
        self.successors: list[Value] = carried
        self.results: list[Value] = []

    def next(self, *values: Value) -> None:
        """What the carried values are in the next turn; as they were, unless this is called."""
        if len(values) != len(self.carried):
            raise TypeError(f"{len(self.carried)} values are carried, {len(values)} given")
        self.successors = list(values)
