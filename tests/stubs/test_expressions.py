"""Type checkers know what expressions give, and refuse programs that are wrong."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stubs._checking import HEAD, entries, expressions, is_any, mypy, types_of

#: Expressions of which nothing is known, in PyTorch's stubs neither.
OPEN = 12

needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")


def wrong_programs() -> str:
    """The programs that are to be refused, a line each."""
    return HEAD.format(torch="rushlight") + "".join(f"{line}\n" for line in entries("refused.txt"))


def test_there_are_enough() -> None:
    assert len(expressions()) >= 650
    assert len(entries("refused.txt")) >= 100
    assert (
        sum(is_any(result) for _, result in expressions()) <= OPEN + 5
    )  # dict[str, Any] among them


@needs_mypy
@pytest.mark.slow
def test_the_types_of_expressions(tmp_path: Path) -> None:
    found = types_of("rushlight", tmp_path)
    asked = expressions()
    wrong = [f"{e}: {f}, not {r}" for (e, r), f in zip(asked, found, strict=True) if f != r]
    assert not wrong, "\n".join(wrong)


@needs_mypy
@pytest.mark.slow
def test_wrong_programs_are_refused(tmp_path: Path) -> None:
    said = mypy(wrong_programs(), tmp_path)
    lines = entries("refused.txt")
    accepted = [line for number, line in enumerate(lines) if "error:" not in said.get(number, "")]
    assert accepted == []


@pytest.mark.slow
def test_pyright_refuses_them_too(tmp_path: Path) -> None:
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("no pyright")
    source = Path(importlib.util.find_spec("rushlight").origin or "").parents[1]  # type: ignore[union-attr]
    (tmp_path / "pyrightconfig.json").write_text(
        f'{{"extraPaths": ["{source}"], "reportMissingModuleSource": false}}'
    )
    (tmp_path / "program.py").write_text(wrong_programs())
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "-p", ".", "--pythonpath", sys.executable],
        capture_output=True, text=True, timeout=600, cwd=tmp_path, env=dict(os.environ),
    )  # fmt: skip
    found = re.findall(r"program\.py:(\d+):\d+ - error", done.stdout)
    refused = {int(number) - HEAD.count("\n") - 1 for number in found}
    lines = entries("refused.txt")
    assert [line for number, line in enumerate(lines) if number not in refused] == []
