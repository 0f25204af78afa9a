"""Guards as data: what is looked at, and what is to be found there.

A guard is a statement about sources: `Unless(Is(Attribute(Held(model), "training"), True))`. It is
rendered once to Python (see `guards.Lines`), and once to what machine code compares, word by word
(see `analysis`); neither is made from the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never, dataclass_transform

Name = Callable[[Any], str]  # of an object in the text


def literal(key: object) -> bool:
    """Whether a key is the same wherever it is written: a text or a whole number, of no class."""
    return type(key) in (str, int, bool)


def write_key(key: object, name: Name) -> str:
    """A key as the text has it."""
    return repr(key) if literal(key) else name(key)


@dataclass_transform(frozen_default=True)
class Record:
    """Values that stay, under the names that a class declares; equal where class and values are.

    `dataclass` makes such classes too, and takes half a millisecond for each: a tenth of what a
    small program waits for its first call.
    """

    def __init__(self, *values: Any, **named: Any) -> None:
        kind = type(self)
        given = dict(zip(kind.__annotations__, values), **named)
        vars(self).update(
            (name, given[name] if name in given else getattr(kind, name))
            for name in kind.__annotations__
        )

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"{type(self).__name__} stays as it is")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, vars(self).values()))})"


# ---- sources -------------------------------------------------------------------------------------


class Held(Record):
    """An object that is the same in each call."""

    thing: Any

    def text(self, name: Name) -> str:
        return name(self.thing)


class Local(Record):
    """What the text has named: an argument's tensor, an array."""

    name: str

    def text(self, name: Name) -> str:
        return self.name


class ArgumentPart(Record):
    """A part of the arguments: `args[0]["x"]`."""

    path: str

    def text(self, name: Name) -> str:
        return self.path


class Attribute(Record):
    of: Held | Local | ArgumentPart
    name: str

    def text(self, name: Name) -> str:
        return f"{self.of.text(name)}.{self.name}"


class Default(Record):
    """An attribute that may be missing; `missing` stands for it then."""

    of: Held
    name: str
    missing: Any

    def text(self, name: Name) -> str:
        return f"getattr({self.of.text(name)}, {self.name!r}, {name(self.missing)})"


class Item(Record):
    """What a container has under a key; None for a key that may be missing (`get`)."""

    of: Held
    key: Any
    get: bool = False

    def text(self, name: Name) -> str:
        key, of = write_key(self.key, name), self.of.text(name)
        return f"{of}.get({key})" if self.get else f"{of}[{key}]"


class ClassEntry(Record):
    """What a class itself has under a name, bases apart."""

    kind: Held
    key: str

    def text(self, name: Name) -> str:
        return f"{self.kind.text(name)}.__dict__.get({self.key!r})"


class Content(Record):
    """What a closure's variable holds; `read` asks it."""

    cell: Held
    read: Any

    def text(self, name: Name) -> str:
        return f"{name(self.read)}({self.cell.text(name)})"


Source = Held | Local | ArgumentPart | Attribute | Default | Item | ClassEntry | Content


# ---- conditions ----------------------------------------------------------------------------------


class Is(Record):
    """The same object."""

    source: Source
    expected: Any  # an object, or the `Local` that it is

    def text(self, name: Name) -> str:
        x = self.expected
        if x is None or x is True or x is False:
            return f"{self.source.text(name)} is {x}"
        return f"{self.source.text(name)} is {x.name if type(x) is Local else name(x)}"


class Equal(Record):
    """A number or a text of the same type and value, bound to `bound` meanwhile."""

    source: Source
    expected: Any
    bound: str

    def text(self, name: Name) -> str:
        value, x, shown = self.expected, self.bound, self.source.text(name)
        c, kind = name(value), name(type(value))
        alike = f"{x}.__class__ is {kind} and {x} == {c}"
        if value == 0 and not isinstance(value, int):  # -0.0 is equal to 0.0, and another
            alike += f" and repr({x}) == {repr(value)!r}"
        return f"(({x} := {shown}) is {c} or ({alike}))"


class ByClass(Record):
    """Any value of one of Python's types, bound to a name of the program's where there is one."""

    source: Source
    kind: type
    bound: str = ""

    def text(self, name: Name) -> str:
        x = self.source.text(name)
        return f"{f'({self.bound} := {x})' if self.bound else x}.__class__ is {self.kind.__name__}"


class IsNone(Record):
    """Whether something is None."""

    source: Source
    none: bool

    def text(self, name: Name) -> str:
        return f"({self.source.text(name)} is None) is {self.none}"


class Truth(Record):
    """Something that counts as true; as false, in `NoneOf`."""

    source: Source

    def text(self, name: Name) -> str:
        return self.source.text(name)


class Filled(Record):
    """Whether a number is another than zero."""

    source: Item
    filled: bool

    def text(self, name: Name) -> str:
        return f"({self.source.text(name)} != 0) is {self.filled}"


class Length(Record):
    source: Held | ArgumentPart
    count: int

    def text(self, name: Name) -> str:
        return f"len({self.source.text(name)}) == {self.count}"


class Keys(Record):
    """The same keys in the same order; where they aren't all texts, the same objects."""

    source: Held | ArgumentPart
    keys: tuple[Any, ...]
    identity: bool = False  # texts too

    def text(self, name: Name) -> str:
        x = self.source.text(name)
        if not self.identity and all(type(key) is str for key in self.keys):
            return f"[*{x}] == {name([*self.keys])}"
        name([*self.keys])  # kept alive: an id means the same object
        return f"[*map(id, {x})] == {name([id(key) for key in self.keys])}"


class Geometry(Record):
    """An array's sizes, strides and type."""

    array: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any

    def text(self, name: Name) -> str:
        a, dtype = self.array, name(self.dtype)
        same = f"{a}.dtype is {dtype} or {a}.dtype == {dtype}"
        return f"{a}.shape == {self.shape!r} and {a}.strides == {self.strides!r} and ({same})"


class Writable(Record):
    """An array that may be written."""

    array: Local | Attribute

    def text(self, name: Name) -> str:
        return f"{self.array.text(name)}.flags.writeable"


class Bare(Record):
    """A tensor without attributes of its own."""

    tensor: Local | Held

    def text(self, name: Name) -> str:
        return f"not getattr({self.tensor.text(name)}, '__dict__', None)"


class Call(Record):
    """A function says yes, perhaps of something."""

    function: Any
    source: Source | None = None

    def text(self, name: Name) -> str:
        return f"{name(self.function)}({'' if self.source is None else self.source.text(name)})"


Condition = (
    Is | Equal | ByClass | IsNone | Truth | Filled | Length | Keys | Geometry | Writable | Bare
    | Call
)  # fmt: skip


# ---- guards --------------------------------------------------------------------------------------


class Unless(Record):
    """A miss, unless all conditions hold."""

    conditions: tuple[Condition, ...]

    def lines(self, name: Name) -> list[str]:
        return [f"if not ({' and '.join(x.text(name) for x in self.conditions)}): return None"]


class NoneOf(Record):
    """A miss, if one of these counts as true."""

    sources: tuple[Held | Item, ...]

    def lines(self, name: Name) -> list[str]:
        return [f"if {' or '.join(x.text(name) for x in self.sources)}: return None"]


class Bind(Record):
    """Names a tensor among the arguments, or a tensor's array."""

    local: str
    source: Source

    def lines(self, name: Name) -> list[str]:
        return [f"{self.local} = {self.source.text(name)}"]


class Start(Record):
    """No tensor's array has been found replaced yet."""

    def lines(self, name: Name) -> list[str]:
        return ["moved = False"]


class Replaced(Record):
    """An array may have been replaced by one like it: then memory is looked at."""

    geometry: Geometry
    array: Any

    def test(self, name: Name) -> str:
        return f"{self.geometry.array} is not {name(self.array)}"

    def lines(self, name: Name) -> list[str]:
        # The type is named first, as in all texts of geometry.
        shape = self.geometry.text(name)
        return [
            f"if {self.test(name)}:", f"    if not ({shape}): return None", "    moved = True",
        ]  # fmt: skip


class Mode(Record):
    """The mode in which the step was recorded, or one like it."""

    expected: Any
    grad: bool

    def lines(self, name: Name) -> list[str]:
        other = f"m.slow or m.carrying or m.grad is not {self.grad}"
        return ["m = current()", f"if m is not {name(self.expected)} and ({other}): return None"]


class Apart(Record):
    """Arrays overlap as a program wants (see `memory_overlap`); `own` are ids of its own memory.

    `loose` are the arrays that were given; where these may overlap, they are always compared.
    """

    test: Any
    layout: list[tuple[int, int, bool]]
    arrays: tuple[Local, ...]
    loose: tuple[Local, ...]
    own: frozenset[int]
    always: bool

    def lines(self, name: Name) -> list[str]:
        conditions = ["True"]
        if not self.always:
            known = name(self.own)
            names = [a.name for a in self.loose]
            conditions = ["moved", *(f"{a}.base is not None" for a in names)]
            conditions += [f"id({a}) in {known}" for a in names if self.own]
            conditions += [f"{a} is {b}" for k, a in enumerate(names) for b in names[:k]]
        arrays = ", ".join(a.text(name) for a in self.arrays)
        test = f"{name(self.test)}({name(self.layout)}, ({arrays},))"
        return [f"if ({' or '.join(conditions)}) and not {test}: return None"]


class Python(Record):
    """What stays Python: conditions on numbers, and what machine code can't look at.

    `first`: it needs no name of another guard, and looks at no attribute; it may be asked at first.
    """

    written: tuple[str, ...]
    first: bool = False

    def lines(self, name: Name) -> list[str]:
        return list(self.written)


Guard = Unless | NoneOf | Bind | Start | Replaced | Mode | Apart | Python
