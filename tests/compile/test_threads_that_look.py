"""What stands for a number while a step is recorded is seen by no other thread."""

import json
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import rushlight as torch

#: Something to run within the step, the step, and what reads the number that the step changes.
Case = tuple[list[Any], Callable[[Any], Any], Callable[[], Any]]


def attribute() -> Case:
    class Own:
        pass

    own: Any = Own()
    own.n, inside = 0, [None]

    def step(x: Any) -> Any:
        own.n += 1
        if inside[0] is not None:
            inside[0]()
        return x * own.n

    return inside, step, lambda: own.n


def slot() -> Case:
    class Own:
        __slots__ = ("n",)

    own: Any = Own()
    own.n, inside = 0, [None]

    def step(x: Any) -> Any:
        own.n += 1
        if inside[0] is not None:
            inside[0]()
        return x * own.n

    return inside, step, lambda: own.n


def of_a_class() -> Case:
    class Own:
        n = 0

    inside: list[Any] = [None]

    def step(x: Any) -> Any:
        Own.n += 1
        if inside[0] is not None:
            inside[0]()
        return x * Own.n

    return inside, step, lambda: Own.n


def entry() -> Case:
    table, inside = {"n": 0}, [None]

    def step(x: Any) -> Any:
        table["n"] += 1
        if inside[0] is not None:
            inside[0]()
        return x * table["n"]

    return inside, step, lambda: table["n"]


def item() -> Case:
    items, inside = [0], [None]

    def step(x: Any) -> Any:
        items[0] += 1
        if inside[0] is not None:
            inside[0]()
        return x * items[0]

    return inside, step, lambda: items[0]


def closure() -> Case:
    n, inside = 0, [None]

    def step(x: Any) -> Any:
        nonlocal n
        n += 1
        if inside[0] is not None:
            inside[0]()
        return x * n

    return inside, step, lambda: n


COUNT = 0


def in_the_module() -> Case:
    global COUNT
    COUNT, inside = 0, [None]

    def step(x: Any) -> Any:
        global COUNT
        COUNT += 1
        if inside[0] is not None:
            inside[0]()
        return x * COUNT

    return inside, step, lambda: COUNT


CASES = pytest.mark.parametrize(
    "make", [attribute, slot, of_a_class, entry, item, closure, in_the_module]
)


@CASES
def test_a_thread_that_looks_in_the_middle_of_the_step_finds_an_ordinary_number(make: Any) -> None:
    inside, step, look = make()
    compiled = torch.compile(step)
    meet, found = threading.Barrier(2, timeout=20), []

    def other() -> None:
        for _ in range(6):
            meet.wait()
            found.append((type(look()), look()))
            meet.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside[0] = lambda: (meet.wait(), meet.wait())
    given = [compiled(torch.ones(2)).tolist() for _ in range(6)]
    thread.join()
    assert found == [(int, k + 1) for k in range(6)]
    assert given == [[k + 1.0] * 2 for k in range(6)]


@CASES
def test_beside_an_idle_thread_of_the_users_the_step_is_eager_and_says_why(make: Any) -> None:
    _, step, look = make()
    compiled = torch.compile(step)
    done = threading.Event()
    thread = threading.Thread(target=lambda: done.wait(20))
    thread.start()
    for k in range(4):
        assert compiled(torch.ones(2)).tolist() == [k + 1.0] * 2
    done.set()
    thread.join()
    assert compiled.program is None
    assert "another thread may look at it" in compiled.explain()
    for k in range(4, 9):
        assert compiled(torch.ones(2)).tolist() == [k + 1.0] * 2
    assert compiled.program is not None, compiled.explain()
    assert (type(look()), look()) == (int, 9)


@CASES
def test_a_step_is_compiled_in_the_thread_for_which_the_others_wait(make: Any) -> None:
    _, step, look = make()
    compiled = torch.compile(step)
    given: list[Any] = []

    def train() -> None:
        time.sleep(0.1)  # till the other has come to `join`
        given.extend(compiled(torch.ones(2)).tolist() for _ in range(8))

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert given == [[k + 1.0] * 2 for k in range(8)]
    assert compiled.program is not None, compiled.explain()
    assert (type(look()), look()) == (int, 8)


@CASES
def test_a_worker_that_was_idle_computes_with_an_ordinary_number(make: Any) -> None:
    inside, step, look = make()
    compiled = torch.compile(step)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        found = []

        def compute() -> None:
            n = look()
            found.append((n + 1, 2.0 * n, f"{n}", -n, n > 1, torch.ones(1).mul(n).item()))

        inside[0] = lambda: pool.submit(compute).result()
        for _ in range(6):
            compiled(torch.ones(2))
    assert found == [(k + 1, 2.0 * k, f"{k}", -k, k > 1, float(k)) for k in range(1, 7)]
    assert {tuple(map(type, x)) for x in found} == {(int, float, str, int, bool, float)}


def test_what_a_thread_finds_of_a_number_that_was_read_is_a_float() -> None:
    class Own:
        last = 0.0

    own, found = Own(), []
    inside: list[Any] = [None]

    def step(x: Any) -> Any:
        own.last = x.sum().item()
        if inside[0] is not None:
            inside[0]()
        return x * 2

    compiled = torch.compile(step)
    with ThreadPoolExecutor(1) as pool:

        def look() -> tuple[Any, ...]:
            n = own.last
            return n + 1, json.dumps(n), n > 1, int(n), pickle.loads(pickle.dumps(n))

        inside[0] = lambda: found.append(pool.submit(look).result())
        for _ in range(4):
            compiled(torch.ones(2))
    assert found == [(3.0, "2.0", True, 2, 2.0)] * 4
    assert {(type(x[0]), type(x[-1])) for x in found} == {(float, float)}
