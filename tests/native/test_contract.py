"""What is assumed of objects: tried before it is used; and what is otherwise is off, not wrong."""

import sys
import sysconfig
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rushlight._native.cpython import contract, dict_clocks, interpreter, object_layout as layout
from tests.native.subprocesses import run

if interpreter.unknown() is not None:
    pytest.skip("this Python's objects are not known", allow_module_level=True)
TRIED = (interpreter.unknown, contract.containers, contract.counts, contract.slots,
         layout.cell_field, layout.version_offset, layout.tag_offset, dict_clocks.unknown,
         dict_clocks._split_ones_too)  # fmt: skip


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    """Answers are kept: each test asks again, and leaves nothing behind."""
    for one in TRIED:
        one.cache_clear()
    yield
    for one in TRIED:
        one.cache_clear()


def reasons() -> dict[str, str | None]:
    return contract.report(np.zeros((2, 3)))


def test_everything_is_as_it_is_written_here() -> None:
    if np.__version__.startswith("2."):
        found = reasons()
        assert found.pop("clocks of dictionaries") in (None, "this CPython has none")
        assert set(found.values()) == {None}


@pytest.mark.parametrize("name", sorted(layout.NDARRAY))
@pytest.mark.parametrize("by", [8, -8])
def test_a_field_of_ndarrays_elsewhere_is_noticed(
    name: str, by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(layout.NDARRAY, name, layout.NDARRAY[name] + by)
    found = reasons()
    assert "ndarrays keep" in str(found["kernels called with ndarrays"])
    assert found["guards in machine code"] == found["programs that find their arrays"]


@pytest.mark.parametrize(
    ("module", "name", "other", "reason"),
    [
        (interpreter, "TYPE", 0, "objects begin"),
        (interpreter, "BYTES", 24, "bytes keep"),
        (interpreter, "FLOAT", 8, "floats keep"),
    ],
)
def test_a_field_that_all_versions_have_elsewhere_turns_everything_off(
    module: Any, name: str, other: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, other)
    assert all(str(x).startswith(reason) for x in reasons().values())


@pytest.mark.parametrize(
    ("name", "other", "reason"),
    [
        ("DICT_SIZE", 24, "dictionaries"),
        ("SIZE", 8, "lists and tuples"),
        ("LIST_ITEMS", 32, "lists keep"),
        ("_CELL", 8, "closures"),
        ("MEMBER_NAME", 32, "slots"),
        ("_MEMBER_OFFSET", 8, "slots"),
    ],
)
def test_containers_that_lie_otherwise_turn_guards_off_and_kernels_not(
    name: str, other: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, name, other)
    found = reasons()
    assert str(found["guards in machine code"]).startswith(reason)
    assert found["kernels called with ndarrays"] is None


@pytest.mark.parametrize("offset", [0, 8, 16, 32])
def test_a_dictionary_has_no_version_where_none_is_found(
    offset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_VERSION", offset)
    assert layout.version_offset() is None


@pytest.mark.parametrize("by", [-8, -4, 4])
def test_a_class_has_no_version_where_none_is_found(
    by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_TAG", layout._TAG + by)
    assert layout.tag_offset() is None
    assert layout.tag(dict) == 0


def test_a_dictionary_of_attributes_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Thing:
        pass

    x = Thing()
    x.a = 1  # type: ignore[attr-defined]
    assert x.__dict__ == {"a": 1}
    monkeypatch.setattr(layout, "_MANAGED", 0)
    assert layout.dict_offset(x) is None


@pytest.mark.parametrize(
    ("version", "no_lock", "reason"),
    [
        ((3, 15), 0, "CPython 3.15 is not known"),
        ((3, 10), 0, "CPython 3.10 is not known"),
        ((3, 14), 1, "this CPython has no lock"),
    ],
)
def test_an_interpreter_that_is_not_known_is_not_read(
    version: tuple[int, int], no_lock: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: no_lock)
    monkeypatch.setattr(interpreter, "word", lambda address: 1 / 0)
    assert interpreter.unknown() == reason


def test_another_major_version_of_numpy_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace(__version__="3.0.1"))
    assert contract.arrays(np.zeros((2, 3))) == "NumPy 3.0.1 is not known"


PROGRAM = """
    import sys
    from rushlight._native.cpython import interpreter, object_layout as layout
    {broken}
    import rushlight as torch
    from rushlight import __config__, nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(5, 3), torch.randint(0, 2, (5,))
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss
    compiled = torch.compile(step)
    for _ in range(8):
        loss = compiled(x, y)
    large = torch.tanh(torch.linspace(0, 1, 20000)).sum()
    print(round(loss.item(), 4), round(large.item(), 1))
    print(__config__.show().split("machine code: ")[1].splitlines()[0])
    print(compiled.explain())
"""


@pytest.mark.parametrize(
    ("broken", "reason", "native"),
    [
        ("layout.NDARRAY['data'] = 24", "ndarrays keep their elements elsewhere", False),
        ("layout.LIST_ITEMS = 16", "lists keep their items elsewhere", True),
        ("interpreter.VERSIONS = range(99, 100)", "is not known", False),
    ],
)
def test_a_program_gives_the_same_and_says_why_it_is_slower(
    broken: str, reason: str, native: bool
) -> None:
    right = run(PROGRAM.format(broken="")).splitlines()
    found = run(PROGRAM.format(broken=broken)).splitlines()
    assert found[0] == right[0]
    assert right[1] == "yes"
    assert (found[1] == "yes") is native
    assert native or reason in found[1]
    assert reason in "\n".join(found[2:])
