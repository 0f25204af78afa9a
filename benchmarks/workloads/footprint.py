"""Figures of a whole process: how long the import takes, how much memory a training step needs."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from benchmarks.memory import peak_memory, resident_memory
from benchmarks.registry import Reading, reading
from benchmarks.workloads.perceptron import MNIST, by_modules
from benchmarks.workloads.training import eagerly

STEPS = 20


@reading(
    "import",
    "importing the system in a fresh process that has imported NumPy already",
    unit="import",
    dialects=["torch", "autograd"],
)
def import_time(load: Callable[[], Any]) -> Reading:
    import numpy as np

    before = perf_counter()
    load()
    after = perf_counter()
    # Nothing is computed, so there is nothing to compare but that NumPy was there.
    return Reading(after - before, [float(np.ones(1)[0])])


def train(load: Callable[[], Any]) -> tuple[int, list[float]]:
    """Resident memory before the first step, and the check value after the last."""
    job = eagerly(by_modules(MNIST, "SGD"))(load())
    before = resident_memory()
    job.run(STEPS)
    return before, list(job.value())


@reading(
    "memory/peak",
    f"largest resident memory of a process that makes {STEPS} training steps of `mlp mnist/sgd`",
    unit="process",
    dialects=["torch"],
    rtol=1e-3,
    bytes=True,
    most_rounds=3,
)
def peak(load: Callable[[], Any]) -> Reading:
    loaded = peak_memory()
    _, value = train(load)
    return Reading(float(max(loaded, peak_memory())), value)


@reading(
    "memory/growth",
    f"peak memory during these {STEPS} training steps, less what was resident before the first",
    unit="process",
    dialects=["torch"],
    rtol=1e-3,
    bytes=True,
    most_rounds=3,
    long=True,
)
def growth(load: Callable[[], Any]) -> Reading:
    before, value = train(load)
    return Reading(float(peak_memory() - before), value)
