"""Several threads in compiled steps: no write is lost, no number of a recording leaks."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight import optim

BOTH = pytest.mark.parametrize("native", [True, False], ids=["native", "replayed"])


@pytest.fixture(autouse=True)
def threads_change_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], None], threads: int = 4) -> None:
    failures: list[BaseException] = []

    def run(k: int) -> None:
        try:
            work(k)
        except BaseException as error:
            failures.append(error)

    running = [threading.Thread(target=run, args=(k,)) for k in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failures, failures[0]


def added(total: Any) -> list[Any]:
    def step(x: Any) -> Any:
        total.add_(x)
        return total.sum()

    return [step]


def copied(total: Any) -> list[Any]:
    def step(x: Any) -> Any:
        total.copy_(total + x)

    return [step]


def by_views(total: Any) -> list[Any]:
    def step(x: Any) -> Any:
        total[:2].add_(x[:2])
        total[2:].add_(x[2:])

    return [step]


def by_two_steps(total: Any) -> list[Any]:
    def other(x: Any) -> Any:
        total.add_(x * 1.0)

    return [*added(total), other]


@BOTH
@pytest.mark.parametrize("make", [added, copied, by_views, by_two_steps], ids=lambda x: x.__name__)
def test_every_addition_to_a_shared_total_comes_through(make: Any, native: bool) -> None:
    total = torch.zeros(4)
    steps = [torch.compile(step, options={"native": native}) for step in make(total)]
    x = torch.ones(4)
    for step in steps:
        for _ in range(5):
            step(x)
        assert step.program is not None, step.explain()
    before = total.tolist()

    def work(k: int) -> None:
        for _ in range(1000):
            steps[k % len(steps)](x)

    together(work)
    assert [b - a for a, b in zip(before, total.tolist())] == [4000.0] * 4


@BOTH
def test_every_count_and_every_entry_of_a_list_comes_through(native: bool) -> None:
    seen: list[Any] = []
    count = [0]

    def step(x: Any) -> Any:
        count[0] += 1
        seen.append(x.sum().item())
        return x * 2

    compiled = torch.compile(step, options={"native": native})
    for _ in range(6):
        compiled(torch.ones(3))
    assert compiled.program is not None, compiled.explain()

    def work(k: int) -> None:
        for _ in range(500):
            compiled(torch.ones(3))

    together(work)
    assert count == [2006]
    assert seen == [3.0] * 2006


@BOTH
def test_threads_that_meet_a_new_step_find_ordinary_numbers(native: bool) -> None:
    for _ in range(4):

        class Counted:
            n = 0

        own, kinds = Counted(), set()
        own.n = 0
        total, w = torch.zeros(3), torch.ones(3, requires_grad=True)
        rule = optim.SGD([w], lr=0.0)

        def step(x: Any, own: Any = own, total: Any = total, w: Any = w, rule: Any = rule) -> Any:
            own.n += 1
            total.add_(x)
            rule.zero_grad()
            (w * x).sum().backward()
            rule.step()
            return total.detach()

        compiled = torch.compile(step, options={"native": native})

        def work(k: int, own: Any = own, kinds: Any = kinds, compiled: Any = compiled) -> None:
            for _ in range(100):
                compiled(torch.ones(3))
                kinds.add(type(own.n))

        together(work)
        assert kinds == {int}


def test_a_gradient_that_another_thread_takes_away_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rushlight._compile.capture.recorder import Recorder

    w = torch.ones(3, requires_grad=True)
    before = Recorder._meet

    def taken_away(recorder: Any, leaf: Any) -> None:
        before(recorder, leaf)
        leaf._grad = None

    def step(x: Any) -> Any:
        loss = (w * x).sum()
        loss.backward()
        return loss.detach()

    w.grad = torch.ones(3)
    monkeypatch.setattr(Recorder, "_meet", taken_away)
    assert torch.compile(step)(torch.ones(3)).item() == 3.0


def test_a_fork_while_another_thread_has_the_turn_leaves_it_free() -> None:
    from rushlight._compile.ir import run_lock as turns

    assert turns.TURN.lock.acquire(timeout=5)
    turns._after_fork()
    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(turns.TURN.lock.acquire(timeout=5)))
    thread.start()
    thread.join()
    assert done == [True]
    turns._after_fork()
    assert turns.TURN.gate[0] == 0
