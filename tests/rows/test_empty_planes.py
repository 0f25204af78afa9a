"""Layers of inputs without samples, channels or places."""

import pytest

import rushlight as torch
import rushlight.nn.functional as F


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_likelihoods_of_no_samples_with_places(reduction):
    x = torch.zeros(0, 3, 4, 5, requires_grad=True)
    loss = F.nll_loss(x, torch.zeros(0, 4, 5, dtype=torch.long), reduction=reduction)
    assert loss.shape == ((0, 4, 5) if reduction == "none" else ())
    loss.sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize(
    ("x", "grid"),
    [
        ((0, 3, 2, 2), (0, 2, 2, 2)),
        ((2, 0, 2, 2, 2), (2, 1, 2, 2, 3)),
        ((2, 3, 2, 2), (2, 0, 2, 2)),
    ],
)
def test_gradients_of_empty_samples_of_a_grid(x, grid):
    x, grid = torch.zeros(*x, requires_grad=True), torch.zeros(*grid, requires_grad=True)
    F.grid_sample(x, grid, align_corners=False).sum().backward()
    assert x.grad.shape == x.shape and not x.grad.any()
    assert grid.grad.shape == grid.shape and not grid.grad.any()


def test_blocks_of_no_size_are_refused():
    fold = torch.nn.Fold((4, 5), (2, 2), dilation=8)
    with pytest.raises(RuntimeError, match=r"as \(-4, -3\), which is too small \(non-positive\)"):
        fold(torch.randn(1, 12, 12))


def test_a_grid_of_size_one_with_aligned_corners_is_warned_of():
    with pytest.warns(UserWarning, match="affine_grid behavior has changed for unit-size grids"):
        F.affine_grid(torch.zeros(1, 2, 3), (1, 1, 2, 1), align_corners=True)


def test_sizes_of_an_interpolation_are_whole():
    for size in (3.0, torch.tensor(3.0)):
        with pytest.raises(TypeError, match="expected size to be one of int"):
            F.interpolate(torch.zeros(1, 1, 2), (size,))


@pytest.mark.parametrize(
    ("name", "args"),
    [("elu_", (-2,)), ("celu_", (-2,)), ("leaky_relu_", (-2,)), ("rrelu_", (-5.0, 1.0))],
)
def test_a_negative_slope_in_place_has_no_gradient(name, args):
    y = getattr(F, name)(torch.tensor([-1.0, 1.0], requires_grad=True).clone(), *args)
    with pytest.raises(RuntimeError, match="call out-of-place version instead"):
        y.sum().backward()


def test_a_module_moves_as_a_tensor_does():
    module = torch.nn.Linear(3, 3)
    with pytest.raises(RuntimeError, match="does not accept copy argument"):
        module.to("cpu", copy=True)
    for args in (([],), (None, True), (torch.device("cpu"), torch.tensor(3))):
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            module.to(*args)
    assert module.to("cpu", torch.float64, True).weight.dtype is torch.float64


def test_a_parameter_of_two_groups_has_the_number_of_the_first():
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([p], lr=0.1)
    optimizer.param_groups.extend(optimizer.param_groups)
    assert [g["params"] for g in optimizer.state_dict()["param_groups"]] == [[0], [0]]


def test_gradients_of_convolutions_are_found_in_functional():
    assert F.grad is torch.nn.grad
