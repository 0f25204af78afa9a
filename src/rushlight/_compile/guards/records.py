"""Guards as data: what is looked at, and what is to be found there.

A guard is a statement about sources: `Unless(Is(Attribute(Held(model), "training"), True))`. It is
rendered once to Python (see `guards.Lines`), and once to what machine code compares, word by word
(see `analysis`); neither is made from the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Name = Callable[[Any], str]  # of an object in the text


def literal(key: object) -> bool:
    """Whether a key is the same wherever it is written: a text or a whole number, of no class."""
    return type(key) in (str, int, bool)


def write_key(key: object, name: Name) -> str:
    """A key as the text has it."""
    return repr(key) if literal(key) else name(key)


# ---- sources -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Held:
    """An object that is the same in each call."""

    thing: Any

    def text(self, name: Name) -> str:
        return name(self.thing)


@dataclass(frozen=True, slots=True)
class Local:
    """What the text has named: an argument's tensor, an array."""

    name: str

    def text(self, name: Name) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ArgumentPart:
    """A part of the arguments: `args[0]["x"]`."""

    path: str

    def text(self, name: Name) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class Attribute:
    of: Held | Local | ArgumentPart
    name: str

    def text(self, name: Name) -> str:
        return f"{self.of.text(name)}.{self.name}"


@dataclass(frozen=True, slots=True)
class Default:
    """An attribute that may be missing; `missing` stands for it then."""

    of: Held
    name: str
    missing: Any

    def text(self, name: Name) -> str:
        return f"getattr({self.of.text(name)}, {self.name!r}, {name(self.missing)})"


@dataclass(frozen=True, slots=True)
class Item:
    """What a container has under a key; None for a key that may be missing (`get`)."""

    of: Held
    key: Any
    get: bool = False

    def text(self, name: Name) -> str:
        key, of = write_key(self.key, name), self.of.text(name)
        return f"{of}.get({key})" if self.get else f"{of}[{key}]"


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """What a class itself has under a name, bases apart."""

    kind: Held
    key: str

    def text(self, name: Name) -> str:
        return f"{self.kind.text(name)}.__dict__.get({self.key!r})"


@dataclass(frozen=True, slots=True)
class Content:
    """What a closure's variable holds; `read` asks it."""

    cell: Held
    read: Any

    def text(self, name: Name) -> str:
        return f"{name(self.read)}({self.cell.text(name)})"


Source = Held | Local | ArgumentPart | Attribute | Default | Item | ClassEntry | Content


# ---- conditions ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Is:
    """The same object."""

    source: Source
    expected: Any  # an object, or the `Local` that it is

    def text(self, name: Name) -> str:
        x = self.expected
        if x is None or x is True or x is False:
            return f"{self.source.text(name)} is {x}"
        return f"{self.source.text(name)} is {x.name if type(x) is Local else name(x)}"


@dataclass(frozen=True, slots=True)
class Equal:
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


@dataclass(frozen=True, slots=True)
class ByClass:
    """Any value of one of Python's types, bound to a name of the program's where there is one."""

    source: Source
    kind: type
    bound: str = ""

    def text(self, name: Name) -> str:
        x = self.source.text(name)
        return f"{f'({self.bound} := {x})' if self.bound else x}.__class__ is {self.kind.__name__}"


@dataclass(frozen=True, slots=True)
class IsNone:
    """Whether something is None."""

    source: Source
    none: bool

    def text(self, name: Name) -> str:
        return f"({self.source.text(name)} is None) is {self.none}"


@dataclass(frozen=True, slots=True)
class Truth:
    """Something that counts as true; as false, in `NoneOf`."""

    source: Source

    def text(self, name: Name) -> str:
        return self.source.text(name)


@dataclass(frozen=True, slots=True)
class Filled:
    """Whether a number is another than zero."""

    source: Item
    filled: bool

    def text(self, name: Name) -> str:
        return f"({self.source.text(name)} != 0) is {self.filled}"


@dataclass(frozen=True, slots=True)
class Length:
    source: Held | ArgumentPart
    count: int

    def text(self, name: Name) -> str:
        return f"len({self.source.text(name)}) == {self.count}"


@dataclass(frozen=True, slots=True)
class Keys:
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


@dataclass(frozen=True, slots=True)
class Geometry:
    """An array's sizes, strides and type."""

    array: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any

    def text(self, name: Name) -> str:
        a, dtype = self.array, name(self.dtype)
        same = f"{a}.dtype is {dtype} or {a}.dtype == {dtype}"
        return f"{a}.shape == {self.shape!r} and {a}.strides == {self.strides!r} and ({same})"


@dataclass(frozen=True, slots=True)
class Writable:
    """An array that may be written."""

    array: Local | Attribute

    def text(self, name: Name) -> str:
        return f"{self.array.text(name)}.flags.writeable"


@dataclass(frozen=True, slots=True)
class Bare:
    """A tensor without attributes of its own."""

    tensor: Local | Held

    def text(self, name: Name) -> str:
        return f"not getattr({self.tensor.text(name)}, '__dict__', None)"


@dataclass(frozen=True, slots=True)
class Call:
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


@dataclass(frozen=True, slots=True)
class Unless:
    """A miss, unless all conditions hold."""

    conditions: tuple[Condition, ...]

    def lines(self, name: Name) -> list[str]:
        return [f"if not ({' and '.join(x.text(name) for x in self.conditions)}): return None"]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """A miss, if one of these counts as true."""

    sources: tuple[Held | Item, ...]

    def lines(self, name: Name) -> list[str]:
        return [f"if {' or '.join(x.text(name) for x in self.sources)}: return None"]


@dataclass(frozen=True, slots=True)
class Bind:
    """Names a tensor among the arguments, or a tensor's array."""

    local: str
    source: Source

    def lines(self, name: Name) -> list[str]:
        return [f"{self.local} = {self.source.text(name)}"]


@dataclass(frozen=True, slots=True)
class Start:
    """No tensor's array has been found replaced yet."""

    def lines(self, name: Name) -> list[str]:
        return ["moved = False"]


@dataclass(frozen=True, slots=True)
class Replaced:
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


@dataclass(frozen=True, slots=True)
class Mode:
    """The mode in which the step was recorded, or one like it."""

    expected: Any
    grad: bool

    def lines(self, name: Name) -> list[str]:
        other = f"m.slow or m.carrying or m.grad is not {self.grad}"
        return ["m = current()", f"if m is not {name(self.expected)} and ({other}): return None"]


@dataclass(frozen=True, slots=True)
class Apart:
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


@dataclass(frozen=True, slots=True)
class Python:
    """What stays Python: conditions on numbers, and what machine code can't look at.

    `first`: it needs no name of another guard, and looks at no attribute; it may be asked at first.
    """

    written: tuple[str, ...]
    first: bool = False

    def lines(self, name: Name) -> list[str]:
        return list(self.written)


Guard = Unless | NoneOf | Bind | Start | Replaced | Mode | Apart | Python
