"""`unique` across a dimension: rows with NaN, and dimensions without elements."""

from __future__ import annotations

import pytest

import rushlight as torch

nan = float("nan")


@pytest.mark.parametrize(
    ("values", "order", "places", "counts"),
    [
        ([nan, 0, 0, nan, nan, 1], [0, 1, 3, 4, 5], [0, 1, 1, 2, 3, 4], [1, 2, 1, 1, 1]),
        ([1, nan, 0], [2, 0, 1], [1, 2, 0], [1, 1, 1]),
        ([nan, 1, 0], [0, 2, 1], [0, 2, 1], [1, 1, 1]),
        ([3, nan, 2, nan, 1], [4, 2, 0, 1, 3], [2, 3, 1, 4, 0], [1] * 5),
    ],
)
def test_rows_with_nan_lie_where_the_sort_leaves_them(
    values: list[float], order: list[int], places: list[int], counts: list[int]
) -> None:
    x = torch.tensor(values)
    found = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    assert repr(found[0]) == repr(x[order])
    assert [t.tolist() for t in found[1:]] == [places, counts]


def test_long_columns_with_nan_are_parted_first() -> None:
    x = torch.arange(60.0).flip(0).remainder(30)
    x[7] = nan
    values, places, counts = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    assert int(counts.sum()) == 60 and len(values) == len(counts)
    assert torch.equal(values[places].nan_to_num(-1), x.nan_to_num(-1))


def test_one_dimension_at_most_has_no_elements() -> None:
    for function in (torch.unique, torch.unique_consecutive):
        with pytest.raises(RuntimeError, match="zero sized dimensions is more than one"):
            function(torch.empty(5, 0, 0), dim=1)
        with pytest.raises(RuntimeError, match="they aren't selected"):
            function(torch.empty(5, 0), dim=0)
        assert function(torch.empty(5, 0), dim=1).shape == (5, 0)


def test_one_place_taken_is_no_row() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x.take(torch.tensor(4)).shape == () and x.take(torch.tensor([-1])).tolist() == [5]
