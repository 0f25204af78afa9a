"""The drivers, what becomes of each one, and in which order things are done."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from comparison import Tolerance, largest_difference, mismatch
from packages import Unfetched, fetch
from process import HERE, Failed, Worker

RECORDED = HERE / "recorded"
FOLDERS = ("drivers", "programs")


@dataclass(frozen=True)
class Driver:
    """One file of ours that runs other people's packages; read without being run."""

    path: Path
    title: str
    needs: tuple[str, ...]
    tolerance: Tolerance
    # Of how many processes it is one program, and what starts them; 0: a process without a group.
    ranks: int = 0
    launcher: str = "torchrun"

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def record(self) -> Path:
        return RECORDED / f"{self.name}.json"


def read(path: Path) -> Driver:
    """The driver in a file: its first line, and its constants, NEEDS and so on."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in ("NEEDS", "RTOL", "ATOL", "RANKS", "LAUNCHER"):
                constants[name] = ast.literal_eval(statement.value)
    title = (ast.get_docstring(tree) or path.stem).splitlines()[0]
    default = Tolerance()
    tolerance = Tolerance(constants.get("RTOL", default.rtol), constants.get("ATOL", default.atol))
    started = constants.get("RANKS", 0), constants.get("LAUNCHER", "torchrun")
    return Driver(path, title, tuple(constants.get("NEEDS", ())), tolerance, *started)


def has_main(path: Path) -> bool:
    """Whether a file is a driver: it defines `main`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(x, ast.FunctionDef) and x.name == "main" for x in tree.body)


def drivers(names: Iterable[str] = ()) -> list[Driver]:
    """The drivers of those names, or all. Raises: KeyError with a name that there is not."""
    paths = [path for folder in FOLDERS for path in sorted((HERE / folder).glob("*.py"))]
    every = {path.stem: path for path in paths if has_main(path)}
    return [read(every[name]) for name in names or every]


@dataclass
class Outcome:
    """What has been found out about a driver."""

    driver: Driver
    error: str | None = None
    difference: str | None = None
    # Against what the numbers were held: torch in this run, or the record.
    against: str | None = None
    off: float | None = None
    seconds: dict[str, list[float]] = field(default_factory=dict)
    torch_error: str | None = None

    @property
    def runs(self) -> bool:
        return self.error is None

    @property
    def same(self) -> bool:
        return self.runs and self.against is not None and self.difference is None

    @property
    def ratio(self) -> float | None:
        """How many times faster than torch, side by side, from the least times of each."""
        ours, theirs = self.seconds.get("rushlight"), self.seconds.get("torch")
        return min(theirs) / min(ours) if ours and theirs and self.same else None


@dataclass(frozen=True)
class Plan:
    """How much is done for each driver."""

    rounds: int = 7
    # Seconds after which no further round is started, and before an answer is given up on.
    budget: float = 4.0
    timeout: float = 180.0
    threads: int = 1


Launch = Callable[[str, Driver, Plan], Worker]


def launch(system: str, driver: Driver, plan: Plan) -> Worker:
    """A worker process for a driver on a system."""
    return Worker(
        system, driver.path, threads=plan.threads, timeout=plan.timeout, ranks=driver.ranks,
        launcher=driver.launcher,
    )  # fmt: skip


def record(driver: Driver, plan: Plan, start: Launch = launch) -> dict[str, Any]:
    """Runs a driver on torch and writes down its numbers. Raises: Failed, Unfetched."""
    fetch(driver.needs, plan.timeout)
    worker = start("torch", driver, plan)
    try:
        first = worker.answer()
        seconds = [first["seconds"], worker.again(), worker.again()]
    finally:
        worker.close()
    page = {
        "driver": driver.name,
        "torch": first["version"],
        "packages": list(driver.needs),
        "rtol": driver.tolerance.rtol,
        "atol": driver.tolerance.atol,
        "seconds": round(min(seconds), 4),
        "numbers": first["numbers"],
    }
    driver.record.parent.mkdir(exist_ok=True)
    driver.record.write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")
    return page


def recorded(driver: Driver) -> dict[str, Any] | None:
    """What was written down about a driver, if anything was."""
    if not driver.record.exists():
        return None
    page: dict[str, Any] = json.loads(driver.record.read_text(encoding="utf-8"))
    return page


def run(driver: Driver, plan: Plan, *, beside: bool, start: Launch = launch) -> Outcome:
    """Runs a driver on Rushlight, beside torch where it is installed, and compares.

    The numbers are held against the record; against torch's own of this run where there is none.
    """
    outcome = Outcome(driver)
    workers: dict[str, Worker] = {}
    try:
        fetch(driver.needs, plan.timeout)
        first = {}
        for system in ("torch", "rushlight") if beside else ("rushlight",):
            try:
                workers[system] = start(system, driver, plan)
                first[system] = workers[system].answer()
                outcome.seconds[system] = [first[system]["seconds"]]
            except Failed as failure:
                if system == "rushlight":
                    raise
                outcome.torch_error = str(failure)
                workers.pop(system).close()
        _compare(outcome, first)
        began = perf_counter()
        for _ in range(plan.rounds if "torch" in workers else 0):
            for system, worker in workers.items():
                outcome.seconds[system].append(worker.again())
            if perf_counter() - began > plan.budget:
                break
    except (Failed, Unfetched) as failure:
        outcome.error = str(failure)
    finally:
        for worker in workers.values():
            worker.close()
    return outcome


def _compare(outcome: Outcome, first: dict[str, dict[str, Any]]) -> None:
    page = recorded(outcome.driver)
    if page is not None:
        outcome.against, expected = "record", page["numbers"]
    elif "torch" in first:
        outcome.against, expected = "torch", first["torch"]["numbers"]
    else:
        return
    got = first["rushlight"]["numbers"]
    outcome.difference = mismatch(expected, got, outcome.driver.tolerance)
    outcome.off = largest_difference(expected, got)
