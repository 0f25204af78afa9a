"""Attacks compiled steps with random programs, each in a process that may crash or hang.

    python -m tests.attack.compiled --programs 10000 --changes 10 --seed 0
    python -m tests.attack.compiled --show 4711      # one program: its text, what came of it

Every program runs eagerly, replayed through NumPy and natively, side by side; after every call
results, exceptions, random numbers and everything that the step could have changed are compared.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import resource
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

#: Programs that one process runs at most.
TOGETHER = 150
MEMORY = 6 << 30


@dataclass
class Report:
    """What came of many programs."""

    programs: int = 0
    calls: int = 0
    compiled: int = 0
    doubtful: int = 0
    wrong: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)

    def failures(self) -> list[str]:
        """All that mustn't be."""
        return [*self.wrong, *self.crashes, *self.hangs]

    def __str__(self) -> str:
        return (
            f"{self.programs} programs, {self.calls} compiled calls, {self.compiled} programs "
            f"compiled in some way; {len(self.wrong)} wrong, {len(self.crashes)} crashes, "
            f"{len(self.hangs)} hangs, {self.doubtful} left open: ill-conditioned"
        )


def work(first: int, last: int, changes: int) -> None:
    """What a child does: a line when a program begins, a line when it has ended."""
    from tests.attack.program import Program
    from tests.attack.twins import tried

    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for seed in range(first, last):
        say({"seed": seed})
        found = tried(Program(seed, changes))
        say({"seed": seed, "calls": found.calls, "compiled": found.compiled,
             "doubtful": found.doubtful, "wrong": found.wrong})  # fmt: skip


def say(message: Any) -> None:
    print(json.dumps(message), flush=True)


def attack(programs: int, changes: int, seed: int, patience: float = 120.0,
           seconds: float | None = None, aloud: bool = False) -> Report:  # fmt: skip
    """Runs so many programs in children, one after the other."""
    report = Report()
    start, at, end = time.monotonic(), seed, seed + programs
    while at < end and (seconds is None or time.monotonic() - start < seconds):
        at = _batch(at, min(end, at + TOGETHER), changes, patience, report, aloud,
                    None if seconds is None else start + seconds)  # fmt: skip
        if aloud:
            print(f"to seed {at}: {report}", flush=True)
    return report


def _batch(first: int, last: int, changes: int, patience: float, report: Report, aloud: bool,
           until: float | None) -> int:  # fmt: skip
    """One child's programs; the seed to go on with."""
    given = ["--child", str(first), str(last), "--changes", str(changes)]
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.attack.compiled", *given],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    assert child.stdout is not None and child.stderr is not None
    waiting = selectors.DefaultSelector()
    waiting.register(child.stdout, selectors.EVENT_READ)
    running, stopped = first, False
    try:
        while True:
            if not waiting.select(patience):
                report.hangs.append(f"seed {running}: no end within {patience:g} s")
                return running + 1
            line = child.stdout.readline()
            if not line:
                break
            message = json.loads(line)
            running = message["seed"]
            if "calls" not in message:
                continue
            report.programs += 1
            report.calls += message["calls"]
            report.compiled += message["compiled"] > 0
            report.doubtful += message["doubtful"]
            report.wrong += message["wrong"]
            for text in message["wrong"] if aloud else ():
                print(text, flush=True)
            if until is not None and time.monotonic() > until:
                stopped = True
                return last
        code = child.wait()
        if code == 0:
            return last
        report.crashes.append(f"seed {running}: exit {code}\n{child.stderr.read()[-3000:]}")
        if aloud:
            print(report.crashes[-1], flush=True)
        return running + 1
    finally:
        if stopped or child.poll() is None:
            child.kill()
        child.wait()
        child.stdout.close()
        child.stderr.close()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--changes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for one program")
    parser.add_argument("--seconds", type=float, help="begin no program after so many")
    parser.add_argument("--show", type=int, help="the seed of one program to run here")
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        work(*options.child, options.changes)
        return 0
    if options.show is not None:
        from tests.attack.program import Program
        from tests.attack.twins import tried

        program = Program(options.show, options.changes)
        print(program.text())
        found = tried(program)
        print("\n".join(found.wrong) or "agrees")
        return int(bool(found.wrong))
    report = attack(options.programs, options.changes, options.seed, options.patience,
                    options.seconds, aloud=True)  # fmt: skip
    print("\n".join(report.failures()))
    print(report)
    return int(bool(report.failures()))


if __name__ == "__main__":
    sys.exit(main())
