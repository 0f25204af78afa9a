"""What Python computes with numbers in a step, as expressions that each call computes anew.

A step reads numbers from tensors (`loss.item()`), and gets them as arguments, from globals and from
attributes. What it computes with them is noted as an expression, whose leaves say where the numbers
come from.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

_INFIX: Final = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.lt: "<",
    operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.lshift: "<<",
    operator.rshift: ">>",
}  # fmt: skip
_BEFORE: Final = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}
READ: Final = "read"
GIVEN: Final = "given"


class Expr:
    """A function of other expressions, of constants, or a leaf: a tensor's number, or a source."""

    __slots__ = ("function", "parts")

    def __init__(self, function: Any, *parts: Any) -> None:
        self.function = function
        self.parts = parts

    def values(self) -> Iterator[Any]:
        """The values of the program of which numbers are read."""
        if self.function is READ:
            yield self.parts[0]
        else:
            for part in self.parts:
                if type(part) is Expr:
                    yield from part.values()

    def sources(self) -> Iterator[Any]:
        """Where the other numbers come from: places, arguments."""
        if self.function is GIVEN:
            yield self.parts[0]
        for part in self.parts:
            if type(part) is Expr:
                yield from part.sources()

    def depends_on_tensors(self) -> bool:
        """Whether a number of a tensor is among the leaves."""
        return next(self.values(), None) is not None

    def depth(self) -> int:
        """How deep it is nested."""
        return 1 + max((p.depth() for p in self.parts if type(p) is Expr), default=0)

    def map(self, by: dict[int, Any]) -> Expr:
        """The expression with some values replaced, by number."""
        if self.function is READ:
            found = by.get(self.parts[0].number)
            return self if found is None else Expr(READ, found)
        if not any(type(p) is Expr for p in self.parts):
            return self
        parts = [p.map(by) if type(p) is Expr else p for p in self.parts]
        return Expr(self.function, *parts)

    def text(self, leaf: Callable[[Expr], str], constant: Callable[[Any], str]) -> str:
        """The expression in Python; `leaf` and `constant` give the text of both."""
        if self.function in (READ, GIVEN):
            return leaf(self)
        shown = [
            p.text(leaf, constant) if type(p) is Expr else constant(p) for p in self.parts
        ]  # fmt: skip
        sign = _INFIX.get(self.function)
        if sign is not None and len(shown) == 2:
            return f"({shown[0]} {sign} {shown[1]})"
        before = _BEFORE.get(self.function)
        if before is not None:
            return f"({before}{shown[0]})"
        return f"{constant(self.function)}({', '.join(shown)})"

    def __repr__(self) -> str:
        def leaf(x: Expr) -> str:
            return f"{x.parts[0]!r}.item()" if x.function is READ else str(x.parts[0])

        if getattr(self.function, "constant", False):
            return repr(self.parts[0])

        def constant(x: float | type) -> str:
            return x.__name__ if callable(x) else repr(x)

        text = self.text(leaf, constant)
        return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def as_it_is(x: float) -> float:
    """A constant."""
    return x


as_it_is.constant = True  # type: ignore[attr-defined]
