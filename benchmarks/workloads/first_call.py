"""What a compiled step costs before it is fast: its first calls, in a process of their own.

Counted from the first call until the fourth is about to begin: recording, compiling, and the three
steps themselves. Eager systems stand beside them, because their first steps are slow too.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.registry import WORKLOADS, Maker, Reader, Reading, reading
from benchmarks.workloads import perceptron, steps, steps_jax
from benchmarks.workloads.training import Descent, Preparation, by_jax, compiled, eagerly

CALLS = 3
# Where each system keeps what it has compiled.
CACHES = ("RUSHLIGHT_CACHE", "TORCHINDUCTOR_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR")


def reader(make: Maker, *, warm: bool) -> Reader:
    """A reader of the seconds of the first calls of a step.

    With a warm cache the folder is the same in each process; else it is an empty one.
    """

    def read(load: Callable[[], Any]) -> Reading:
        if warm:
            folder = Path(tempfile.gettempdir()) / f"step-caches-{os.getuid()}"
            folder.mkdir(mode=0o700, exist_ok=True)
        else:
            folder = Path(tempfile.mkdtemp())
        os.environ |= {name: str(folder / name.lower()) for name in CACHES}
        # JAX keeps only what took long to compile, unless it is told otherwise.
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
        try:
            job = make(load())
            start = perf_counter()
            for _ in range(CALLS):
                job.run(1)
            seconds = perf_counter() - start
            return Reading(seconds, [float(number) for number in job.value()])
        finally:
            if not warm:
                shutil.rmtree(folder, ignore_errors=True)

    return read


def enter(name: str, about: str, prepare: Preparation, describe: Callable[[Any], Descent]) -> None:
    """Enters the first calls of a step, with an empty cache and with a warm one."""
    for warm, word in ((False, "cold"), (True, "warm")):
        makers = {
            "torch": eagerly(prepare),
            "torch-step": compiled(prepare),
            "jax": by_jax(describe),
        }
        readers = {dialect: reader(make, warm=warm) for dialect, make in makers.items()}
        full = f"first {name}/{word}"
        reading(
            full,
            f"the first {CALLS} calls of {about}, {'a warm' if warm else 'an empty'} cache",
            unit="start",
            rtol=1e-4,
            aim={},
            long=True,
            most_rounds=3,
            dialects=["torch"],
        )(readers["torch"])
        WORKLOADS[full].makers.update(readers)


enter(
    "mlp",
    "the small perceptron with SGD",
    perceptron.by_modules(perceptron.SMALL, "SGD"),
    perceptron.by_descent(perceptron.SMALL, "SGD"),
)
enter("gpt", "the GPT", steps.transformer, steps_jax.transformer)
