"""Programs made of expressions, and what type checkers say of them."""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
from pathlib import Path

import rushlight

HEAD = """\
import numpy
import {torch} as torch
import {torch}.nn.functional as F
from {torch} import nn
from {torch}.distributions import Normal
from {torch}.utils.data import DataLoader, TensorDataset

x, i, g = torch.randn(3, 4), torch.arange(3), torch.Generator()
n = numpy.zeros(3)
linear = nn.Linear(4, 2)
sgd = torch.optim.SGD(linear.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(x, i), batch_size=2)
"""
HERE = Path(__file__).parent


def entries(name: str) -> list[str]:
    """The lines of a file beside this one that say something."""
    lines = (HERE / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("# ")]


def expressions() -> list[tuple[str, str]]:
    """The expressions and the types they have."""
    found = (line.partition(" => ") for line in entries("expressions.txt"))
    return [(expression, result) for expression, _, result in found]


def mypy(program: str, folder: Path, *more: str, path: Path | None = None) -> dict[int, str]:
    """What mypy, strict, says of a program: by the line, counted after `HEAD`."""
    file = folder / "program.py"
    file.write_text(program)
    source = str(Path(rushlight.__file__).parents[1])
    places = [str(path)] if path else []
    places += [] if source in site.getsitepackages() else [source]
    found = {"MYPYPATH": os.pathsep.join(places)} if places else {}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary",
         "--no-pretty", f"--cache-dir={folder / 'cache'}", *more, str(file)],
        capture_output=True, text=True, timeout=600, cwd=folder,
        env={**found, "PATH": os.defpath},
    )  # fmt: skip
    assert not done.stderr, done.stderr
    start = HEAD.count("\n")
    said: dict[int, str] = {}
    for line in done.stdout.splitlines():
        m = re.match(r"(?:[^:]*/)?program\.py:(\d+): (.*)", line)
        assert m, line
        number = int(m[1]) - start - 1
        said[number] = f"{said[number]}\n{m[2]}" if number in said else m[2]
    return said


def short(said: str) -> str:
    """A type as `expressions.txt` writes it: without modules, a function's parameters left out."""
    revealed = re.fullmatch(r'note: Revealed type is "(.*)"', said)
    if revealed is None:
        return said
    text = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", revealed[1])
    return re.sub(r"def \(.*\) ->", "def (…) ->", text)


def types_of(torch: str, folder: Path, *more: str, path: Path | None = None) -> list[str]:
    """What mypy reveals of each expression, in a program that imports `torch`."""
    lines = [f"reveal_type({expression})\n" for expression, _ in expressions()]
    said = mypy(HEAD.format(torch=torch) + "".join(lines), folder, *more, path=path)
    assert min(said, default=0) >= 0, said
    return [short(said.get(number, "nothing")) for number in range(len(lines))]


def is_any(found: str) -> bool:
    """Whether a type says nothing."""
    return re.search(r"\bAny\b", found) is not None or "error:" in found
