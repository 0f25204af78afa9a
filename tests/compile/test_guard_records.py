"""Guards as data: what they are in Python, and what machine code looks at for them."""

import enum
from collections import deque
from typing import Any

import pytest

import rushlight as torch
from rushlight._compile.guards.analysis import SortedGuards
from rushlight._compile.guards.guards import SourceText, by_versions
from rushlight._compile.guards.name_lookups import Lookups, Versions
from rushlight._compile.guards.records import (
    ArgumentPart,
    Attribute,
    Bind,
    ByClass,
    Call,
    Content,
    Equal,
    Held,
    Is,
    Item,
    Keys,
    Length,
    Local,
    NoneOf,
    Truth,
)


class Thing:
    def __init__(self) -> None:
        self.size = 3


def written(*conditions: Any) -> tuple[SourceText, SortedGuards]:
    lines = SourceText()
    lines.unless(*conditions)
    return lines, SortedGuards(lines.guards, [])


def test_a_condition_is_written_once_and_looked_at_where_it_lies() -> None:
    thing = Thing()
    lines, cover = written(Is(Attribute(Held(thing), "size"), thing.size))
    assert lines.text == ["if not (c0.size is c1): return None"]
    assert lines.names == {"c0": thing, "c1": 3}
    assert not cover.kept
    assert cover.looked[id(thing)].fields == {"__class__"}
    assert list(cover.looked[id(vars(thing))].keys.values()) == ["size"]


def test_numbers_are_compared_by_type_and_value() -> None:
    table = {"a": 0.0}
    lines, cover = written(lines_equal := Equal(Item(Held(table), "a", get=True), 0.0, "x0"))
    check = eval(f"lambda: {lines_equal.text(lines.name)}", lines.names)
    assert check()
    for other in (-0.0, 0, False, 1.0, None):
        table["a"] = other  # type: ignore[assignment]
        assert not check()
    assert list(cover.looked[id(table)].keys.values()) == ["a"]


@pytest.mark.parametrize(
    "condition",
    [
        Is(Item(Held(deque([1])), 0), 1),
        Length(Held(deque()), 0),
        Keys(Held({1}), (1,)),
        Is(Attribute(Local("g3"), "_plain"), True),
        ByClass(Item(Held({"n": 1}), "n"), int, "n0"),
        Call(lambda: True),
    ],
)
def test_what_machine_code_cannot_look_at_stays_python(condition: Any) -> None:
    lines, cover = written(condition)
    assert cover.kept + cover.structure == lines.text
    assert not cover.looked


def test_of_a_guard_that_stays_python_nothing_is_looked_at() -> None:
    thing = Thing()
    _, cover = written(Is(Attribute(Held(thing), "size"), 3), Call(lambda: True))
    assert len(cover.kept) == 1
    assert not cover.looked


def test_the_structure_of_arguments_is_asked_first() -> None:
    lines = SourceText()
    lines.unless(
        Is(Attribute(ArgumentPart("args"), "__class__"), tuple), Length(ArgumentPart("args"), 2)
    )
    lines.guard(Bind("t0", ArgumentPart("args[0]")))
    lines.unless(Is(ArgumentPart("args[1]"), Local("t0")))
    lines.unless(Truth(Attribute(Local("t0"), "_plain")))
    cover = SortedGuards(lines.guards, [])
    assert cover.structure == lines.text[:3]
    assert cover.arguments["t0"].fields == {"_plain": True}


def test_a_variable_of_a_function_around_is_looked_at() -> None:
    content = Thing()

    def inner() -> Any:
        return content

    (cell,) = inner.__closure__ or ()
    _, cover = written(Is(Content(Held(cell), lambda cell: cell.cell_contents), content))
    assert cover.looked[id(cell)].fields == {"cell_contents"}


def test_guards_of_dictionaries_are_asked_only_where_a_version_has_changed() -> None:
    lines = SourceText()
    lines.versions = Versions(Lookups(), [])
    lines.unless(Call(lines.versions))
    lines.asking = lines.guards[-1].guard
    first, second = {"a": 1}, {"b": 2}
    lines.guard(NoneOf((Held(first),)))
    lines.timed = True
    lines.unless(Length(Held(second), 1))
    lines.timed = False
    lines.python("if late: return None")
    assert by_versions(lines) == [
        "if c1: return None",
        "if (now := c0.find_changes()) is not None:",
        "    if not (len(c2) == 1): return None",
        "    if not c0.same(now): return None",
        "if late: return None",
    ]


class Key(enum.IntEnum):
    LEFT = 1
    RIGHT = 2


class Name(enum.StrEnum):
    SCALE = "scale"


@pytest.mark.parametrize("keys", [(Key.LEFT, Key.RIGHT), (Name.SCALE, "other"), (-1, True)])
def test_keys_of_any_kind_are_guarded(keys: tuple[Any, Any]) -> None:
    table = {keys[0]: 2.0, keys[1]: 3.0}
    key = keys[0]

    def step(x: Any) -> Any:
        return x * table[key]

    compiled = torch.compile(step)
    for _ in range(5):
        assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]
    assert compiled.program is not None, compiled.explain()
    table[key] = 5.0
    assert compiled(torch.ones(2)).tolist() == [5.0, 5.0]
