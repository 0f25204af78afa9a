"""Interrupts, errors, forks and threads at bad moments: what a compiled step leaves behind.

A step that is one native call (`native` in `explain()`) is done whole or not at all: signals are
handled between instructions of Python, and there is none within. One that is replayed by NumPy may
stop between two operations, as an eager step may.
"""

import contextlib
import gc
import inspect
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight._table.calls import argument_parser as _parse
from rushlight.nn import functional as F


def make(seed: int = 0, width: int = 24, dtype: Any = torch.float64) -> tuple[Any, ...]:
    """A model, its optimizer, a step and data."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 3)).to(dtype)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    x, y = torch.randn(16, 8, dtype=dtype), torch.randint(0, 3, (16,))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, optimizer, step, x, y


def warm(step: Any, x: Any, y: Any) -> Any:
    compiled = torch.compile(step)
    for _ in range(4):
        compiled(x, y)
    assert compiled.program is not None, compiled.explain()
    return compiled


def tensors(model: Any, optimizer: Any) -> list[Any]:
    """Parameters and optimizer state."""
    found = list(model.parameters())
    for entry in optimizer.state.values():
        found += [v for _, v in sorted(entry.items()) if isinstance(v, torch.Tensor)]
    return found


def copies(found: list[Any]) -> list[Any]:
    return [t.detach().clone() for t in found]


def close(a: list[Any], b: list[Any]) -> bool:
    return all(torch.allclose(x.detach(), y.detach(), rtol=1e-7, atol=1e-9) for x, y in zip(a, b))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
def test_an_interrupt_at_any_moment_leaves_whole_steps() -> None:
    pytest.importorskip("llvmlite")
    model, optimizer, step, x, y = make()
    compiled = warm(step, x, y)
    if "native but" in compiled.explain() or "NumPy" in compiled.explain():
        pytest.skip("this machine has no native form of the step")
    other, second, reference, _, _ = make()
    for _ in range(4):
        reference(x, y)
    mine, theirs = tensors(model, optimizer), tensors(other, second)
    rng = random.Random(3)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(40):
            done = 0
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + rng.random() * 4e-4)
                while True:
                    compiled(x, y)
                    done += 1
            except KeyboardInterrupt:
                pass
            for _ in range(done):
                reference(x, y)
            now = copies(mine)
            if not close(now, theirs):
                reference(x, y)  # the step that was interrupted had been done
            assert close(now, theirs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert float(compiled(x, y)) == pytest.approx(float(reference(x, y)), rel=1e-6)


def test_threads_that_call_one_step_take_turns() -> None:
    model, optimizer, step, x, y = make()
    compiled = warm(step, x, y)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(50):
                compiled(x, y)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    other, second, reference, _, _ = make()
    for _ in range(204):
        reference(x, y)
    if "native but" not in compiled.explain() and "NumPy" not in compiled.explain():
        assert close(tensors(model, optimizer), tensors(other, second))


def test_threads_compile_while_others_run() -> None:
    model, optimizer, step, x, y = make()
    compiled = warm(step, x, y)
    stop = threading.Event()
    failures: list[BaseException] = []

    def beside(compiling: bool) -> None:
        try:
            while not stop.is_set():
                _, _, other, a, b = make(3, width=8 if compiling else 12)
                call = torch.compile(other) if compiling else other
                for _ in range(5):
                    call(a, b)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=beside, args=(k > 0,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(60):
        compiled(x, y)
        time.sleep(0.001)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    other, second, reference, _, _ = make()
    for _ in range(64):
        reference(x, y)
    assert close(tensors(model, optimizer), tensors(other, second))


def test_an_error_of_a_hook_leaves_parameters_as_they_were() -> None:
    model, optimizer, step, x, y = make()
    compiled = warm(step, x, y)
    before = copies(tensors(model, optimizer))

    def fails(grad: Any) -> Any:
        raise ValueError("a hook's error")

    handle = model[2].weight.register_hook(fails)
    with pytest.raises(ValueError, match="a hook's error"):
        compiled(x, y)
    handle.remove()
    assert close(before, tensors(model, optimizer))
    first = float(compiled(x, y))
    assert float(compiled(x, y)) < first


def test_a_class_out_of_range_is_found_before_anything_is_written() -> None:
    model, optimizer, step, x, y = make()
    compiled = warm(step, x, y)
    before = copies(tensors(model, optimizer))
    for _ in range(3):
        with pytest.raises(IndexError):
            compiled(x, torch.full((16,), 3))
    assert close(before, tensors(model, optimizer))
    assert all(p.grad is None for p in model.parameters())  # `zero_grad` comes before the error
    compiled(x, y)
    assert not close(before, tensors(model, optimizer))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_and_parent_go_on_alike() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        _, _, step, _, _ = make(width=256, dtype=torch.float32)
        x, y = torch.randn(512, 8), torch.randint(0, 3, (512,))
        compiled = warm(step, x, y)
        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()

        def child() -> None:
            signal.alarm(60)
            results.put([float(compiled(x, y)) for _ in range(5)])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            children = [context.Process(target=child) for _ in range(2)]
            for process in children:
                process.start()
        mine = [float(compiled(x, y)) for _ in range(5)]
        for process in children:
            process.join(60)
        assert [process.exitcode for process in children] == [0, 0]
        for _ in children:
            assert results.get() == pytest.approx(mine, rel=1e-4)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_beside_a_running_step_does_not_hang_the_child() -> None:
    _, _, step, x, y = make(width=128)
    compiled = warm(step, x, y)
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            compiled(x, y)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        for _ in range(5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                child = os.fork()
            if child == 0:
                signal.alarm(30)
                compiled(x, y)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_the_interpreter_ends_while_a_step_runs() -> None:
    code = """
import threading, time
import rushlight as torch
from rushlight import nn, optim
torch.set_num_threads(2)
model = nn.Sequential(nn.Linear(8, 256), nn.Tanh(), nn.Linear(256, 3))
optimizer = optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(512, 8)

@torch.compile
def step(x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss

for _ in range(4):
    step(x)

def run():
    while True:
        step(x)

threading.Thread(target=run, daemon=True).start()
time.sleep(0.05)
print("ends")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "ends"), done.stderr


def test_a_step_that_is_forgotten_lets_go_of_its_model() -> None:
    def scope() -> list[Any]:
        model, optimizer, step, x, y = make()
        compiled = warm(step, x, y)
        return [weakref.ref(thing) for thing in (model, optimizer, x, compiled)]

    references = scope()
    gc.collect()
    assert [r() is None for r in references] == [True] * 4


def test_collections_during_a_step_change_nothing() -> None:
    model, optimizer, step, x, y = make()
    compiled = warm(step, x, y)
    old = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            loop: list[Any] = []
            loop.append(loop)
            compiled(x, y)
    finally:
        gc.set_threshold(*old)
    other, second, reference, _, _ = make()
    for _ in range(24):
        reference(x, y)
    assert close(tensors(model, optimizer), tensors(other, second))


def test_steps_within_steps_and_recursion() -> None:
    inner = torch.compile(lambda x: x * 2)
    outer = torch.compile(lambda x: inner(x) + 1)
    for _ in range(6):
        assert outer(torch.ones(2)).tolist() == [3.0, 3.0]

    def folded(x: Any, n: int) -> Any:
        return x if n == 0 else compiled(x * 2, n - 1) + 1

    compiled = torch.compile(folded)
    for _ in range(5):
        assert compiled(torch.ones(2), 4).tolist() == [20.0, 20.0]


def test_too_deep_a_stack_is_an_error_that_passes() -> None:
    compiled = torch.compile(lambda x: x * 2)
    x = torch.ones(2)
    for _ in range(4):
        compiled(x)

    def deep(n: int) -> Any:
        return compiled(x) if n == 0 else deep(n - 1)

    limit = sys.getrecursionlimit()
    here = len(inspect.stack(0))
    sys.setrecursionlimit(here + 60)
    try:
        for n in range(20, 58):
            with contextlib.suppress(RecursionError):
                assert deep(n).tolist() == [2.0, 2.0]
    finally:
        sys.setrecursionlimit(limit)
    assert compiled(x).tolist() == [2.0, 2.0]


def test_what_the_library_makes_at_first_use_is_none_of_the_steps_code() -> None:
    def function(x: Any) -> Any:
        return x.split(2)[0]

    _parse._stub.cache_clear()
    step = torch.compile(function)
    step(torch.ones(4))
    assert step.recordings, step.explain()
