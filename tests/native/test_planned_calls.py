"""Calls that run by their plan in C: what runs is what the plans say, and errors are the same."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight._table import ROWS
from rushlight._table.calls import dispatch
from rushlight._table.calls.conversions import Unfit
from rushlight._table.calls.dispatch import MISFITS
from tests.native.loops import module


@pytest.fixture(scope="module", autouse=True)
def run_plan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    found = module("calls", tmp_path_factory.mktemp("calls")).run_plan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "run_plan", found)
        yield found


class Told:
    """A plan of any kind."""

    def __init__(self, quick: object) -> None:
        self.quick = quick


def note(op: object, values: list[object]) -> tuple[object, list[object]]:
    return op, values


def refuse(value: object) -> object:
    raise Unfit


def test_what_a_plan_says_is_what_runs(run_plan: Callable[..., Any]) -> None:
    plans: dict[Any, Any] = {
        (int,): Told((note, "op", (3, None), (), -1, ())),
        (str,): Told((note, "op", (3,), ((0, len), (1, str)), -1, ())),
        (float,): Told((note, "op", (), ((0, refuse),), -1, ())),
        (bytes,): Told((note, "op", (), ((7, len),), -1, ())),
        (list,): Told(None),
        ((int,), ("k",), (str,)): Told((note, "op", (None, 7), ((1, len),), -1, ((1, "k"),))),
        ((), ("k", "l"), (int, int)): Told((note, "op", (0, 0), (), -1, ((1, "k"), (0, "l")))),
        ((), ("k",), (float,)): Told((note, "op", (0,), (), -1, ((4, "k"),))),
        ((), ("k",), (bytes,)): Told((note, "op", (0,), (), -1, ((0, "l"),))),
        ((), ("k",), (list,)): Told((note, "op", (0,), ((0, refuse),), -1, ((0, "k"),))),
        (int, int): Told((note, "op", (3,), (), 1, ())),
        (int, int, int): Told((note, "op", (3,), ((1, len),), 1, ())),
        (int, str): Told((note, "op", (), (), 9, ())),
    }
    assert run_plan(plans, (1,), MISFITS) == ("op", [1, 3, None])
    assert run_plan(plans, ("abc",), MISFITS) == ("op", [3, "3"])
    assert run_plan(plans, (1, 2), MISFITS) == ("op", [1, (2,), 3])
    assert run_plan(plans, (1, 2, 3), MISFITS) == ("op", [1, 2, 3])
    assert run_plan(plans, (1, ""), MISFITS) == ("op", [1, ""])
    for other in ((1.0,), (b"",), ([],), (1, 2.0), (), (True,)):
        assert run_plan(plans, other, MISFITS) is plans
    assert run_plan(plans, (1,), MISFITS, {"k": "abc"}) == ("op", [1, 3, 7])
    assert run_plan(plans, (), MISFITS, {"k": 1, "l": 2}) == ("op", [2, 1])
    for words in ({"l": 2, "k": 1}, {"k": 1}, {"k": []}, {"k": True, "l": 2}):
        assert run_plan(plans, (), MISFITS, words) is plans
    for words in ({"k": 1.0}, {"k": b""}):  # plans that aren't ones
        with pytest.raises(ValueError):
            run_plan(plans, (), (), words)
    assert run_plan(plans, (1,), MISFITS, {}) == ("op", [1, 3, None])
    for args in ((), (plans,), (plans, [1], MISFITS), (1, (1,), MISFITS), (plans, (1,), 3)):
        with pytest.raises(TypeError):
            run_plan(*args)
    with pytest.raises(AttributeError):
        run_plan({(int,): 5}, (1,), MISFITS)


def test_errors_of_what_runs_and_of_conversions_that_end_the_program(
    run_plan: Callable[..., Any],
) -> None:
    def end(*args: object) -> object:
        raise KeyboardInterrupt

    def strike(*args: object) -> object:  # as a signal's handler does
        raise TimeoutError

    with pytest.raises(TimeoutError):
        run_plan({(int,): Told((note, "op", (), ((0, strike),), -1, ()))}, (1,), MISFITS)
    with pytest.raises(KeyboardInterrupt):
        run_plan({(int,): Told((end, "op", (), (), -1, ()))}, (1,), MISFITS)
    with pytest.raises(KeyboardInterrupt):
        run_plan({(int,): Told((note, "op", (), ((0, end),), -1, ()))}, (1,), MISFITS)
    with pytest.raises(ZeroDivisionError):
        run_plan({(int,): Told((lambda op, values: 1 / 0, "op", (), (), -1, ()))}, (1,), MISFITS)


@pytest.mark.parametrize(
    "name", ["sum", "cumsum", "clamp", "triu", "transpose", "max", "add", "flip", "roll"]
)
def test_functions_mean_the_same_with_and_without(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
    calls: list[tuple[Any, ...]] = [
        (), (1,), (0, 1), (1.5,), ((0, 1),), ([1],), (None,), (y,), (True,), (1, True), ("a",),
        (1 << 70,), (5,), (-9,), (0.5, 2), (None, 1), (y, y), (x > 1,), (1, 2, 3, 4),
    ]  # fmt: skip

    def outcome(function: Any, args: tuple[Any, ...]) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return str(function(x, *args))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    made = []
    for run in (dispatch.run_plan, None):
        monkeypatch.setattr(dispatch, "run_plan", run)
        made.append(dispatch.variant(name, [row for row in ROWS[name] if row.public], "method"))
    for _ in range(2):
        for args in calls:
            assert outcome(made[0], args) == outcome(made[1], args), args
