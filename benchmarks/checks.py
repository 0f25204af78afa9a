"""What checks of flags, shapes and bounds cost small compiled steps.

    python -m benchmarks.checks [--rounds N]

The same steps run in processes that have these checks and in processes from which they are taken
out (where nothing that is passed needs them), by turns; the best time of each counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: What is taken out: whether memory may be written; class, element type, sizes and strides of
#: arrays; indices and classes within their bounds.
WITHOUT = ("nothing", "flags", "shapes", "bounds", "all")
REPEATS, ROUNDS = 200, 40


def take_out(what: str) -> None:
    """Has machine code made from now on without some checks."""
    from rushlight._compile.assembly import driver
    from rushlight._native.cpython import guard_checker, guard_tables
    from rushlight._native.llvm.emit import I64, PTR

    def always(name: str, answer: int, *parameters: str) -> Any:
        def write(module: Any) -> Any:
            f = module.function(name, [(p, PTR) for p in parameters], I64)
            f.internal = name == "geometry"
            f.ret(f.constant(I64, answer))
            return f

        return write

    if what in ("flags", "all"):
        guard_tables.Snapshot.writable = lambda self, array: None  # type: ignore[method-assign]
    if what in ("shapes", "all"):
        guard_checker._geometry = always("geometry", 1, "raw", "told")
    if what in ("bounds", "all"):
        driver._check_index = always("check_index", 0, "frame")


def steps() -> dict[str, Callable[[], Any]]:
    """Small compiled steps by name."""
    import rushlight as torch
    from benchmarks.workloads.perceptron import SMALL, SMALL_ADAM, by_modules

    def of(function: Any, *args: Any) -> Callable[[], Any]:
        compiled = torch.compile(function)
        return lambda: compiled(*args)

    found = {}
    for rule, task in (("SGD", SMALL), ("Adam", SMALL_ADAM)):
        training = by_modules(task, rule)(torch)
        found[f"perceptron 4-64-64-2, {rule}"] = of(training.step, *training.data)
    table, layer = torch.nn.Embedding(100, 16), torch.nn.Linear(16, 4)
    optimizer = torch.optim.SGD([*table.parameters(), *layer.parameters()], lr=0.01)

    def embedded(words: Any, classes: Any) -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(layer(table(words)), classes)
        loss.backward()
        optimizer.step()
        return loss

    words, classes = torch.randint(0, 100, (32,)), torch.randint(0, 4, (32,))
    found["32 embeddings, a layer, SGD"] = of(embedded, words, classes)
    x, y, rows = torch.randn(8), torch.randn(8), torch.randn(32, 16)
    found["four operations on 8 numbers"] = of(lambda x, y: (x * y + 1).tanh() * x, x, y)
    wide = torch.randn(64)
    found["two writes to 64 numbers"] = of(lambda x, y: x.mul_(0.5).add_(y), wide, wide.clone())
    found["16 rows of 32 looked up"] = of(lambda i: rows[i] * 2, torch.randint(0, 32, (16,)))
    return found


def measure() -> dict[str, float]:
    """The best microseconds of each step."""
    best = {}
    for name, step in steps().items():
        for _ in range(300):
            step()
        times = []
        for _ in range(ROUNDS):
            start = perf_counter()
            for _ in range(REPEATS):
                step()
            times.append((perf_counter() - start) / REPEATS * 1e6)
        best[name] = min(times)
    return best


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", choices=WITHOUT, help="measure once, in this process")
    options = parser.parse_args()
    if options.without:
        take_out(options.without)
        print(json.dumps(measure()))
        return
    found: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for what in WITHOUT:
            told = subprocess.run(
                [sys.executable, "-m", "benchmarks.checks", "--without", what],
                capture_output=True, text=True, check=True, cwd=ROOT,
            ).stdout  # fmt: skip
            for name, time in json.loads(told).items():
                times = found.setdefault(name, {})
                times[what] = min(time, times.get(what, time))
    for name, times in found.items():
        whole = times["nothing"]
        shares = [f"{what} {100 * (whole - times[what]) / whole:+.1f} %" for what in WITHOUT[1:]]
        print(f"{name}: {whole:.2f} us, of which {', '.join(shares)}")


if __name__ == "__main__":
    main()
