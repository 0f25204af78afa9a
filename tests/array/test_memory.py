"""Recycled memory: in processes of their own, because the settings hold for a whole process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rushlight._array.memory import allocator as memory


def run(program: str, setting: str | None = None) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "RUSHLIGHT_MALLOC"}
    if setting is not None:
        environment["RUSHLIGHT_MALLOC"] = setting
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


# Page faults of forty additions of 4 MB arrays, after the first few.
FAULTS = """
import resource
import numpy as np
from rushlight._array.memory import allocator as memory
memory.disable()
{prepare}
x = np.ones(1_000_000, np.float32)
def work(times):
    for _ in range(times):
        y = x + x
        z = y + x
        del y, z
work(3)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work(20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

on_glibc = pytest.mark.skipif(memory._glibc() is None, reason="the C library is not glibc")


@on_glibc
def test_results_of_megabytes_are_recycled_without_page_faults() -> None:
    recycled = int(run(FAULTS.format(prepare="assert memory.enable()")))
    assert recycled < 50


@on_glibc
def test_results_above_32_megabytes_are_recycled_on_demand() -> None:
    program = FAULTS.replace("1_000_000", "10_000_000").replace("work(20)", "work(3)")
    assert int(run(program.format(prepare="memory.enable(large=True)"))) < 50


@on_glibc
def test_disable_gives_memory_back_again() -> None:
    recycled = int(run(FAULTS.format(prepare="memory.enable()")))
    program = FAULTS.format(
        prepare="memory.enable(); memory.disable(); assert not memory.is_enabled()"
    )
    assert int(run(program)) > 20 * (recycled + 1)


@on_glibc
def test_empty_cache_returns_what_was_kept() -> None:
    program = """
import numpy as np
from rushlight._array.memory import allocator as memory
memory.enable()
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
arrays = [np.ones(1_000_000, np.float32) for _ in range(20)]
del arrays
kept = resident()
assert memory.empty_cache()
print(kept - resident())
"""
    assert int(run(program)) > 60_000_000


PROGRAM = (
    "from rushlight._array.memory import allocator; allocator.disable(); "
    "print(allocator.apply_environment())"
)


@on_glibc
@pytest.mark.parametrize(
    ("setting", "enabled"),
    [(None, True), ("1", True), ("all", True), ("0", False), ("off", False)],
)
def test_the_environment_decides(setting: str | None, enabled: bool) -> None:
    assert run(PROGRAM, setting) == str(enabled)


def test_nothing_is_done_where_the_c_library_is_another() -> None:
    program = """
from rushlight._array.memory import allocator as memory
memory.disable()
memory._glibc = lambda: None
print(memory.enable(), memory.is_enabled(), memory.empty_cache(), memory.apply_environment())
memory.disable()
"""
    assert run(program) == "False False False False"
