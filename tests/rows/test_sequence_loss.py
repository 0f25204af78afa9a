"""The CTC loss against the sum over all alignments; impossible targets; refusals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck
from rushlight.nn import functional as F


def read(path: tuple[int, ...], blank: int) -> list[int]:
    """What an alignment says: without repetitions, then without blanks."""
    return [label for label, _ in itertools.groupby(path) if label != blank]


def by_enumeration(log_probs: Any, target: list[int], blank: int) -> float:
    times, classes = len(log_probs), len(log_probs[0])
    total = sum(
        math.exp(sum(log_probs[t][label] for t, label in enumerate(path)))
        for path in itertools.product(range(classes), repeat=times)
        if read(path, blank) == target
    )
    return -math.log(total) if total else math.inf


@pytest.mark.parametrize("target", [[], [1], [2, 2], [1, 2], [1, 2, 1], [1, 1, 1]])
@pytest.mark.parametrize("blank", [0, 3])
def test_the_loss_is_the_sum_over_all_alignments(target: list[int], blank: int) -> None:
    torch.manual_seed(0)
    log_probs = torch.randn(5, 1, 4, dtype=torch.float64).log_softmax(2)
    found = F.ctc_loss(
        log_probs, torch.tensor([target], dtype=torch.int64).reshape(1, -1), [5], [len(target)],
        blank, "none",
    )  # fmt: skip
    assert found.item() == pytest.approx(by_enumeration(log_probs[:, 0].tolist(), target, blank))


def test_the_gradient_is_the_slope_for_probabilities_that_add_up_to_one() -> None:
    torch.manual_seed(1)
    x = torch.randn(6, 2, 4, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[1, 2, 1], [3, 3, 0]])

    def f(x: Any) -> Any:
        return F.ctc_loss(x.log_softmax(2), targets, (6, 5), (3, 2), reduction="none")

    assert gradcheck(f, (x,))


def test_targets_in_a_row_are_those_of_a_table() -> None:
    x = torch.randn(6, 2, 4).log_softmax(2)
    table = F.ctc_loss(x, torch.tensor([[1, 2, 1], [3, 3, 0]]), (6, 5), (3, 2))
    row = F.ctc_loss(x, torch.tensor([1, 2, 1, 3, 3]), (6, 5), (3, 2))
    assert table.item() == row.item()


def test_an_impossible_target_costs_infinity_or_nothing() -> None:
    x = torch.randn(2, 1, 3).log_softmax(2).requires_grad_()
    targets = torch.tensor([[1, 1]])
    assert F.ctc_loss(x, targets, [2], [2]).item() == math.inf
    loss = F.ctc_loss(x, targets, [2], [2], zero_infinity=True)
    assert loss.item() == 0
    loss.backward()
    assert x.grad.abs().sum().item() == 0


def test_the_gradient_can_be_taken_once_only() -> None:
    x = torch.randn(3, 1, 3).log_softmax(2).requires_grad_()
    loss = F.ctc_loss(x, torch.tensor([[1]]), [3], [1])
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(RuntimeError, match="_ctc_loss_backward is not implemented"):
        torch.autograd.grad(g.sum(), x)


def test_a_target_that_is_no_label_is_refused() -> None:
    x = torch.randn(3, 1, 3).log_softmax(2)
    with pytest.raises(IndexError):
        F.ctc_loss(x, torch.tensor([[7]]), [3], [1])
    with pytest.raises(RuntimeError, match="blank must be in label range"):
        F.ctc_loss(x, torch.tensor([[1]]), [3], [1], blank=3)
