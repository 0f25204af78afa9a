"""Threads, forks, exceptions and interrupts leave parameters whole."""

import os
import signal
import sys
import threading
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F


def make(seed: int = 0) -> tuple[Any, nn.Module, Any, Any]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    x, y = torch.randn(5, 6), torch.randint(0, 3, (5,))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, model, x, y


def test_a_thread_runs_a_compiled_step_while_others_run_eagerly() -> None:
    expected = []
    step, _, x, y = make()
    for _ in range(60):
        expected.append(step(x, y))
    step, _, x, y = make()
    compiled = torch.compile(step)
    for k in range(4):
        assert compiled(x, y) == pytest.approx(expected[k], rel=1e-5)
    found: list[float] = []
    failures: list[BaseException] = []
    stop = threading.Event()

    def fast() -> None:
        for _ in range(56):
            found.append(compiled(x, y))
        stop.set()

    def slow(seed: int) -> None:
        try:
            other, _, a, b = make(1)
            first = other(a, b)
            while not stop.is_set():
                assert other(a, b) < first + 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=fast), threading.Thread(target=slow, args=(1,))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert found == pytest.approx(expected[4:], rel=1e-3)


def test_one_compiled_function_gives_each_thread_its_own_result() -> None:
    compiled = torch.compile(lambda x: (x * 2 + 1).tanh().sum(), options={})
    inputs = [torch.full((4000,), k / 10) for k in range(4)]
    expected = [(x * 2 + 1).tanh().sum().item() for x in inputs]
    for _ in range(3):
        compiled(inputs[0])
    wrong: list[Any] = []

    def work(k: int) -> None:
        for _ in range(100):
            got = compiled(inputs[k]).item()
            if abs(got - expected[k]) > 1e-3 * abs(expected[k]) + 1e-3:
                wrong.append((k, got))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_two_compiled_steps_share_parameters() -> None:
    torch.manual_seed(0)
    w = torch.ones(3, requires_grad=True)

    def along(x: Any) -> Any:
        loss = (w * x).sum()
        loss.backward()
        with torch.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None
        return loss

    def against(x: Any) -> Any:
        loss = (w * x).sum()
        loss.backward()
        with torch.no_grad():
            w.add_(0.1 * w.grad)
        w.grad = None
        return loss

    one, two = torch.compile(along), torch.compile(against)
    x = torch.tensor([1.0, 2.0, 3.0])
    for _ in range(10):
        one(x)
        two(x)
    assert one.program is not None and two.program is not None
    assert torch.allclose(w, torch.ones(3), atol=1e-5)


def test_a_class_out_of_range_is_the_users_error_and_changes_nothing() -> None:
    step, model, x, y = make()
    compiled = torch.compile(step)
    for _ in range(4):
        compiled(x, y)
    kept = [p.detach().clone() for p in model.parameters()]
    with pytest.raises(IndexError):
        compiled(x, torch.full((5,), 7))
    for p, q in zip(model.parameters(), kept):
        assert torch.equal(p, q)
    assert compiled(x, y) > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_goes_on_with_the_compiled_step() -> None:
    step, _, x, y = make()
    compiled = torch.compile(step)
    for _ in range(4):
        compiled(x, y)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        losses = [compiled(x, y) for _ in range(5)]
        os._exit(0 if losses[-1] < losses[0] else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert compiled(x, y) > 0


def test_an_interrupt_leaves_whole_parameters() -> None:
    step, model, x, y = make()
    compiled = torch.compile(step)
    for _ in range(4):
        compiled(x, y)
    timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(10_000_000):
                compiled(x, y)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, old)
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
    before = compiled(x, y)
    for _ in range(20):
        after = compiled(x, y)
    assert after <= before


def test_recording_leaves_the_profile_function_of_others_alone() -> None:
    calls: list[str] = []

    def profile(frame: Any, event: str, arg: Any) -> None:
        calls.append(event)

    sys.setprofile(profile)
    try:
        torch.compile(lambda x: x + 1)(torch.ones(1))
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
