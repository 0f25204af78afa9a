"""The cross entropy of a linear map of its own."""

import pytest

import rushlight
from rushlight import nn
from rushlight.nn import functional as F


def test_it_is_the_cross_entropy_of_its_linear_map() -> None:
    loss = nn.LinearCrossEntropyLoss(5, 4, bias=True, label_smoothing=0.1)
    x, y = rushlight.randn(3, 5), rushlight.tensor([0, 3, 1])
    wanted = F.cross_entropy(loss.linear(x), y, label_smoothing=0.1)
    assert rushlight.allclose(loss(x, y), wanted)


def test_further_features_are_dimensions_of_the_target() -> None:
    loss = nn.LinearCrossEntropyLoss(5, 4, out_features=(2, 3), reduction="none")
    target = rushlight.zeros(3, 2, 3, dtype=rushlight.int64)
    assert loss(rushlight.randn(3, 5), target).shape == (3, 2, 3)
    assert list(loss.state_dict()) == ["linear.weight"]


def test_parts_of_the_batch_give_the_same_gradients() -> None:
    rushlight.manual_seed(0)
    whole = nn.LinearCrossEntropyLoss(5, 4)
    parts = nn.LinearCrossEntropyLoss(5, 4, options=nn.LinearCrossEntropyOptions())
    parts.load_state_dict(whole.state_dict())
    x, y = rushlight.randn(8, 5), rushlight.arange(8) % 4
    for loss in (whole, parts):
        loss(x, y).backward()
    assert rushlight.allclose(whole.linear.weight.grad, parts.linear.weight.grad, atol=1e-6)


def test_a_weight_of_another_length_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"expected weight shape to be \(4,\), got \(3,\)"):
        nn.LinearCrossEntropyLoss(5, 4, weight=rushlight.ones(3))
