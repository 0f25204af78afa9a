"""The process that does the work: one system, one workload, one line of JSON per answer.

`python -m benchmarks.worker TASK` with TASK in JSON. Answers on standard output:
`{"version": …}` to a task without a workload, `{"value": […], "figure": …}` to a fresh workload;
else `{"value": […], "repeat": n}` once ready, then `{"seconds": s, "cpu": s}` for every line read
from standard input, until that ends. A failure is `{"error": reason, "stage": where}` and the end.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from collections.abc import Callable
from time import perf_counter, process_time
from typing import IO, Any, cast

from benchmarks.memory import peak_memory
from benchmarks.registry import WORKLOADS, Job, Maker, Reader, Workload
from benchmarks.systems import SYSTEMS, System, load, set_threads

# A repetition longer than this is not worth another one for calibration.
LONG = 0.25


class Stage:
    """Where the process has got to, for the report of a failure."""

    def __init__(self) -> None:
        self.name = "import"


def timed(job: Job, repeat: int) -> tuple[float, float]:
    """Wall and processor seconds of so many repetitions, earlier garbage cleared first."""
    gc.collect()
    cpu = process_time()
    start = perf_counter()
    job.run(repeat)
    end = perf_counter()
    return end - start, process_time() - cpu


def repetitions(job: Job, target: float) -> int:
    """How many repetitions take about `target` seconds, found by doubling."""
    repeat = 1
    while True:
        seconds, _ = timed(job, repeat)
        if seconds > target / 4:
            return max(1, round(repeat * target / seconds))
        repeat *= 2 if seconds > target / 100 else 10


def afresh(job: Job, make: Maker, module: Any) -> Job:
    """The work in its starting state."""
    if job.reset is None:
        return make(module)
    job.reset()
    return job


def describe(module: Any) -> dict[str, Any]:
    """What the report says about a system that can be imported."""
    config = getattr(module, "__config__", None)
    version = getattr(module, "__version__", None)
    if version is None:
        from importlib.metadata import PackageNotFoundError, version as installed_version

        try:
            version = installed_version(module.__name__)
        except PackageNotFoundError:
            version = "unknown"
    return {
        "version": str(version),
        "file": str(getattr(module, "__file__", "")),
        "compiled": getattr(config, "compiled", None),
    }


def serve(
    system: System,
    work: Workload,
    task: dict[str, Any],
    stage: Stage,
    lines: IO[str],
    send: Callable[[dict[str, Any]], None],
) -> None:
    """Answers until there are no more questions."""

    def loader() -> Any:
        module = load(system)
        set_threads(module, task["threads"])
        return module

    maker = work.makers[system.dialect]
    if work.fresh:
        stage.name = "run"
        reading = cast("Reader", maker)(loader)
        send({"value": list(reading.value), "figure": reading.figure})
        return
    module = loader()
    stage.name = "set up"
    make = cast("Maker", maker)
    job = make(module)
    stage.name = "check"
    start = perf_counter()
    job.run(work.check_runs)
    once = (perf_counter() - start) / work.check_runs
    value = [float(number) for number in job.value()]
    stage.name = "calibrate"
    if job.reset is not None:
        # The check runs have compiled the work: what they took says nothing about the next run.
        job.reset()
        once, _ = timed(job, 1)
    if once > LONG:
        repeat = 1
    else:
        # Time is taken from the same state in which the check value was: the start.
        job = afresh(job, make, module)
        repeat = repetitions(job, float(task["target"]))
    send({"value": value, "repeat": repeat})
    stage.name = "round"
    for _ in lines:
        if work.restart:
            job = afresh(job, make, module)
            job.run(1)
        seconds, cpu = timed(job, repeat)
        scale = repeat * work.units
        send({"seconds": seconds / scale, "cpu": cpu / scale, "peak": peak_memory()})


def main(argument: str) -> int:
    """Does one task and answers on the original standard output."""
    # What a system prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    task = json.loads(argument)
    system = SYSTEMS[task["system"]]
    stage = Stage()
    try:
        if task.get("workload") is None:
            send(describe(load(system)))
        else:
            import benchmarks.workloads  # noqa: F401  (fills the registry)

            serve(system, WORKLOADS[task["workload"]], task, stage, sys.stdin, send)
    except Exception as error:
        traceback.print_exc()
        lines = str(error).strip().splitlines() or [""]
        reason = f"{type(error).__name__}: {lines[0]}".rstrip(": ")
        send({"error": reason, "stage": stage.name})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
