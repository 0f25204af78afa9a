"""Pipes of data wound forward to where a run was left, and what is said of their functions."""

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rushlight.utils.data import IterDataPipe
from rushlight.utils.data.datapipes import iter as steps
from rushlight.utils.data.datapipes._hook_iterator import _SnapshotState
from rushlight.utils.data.datapipes.utils.common import validate_input_col
from rushlight.utils.data.datapipes.utils.snapshot import (
    _simple_graph_snapshot_restoration as wind_forward,
)


def double(x: int) -> int:
    return 2 * x


def test_a_pipe_goes_on_where_a_run_was_left() -> None:
    pipe = steps.IterableWrapper(range(5)).map(double)
    begun = iter(pipe)
    next(begun), next(begun)
    assert pipe._number_of_samples_yielded == 2
    again = steps.IterableWrapper(range(5)).map(double)
    wind_forward(again, pipe._number_of_samples_yielded)
    assert again._snapshot_state is _SnapshotState.Restored
    with pytest.raises(RuntimeError, match="You can only restore simple snapshot"):
        wind_forward(again, 1)
    assert list(again) == [4, 6, 8] and again._number_of_samples_yielded == 5
    assert list(again) == [0, 2, 4, 6, 8]
    with pytest.raises(RuntimeError, match="by 9 iterations exceeds the number of samples"):
        wind_forward(again, 9)


def test_a_pipe_that_is_its_own_iterator_is_made_once_and_reset_once() -> None:
    calls: list[str] = []

    class Count(IterDataPipe[int]):
        def __init__(self) -> None:
            self.at = 0

        def __iter__(self) -> Iterator[int]:
            calls.append("iter")
            return self

        def __next__(self) -> int:
            if self.at == 3:
                raise StopIteration
            self.at += 1
            return self.at

        def reset(self) -> None:
            calls.append("reset")
            self.at = 0

    pipe = Count()
    assert list(pipe) == [1, 2, 3] and calls == ["iter", "reset"]
    wind_forward(pipe, 1)
    calls.clear()
    assert list(pipe) == [2, 3] and calls == ["iter"]


def test_a_generator_begins_with_its_first_item() -> None:
    pipe = steps.IterableWrapper([1, 2, 3])
    one, other = iter(pipe), iter(pipe)
    assert next(one) == 1 and next(other) == 1
    with pytest.raises(RuntimeError, match="another iterator has been created"):
        next(one)


class Called:
    def __call__(self, a: int) -> None: ...

    def __repr__(self) -> str:
        return "Called()"


def two(a: int, b: int) -> None: ...


def by_name(a: int, *, c: int, d: int) -> None: ...


def others(a: int, *b: int) -> None: ...


@pytest.mark.parametrize(
    ("fn", "columns", "text"),
    [
        (two, [0], "The function two takes 2 positional parameters, but 1 are required."),
        (two, [0, 1, 2], "The function two takes 2 parameters, but 3 are required."),
        (others, [], "The function others takes 1 positional parameters, but 0 are required."),
        (by_name, 0, "by_name takes 2 non-default keyword-only parameters, which is not allowed"),
        (Called(), [0, 1], r"The function Called\(\) takes 1 parameters, but 2 are required."),
        (functools.partial(two, 1), [0, 1], "The function two takes 1 parameters, but 2"),
    ],
)
def test_columns_that_do_not_fit_a_function_are_refused(
    fn: Callable[..., Any], columns: Any, text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        validate_input_col(fn, columns)


def test_columns_that_fit_are_taken() -> None:
    for fn, columns in ((two, [0, 1]), (others, [0, 1, 2]), (max, [0]), (Called(), 0)):
        validate_input_col(fn, columns)


def test_functions_that_cannot_be_pickled_are_told_by_kind() -> None:
    def inner(x: int) -> int:
        return x

    class Inside:
        def __call__(self, x: int) -> int:
            return x

    outside = eval("lambda x: x", {})  # of no function
    for fn, kind in ((inner, "Local"), (Inside(), "Local"), (lambda x: x, "Local"), (outside, "L")):
        with pytest.warns(UserWarning, match=f"{kind}.* function is not supported by pickle"):
            steps.IterableWrapper([1]).map(fn)
    with pytest.warns(UserWarning, match="Lambda function"):
        steps.IterableWrapper([1]).map(functools.partial(outside))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steps.IterableWrapper([1]).map(double)
