"""Tells what becomes of each test as soon as it is known; as a plugin of pytest's.

A run that is cut short or crashes has told what it did, and is taken up after the test that it
crashed in: what the file of `--told` knows already is not run again.
"""

from __future__ import annotations

import json
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: When the process began: reading the tests counts.
START = time.monotonic()


def pytest_addoption(parser: Any) -> None:
    """Where to tell, which tests, and their limits."""
    parser.addoption("--told", type=Path, help="a line for each test, when it begins and ends")
    parser.addoption("--only", type=Path, help="a JSON list of the tests to run (default: all)")
    parser.addoption("--most", type=int, default=0, help="cases of a test to run (default: all)")
    parser.addoption("--each", type=float, default=60.0, help="seconds for a test")
    parser.addoption("--within", type=float, default=900.0, help="seconds for all")


def spread(names: list[str], most: int) -> set[str]:
    """At most so many cases of each parametrized test, from the first to the last."""
    cases: dict[str, list[str]] = {}
    for name in names:
        cases.setdefault(name.partition("[")[0], []).append(name)
    kept: set[str] = set()
    for group in cases.values():
        count = min(most, len(group)) if most else len(group)
        kept |= {group[i * len(group) // count] for i in range(count)}
    return kept


def names(items: list[Any]) -> list[str]:
    """What tests are called, the same in every process: without addresses in memory."""
    counts: dict[str, int] = {}
    found = []
    for item in items:
        name = re.sub(r" at 0x[0-9a-f]+", "", item.nodeid)
        counts[name] = counts.get(name, 0) + 1
        found.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return found


def seed() -> None:
    """The same random numbers for a test on both systems, whatever ran before it."""
    import numpy
    import torch

    torch.manual_seed(42)
    numpy.random.seed(42)
    random.seed(42)


class Teller:
    """Writes the lines, runs what is asked for, and ends what takes too long."""

    def __init__(self, config: Any) -> None:
        self.path: Path = config.getoption("--told")
        self.only: Path | None = config.getoption("--only")
        self.most: int = config.getoption("--most")
        self.each: float = config.getoption("--each")
        self.within: float = config.getoption("--within")
        self.outcomes: dict[str, str] = {}
        self.message = ""
        signal.signal(signal.SIGALRM, self.too_long)

    def too_long(self, *_: object) -> None:
        """Fails the test that is running."""
        pytest.fail(f"not done within {self.each:.0f} s", pytrace=False)

    def write(self, *line: object) -> None:
        """Adds a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leaves out what is not asked for, and what has been told already."""
        for item, name in zip(items, names(items), strict=True):
            item.told = name
        every = [item.told for item in items]
        kept = (
            spread(every, self.most)
            if self.only is None
            else set(json.loads(self.only.read_text()))
        )
        if self.path.exists():
            kept -= {json.loads(line)[0] for line in self.path.read_text().splitlines()}
        config.hook.pytest_deselected(items=[x for x in items if x.told not in kept])
        items[:] = [x for x in items if x.told in kept]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Runs a test within its limit."""
        if time.monotonic() - START > self.within:
            item.session.shouldstop = f"not done within {self.within:.0f} s"
            return True
        self.write(item.told)
        self.outcomes, self.message = {}, ""
        seed()
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, self.each)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            # What ends with a class or a module is not its last test's.
            end = self.outcomes.get("call", self.outcomes.get("setup", "failed"))
            self.write(item.told, end, round(time.monotonic() - start, 2), self.message)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes what a part of a test came to."""
        self.outcomes[report.when] = report.outcome
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.message = (crash.message if crash else str(report.longrepr))[:400]

    def pytest_sessionfinish(self) -> None:
        """Notes that the process came to its end."""
        self.write("", "end")


def pytest_configure(config: Any) -> None:
    """Tells where it is asked to."""
    if config.getoption("--told"):
        config.pluginmanager.register(Teller(config), "teller")
