"""A formula as people read it: what the reference page shows.

    write(lambda x, beta: log1p(exp(x * beta)) / beta).result  # 'log1p(exp(x * beta)) / beta'

The world of these values writes what it is asked to compute. A part that is used more than once
gets a name, and a line of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from .words import WORLDS

#: How tightly an operator binds; its operands bind at least so, or stand in parentheses.
_COMPARES, _OR, _XOR, _AND, _ADDS, _MULTIPLIES, _NEGATES, _POWERS, _ATOM = range(1, 10)
#: The names of parts, where the formula's own arguments don't use them.
_NAMES: Final = "uvwstpqrabcdefhijklmn"
#: A part as short as this is rather written again.
_SHORT: Final = 12


class Expression:
    """A part of a formula: a template, the parts that fill it, and how tightly it binds."""

    __slots__ = ("binds", "operands", "template")

    __array_ufunc__ = None

    def __init__(self, template: str, binds: int, *operands: tuple[object, int]) -> None:
        self.template = template
        self.binds = binds
        self.operands = operands

    def text(self, names: Mapping[int, str]) -> str:
        """The text, where `names` has the names of parts by their identity."""
        return self.template.format(*(_operand(x, binds, names) for x, binds in self.operands))

    def __bool__(self) -> bool:
        raise TypeError("a formula decides by `where`, not by `if`")

    def __neg__(self) -> Expression:
        return Expression("-{}", _NEGATES, (self, _NEGATES))

    def __invert__(self) -> Expression:
        return Expression("~{}", _NEGATES, (self, _NEGATES))

    def __abs__(self) -> Expression:
        return _call("absolute", self)


def _operand(x: object, binds: int, names: Mapping[int, str]) -> str:
    if not isinstance(x, Expression):
        text = repr(x)
        return f"({text})" if text.startswith("-") and binds > _ADDS else text
    name = names.get(id(x))
    if name is not None:
        return name
    text = x.text(names)
    return text if x.binds >= binds else f"({text})"


def _call(word: str, *operands: object) -> Expression:
    places = ", ".join("{}" for _ in operands)
    return Expression(f"{word}({places})", _ATOM, *((x, 0) for x in operands))


def _operator(
    sign: str, binds: int, right: int
) -> tuple[Callable[..., Expression], Callable[..., Expression]]:
    left = _ATOM if binds == _POWERS else binds

    def method(self: Expression, other: object) -> Expression:
        if sign in ("*", "/") and type(other) is int and other == 1:
            return self  # no digit changes
        return Expression(f"{{}} {sign} {{}}", binds, (self, left), (other, right))

    def reflect(self: Expression, other: object) -> Expression:
        return Expression(f"{{}} {sign} {{}}", binds, (other, left), (self, right))

    return method, reflect


for _name, _sign, _binds, _right in (
    ("add", "+", _ADDS, _MULTIPLIES), ("sub", "-", _ADDS, _MULTIPLIES),
    ("mul", "*", _MULTIPLIES, _NEGATES), ("truediv", "/", _MULTIPLIES, _NEGATES),
    ("pow", "**", _POWERS, _NEGATES), ("and", "&", _AND, _ADDS), ("or", "|", _OR, _XOR),
    ("xor", "^", _XOR, _AND),
):  # fmt: skip
    _method, _reflected = _operator(_sign, _binds, _right)
    setattr(Expression, f"__{_name}__", _method)
    setattr(Expression, f"__r{_name}__", _reflected)
for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="),
                     ("ne", "!=")):  # fmt: skip
    setattr(Expression, f"__{_name}__", _operator(_sign, _COMPARES, _OR)[0])
Expression.__hash__ = object.__hash__  # type: ignore[method-assign]


class _Words(Mapping[str, Callable[..., Expression]]):
    """Every word is written as a call."""

    def __getitem__(self, word: str) -> Callable[..., Expression]:
        return lambda *operands: _call(word, *operands)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


WORLDS[Expression] = _Words()


class Written(NamedTuple):
    """A formula's text: what it gives, and its parts that have names, each of those before it."""

    result: str
    parts: dict[str, str]


def write(function: Callable[..., object], **numbers: object) -> Written:
    """A formula by the names of its parameters.

    Args:
        function: in the vocabulary. A word of it is a formula of `self`.
        numbers: arguments with a value, by name.

    Raises:
        TypeError: a parameter decides by its value what is computed.
    """
    parameters = inspect.signature(function).parameters.values()
    names = ["self" if p.kind is p.VAR_POSITIONAL else p.name for p in parameters]
    result = function(*(numbers.get(name, Expression(name, _ATOM)) for name in names))
    results = result if isinstance(result, tuple) else (result,)
    parts: list[Expression] = []
    uses: dict[int, int] = {}
    for x in results:
        _count(x, parts, uses)
    free = iter([n for n in _NAMES if n not in names])
    named: dict[int, str] = {}
    texts: dict[str, str] = {}
    for part in parts:  # operands come before what is made of them
        text = part.text(named)
        if uses[id(part)] > 1 and len(text) > _SHORT and (name := next(free, "")):
            texts[name] = text
            named[id(part)] = name
    return Written(", ".join(_operand(x, 0, named) for x in results), texts)


def _count(x: object, parts: list[Expression], uses: dict[int, int]) -> None:
    if not isinstance(x, Expression):
        return
    uses[id(x)] = uses.get(id(x), 0) + 1
    if uses[id(x)] == 1:
        for operand, _ in x.operands:
            _count(operand, parts, uses)
        parts.append(x)
