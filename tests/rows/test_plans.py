"""What a call means does not depend on earlier calls, and a number has no gradient to lose."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import rushlight
from rushlight._table import Row
from rushlight._table.calls.dispatch import Dispatcher
from tests.table._samples import all_rows, as_tensors, cases_of, row_name

#: Values of one type each, of which some fit a number, a list of sizes or a type and some don't.
ALIKE: tuple[tuple[Any, ...], ...] = (
    (rushlight.tensor(1.0), rushlight.ones(2), rushlight.tensor(1)),
    ((0,), (0.5,), (None,), ("a",), (True,), (rushlight.tensor(0),), (rushlight.ones(2),)),
    ([0], [0.5], [rushlight.ones(2)], ["a"]),
    (float, str),
)
#: They take Python's numbers, or give what hasn't been written yet.
UNTRIED = ("empty", "new_empty", "empty_like", "new_empty_strided", "empty_strided")
ROWS = [r for r in all_rows() if r.public and r.op.function is not None]


def outcome(row: Row, args: list[Any]) -> str:
    """What a call gives, as text."""
    params = row.schema.params
    rushlight.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(
                row.op.function(
                    *[a for p, a in zip(params, args) if not p.kw_only],
                    **{p.name: a for p, a in zip(params, args) if p.kw_only},
                )
            )
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def calls_of(row: Row) -> Iterator[list[list[Any]]]:
    """Groups of calls whose arguments are of the same types."""
    cases = cases_of(row)
    if not cases or row.schema.name.startswith(("empty", "new_empty")):
        return
    for position, p in enumerate(row.schema.params):
        if p.type == "Tensor" and not p.is_list:
            continue
        for values in ALIKE:
            group = []
            for value in values:
                args = [as_tensors(a) for a in cases[0].args]
                args[position] = value
                group.append(args)
            yield group


def forget() -> None:
    """Forgets all plans."""
    for dispatcher in DISPATCHERS:
        dispatcher.plans.clear()


_ = [r.op.function for r in all_rows()]
DISPATCHERS = [d for d in gc.get_objects() if type(d) is Dispatcher]


@pytest.mark.parametrize("row", ROWS, ids=row_name)
def test_a_call_gives_the_same_whatever_was_called_before(row: Row) -> None:
    for group in calls_of(row):
        alone = []
        for args in group:
            forget()
            alone.append(outcome(row, args))
        for before in group:
            forget()
            outcome(row, before)
            for args, want in zip(group, alone):
                assert outcome(row, args) == want


@pytest.mark.parametrize("row", ROWS, ids=row_name)
def test_an_integer_of_more_than_64_bits_is_refused_after_a_call_with_a_short_one(row: Row) -> None:
    cases = cases_of(row)
    for position, p in enumerate(row.schema.params):
        if p.type.rstrip("?") not in ("int", "Scalar") or not cases or row.schema.name in UNTRIED:
            continue
        for short, long in ((1, 2**70), ((1,), (-(2**63) - 1,))):
            first, second = ([as_tensors(a) for a in cases[0].args] for _ in range(2))
            first[position], second[position] = short, long
            forget()
            alone = outcome(row, second)
            forget()
            outcome(row, first)
            assert outcome(row, second) == alone


X = rushlight.ones(2, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda n: rushlight.add(X, X, alpha=n),
        lambda n: rushlight.addmm(X, X, X, beta=n),
        lambda n: rushlight.nn.functional.softplus(X, n),
        lambda n: rushlight.nn.functional.elu(X, n),
        lambda n: rushlight.nn.functional.leaky_relu(X, n),
        lambda n: rushlight.threshold(X, n, 1.0),
        lambda n: rushlight.renorm(X, n, 0, 1.0),
        lambda n: rushlight.full((2,), n),
        lambda n: rushlight.arange(n),
        lambda n: rushlight.norm(X, n),
        lambda n: rushlight.std(X, 0, correction=n),
    ],
)
def test_a_tensor_that_requires_grad_is_refused_in_the_place_of_a_number(call: Any) -> None:
    call(rushlight.tensor(1.0))
    with pytest.raises(TypeError, match=r"must be Number, not Tensor|invalid combination"):
        call(rushlight.tensor(1.0, requires_grad=True))
    call(rushlight.tensor(1.0))


def test_a_number_beside_a_tensor_of_one_element_chooses_the_overload_of_a_tensor() -> None:
    for name in ("xlogy", "special.xlog1py"):
        function = rushlight.xlogy if name == "xlogy" else rushlight.special.xlog1py
        one = function(rushlight.tensor(3.0), 2)
        assert one.shape == () and function(rushlight.full((2,), 3.0), 2).tolist() == [one] * 2


def test_a_keyword_may_be_called_self() -> None:
    assert rushlight.xlogy(self=3, other=rushlight.ones(2)).tolist() == [0.0, 0.0]


def test_a_bound_of_more_than_64_bits_is_refused_after_a_short_one() -> None:
    for call in (X.clamp, X.clamp_min, X.clamp_max, lambda n: X.clamp(max=n)):
        call(2)
        with pytest.raises(OverflowError, match="int too big to convert"):
            call(10**30)
