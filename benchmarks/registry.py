"""What a workload is, and the list of all of them.

A workload is a small function that is given a module with PyTorch's names and hands back a `Job`:

    @workload("op/no-grad", "a * b without recording, four elements", unit="op")
    def without_recording(torch: Any) -> Job:
        ...

The same function serves every system of the dialect "torch". Where the work can be said naturally
in another dialect, a second function says it: `@without_recording.written_for("numpy")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# At least as fast as PyTorch: the promise wherever a workload states no other aim.
EQUAL: Mapping[str, float] = {"rushlight": 1.0, "rushlight-compiled": 1.0}


@dataclass(frozen=True)
class Job:
    """Work that is ready to be repeated.

    `run(n)` does the work n times in a row: the loop is inside so that a 1 µs operation is not
    measured together with a call. `value()` tells what the work has left behind.
    """

    run: Callable[[int], None]
    value: Callable[[], Sequence[float]]
    # Puts the state back to the start, where a new job would have to be compiled again.
    reset: Callable[[], None] | None = None


@dataclass(frozen=True)
class Reading:
    """The one figure that a fresh process was started for, and its check value."""

    figure: float
    value: Sequence[float]


Maker = Callable[[Any], Job]
Reader = Callable[[Callable[[], Any]], Reading]


@dataclass(frozen=True)
class Workload:
    """A named piece of work, one function per dialect, and how to measure it."""

    name: str
    about: str
    unit: str
    # How many units one repetition is: a chain of 50 operations counts 50 in a cost per operation.
    units: int = 1
    # A fresh workload measures a process as a whole (import time, memory): one process per figure.
    fresh: bool = False
    # The figure is an amount of memory, not a time.
    bytes: bool = False
    # Work that changes its state (training) starts anew before each round: after thousands of steps
    # the faster system would compute with other numbers, subnormal moments for instance.
    restart: bool = False
    check_runs: int = 3
    rtol: float = 1e-5
    # Too long for `--quick`.
    long: bool = False
    most_rounds: int | None = None
    # Workloads of one series differ in size only; the report prints how the cost per unit grows.
    series: str | None = None
    size: int = 0
    aim: Mapping[str, float] = field(default_factory=lambda: EQUAL)
    makers: dict[str, Maker | Reader] = field(default_factory=dict, compare=False)

    def written_for(self, dialect: str) -> Callable[[Maker], Maker]:
        """A decorator that adds this work in another dialect."""

        def add(maker: Maker) -> Maker:
            self.makers[dialect] = maker
            return maker

        return add


WORKLOADS: dict[str, Workload] = {}


def workload(name: str, about: str, *, unit: str, **settings: Any) -> Callable[[Maker], Workload]:
    """A decorator that enters a function into the list as the workload `name`."""

    def enter(maker: Maker) -> Workload:
        return _enter(Workload(name, about, unit, **settings), {"torch": maker})

    return enter


def reading(
    name: str, about: str, *, unit: str, dialects: Sequence[str], **settings: Any
) -> Callable[[Reader], Reader]:
    """A decorator for a figure that belongs to a whole process.

    The function is given `load`, which imports the system's module, before anything was imported.
    """

    def enter(reader: Reader) -> Reader:
        new = Workload(name, about, unit, fresh=True, **settings)
        _enter(new, dict.fromkeys(dialects, reader))
        return reader

    return enter


def _enter(new: Workload, makers: Mapping[str, Maker | Reader]) -> Workload:
    if new.name in WORKLOADS:
        raise ValueError(f"there are two workloads named {new.name!r}")
    new.makers.update(makers)
    WORKLOADS[new.name] = new
    return new
