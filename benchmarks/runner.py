"""The order in which things are measured, and what becomes of those that fail.

Nothing in this file knows about processes: it is handed a way to launch one, so that its tests can
hand it another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

from benchmarks.figures import Figures, mismatch, paired_ratio, summarise
from benchmarks.registry import Workload
from benchmarks.systems import REFERENCE, System


class Failed(Exception):
    """A system can't do a workload: at which stage, and why."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(f"{stage}: {reason}")
        self.stage = stage
        self.reason = reason


@dataclass(frozen=True)
class Ready:
    """A system has done the check runs and waits: its check value, its repetitions per round."""

    value: Sequence[float]
    repeat: int


@dataclass(frozen=True)
class Round:
    """One measurement: seconds (or bytes) per unit, and processor seconds where they are known."""

    figure: float
    cpu: float | None
    # The largest resident memory of the process so far, in bytes.
    peak: int | None = None


class Runner(Protocol):
    """One system on one workload. `start` and `round` raise `Failed`."""

    def start(self) -> Ready: ...

    def round(self) -> Round: ...

    def close(self) -> None: ...


Launch = Callable[[System, Workload], Runner]


@dataclass(frozen=True)
class Plan:
    """How much is measured of each workload."""

    rounds: int = 20
    # The rounds are divided among so many generations of processes: what one process happens to get
    # (memory layout, cache colouring) would otherwise pass for a property of the system.
    generations: int = 2
    # Seconds after which a generation starts no further round, once it has made `fewest`.
    budget: float = 12.0
    fewest: int = 3


@dataclass
class Row:
    """What has been found out about one system on one workload."""

    system: str
    value: list[float] = field(default_factory=list)
    repeat: int = 0
    figures: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: int | None = None
    error: str | None = None

    def fail(self, reason: str) -> None:
        """Turns this into an error row: a system that failed once has no figure that counts."""
        self.error = reason
        self.figures.clear()
        self.cpu.clear()

    @property
    def summary(self) -> Figures | None:
        return summarise(self.figures) if self.figures else None


@dataclass
class Result:
    """The rows of one workload, in the order of the systems."""

    workload: Workload
    rows: dict[str, Row]
    # Whose check value the others were held against.
    reference: str | None = None
    seconds: float = 0.0

    def ratio(self, system: str) -> float | None:
        """How many times faster than the reference system, round by round; None where unknown."""
        base, row = self.rows.get(REFERENCE), self.rows[system]
        if base is None or not base.figures or not row.figures:
            return None
        return paired_ratio(base.figures, row.figures)

    def ratio_of_least(self, system: str, reference: str = REFERENCE) -> float | None:
        """The same from the two minima, against any system."""
        base, row = self.rows.get(reference), self.rows[system]
        if base is None or not base.figures or not row.figures or min(row.figures) <= 0:
            return None
        return min(base.figures) / min(row.figures)


def measure(
    workload: Workload,
    systems: Sequence[System],
    launch: Launch,
    plan: Plan,
    *,
    unusable: Mapping[str, str] | None = None,
    clock: Callable[[], float] = perf_counter,
) -> Result:
    """The result of a workload on every system that it is written for.

    Systems named in `unusable` get an error row with the reason given and are not launched.
    """
    began = clock()
    able = [system for system in systems if system.dialect in workload.makers]
    result = Result(workload, {system.name: Row(system.name) for system in able})
    for system in able:
        if unusable and system.name in unusable:
            result.rows[system.name].fail(unusable[system.name])
    rounds = min(plan.rounds, workload.most_rounds or plan.rounds)
    # A workload that few rounds are made of is long, and a fresh one changes process every round.
    single = workload.fresh or workload.most_rounds is not None
    generations = 1 if single else max(1, min(plan.generations, rounds))
    for generation in range(generations):
        share = rounds // generations + (generation < rounds % generations)
        _generation(result, able, launch, plan, share, clock)
    result.seconds = clock() - began
    return result


def _generation(
    result: Result,
    systems: Sequence[System],
    launch: Launch,
    plan: Plan,
    rounds: int,
    clock: Callable[[], float],
) -> None:
    """One set of processes: all are started, then take turns, A B C A B C."""
    runners: dict[str, Runner] = {}
    try:
        for system in systems:
            row = result.rows[system.name]
            if row.error is not None:
                continue
            try:
                runner = launch(system, result.workload)
                runners[system.name] = runner
                ready = runner.start()
            except Failed as failure:
                row.fail(str(failure))
                continue
            row.value, row.repeat = list(ready.value), ready.repeat
        _hold_against_reference(result)
        began = clock()
        for done in range(rounds):
            if done >= plan.fewest and clock() - began > plan.budget:
                break
            for name, runner in runners.items():
                row = result.rows[name]
                if row.error is not None:
                    continue
                try:
                    measured = runner.round()
                except Failed as failure:
                    row.fail(str(failure))
                    continue
                row.figures.append(measured.figure)
                if measured.cpu is not None:
                    row.cpu.append(measured.cpu)
                if measured.peak is not None:
                    row.peak = max(row.peak or 0, measured.peak)
    finally:
        for runner in runners.values():
            runner.close()


def _hold_against_reference(result: Result) -> None:
    """Fails the rows whose check value is not the reference's: their times would mean nothing.

    The reference is torch; where torch is missing or has failed, the first system that has not.
    """
    sound = [name for name, row in result.rows.items() if row.error is None and row.value]
    if not sound:
        return
    reference = REFERENCE if REFERENCE in sound else sound[0]
    result.reference = reference
    expected = result.rows[reference].value
    own = mismatch(expected, expected, result.workload.rtol)
    if own is not None:
        result.rows[reference].fail(f"check: {own}")
        _hold_against_reference(result)
        return
    for name in sound:
        difference = mismatch(expected, result.rows[name].value, result.workload.rtol)
        if difference is not None:
            result.rows[name].fail(f"check: {difference} (from {reference})")
