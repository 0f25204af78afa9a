"""Splitting large calls over threads: same results, same errors, no surprises."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from rushlight._array.memory import parallel

SIZE = 50_003


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    before = parallel.get_num_threads()
    parallel.set_num_threads(3)
    yield
    parallel.set_num_threads(before)


def data(dtype: type = np.float32) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.standard_normal(SIZE).astype(dtype), rng.standard_normal(SIZE).astype(dtype)


def split(ufunc: np.ufunc, x: Any, y: Any) -> Any:
    """A ufunc in chunks."""
    out = np.empty_like(x)

    def body(chunk: int) -> None:
        part = slice(chunk * 5000, (chunk + 1) * 5000)
        ufunc(x[part], y[part], out=out[part])

    parallel.run_chunks(-(-len(x) // 5000), body)
    return out


multiply = partial(split, np.multiply)


def test_the_callers_error_state_holds_in_the_workers() -> None:
    x = np.ones(SIZE, np.float32)
    x[-1] = 0
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        split(np.divide, np.ones_like(x), x)
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert split(np.divide, np.ones_like(x), x)[-1] == np.inf


def test_every_chunk_runs_once_and_on_several_threads() -> None:
    seen: list[int] = []
    names: set[str] = set()
    meeting = threading.Barrier(3, timeout=20)

    def body(chunk: int) -> None:
        if chunk < 3:
            meeting.wait()  # passes only when three threads are inside at once
        names.add(threading.current_thread().name)
        seen.append(chunk)

    parallel.run_chunks(12, body)
    assert sorted(seen) == list(range(12))
    assert len(names) == 3


def test_an_exception_reaches_the_caller_and_the_pool_lives_on() -> None:
    def body(chunk: int) -> None:
        if chunk == 5:
            raise ValueError("chunk five")

    for _ in range(3):
        with pytest.raises(ValueError, match="chunk five"):
            parallel.run_chunks(8, body)
    x, y = data()
    np.testing.assert_array_equal(multiply(x, y), x * y)


def test_a_call_inside_a_chunk_runs_there() -> None:
    x, y = data()
    results: dict[int, Any] = {}
    parallel.run_chunks(4, lambda chunk: results.__setitem__(chunk, multiply(x, y)))
    for chunk in range(4):
        np.testing.assert_array_equal(results[chunk], x * y)


def test_calls_from_many_threads_at_once_are_right() -> None:
    x, y = data()
    wrong: list[int] = []

    def caller() -> None:
        for _ in range(30):
            if not np.array_equal(multiply(x, y), x * y):
                wrong.append(1)

    callers = [threading.Thread(target=caller) for _ in range(4)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert not wrong


def test_idle_workers_keep_no_array_alive() -> None:
    class Marked(np.ndarray):
        pass

    x = np.ones(SIZE, np.float32).view(Marked)
    gone = weakref.ref(x)
    parallel.run_chunks(6, partial(lambda held, chunk: None, x))
    del x
    for _ in range(200):
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


def test_the_number_of_threads_is_what_was_set() -> None:
    parallel.set_num_threads(1)
    assert parallel.get_num_threads() == 1
    names: set[str] = set()
    parallel.run_chunks(5, lambda chunk: names.add(threading.current_thread().name))
    assert names == {threading.current_thread().name}
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        parallel.set_num_threads(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 8191, 8192, 300_001, 1_500_000])
def test_sums_are_as_exact_as_numpys(dtype: type, size: int) -> None:
    x = np.random.default_rng(1).standard_normal(size).astype(dtype) + dtype(0.5)
    total = parallel.parallel_sum(x)
    assert isinstance(total, np.ndarray) and total.shape == () and total.dtype == dtype
    exact = math.fsum(x.tolist())
    assert abs(float(total) - exact) <= 2 * np.finfo(dtype).eps * max(abs(exact), 1.0) * 4


def test_sums_do_not_depend_on_the_number_of_threads() -> None:
    x = np.random.default_rng(2).standard_normal(1_500_000).astype(np.float32)
    first = parallel.parallel_sum(x)
    parallel.set_num_threads(1)
    assert parallel.parallel_sum(x) == first
    assert np.isnan(parallel.parallel_sum(np.where(x > 4, np.float32(np.nan), x)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_splits_with_workers_of_its_own() -> None:
    program = """
import os, threading
import numpy as np
from rushlight._array.memory import parallel
parallel.set_num_threads(3)
x = np.arange(50000, dtype=np.float32)
def multiply(x, y):
    out = np.empty_like(x)
    parallel.run_chunks(10, lambda c: np.multiply(*[a[c::10] for a in (x, y)], out=out[c::10]))
    return out
multiply(x, x)
child = os.fork()
if child == 0:
    right = np.array_equal(multiply(x, x), x * x)
    workers = sum(t.name.startswith("rushlight") for t in threading.enumerate())
    os._exit(0 if right and workers == 2 else 1)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "0"


def test_the_interpreter_exits_while_workers_are_idle() -> None:
    program = """
import atexit
import numpy as np
from rushlight._array.memory import parallel
parallel.set_num_threads(3)
x = np.arange(50000, dtype=np.float32)
def multiply(x, y):
    out = np.empty_like(x)
    parallel.run_chunks(10, lambda c: np.multiply(*[a[c::10] for a in (x, y)], out=out[c::10]))
    return out
multiply(x, x)
atexit.register(lambda: print(multiply(x, x)[2]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "4.0" and done.stderr == ""
