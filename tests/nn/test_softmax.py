"""Softmax, its logarithm and its relatives."""

from __future__ import annotations

import math

import pytest

import rushlight as torch
from rushlight.nn import functional as F


def _close(t: torch.Tensor, wanted: object, tolerance: float = 1e-6) -> bool:
    return bool(
        torch.allclose(t, torch.tensor(wanted, dtype=t.dtype), rtol=tolerance, atol=tolerance)
    )


def test_softmax_of_three_logits_has_the_known_probabilities() -> None:
    p = F.softmax(torch.tensor([1.0, 2.0, 3.0]), 0)
    assert _close(p, [0.09003057, 0.24472848, 0.66524094])


def test_the_probabilities_of_every_row_add_up_to_one() -> None:
    torch.manual_seed(0)
    for shape, dim in (((4, 5), 1), ((4, 5), 0), ((2, 3, 4), 1), ((3, 20000), 1)):
        assert _close(F.softmax(torch.randn(*shape) * 5, dim).sum(dim), [1.0], 1e-5)


def test_log_softmax_stays_finite_where_the_exponentials_overflow() -> None:
    out = F.log_softmax(torch.tensor([[1000.0, 0.0], [-1000.0, -1001.0]]), 1)
    assert _close(out, [[0.0, -1000.0], [-0.31326169, -1.31326169]])


def test_softmin_is_softmax_of_the_negated_logits() -> None:
    x = torch.tensor([[0.5, -2.0, 1.0]])
    assert torch.equal(F.softmin(x, 1), F.softmax(-x, 1))


def test_a_row_of_minus_infinities_gives_nan() -> None:
    assert torch.isnan(F.softmax(torch.full((2, 3), -math.inf), 1)).all()


def test_minus_infinity_masks_a_logit_and_gets_no_gradient() -> None:
    x = torch.tensor([[0.0, -math.inf, 0.0]], requires_grad=True)
    p = F.softmax(x, 1)
    assert p.tolist() == [[0.5, 0.0, 0.5]]
    p[0, 0].backward()
    assert x.grad is not None and x.grad.tolist() == [[0.25, 0.0, -0.25]]


def test_without_a_dim_softmax_warns_and_takes_the_one_of_old() -> None:
    x = torch.randn(2, 3)
    with pytest.warns(
        UserWarning, match="Implicit dimension choice for softmax has been deprecated"
    ):
        assert torch.equal(F.softmax(x), F.softmax(x, 1))


def test_dtype_converts_before_the_softmax() -> None:
    x = torch.tensor([1, 2, 3])
    assert F.softmax(x, 0, dtype=torch.float64).dtype is torch.float64


def test_integers_without_dtype_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        F.softmax(torch.tensor([1, 2]), 0)


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
def test_the_recorded_gradient_is_the_raw_one(function: object) -> None:
    torch.manual_seed(1)
    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    w = torch.randn(4, 6, dtype=torch.float64)
    for dim in (0, 1):
        y = (function(x, dim) * w).sum()  # type: ignore[operator]
        (plain,) = torch.autograd.grad(y, x, retain_graph=True)
        (recorded,) = torch.autograd.grad(y, x, create_graph=True)
        assert torch.allclose(plain, recorded, rtol=1e-12, atol=1e-14)
        assert recorded.requires_grad


def test_hard_gumbel_softmax_gives_one_hot_rows() -> None:
    torch.manual_seed(2)
    out = F.gumbel_softmax(torch.zeros(50, 4), hard=True)
    assert torch.allclose(out.sum(1), torch.ones(50))
    assert torch.allclose(out.max(1)[0], torch.ones(50))


def test_a_mask_gives_places_no_probability_and_no_gradient() -> None:
    x = torch.arange(8.0).view(2, 4).requires_grad_()
    mask = torch.tensor([[True] * 4, [True, False, False, True]])
    found = torch._masked_softmax(x, mask, 1, 2)
    assert torch.allclose(found[1], torch.tensor([0, 0.2689, 0.7311, 0]), atol=1e-4)
    found[1, 1].backward()
    assert x.grad[0].tolist() == [0] * 4
    z = torch.randn(2, 3, 4, 4)
    rows = torch.tensor([[True, False, True, False], [False, False, True, True]])
    assert torch.equal(
        torch._masked_softmax(z, rows, None, 1),
        z.masked_fill(rows[:, None, None], float("-inf")).softmax(-1),
    )
    with pytest.raises(RuntimeError, match=r"For mask_type == 0 mask shape should be \(L, L\)"):
        torch._masked_softmax(z, rows, 3, 0)
    with pytest.raises(RuntimeError, match="Mask should be a boolean tensor"):
        torch._masked_softmax(x, mask.float())
