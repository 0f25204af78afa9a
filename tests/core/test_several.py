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


F = rl.nn.functional


@pytest.mark.parametrize("wanted", [False, True])
def test_operands_that_promote_without_broadcasting_keep_the_common_type(wanted: bool) -> None:
    single = rl.tensor([1.0, 4.0], requires_grad=wanted)
    double = rl.tensor([0.0, 2.0], dtype=rl.float64)
    half = rl.tensor([0.0, 2.0], dtype=rl.float16)
    assert rl.dist(single, double).dtype is rl.float64
    assert rl.dist(double, single).dtype is rl.float64
    assert rl.dist(single, half).dtype is rl.float32
    assert rl.dist(half, half).dtype is rl.float16
    assert rl.dist(single, rl.tensor(0.0, dtype=rl.float64)).dtype is rl.float32
    assert rl.dist(rl.tensor(3.0, dtype=rl.float64), rl.tensor(1.0)).dtype is rl.float64
    assert rl.dist(single, rl.tensor([0, 2])).item() == pytest.approx(5**0.5)
    assert F.mse_loss(single, double).dtype is rl.float64
    assert F.smooth_l1_loss(double, single).dtype is rl.float64
    with pytest.raises(RuntimeError, match="bool"):
        rl.dist(rl.tensor([True]), rl.tensor([True]))
    x = rl.zeros(2, 2, requires_grad=wanted)
    assert rl.addr(x, single, single, beta=1, alpha=2).tolist() == [[2.0, 8.0], [8.0, 32.0]]
    assert rl.addr(x, double, single.detach()).dtype is rl.float64
    with pytest.raises(RuntimeError, match="alpha"):
        rl.addr(rl.tensor([[1]]), rl.tensor([1]), rl.tensor([1]), alpha=1.5)


def test_operands_that_promote_keep_shapes_and_gradients_of_their_own() -> None:
    x = rl.tensor([3.0, 0.0], requires_grad=True)
    y = rl.zeros(3, 1, requires_grad=True)
    rl.dist(x, y).backward()
    assert x.grad.shape == (2,)
    assert y.grad.shape == (3, 1)
    assert rl.dist(rl.ones(3)[::2], rl.zeros(2), 1).item() == 2.0
    assert rl.dist(rl.zeros(0), rl.zeros(0)).item() == 0.0
    mixed = rl.tensor([1.0], dtype=rl.float64, requires_grad=True)
    rl.dist(mixed, rl.zeros(1)).backward()
    assert mixed.grad.dtype is rl.float64
    with pytest.raises(RuntimeError, match="must match the size"):
        rl.dist(rl.zeros(2), rl.zeros(3))


class Scaled(rl.Tensor):
    """A tensor that hears of the functions it is given to."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return func.__name__


def test_a_class_that_asks_still_hears_of_operations_that_promote() -> None:
    x = rl.ones(2)
    assert rl.dist(x, rl.ones(2).as_subclass(Scaled)) == "dist"
    assert rl.dist(rl.ones(2).as_subclass(Scaled), x) == "dist"
