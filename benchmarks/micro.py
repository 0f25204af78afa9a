"""Nanoseconds of single operations in one process, for use while tuning.

    python benchmarks/micro.py --impl rushlight [--only REGEX] [--save FILE] [--against FILE]

One process measures one implementation and nothing checks values: for figures to be quoted, run
`python -m benchmarks`. `timeit` runs the statements from their source text: no call is timed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import re
import sys
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

SETUP = """
nn, F = torch.nn, torch.nn.functional
a = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
b = torch.tensor([0.5, 1.5, 2.5, 3.5], requires_grad=True)
p = torch.tensor([1.0, 2.0, 3.0, 4.0])
q = torch.tensor([0.5, 1.5, 2.5, 3.5])
m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
k = torch.tensor([[0.5, 1.0], [1.5, 2.0]], requires_grad=True)
g = torch.ones(4)
gm = torch.ones(2, 2)
one = torch.tensor(1.0)
zero_d = torch.tensor(2.0, requires_grad=True)
linear = nn.Linear(4, 4)
relu = nn.ReLU()
model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
x = torch.ones(32, 4)
target = torch.zeros(32, dtype=torch.int64)
no_grad = torch.no_grad
def optimizer(name):
    params = [torch.ones(8, 8, requires_grad=True) for _ in range(4)]
    for parameter in params:
        parameter.grad = torch.zeros(8, 8)
    return getattr(torch.optim, name)(params, lr=0.001)
sgd, adam = optimizer("SGD"), optimizer("Adam")
F.cross_entropy(model(x), target).backward()
"""


@dataclass(frozen=True)
class Row:
    """A statement to be timed; `less` names the row whose time is to be taken off it."""

    name: str
    statement: str
    less: str | None = None


ROWS = (
    Row("python: empty statement", "pass"),
    Row("plain add", "p + q"),
    Row("plain mul", "p * q"),
    Row("plain mul scalar", "p * 2.0"),
    Row("plain sum", "p.sum()"),
    Row("plain view", "p.view(2, 2)"),
    Row("plain index", "p[1]"),
    Row("plain slice", "p[1:3]"),
    Row("plain add_", "p.add_(0.0)"),
    Row("recorded add", "a + b"),
    Row("recorded mul", "a * b"),
    Row("recorded mul scalar", "a * 2.0"),
    Row("recorded mul 0-d", "zero_d * zero_d"),
    Row("recorded matmul", "m @ k"),
    Row("recorded exp", "a.exp()"),
    Row("recorded sum", "a.sum()"),
    Row("recorded view", "a.view(2, 2)"),
    Row("recorded index", "a[1]"),
    Row("recorded slice", "a[1:3]"),
    Row("backward of add", "(a + b).backward(g)", "recorded add"),
    Row("backward of mul", "(a * b).backward(g)", "recorded mul"),
    Row("backward of mul scalar", "(a * 2.0).backward(g)", "recorded mul scalar"),
    Row("backward of matmul", "(m @ k).backward(gm)", "recorded matmul"),
    Row("backward of exp", "a.exp().backward(g)", "recorded exp"),
    Row("backward of sum", "a.sum().backward(one)", "recorded sum"),
    Row("backward of view", "a.view(2, 2).backward(gm)", "recorded view"),
    Row("backward of index", "a[1].backward(one)", "recorded index"),
    Row("backward of slice", "a[1:3].backward(g[:2])", "recorded slice"),
    Row("autograd.grad of mul", "torch.autograd.grad(a * b, (a, b), g)", "recorded mul"),
    Row("no_grad enter and exit", "with no_grad(): pass"),
    Row("no_grad, then mul", "with no_grad(): a * b"),
    Row("tensor of 4 numbers", "torch.tensor([1.0, 2.0, 3.0, 4.0])"),
    Row("tensor of 1 number", "torch.tensor(1.0)"),
    Row("zeros", "torch.zeros(4)"),
    Row("zeros_like", "torch.zeros_like(p)"),
    Row("item", "one.item()"),
    Row("shape", "a.shape"),
    Row("detach", "a.detach()"),
    Row("Module call: ReLU", "relu(a)"),
    Row("Module call: Linear", "linear(a)"),
    Row("Module call: Sequential of 3", "model(x)"),
    Row("cross_entropy", "F.cross_entropy(model(x), target)", "Module call: Sequential of 3"),
    Row("zero_grad", "sgd.zero_grad(set_to_none=False)"),
    Row("SGD step, 4 parameters", "sgd.step()"),
    Row("Adam step, 4 parameters", "adam.step()"),
)


def nanoseconds(timer: timeit.Timer, number: int) -> float:
    """The mean time of one of `number` executions."""
    return timer.timeit(number) / number * 1e9


def timers(
    rows: Sequence[Row], names: dict[str, Any]
) -> tuple[dict[str, Callable[[], float]], dict[str, str]]:
    """By row, a function that gives nanoseconds, or the reason why it can't be run."""
    ready: dict[str, Callable[[], float]] = {}
    reasons: dict[str, str] = {}
    for row in rows:
        timer = timeit.Timer(row.statement, "gc.enable()", globals={**names, "gc": gc})
        try:
            timer.timeit(3)
            number = max(1, int(0.004 / (timer.timeit(20) / 20)))
        except Exception as error:
            first = (str(error).splitlines() or [""])[0]
            reasons[row.name] = f"{type(error).__name__}: {first}"
            continue
        ready[row.name] = partial(nanoseconds, timer, number)
    return ready, reasons


def measure(rows: Sequence[Row], names: dict[str, Any], passes: int) -> dict[str, float | str]:
    """Nanoseconds by row, the least of so many passes over all rows; the reason where it fails."""
    ready, reasons = timers(rows, names)
    least: dict[str, float] = {}
    for _ in range(passes):
        for name, once in ready.items():
            least[name] = min(once(), least.get(name, float("inf")))
    found: dict[str, float | str] = {}
    for row in rows:
        if row.name in reasons:
            found[row.name] = reasons[row.name]
        elif row.less is None:
            found[row.name] = least[row.name]
        elif row.less in least:
            found[row.name] = least[row.name] - least[row.less]
        else:
            found[row.name] = f"needs the row {row.less!r}"
    return found


def prepare(impl: str, threads: int) -> dict[str, Any]:
    """The names that the statements use."""
    if impl == "rushlight" and (ROOT / "src" / "rushlight").is_dir():
        sys.path.insert(0, str(ROOT / "src"))
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)
    module = importlib.import_module(impl)
    if hasattr(module, "set_num_threads"):
        module.set_num_threads(threads)
    names: dict[str, Any] = {"torch": module}
    # Statement by statement: what an implementation lacks fails the rows that use it, not all.
    for statement in re.split(r"\n(?=\S)", SETUP.strip()):
        try:
            exec(statement, names)
        except Exception as error:
            print(f"set up failed: {statement.splitlines()[0]}: {type(error).__name__}: {error}")
    return names


def main(arguments: Sequence[str]) -> int:
    """Prints a table of nanoseconds."""
    parser = argparse.ArgumentParser(description="Nanoseconds of single operations.")
    parser.add_argument("--impl", choices=("rushlight", "torch"), default="rushlight")
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--passes", metavar="N", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--threads", metavar="N", type=int, default=1)
    parser.add_argument("--save", metavar="FILE", type=Path, help="write the figures as JSON")
    parser.add_argument("--against", metavar="FILE", type=Path, help="compare with saved figures")
    options = parser.parse_args(arguments)
    names = prepare(options.impl, options.threads)
    wanted = [row for row in ROWS if re.search(options.only, row.name)]
    needed = {row.less for row in wanted} | {row.name for row in wanted}
    found = measure([row for row in ROWS if row.name in needed], names, max(1, options.passes))
    saved = json.loads(options.against.read_text(encoding="utf-8")) if options.against else None
    compiled = getattr(getattr(names["torch"], "__config__", None), "compiled", None)
    print(f"{options.impl}, compiled: {compiled}" if options.impl == "rushlight" else options.impl)
    heading = f"{'ns':>10}" + (f"{options.against.stem[:12]:>13}{'x':>7}" if saved else "")
    print(f"{'':32}{heading}")
    for row in wanted:
        figure = found[row.name]
        if isinstance(figure, str):
            print(f"{row.name:32}     error  {figure}")
            continue
        line = f"{row.name:32}{figure:10.0f}"
        before = saved.get(row.name) if saved else None
        if isinstance(before, (int, float)) and figure > 0:
            line += f"{before:13.0f}{before / figure:7.2f}"
        print(line)
    if options.save:
        options.save.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    # This folder is no place to import from: the names of its files are not meant to be modules.
    sys.path.pop(0)
    sys.exit(main(sys.argv[1:]))
