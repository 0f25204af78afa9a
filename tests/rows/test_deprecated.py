"""Calls in PyTorch's old order of arguments."""

import warnings

import pytest

import rushlight as torch
from rushlight._base import caller as _once

ONES = torch.ones(2, 2)
THREES = torch.full((2, 2), 3.0)
LINE = torch.ones(2)


@pytest.fixture(autouse=True)
def nothing_said():
    """Each test hears the warning, which is given once a process."""
    _once._said.discard("deprecated overload")
    yield
    _once._said.discard("deprecated overload")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: ONES.clone().add_(2, THREES), lambda: ONES + 2 * THREES),
        (lambda: ONES.clone().add_(2, other=THREES), lambda: ONES + 2 * THREES),
        (lambda: torch.sub(ONES, torch.tensor(2.0), THREES), lambda: ONES - 2 * THREES),
        (lambda: ONES.clone().addcmul_(0.5, THREES, THREES), lambda: ONES + 0.5 * THREES * THREES),
        (lambda: torch.addcdiv(ONES, 2, ONES, THREES), lambda: ONES + 2 * ONES / THREES),
        (lambda: torch.addmm(2, ONES, 3, ONES, THREES), lambda: 2 * ONES + 3 * ONES @ THREES),
        (lambda: ONES.addmm(2, ONES, THREES), lambda: 2 * ONES + ONES @ THREES),
        (lambda: LINE.addmv(2, 3, THREES, LINE), lambda: 2 * LINE + 3 * THREES @ LINE),
        (lambda: torch.addr(2, ONES, LINE, LINE), lambda: 2 * ONES + 1),
        (lambda: torch.baddbmm(2, ONES[None], 3, ONES[None], THREES[None]),
         lambda: (2 * ONES + 3 * ONES @ THREES)[None]),
    ],
)  # fmt: skip
def test_an_old_order_means_what_it_meant(old, new):
    with pytest.warns(UserWarning, match="This overload of \\w+ is deprecated"):
        result = old()
    assert torch.equal(result, new())


def test_the_warning_names_both_orders_and_comes_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ONES.clone().sub_(2, THREES)
        ONES.clone().sub_(2, THREES)
    (only,) = caught
    assert str(only.message).startswith(
        "This overload of sub_ is deprecated:\n\tsub_(Number alpha, Tensor other)\n"
        "Consider using one of the following signatures instead:\n"
        "\tsub_(Tensor other, *, Number alpha = 1) (Triggered internally at "
    )


def test_what_was_never_an_order_stays_an_error():
    with pytest.raises(TypeError):
        ONES.add(THREES, 2, 1)
    with pytest.raises(TypeError):
        torch.mul(ONES, 2, THREES)


def test_gradients_flow_through_an_old_order():
    weight = torch.ones(2, 2, requires_grad=True)
    with pytest.warns(UserWarning):
        torch.addcmul(ONES, 2, weight, THREES).sum().backward()
    assert torch.equal(weight.grad, 2 * THREES)


def test_a_method_s_warning_leaves_out_the_tensor():
    with pytest.warns(UserWarning, match=r"is deprecated:\n\taddcmul\(Number value, Tensor tens"):
        ONES.addcmul(2, ONES, ONES)


def test_the_warning_comes_with_every_call_where_that_is_asked_for():
    torch.set_warn_always(True)
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match="This overload of add is deprecated"):
                ONES.add(2, THREES)
    finally:
        torch.set_warn_always(False)


def test_keywords_alone_are_no_old_order():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = torch.addmv(beta=2, input=LINE, mat=THREES, vec=LINE)
    assert torch.equal(result, 2 * LINE + THREES @ LINE)


def test_an_old_order_takes_the_tensor_by_name():
    with pytest.warns(UserWarning, match="This overload of addmv is deprecated"):
        result = torch.addmv(2, input=LINE, mat=THREES, vec=LINE)
    assert torch.equal(result, 2 * LINE + THREES @ LINE)


def test_a_number_may_stand_for_the_tensor_that_is_added():
    with pytest.warns(UserWarning, match="This overload of add is deprecated"):
        assert torch.equal(torch.add(ONES, 2, 3), ONES + 6)


def test_a_second_number_of_subtract_is_alpha() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.subtract(torch.tensor([7]), 2, 3).tolist() == [1]
    with pytest.raises(RuntimeError, match="alpha must not be a floating point number"):
        torch.tensor([7]).subtract(2, 1.0)
    with pytest.raises(RuntimeError, match="For non-complex input tensors, argument alpha"):
        torch.tensor([7.0]).subtract_(2, 1j)
