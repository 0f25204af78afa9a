"""The module `nn.functional`: what it lists, dropout, padding."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight._table import PUBLIC
from rushlight.nn import functional as F


def test_the_module_lists_every_function_of_its_namespace() -> None:
    wanted = {name for namespace, name in PUBLIC if namespace == "nn.functional"}
    assert set(F.__all__) == wanted
    assert all(callable(getattr(F, name)) for name in wanted)


def test_a_name_that_is_missing_is_missing_in_rushlights_name() -> None:
    with pytest.raises(AttributeError, match=r"rushlight\.nn\.functional.*'no_such_function'"):
        F.no_such_function  # noqa: B018


def test_dropout_repeats_with_the_seed_and_scales_what_it_keeps() -> None:
    torch.manual_seed(0)
    first = F.dropout(torch.ones(1000), 0.25)
    torch.manual_seed(0)
    assert torch.equal(first, F.dropout(torch.ones(1000), 0.25))
    assert set(first.tolist()) == {0.0, torch.tensor(4 / 3).item()}
    assert 650 < int((first != 0).sum()) < 850


# torch.manual_seed(0); torch.nn.functional.dropout(torch.ones(10)) on PyTorch 2.13, CPU
DROPPED = [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 2.0, 0.0, 2.0]


def test_dropout_of_ten_ones_is_pytorchs_for_the_seed() -> None:
    torch.manual_seed(0)
    assert F.dropout(torch.ones(10)).tolist() == DROPPED


def test_dropout_outside_training_is_the_input_itself() -> None:
    x = torch.ones(3)
    assert F.dropout(x, training=False) is x


def test_dropout_records_a_product_whose_gradient_is_the_mask() -> None:
    torch.manual_seed(1)
    x = torch.ones(50, requires_grad=True)
    y = F.dropout(x, 0.5)
    assert type(y.grad_fn).__name__ == "MulBackward0"
    y.sum().backward()
    assert x.grad is not None and torch.equal(x.grad, y.detach())


def test_channel_dropout_zeros_whole_channels() -> None:
    torch.manual_seed(2)
    y = F.dropout2d(torch.ones(8, 16, 3, 3), 0.5)
    sums = y.sum((2, 3))
    assert set(sums.reshape(-1).tolist()) == {0.0, 18.0}


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    torch.manual_seed(3)
    y = F.alpha_dropout(torch.randn(100000), 0.3, training=True)
    assert abs(y.mean().item()) < 0.02 and abs(y.var().item() - 1) < 0.03


def test_a_probability_outside_zero_and_one_is_refused() -> None:
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        F.dropout(torch.ones(2), 1.5)


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("constant", [0.0, 0.0, 1.0, 2.0, 3.0, 0.0]),
        ("reflect", [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]),
        ("replicate", [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]),
        ("circular", [2.0, 3.0, 1.0, 2.0, 3.0, 1.0]),
    ],
)
def test_padding_borrows_by_its_mode(mode: str, wanted: list[float]) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = F.pad(x, (2, 1), mode)
    assert y[0].tolist() == wanted
    y.sum().backward()
    assert x.grad is not None
    assert x.grad[0].tolist() == [float(wanted.count(v)) for v in (1.0, 2.0, 3.0)]


def test_negative_padding_crops() -> None:
    assert F.pad(torch.arange(5), (-1, -2)).tolist() == [1, 2]


def test_modes_of_grid_sample_have_numbers() -> None:
    x, grid = torch.randn(1, 1, 4, 4), torch.rand(1, 2, 2, 2)
    for mode, number in F.GRID_SAMPLE_INTERPOLATION_MODES.items():
        for padding, of_padding in F.GRID_SAMPLE_PADDING_MODES.items():
            found = torch.grid_sampler_2d(x, grid, number, of_padding, False)
            assert torch.equal(found, F.grid_sample(x, grid, mode, padding, False))
