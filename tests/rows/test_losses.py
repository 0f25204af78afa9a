"""The losses of `torch` itself, whose `reduction` is a number."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

X = [[0.1, -0.5], [2.0, 3.0]]
Y = [[1.0, 0.0], [0.0, 1.0]]


def _calls() -> dict[str, tuple[Any, ...]]:
    x, y = torch.tensor(X), torch.tensor(Y)
    labels = torch.ones(2, 2, dtype=torch.int64)
    return {
        "binary_cross_entropy_with_logits": (x, y),
        "cosine_embedding_loss": (x, y, torch.ones(2)),
        "hinge_embedding_loss": (x, y),
        "kl_div": (x, y),
        "margin_ranking_loss": (x, y, y),
        "triplet_margin_loss": (x, y, y + 1),
        "ctc_loss": (
            torch.zeros(5, 2, 3).log_softmax(-1),
            labels,
            torch.tensor([5, 5]),
            torch.tensor([2, 2]),
        ),
    }


@pytest.mark.parametrize("name", list(_calls()))
def test_a_loss_without_a_reduction_is_one_for_each_element(name: str) -> None:
    args = _calls()[name]
    found = getattr(torch, name)(*args)
    assert found.dim() > 0
    assert torch.equal(found, getattr(torch, name)(*args, reduction=0))


@pytest.mark.parametrize("name", list(_calls()))
def test_the_operator_of_a_loss_gives_the_mean(name: str) -> None:
    args = _calls()[name]
    found = getattr(torch.ops.aten, name)(*args)
    assert torch.equal(found, getattr(torch, name)(*args, reduction=1))
    operator = getattr(torch.ops.aten, name)
    overload = getattr(operator, operator.overloads()[0])
    assert torch.equal(overload(*args), found)


def test_weights_of_logits_have_no_gradient() -> None:
    x, y = torch.tensor(X), torch.tensor(Y)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'pos_we"):
        torch.binary_cross_entropy_with_logits(x, y, None, torch.ones(2, requires_grad=True))
