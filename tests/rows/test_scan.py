"""Running sums, products and extremes; differences, integrals and derivatives of samples."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

NAN = float("nan")


def made(values: Any) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def by_differences(f: Any, values: list[float]) -> list[float]:
    """The gradient of f by central differences."""
    step = 1e-6
    found = []
    for i in range(len(values)):
        high, low = list(values), list(values)
        high[i] += step
        low[i] -= step
        found.append((f(made(high)).item() - f(made(low)).item()) / (2 * step))
    return found


SCANS = {
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
}
ROWS = [[1.5, -0.5, 2.0, 0.25], [2.0, 0.0, 3.0, 1.5], [0.0, 2.0, 0.0, 4.0]]


@pytest.mark.parametrize("name", list(SCANS))
@pytest.mark.parametrize("row", ROWS)
def test_first_and_second_gradients_agree_with_differences(name: str, row: list[float]) -> None:
    weights = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)

    def weighted(x: Any) -> Any:
        return (SCANS[name](x) * weights).sum()

    def of_gradient(x: Any) -> Any:
        (g,) = torch.autograd.grad(weighted(x), x, create_graph=True)
        return (g * g * weights).sum()

    x = made(row)
    weighted(x).backward()
    assert x.grad.tolist() == pytest.approx(by_differences(weighted, row), abs=1e-6)
    if name != "cumsum":
        x = made(row)
        of_gradient(x).backward()
        assert x.grad.tolist() == pytest.approx(by_differences(of_gradient, row), abs=1e-5)


def test_the_gradient_of_a_long_running_product_is_that_of_short_steps() -> None:
    # More than 256 elements in one lane take the doubling steps, many lanes the plain ones.
    x = torch.linspace(0.9, 1.1, 600, dtype=torch.float64).requires_grad_()
    x.cumprod(0).sum().backward()
    lanes = torch.stack([x.detach()] * 600, 1).requires_grad_()
    lanes.cumprod(0).sum().backward()
    assert x.grad.tolist() == pytest.approx(lanes.grad[:, 0].tolist(), rel=1e-12)


def test_the_gradient_of_logcumsumexp_survives_a_steep_rise() -> None:
    x = made([0.0, 500.0, 1000.0, 0.0])
    x.logcumsumexp(0).sum().backward()
    assert x.grad.tolist() == pytest.approx([1.0, 1.0, 2.0, 0.0])


def test_running_extremes_take_the_later_of_equal_elements_and_keep_nan() -> None:
    values, indices = torch.tensor([1.0, 3.0, 3.0, 2.0]).cummax(0)
    assert values.tolist() == [1.0, 3.0, 3.0, 3.0] and indices.tolist() == [0, 1, 2, 2]
    indices = torch.tensor([1.0, NAN, 3.0, NAN, 0.0]).cummin(0).indices
    assert indices.tolist() == [0, 1, 1, 3, 3]


def test_the_gradient_of_a_running_maximum_adds_up_where_it_stays() -> None:
    x = made([1.0, 3.0, 2.0, 1.0])
    x.cummax(0).values.sum().backward()
    assert x.grad.tolist() == [1.0, 3.0, 0.0, 0.0]


def test_single_precision_is_accumulated_in_double() -> None:
    x = torch.tensor([1.0] + [2.0**-25] * 8)
    assert x.cumsum(0)[-1].item() == 1.0 + 2.0**-22


def test_integers_and_bools_run_in_int64_unless_told_otherwise() -> None:
    b = torch.tensor([True, True, False])
    assert b.cumsum(0).dtype is torch.int64 and b.cumsum(0).tolist() == [1, 2, 2]
    assert b.cumprod(0, dtype=torch.float32).tolist() == [1.0, 1.0, 0.0]


def test_cumsum_writes_in_place() -> None:
    x = torch.ones(3)
    assert x.cumsum_(0) is x
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_differences_of_bools_are_changes() -> None:
    assert torch.tensor([True, False, False]).diff().tolist() == [True, False]


def test_diff_takes_several_steps_and_more_elements() -> None:
    x = torch.tensor([1.0, 4.0, 9.0, 16.0])
    assert x.diff(n=2).tolist() == [2.0, 2.0]
    assert x.diff(prepend=torch.zeros(1)).tolist() == [1.0, 3.0, 5.0, 7.0]
    assert x.diff(n=9).tolist() == []
    with pytest.raises(RuntimeError, match="order must be non-negative but got -1"):
        x.diff(n=-1)


def test_integrals_follow_the_trapezoidal_rule() -> None:
    y = torch.tensor([1.0, 2.0, 4.0])
    assert torch.trapezoid(y).item() == 4.5
    assert torch.trapezoid(y, dx=2).item() == 9.0
    assert torch.trapezoid(y, torch.tensor([0.0, 1.0, 3.0])).item() == 7.5
    assert torch.cumulative_trapezoid(y).tolist() == [1.5, 4.5]


def test_derivatives_are_exact_for_a_parabola_at_second_order() -> None:
    points = torch.tensor([0.0, 1.0, 3.0, 4.0], dtype=torch.float64)
    (d,) = torch.gradient(points**2, spacing=(points,), edge_order=2)
    assert d.tolist() == pytest.approx([0.0, 2.0, 6.0, 8.0])
    (d,) = torch.gradient(torch.tensor([1.0, 4.0, 9.0]))
    assert d.tolist() == [3.0, 4.0, 5.0]


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_where_nothing_is_added_up_a_bool_stays_one(name: str) -> None:
    for x in (torch.tensor(True), torch.ones(0, dtype=torch.bool)):
        assert getattr(x, name)(0, dtype=torch.bool).dtype is torch.bool
        assert getattr(x.clone(), name + "_")(0).equal(x)
    with pytest.raises(NotImplementedError, match=f"{name}_out_cpu"):
        getattr(torch.ones(2), name)(0, dtype=torch.bool)


def test_the_gradient_of_one_number_s_logcumsumexp_is_the_one_that_came() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(torch.logcumsumexp(x, 0), x, create_graph=True)
    assert g.item() == 1.0 and not g.requires_grad


def test_spacings_and_joined_parts_are_refused_in_words_of_their_own() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    column = torch.ones(3, 1)
    with pytest.raises(RuntimeError, match="to have one dimension, but got an element with 2 dim"):
        torch.gradient(x, spacing=(column,), dim=0)
    with pytest.raises(RuntimeError, match=r"a list of length equal to 'self.dim"):
        torch.gradient(x, spacing=(column,))
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 1, but got int"):
        torch.gradient(x, spacing=[2, torch.ones(4)])
    with pytest.raises(RuntimeError, match=r"input.size\(1\) = 4, but got tensor.size\(1\) = 1"):
        torch.diff(x, 1, 0, prepend=x[:, :1])
    with pytest.raises(RuntimeError, match=r"input.size\(0\) = 3, but got tensor.size\(0\) = 1"):
        torch.diff(x, 0, 1, append=x[:1])
