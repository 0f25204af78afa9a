"""Clipping gradients, and parameters as one vector."""

import pytest

import rushlight as rl
from rushlight import nn


def _with_grads() -> list[nn.Parameter]:
    first, second = nn.Parameter(rl.zeros(1)), nn.Parameter(rl.zeros(2))
    first.grad, second.grad = rl.tensor([3.0]), rl.tensor([0.0, 4.0])
    return [first, second]


def test_the_common_norm_is_returned_and_brought_down() -> None:
    params = _with_grads()
    assert nn.utils.clip_grad_norm_(params, 1.0).item() == 5.0
    assert params[0].grad.item() == pytest.approx(0.6, rel=1e-5)
    assert params[1].grad.tolist() == pytest.approx([0.0, 0.8], rel=1e-5)


def test_small_gradients_stay() -> None:
    params = _with_grads()
    nn.utils.clip_grad_norm_(iter(params), 10.0)
    assert params[0].grad.item() == 3.0


def test_a_norm_that_is_not_finite_can_be_refused() -> None:
    params = _with_grads()
    params[0].grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite, so it cannot be clipped"):
        nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)


def test_values_are_held_within_bounds() -> None:
    params = _with_grads()
    nn.utils.clip_grad_value_(params, 2)
    assert [p.grad.tolist() for p in params] == [[2.0], [0.0, 2.0]]


def test_parameters_become_a_vector_and_come_back() -> None:
    params = _with_grads()
    assert nn.utils.parameters_to_vector(params).shape == (3,)
    nn.utils.vector_to_parameters(rl.tensor([1.0, 2.0, 3.0]), params)
    assert [p.tolist() for p in params] == [[1.0], [2.0, 3.0]]
