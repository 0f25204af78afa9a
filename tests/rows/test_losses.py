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


def test_a_recorded_gradient_has_the_type_of_its_own_operand() -> None:
    logits = torch.zeros(2)
    target = torch.full((2,), 0.5, dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
    (grad,) = torch.autograd.grad(loss**2, target, create_graph=True)
    assert grad.dtype is torch.float64


def test_a_cross_entropy_with_complex_targets_has_no_gradient() -> None:
    target = torch.complex(torch.zeros(2), torch.zeros(2))
    logits = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="does not support automatic differentiation"):
        torch.nn.functional.binary_cross_entropy_with_logits(logits, target)


def test_complex_targets_of_real_numbers_keep_their_imaginary_parts() -> None:
    logits, target = torch.tensor([0.5]), torch.tensor([0.1 + 0.3j])
    found = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
    assert abs(found.item() - (0.92408 - 0.15j)) < 1e-4
    with pytest.raises(RuntimeError, match="ComplexFloat can't be cast to the desired output"):
        torch.nn.functional.huber_loss(logits, target)
