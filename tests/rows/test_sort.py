"""Order, ranks, quantiles, distinct values, positions, histograms."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import rushlight as torch

NAN = float("nan")


def test_sorting_is_stable_both_ways_and_nan_is_the_largest() -> None:
    x = torch.tensor([2.0, NAN, 1.0, 2.0, NAN, 1.0])
    assert x.sort().indices.tolist() == [2, 5, 0, 3, 1, 4]
    assert x.sort(descending=True).indices.tolist() == [1, 4, 0, 3, 2, 5]
    assert x.argsort(descending=True, stable=True).tolist() == [1, 4, 0, 3, 2, 5]


def test_sorting_agrees_with_python_along_every_dimension() -> None:
    rows = [[random.Random(i * 7 + j).randrange(5) for j in range(6)] for i in range(4)]
    x = torch.tensor(rows)
    assert x.sort().values.tolist() == [sorted(r) for r in rows]
    columns = [sorted(c, reverse=True) for c in zip(*rows)]
    assert x.sort(0, True).values.T.tolist() == columns
    assert torch.msort(x).T.tolist() == [sorted(c) for c in zip(*rows)]
    assert x.T.sort(0).values.tolist() == x.sort(1).values.T.tolist()


def test_the_gradient_returns_to_where_the_elements_came_from() -> None:
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, indices = x.sort()
    assert not indices.requires_grad
    (values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100.0, 1.0, 10.0]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [0, 1, 3, 20, 200])
def test_topk_is_the_beginning_of_the_sorted_row(k: int, largest: bool) -> None:
    draw = random.Random(k)
    x = torch.tensor([[draw.random() for _ in range(200)] for _ in range(3)], dtype=torch.float64)
    values, indices = x.topk(k, largest=largest)
    ordered = x.sort(1, descending=largest)
    assert values.tolist() == ordered.values[:, :k].tolist()
    assert indices.tolist() == ordered.indices[:, :k].tolist()
    by_column = x.T.topk(k, 0, largest=largest).values
    assert by_column.T.tolist() == values.tolist()


def test_topk_finds_equal_elements_in_order_of_place() -> None:
    x = torch.tensor([float(i % 3) for i in range(100)])
    assert x.topk(5).indices.tolist() == [2, 5, 8, 11, 14]
    assert x.topk(5, largest=False).indices.tolist() == [0, 3, 6, 9, 12]
    with_nan = torch.tensor([1.0, NAN] + [0.5] * 98)
    assert with_nan.topk(2).indices.tolist() == [1, 0]
    assert with_nan.topk(1, largest=False).indices.tolist() == [2]


def test_topk_refuses_more_than_there_is() -> None:
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        torch.ones(3).topk(4)


def test_a_median_is_the_lower_of_two_and_a_mode_the_smallest_of_several() -> None:
    x = torch.tensor([[4.0, 1.0, 3.0, 2.0]])
    assert x.median().item() == 2.0
    assert [t.tolist() for t in x.median(1)] == [[2.0], [3]]
    assert [t.tolist() for t in x.kthvalue(3, 1)] == [[3.0], [2]]
    modes = torch.tensor([3, 1, 3, 1, 2]).mode()
    assert modes.values.item() == 1 and modes.indices.item() == 3


def test_quantiles_interpolate_as_asked() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 5.0], dtype=torch.float64)
    found = {
        how: x.quantile(0.7, interpolation=how).item()
        for how in ("linear", "lower", "higher", "midpoint", "nearest")
    }
    assert found == pytest.approx(
        {"linear": 3.2, "lower": 3.0, "higher": 5.0, "midpoint": 4.0, "nearest": 3.0}
    )


def test_quantiles_of_rows_with_nan_are_nan_unless_it_is_ignored() -> None:
    x = torch.tensor([[1.0, NAN, 3.0], [1.0, 2.0, 3.0]])
    assert torch.isnan(x.quantile(0.5, 1)).tolist() == [True, False]
    assert x.nanquantile(0.5, 1).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(("dim", "keepdim"), [(0, False), (1, True), (None, True), (None, False)])
def test_quantiles_have_the_shape_of_the_values_then_that_of_the_reduction(
    dim: Any, keepdim: bool
) -> None:
    x = torch.arange(12.0).reshape(3, 4)
    expected = tuple(x.amax(() if dim is None else dim, keepdim).shape)
    assert tuple(x.quantile(0.5, dim, keepdim).shape) == expected
    assert tuple(x.quantile(torch.tensor([0.1, 0.9]), dim, keepdim).shape) == (2, *expected)


def test_the_gradient_of_a_quantile_is_shared_by_its_neighbours() -> None:
    x = torch.tensor([3.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    x.quantile(0.25).backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]


def test_positions_in_sorted_rows() -> None:
    row = torch.tensor([1.0, 2.0, 2.0, 4.0])
    asked = torch.tensor([0.0, 2.0, 3.0, 5.0, NAN])
    assert torch.searchsorted(row, asked).tolist() == [0, 1, 3, 4, 4]
    assert torch.searchsorted(row, asked, right=True).tolist() == [0, 3, 3, 4, 4]
    assert torch.searchsorted(row, 2).item() == 1
    assert torch.bucketize(asked, row, right=True, out_int32=True).dtype is torch.int32


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize(("rows", "width"), [(2, 40), (50, 3)])
def test_positions_in_many_rows_are_those_in_each(rows: int, width: int, right: bool) -> None:
    draw = random.Random(rows)
    matrix = torch.tensor([sorted(draw.randrange(9) for _ in range(width)) for _ in range(rows)])
    asked = torch.tensor([[draw.randrange(-1, 10) for _ in range(5)] for _ in range(rows)])
    found = torch.searchsorted(matrix, asked, right=right)
    for k in range(rows):
        assert torch.searchsorted(matrix[k], asked[k], right=right).tolist() == found[k].tolist()


def test_distinct_values_their_places_and_their_counts() -> None:
    x = torch.tensor([[3, 1], [2, 1]])
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert values.tolist() == [1, 2, 3] and counts.tolist() == [2, 1, 1]
    assert inverse.tolist() == [[2, 0], [1, 0]]
    rows, places = torch.unique(torch.tensor([[1, 2], [0, 1], [1, 2]]), dim=0, return_inverse=True)
    assert rows.tolist() == [[0, 1], [1, 2]] and places.tolist() == [1, 0, 1]
    runs = torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True)
    assert [t.tolist() for t in runs] == [[1, 2, 1], [2, 1, 1]]


def test_the_derivative_of_unique_is_refused() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="derivative for '_unique2' is not implemented"):
        x.unique().sum().backward()


def test_histograms_count_the_upper_edge_in_and_the_rest_out() -> None:
    x = torch.tensor([0.0, 1.0, 1.5, 2.0, 3.0])
    assert torch.histc(x, 2, 0, 2).tolist() == [1.0, 3.0]
    assert torch.histc(x, 3).tolist() == [1.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="max must be larger than min"):
        torch.histc(x, 2, 2, 1)


def test_counts_of_numbers_and_membership() -> None:
    x = torch.tensor([0, 2, 2])
    assert torch.bincount(x).tolist() == [1, 0, 2]
    assert torch.bincount(x, torch.tensor([0.5, 1.0, 2.0]), 4).tolist() == [0.5, 0.0, 3.0, 0.0]
    assert torch.isin(x, torch.tensor([2])).tolist() == [False, True, True]
    assert torch.isin(x, 2, invert=True).tolist() == [True, False, False]
    with pytest.raises(RuntimeError, match="1-d non-negative integral"):
        torch.bincount(torch.tensor([-1]))


def test_counts_refuse_what_is_negative_wherever_it_stands() -> None:
    for numbers in ([3, -1], [-1, 3], [-(1 << 63)], [0, 0, -2, 5]):
        for x in (torch.tensor(numbers), torch.tensor([numbers, numbers]).t()[:, 0]):
            with pytest.raises(RuntimeError, match="1-d non-negative integral"):
                torch.bincount(x)
    with pytest.raises(RuntimeError, match="1-d non-negative integral"):
        torch.bincount(torch.tensor([[1]]))
    with pytest.raises(RuntimeError, match="1-d non-negative integral"):
        torch.bincount(torch.tensor(1))
    with pytest.raises(RuntimeError, match="minlength"):
        torch.bincount(torch.tensor([-1]), minlength=-1)
    with pytest.raises(Exception) as caught:
        torch.bincount(torch.tensor([1 << 62]))
    assert "non-negative" not in str(caught.value)
    assert torch.bincount(torch.tensor([], dtype=torch.int64), minlength=2).tolist() == [0, 0]
    narrow = torch.tensor([1, 1, 3], dtype=torch.uint8)
    assert torch.bincount(narrow).tolist() == [0, 2, 0, 1]
    assert torch.bincount(narrow).dtype is torch.int64


def test_places_of_what_is_not_zero_lie_by_dimension_in_memory() -> None:
    x = torch.tensor([[0.0, 1.0, NAN], [2.0, 0.0, -0.0]])
    for y in (x, x.t().contiguous().t(), torch.stack([x, x], 2)[..., 1]):
        places = y.nonzero()
        assert places.tolist() == [[0, 1], [0, 2], [1, 0]]
        assert places.stride() == (1, 3) and places.dtype is torch.int64
    cube = torch.zeros(2, 3, 2)
    cube[1, 2, 0] = cube[0, 0, 1] = 1
    assert cube.nonzero().tolist() == [[0, 0, 1], [1, 2, 0]]
    assert torch.zeros(0, 3).nonzero().shape == (0, 2)
    assert torch.tensor([0, 7]).nonzero().tolist() == [[1]]
    assert torch.tensor(5.0).nonzero().shape == (1, 0)
    kept = torch.tensor([True, False]).nonzero()
    kept.add_(5)
    assert kept.tolist() == [[5]]


def test_places_in_rows_of_another_type_are_looked_up_in_the_common_one() -> None:
    row = torch.tensor([1.0, 2.0, 3.0])
    close = torch.tensor([2.0000000001, 2.0], dtype=torch.float64)
    assert torch.searchsorted(row, close).tolist() == [2, 1]
    assert torch.searchsorted(row, torch.tensor(2.5, dtype=torch.float64)).item() == 2
    assert torch.searchsorted(torch.tensor([1, 2, 3]), torch.tensor([1.5])).tolist() == [1]
    assert torch.searchsorted(row, torch.tensor([2])).tolist() == [1]
    assert torch.searchsorted(row, 2).item() == 1
    assert torch.searchsorted(row, torch.tensor(2.0)).shape == ()
    assert torch.searchsorted(row, close, out_int32=True).dtype is torch.int32
    assert torch.searchsorted(row, torch.tensor([NAN, -1.0])).tolist() == [3, 0]
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    assert torch.searchsorted(half, half, right=True).tolist() == [1, 2]
    turned = torch.searchsorted(row, torch.tensor([3.0, 1.0, 2.0]), sorter=torch.tensor([0, 1, 2]))
    assert turned.tolist() == [2, 0, 1]


def test_a_number_and_a_tensor_ask_for_the_same_quantile() -> None:
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    for word in ("linear", "lower", "higher", "midpoint", "nearest"):
        for q in (0, 0.3, 0.5, 1, True):
            number = torch.quantile(x, q, 1, interpolation=word)
            same = torch.quantile(x, torch.tensor(float(q)), 1, interpolation=word)
            assert number.tolist() == same.tolist()
            (slopes,) = torch.autograd.grad(number.sum(), x)
            assert slopes.tolist() == torch.autograd.grad(same.sum(), x)[0].tolist()
    q = torch.tensor(0.25, requires_grad=True)
    torch.quantile(x.detach(), q).backward()
    assert q.grad.item() == 3.0
    assert torch.quantile(torch.tensor([1.0, NAN]), 0.5).isnan().item()
    assert torch.nanquantile(torch.tensor([1.0, NAN]), 0.5).item() == 1.0
    for bad in (-0.1, 1.1, NAN):
        with pytest.raises(RuntimeError, match=r"in the range \[0, 1\]"):
            torch.quantile(x, bad)
        with pytest.raises(RuntimeError, match=r"in the range \[0, 1\]"):
            torch.quantile(x, torch.tensor(bad))


def test_the_dimension_of_runs_is_a_whole_number() -> None:
    x = torch.tensor([1, 1, 2])
    for wrong in (1.5, True, "a"):
        said = rf"unique_consecutive\(\): argument 'dim' must be int, not {type(wrong).__name__}$"
        for call in (torch.unique_consecutive, torch.Tensor.unique_consecutive):
            with pytest.raises(TypeError, match=said):
                call(x, dim=wrong)
    assert x.unique_consecutive(dim=torch.tensor(0)).tolist() == [1, 2]


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.int64, torch.float16])
@pytest.mark.parametrize("largest", [False, True])
def test_the_first_of_short_rows_are_those_of_a_stable_sort(kind: Any, largest: bool) -> None:
    rng = np.random.default_rng(0)
    for n in (4, 20, 64, 65, 300):
        x = torch.from_numpy(rng.integers(-5, 5, (70, n))).to(kind)
        if kind.is_floating_point:
            x[::3, ::4] = float("nan")
            x[1::3, ::2] = -0.0
        order = x.sort(dim=1, descending=largest, stable=True)
        for k in {1, n // 4, n // 2, n // 2 + 1}:
            values, places = x.topk(k, 1, largest)
            assert torch.equal(places, order.indices[:, :k])
            assert values.numpy().tobytes() == order.values[:, :k].contiguous().numpy().tobytes()
            assert torch.equal(x.t().topk(k, 0, largest).indices, places.t())


def test_medians_of_all_elements() -> None:
    rng = np.random.default_rng(1)
    for kind in (torch.float32, torch.float64, torch.int64, torch.int32, torch.float16):
        for size in (1, 2, 9, 1000, 10_001):
            x = torch.from_numpy(rng.integers(-50, 50, size)).to(kind)
            wanted = np.sort(x.numpy())[(size - 1) // 2]
            assert x.median().item() == x.nanmedian().item() == wanted
            assert x.median().dtype is kind and x.median().shape == ()
            if kind.is_floating_point and size > 2:
                x[size // 2] = float("nan")
                assert x.median().isnan()
                rest = np.sort(np.delete(x.numpy(), size // 2))
                assert x.nanmedian().item() == rest[(size - 2) // 2]
                assert torch.full_like(x, float("nan")).nanmedian().isnan()


def test_products_of_many() -> None:
    rng = np.random.default_rng(2)
    for kind in (torch.float32, torch.float64):
        x = torch.from_numpy(rng.random((300, 401)) * 0.02 + 0.99).to(kind)
        wanted = np.prod(x.numpy().astype(np.float64))
        assert abs(x.prod().item() / wanted - 1) < 1e-4
        x[7, 7] = 0.0
        assert x.prod().item() == 0 and x.prod().shape == ()
        x[8, 8] = float("nan")
        assert x.prod().isnan()
