"""Rounding to the grid that integers of few bits have."""

import pytest

import rushlight as rl


def test_elements_go_to_the_nearest_level_and_stop_at_the_ends() -> None:
    x = rl.tensor([-9.0, -0.26, 0.24, 0.25, 0.75, 9.0])
    made = rl.fake_quantize_per_tensor_affine(x, 0.5, 1, -3, 3)
    # 0.5 and 1.5 steps lie half-way: they go to the even ones, 0 and 2, before the zero is added.
    assert made.tolist() == [-2.0, -0.5, 0.0, 0.0, 1.0, 1.0]


def test_a_zero_that_is_no_whole_number_is_added_before_rounding() -> None:
    x, steps = rl.tensor([[0.5, 1.5, 2.5]]), rl.ones(1)
    made = rl.fake_quantize_per_channel_affine(x, steps, rl.ones(1), 0, -9, 9)
    assert made.tolist() == [[1.0, 1.0, 3.0]]


def test_tensors_for_step_and_zero_hold_one_number_each() -> None:
    x = rl.tensor([0.5, 1.5])
    made = rl.fake_quantize_per_tensor_affine(x, rl.ones(1), rl.tensor([1.7]), -9, 9)
    assert made.tolist() == [0.0, 2.0]
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted"):
        rl.fake_quantize_per_tensor_affine(x, rl.ones(2), rl.ones(1), -9, 9)


def test_gradients_pass_inside_the_grid_only() -> None:
    x = rl.tensor([-9.0, 0.3, 9.0], requires_grad=True)
    made = rl.fake_quantize_per_tensor_affine(x, 0.5, 0, -3, 3)
    made.backward(rl.tensor([1.0, 2.0, 3.0]))
    assert x.grad.tolist() == [0.0, 2.0, 0.0]


def test_each_channel_has_a_grid_of_its_own() -> None:
    x = rl.full((2, 2), 0.3)
    steps, zeros = rl.tensor([0.5, 0.2]), rl.zeros(2, dtype=rl.int32)
    made = rl.fake_quantize_per_channel_affine(x, steps, zeros, 1, -8, 7)
    assert rl.allclose(made, rl.tensor([[0.5, 0.4], [0.5, 0.4]]))


def test_a_network_trains_through_the_grid() -> None:
    rl.manual_seed(0)
    weight = rl.randn(3, 3, requires_grad=True)
    x, y = rl.randn(20, 3), rl.randn(20, 3)
    losses = []
    for _ in range(30):
        coarse = rl.fake_quantize_per_tensor_affine(weight, 0.1, 0, -20, 20)
        loss = ((x @ coarse - y) ** 2).mean()
        (g,) = rl.autograd.grad(loss, weight)
        weight = (weight - 0.2 * g).detach().requires_grad_()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_a_step_that_is_to_learn_is_refused() -> None:
    step = rl.tensor(0.1, requires_grad=True)
    zero = rl.tensor(0, dtype=rl.int32)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'scale'"):
        rl.fake_quantize_per_tensor_affine(rl.ones(2), step, zero, -8, 7)


def test_sums_and_products_as_methods_are_plain() -> None:
    f = rl.ao.nn.quantized.FloatFunctional()
    one, three = rl.ones(2), rl.full((2,), 3.0)
    assert f.add(one, three).tolist() == [4.0, 4.0]
    assert f.mul(one, three).tolist() == [3.0, 3.0]
    assert f.add_relu(one, -three).tolist() == [0.0, 0.0]
    assert f.cat([one, three]).shape == (4,)
    assert f.matmul(one, three).item() == 6.0
    assert f.add_scalar(one, 2.0).tolist() == f.mul_scalar(one, 3.0).tolist()
    with pytest.raises(RuntimeError, match="not intended to use the forward"):
        f(one)
