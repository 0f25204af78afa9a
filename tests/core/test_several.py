"""Operations on several tensors and numbers, and writes by one ufunc."""

from __future__ import annotations

import pytest

import rushlight as rl


def test_operands_that_were_broadcast_get_gradients_of_their_own_shape() -> None:
    x = rl.ones(3, 4, requires_grad=True)
    row = rl.full((4,), 2.0, requires_grad=True)
    column = rl.full((3, 1), 5.0, requires_grad=True)
    rl.addcmul(x, row, column, value=2).sum().backward()
    assert x.grad.tolist() == [[1.0] * 4] * 3
    assert row.grad.tolist() == [30.0] * 4
    assert column.grad.tolist() == [[16.0]] * 3


def test_an_integer_bound_does_not_change_the_type_of_floats() -> None:
    clamped = rl.tensor([-1.0, 0.5, 3.0]).clamp(0, 1)
    assert clamped.dtype is rl.float32
    assert clamped.tolist() == [0.0, 0.5, 1.0]


def test_an_operand_of_another_type_is_still_promoted() -> None:
    mixed = rl.lerp(rl.zeros(2, dtype=rl.float64), rl.ones(2, dtype=rl.float64), 0.25)
    assert mixed.dtype is rl.float64
    chosen = rl.where(rl.tensor([True, False]), rl.ones(2), rl.zeros(2, dtype=rl.float64))
    assert chosen.dtype is rl.float64


def test_several_outputs_share_one_node_and_only_differentiable_ones_require_grad() -> None:
    x = rl.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    values, indices = x.max(1)
    assert values.requires_grad
    assert not indices.requires_grad
    values.sum().backward()
    assert x.grad.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    spread, mean = rl.var_mean(x)
    assert spread.grad_fn is mean.grad_fn


def test_a_failed_write_in_place_changes_neither_values_nor_version() -> None:
    x = rl.zeros(2)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(rl.ones(3, 2))
    assert x.tolist() == [0.0, 0.0]
    assert x._version == 0


def test_a_write_that_nobody_records_still_counts() -> None:
    weight = rl.ones(2, requires_grad=True)
    loss = (weight * weight).sum()
    with rl.no_grad():
        weight.add_(1.0)
        weight -= rl.ones(2)
    assert weight._version == 2
    assert weight.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_write_to_a_leaf_that_requires_grad_is_refused_with_nothing_written() -> None:
    weight = rl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        weight.add_(1.0)
    assert weight.tolist() == [1.0, 1.0]


def test_a_write_that_overlaps_its_operand_is_refused_with_nothing_written() -> None:
    x = rl.arange(4.0)
    with pytest.raises(RuntimeError, match="refer to a single"):
        x[1:].add_(x[:-1])
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_joint_formula_that_nobody_asks_is_not_run() -> None:
    x = rl.rand(3, 3, requires_grad=True)
    y = rl.nn.functional.layer_norm(x, (3,))
    y.sum().backward(inputs=[y])
    assert y.grad.tolist() == [[1.0] * 3] * 3 and x.grad is None
