"""Layers that learn their sizes, layers of size zero, and what errors call a layer."""

import copy
import pickle

import pytest

import rushlight
from rushlight import nn


def test_a_lazy_norm_keeps_its_buffers_without_a_shape_when_cast() -> None:
    norm = nn.LazyBatchNorm1d().double()
    assert isinstance(norm.running_mean, nn.UninitializedBuffer)
    assert norm(rushlight.randn(5, 3).double()).dtype is rushlight.float64
    assert norm.running_mean.shape == (3,) and norm.running_mean.dtype is rushlight.float64


def test_a_lazy_norm_can_be_copied() -> None:
    assert copy.deepcopy(nn.LazyBatchNorm2d()).has_uninitialized_params()


def test_a_loaded_weight_says_which_inputs_fit() -> None:
    layer = nn.LazyLinear(2)
    layer.load_state_dict(nn.Linear(4, 2).state_dict())
    with pytest.raises(AssertionError, match="inferred from input: 3 is not equal"):
        layer(rushlight.ones(1, 3))


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Linear(3, 2), (5, 0, 3)),
        (nn.Conv1d(4, 6, 3), (0, 4, 9)),
        (nn.ConvTranspose2d(4, 6, 3), (0, 4, 3, 3)),
    ],
)
def test_nothing_has_a_gradient_of_zeros(layer: nn.Module, shape: tuple[int, ...]) -> None:
    x = rushlight.ones(*shape).requires_grad_()
    layer(x).sum().backward()
    assert x.grad is not None and not x.grad.any()
    assert all(p.grad is not None and not p.grad.any() for p in layer.parameters())


def test_an_error_names_the_layer_that_was_called() -> None:
    with pytest.raises(TypeError, match=r"Conv2d.__init__\(\) missing 3"):
        nn.Conv2d()
    with pytest.raises(TypeError, match=r"MaxPool1d.forward\(\) missing 1"):
        nn.MaxPool1d(2)()


def test_an_activation_function_can_be_pickled() -> None:
    for function in (nn.functional.gelu, nn.functional.relu, nn.functional.silu):
        assert pickle.loads(pickle.dumps(function)) is function


def test_channels_last_in_memory_stay_last() -> None:
    x = rushlight.randn(2, 5, 4, 3).permute(0, 3, 1, 2)
    for layer in (nn.BatchNorm2d(3), nn.GroupNorm(3, 3), nn.ReflectionPad2d(1), nn.ZeroPad2d(1)):
        assert layer(x).is_contiguous(memory_format=rushlight.channels_last)


def test_a_bag_says_where_its_rows_come_from() -> None:
    table = rushlight.arange(10.0).reshape(5, 2)
    index, offsets = rushlight.tensor([1, 2, 3]), rushlight.tensor([0, 2])
    bags, owners, sizes, rows = rushlight.embedding_bag(table, index, offsets, False, 2)
    assert bags.tolist() == [[4.0, 5.0], [6.0, 7.0]]
    assert (owners.tolist(), sizes.tolist()) == ([0, 0, 1], [2, 1])
    assert rows.tolist() == [[2, 2], [3, 3]]


def test_given_weights_last_until_one_of_the_parameters_is_set() -> None:
    layer, x = nn.RNN(2, 3), rushlight.ones(4, 1, 2)
    first = layer(x)[0]
    layer._flat_weights = [w * 0 for w in layer._flat_weights]
    assert not layer(x)[0].any()
    layer.weight_ih_l0 = nn.Parameter(layer.weight_ih_l0.detach())
    assert rushlight.equal(layer(x)[0], first)
