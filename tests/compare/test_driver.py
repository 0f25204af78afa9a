"""The driver of the comparison loses no program: not to exceptions, crashes, hangs or imports."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import behaviour

GROUP = """
import os, time, warnings
import torch


def prints() -> None:
    print("square root", torch.sqrt(4.0), object())


def warns() -> None:
    warnings.warn("careful")


def raises() -> None:
    print("before")
    raise KeyError("gone")


def exits() -> None:
    os._exit(3)


def hangs() -> None:
    time.sleep(600)


def leaves_something_behind() -> None:
    torch.left = 1


def finds_nothing() -> None:
    print(hasattr(torch, "left"))


def _not_a_program() -> None:
    raise AssertionError
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.py").write_text(GROUP)
    return tmp_path


def test_programs_are_found_without_running_anything(folder: Path) -> None:
    names = behaviour.programs(folder=folder)
    assert names[0] == "small.prints" and len(names) == 7
    assert behaviour.programs("wa|fi", folder) == ["small.warns", "small.finds_nothing"]


def test_every_ending_is_told_and_the_other_programs_run(folder: Path) -> None:
    names = [n for n in behaviour.programs(folder=folder) if not n.endswith("hangs")]
    seen = behaviour.observed("math", names, folder)
    told = {name.split(".")[1]: (one.status, one.printed) for name, one in seen.items()}
    assert told == {
        "prints": ("ok", "square root 2.0 <object object at 0x>\n"),
        "warns": ("ok", "[UserWarning: careful]\n"),
        "raises": ("raised", "before\nuncaught at line 16 of the group: KeyError: 'gone'\n"),
        "exits": ("crashed", "the process ended with 3\n"),
        "leaves_something_behind": ("ok", ""),
        "finds_nothing": ("ok", "False\n"),
    }


def test_a_hang_ends_after_the_time_of_a_program(folder: Path) -> None:
    seen = behaviour.observed("math", ["small.hangs", "small.prints"], folder, seconds=0.5)
    assert [one.status for one in seen.values()] == ["hung", "ok"]


def test_a_module_that_cannot_be_imported_is_an_error_of_every_program(folder: Path) -> None:
    (one,) = behaviour.observed("no_such_module", ["small.prints"], folder).values()
    assert one.status == "raised"
    assert "No module named 'no_such_module'" in one.printed


def test_verdicts_and_differences() -> None:
    ok, other = behaviour.Observation("ok", "a\nb\n"), behaviour.Observation("ok", "a\nc\n")
    bad = behaviour.Observation("crashed", "a\nb\n")
    verdicts = [behaviour.verdict(ok, one) for one in (ok, other, bad)]
    assert verdicts == ["equal", "different", "error"]
    assert behaviour.difference(ok, ok, "x") == ""
    assert "+c" in behaviour.difference(ok, other, "x")
    assert behaviour.difference(ok, bad, "x") == "ended: ok / crashed"
    assert behaviour.lines_in_common(ok, other) == (1, 2)
