"""Everyday steps, eager and compiled: `python -m benchmarks.coverage [--only REGEX] [--markdown]`.

For each step: processor time of PyTorch eager, of Rushlight eager and of the compiled step, one
thread, the least of several interleaved rounds; how many calls on arrays the program has, and which
of them stay with Python. All must agree after the same number of steps.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import rushlight
from benchmarks.workloads.everyday import STEPS

#: Seconds that a system runs in one round.
ROUND = 0.02


def timed(step: Callable[..., Any], arguments: list[Any], seconds: float) -> float:
    """Processor time of one call, by the mean over a round."""
    count, start = 0, time.process_time()
    while True:
        step(*arguments)
        count += 1
        spent = time.process_time() - start
        if spent >= seconds:
            return spent / count


def prepared(module: Any, name: str, compiled: bool) -> tuple[Any, list[Any], list[Any]]:
    """A step that has run four times, its arguments and what it trains."""
    module.manual_seed(3)
    step, arguments, leaves = STEPS[name](module)
    run = rushlight.compile(step) if compiled else step
    for _ in range(4):
        run(*arguments)
    return run, arguments, leaves


def apart(a: list[Any], b: list[Any]) -> float:
    """The largest difference of parameters, of the largest element."""
    worst = 0.0
    for p, q in zip(a, b, strict=True):
        x, y = rushlight.tensor(p.detach().numpy()), rushlight.tensor(q.detach().numpy())
        worst = max(worst, float((x - y).abs().max()) / max(float(y.abs().max()), 1e-12))
    return worst


def row(name: str, torch: Any, rounds: int) -> dict[str, Any]:
    """The figures of one step."""
    systems = {"rushlight": prepared(rushlight, name, False),
               "compiled": prepared(rushlight, name, True)}  # fmt: skip
    if torch is not None:
        systems = {"torch": prepared(torch, name, False), **systems}
    found: dict[str, Any] = dict.fromkeys(systems, float("inf"))
    found["name"] = name
    found["apart"] = max(apart(systems["compiled"][2], s[2]) for s in systems.values())
    for _ in range(rounds):
        for system, (run, arguments, _leaves) in systems.items():
            found[system] = min(found[system], timed(run, arguments, ROUND))
    compiled = systems["compiled"][0]
    variants = compiled.variants
    found["calls"] = len(variants[0].program.instructions) if variants else 0
    machine = variants[0].machine if variants else None
    left = machine.plan.list_left() if machine is not None else []
    found["left"] = [i.name for i in left] if machine is not None else [compiled.explain()]
    return found


def shown(figure: float) -> str:
    """A time in microseconds."""
    return f"{figure * 1e6:,.0f}"


def main(arguments: Sequence[str]) -> int:
    """Prints a line for each step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--only", default="", help="steps whose names match")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--without-torch", action="store_true")
    options = parser.parse_args(arguments)
    torch: Any = None
    if not options.without_torch:
        import torch as torch_module

        torch = torch_module
        torch.set_num_threads(1)
    rushlight.set_num_threads(1)
    heading = ["step", "torch", "rushlight", "compiled", "x torch", "x eager", "calls", "apart",
               "stay with Python"]  # fmt: skip
    if options.markdown:
        print("| " + " | ".join(heading) + " |")
        print("|---|" + "---:|" * 7 + "---|")
    product, count = 1.0, 0
    for name in STEPS:
        if not re.search(options.only, name):
            continue
        r = row(name, torch, options.rounds)
        ratio = r["torch"] / r["compiled"] if torch is not None else float("nan")
        product, count = product * ratio, count + 1
        kinds = dict.fromkeys(r["left"])
        left = ", ".join(
            f"{k} ×{r['left'].count(k)}" if r["left"].count(k) > 1 else k for k in kinds
        )
        words = [name, shown(r.get("torch", float("nan"))), shown(r["rushlight"]),
                 shown(r["compiled"]), f"{ratio:.1f}", f"{r['rushlight'] / r['compiled']:.1f}",
                 str(r["calls"]), f"{r['apart']:.0e}", left or "–"]  # fmt: skip
        if options.markdown:
            print("| " + " | ".join(words) + " |", flush=True)
        else:
            print(f"{words[0]:22}" + "".join(f"{w:>9}" for w in words[1:8]) + "  " + words[8],
                  flush=True)  # fmt: skip
    if count and torch is not None:
        print(f"\ngeometric mean of the compiled steps: {product ** (1 / count):.2f} x torch")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
