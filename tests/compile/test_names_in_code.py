"""Names are read off instructions as `dis` reads them, and records are data."""

import argparse
import dis
import inspect
import typing
from collections.abc import Iterator
from types import CodeType

import pytest

import rushlight
from rushlight._compile.guards import names_in_code
from rushlight._compile.guards.records import Held, Is, Item, Local, Start


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from _all_codes(x)


def _by_dis(code: CodeType) -> list[tuple[str, str]]:
    words = names_in_code._ATTRIBUTES | names_in_code._GLOBALS
    return [(i.opname, i.argval) for i in dis.get_instructions(code) if i.opname in words]


@pytest.mark.parametrize("module", [argparse, inspect, typing, rushlight.nn.modules.transformer])
def test_a_modules_names_are_those_of_dis(module) -> None:
    whole = compile(inspect.getsource(module), "module", "exec")
    for code in _all_codes(whole):
        assert names_in_code._read_names(code) == _by_dis(code)


def test_more_names_than_fit_in_a_byte_are_those_of_dis() -> None:
    lines = [f"    g{n}.a{n}.m{n}(x.b{n})\n    x.c{n} = super().d{n}" for n in range(300)]
    text = "class A:\n  def f(self, x):\n" + "\n".join(lines)
    for code in _all_codes(compile(text, "text", "exec")):
        assert names_in_code._read_names(code) == _by_dis(code)
    asked = [name for _, name in names_in_code._read_names(compile("a.b; del c.d", "t", "exec"))]
    assert asked == ["a", "b", "c", "d"]


def test_records_are_equal_by_class_and_values_and_stay() -> None:
    first, same = Item(Held(1), "key"), Item(of=Held(1), key="key", get=False)
    assert first == same and hash(first) == hash(same)
    assert first != Item(Held(1), "key", True) and Held("x") != Local("x")
    assert Start() == Start() and bool(Start())
    assert repr(Is(Held(1), None)) == "Is(Held(1), None)"
    with pytest.raises(AttributeError, match="stays as it is"):
        first.key = "other"
