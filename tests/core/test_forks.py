"""Forks beside busy threads: children find no lock held and nothing half written."""

import os
import threading
import time
from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight._base import fork_locks as _locks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
LIMIT = 60.0


def child(work: Callable[[], None]) -> None:
    """Runs in a forked child, which must end well and in time."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.002)
    os.kill(number, 9)
    os.waitpid(number, 0)
    pytest.fail("the child hangs")


def test_children_of_busy_threads_do_what_the_threads_do() -> None:
    from tests.attack import forks

    assert forks.attack(4, seed=7, limit=LIMIT) == (0, 0)


def holding(lock: object) -> tuple[threading.Event, threading.Thread]:
    """A thread that has taken a lock and keeps it until the event is set."""
    taken, end = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:  # type: ignore[attr-defined]
            taken.set()
            end.wait(LIMIT)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    return end, thread


def test_a_lock_that_is_never_given_back_is_free_in_the_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_locks, "PATIENCE", 0.05)
    for made in (_locks.lock(), _locks.long_lock()):
        end, thread = holding(made)
        try:
            child(lambda made=made: made.acquire())  # type: ignore[misc]
        finally:
            end.set()
            thread.join()


def test_llvm_is_waited_for_longer_than_for_locks_that_can_be_freed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside = _locks.lock()
    monkeypatch.setattr(_locks, "PATIENCE", 0.05)
    monkeypatch.setattr(_locks, "_foreign", lambda: [inside])
    end, thread = holding(inside)
    left = threading.Timer(0.5, end.set)
    left.start()
    try:
        began = time.monotonic()
        child(lambda: None)
        assert end.is_set() and time.monotonic() - began < LIMIT
    finally:
        end.set()
        thread.join()


def test_a_lock_that_the_forking_thread_holds_stays_held_in_the_child() -> None:
    made = _locks.lock()

    def work() -> None:
        assert made._is_owned()
        made.release()
        assert not made._is_owned()

    with made:
        child(work)


def test_a_backward_that_another_thread_was_in_leaves_nothing_in_the_childs_gradients() -> None:
    x = torch.ones(3, requires_grad=True)
    inside, end = threading.Event(), threading.Event()

    def hook(g: torch.Tensor) -> None:
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            end.wait(LIMIT)

    def run() -> None:
        y = x * 2
        y.register_hook(hook)
        # The other term's gradient reaches `x` before the hook runs.
        (y.sum() + (x * 5).sum()).backward()

    thread = threading.Thread(target=run)
    thread.start()
    inside.wait(LIMIT)

    def work() -> None:
        for _ in range(2):
            x.grad = None
            (x * 3).sum().backward()
            assert x.grad.tolist() == [3.0, 3.0, 3.0]

    try:
        child(work)
    finally:
        end.set()
        thread.join()
    assert x.grad.tolist() == [7.0, 7.0, 7.0]


def test_a_child_that_is_forked_inside_a_backward_finishes_it() -> None:
    x = torch.ones(3, requires_grad=True)
    seen = []

    def hook(g: torch.Tensor) -> None:
        seen.append(os.fork())

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    if seen[0] == 0:
        os._exit(0 if x.grad.tolist() == [2.0, 2.0, 2.0] else 1)
    assert os.waitpid(seen[0], 0)[1] == 0
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


class Numbers(torch.utils.data.Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 8

    def __getitem__(self, place: int) -> torch.Tensor:
        return torch.rand(2) * 0 + place


def test_workers_of_a_loader_start_beside_a_thread_that_draws() -> None:
    stop = threading.Event()

    def draw() -> None:
        while not stop.is_set():
            torch.randn(50_000)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for _ in range(2):
            loader = torch.utils.data.DataLoader(Numbers(), 4, num_workers=2, timeout=LIMIT)
            assert [b[:, 0].tolist() for b in loader] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    finally:
        stop.set()
        thread.join()
