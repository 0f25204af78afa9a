"""Lazy modules, parametrizations, norms of weights, pruning."""

import copy
import pickle
import warnings

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.nn.utils import parametrizations, parametrize, prune


def test_a_lazy_layer_takes_its_size_from_the_first_input() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = nn.LazyLinear(4)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        _ = layer.weight.shape
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        layer.weight + 1
    assert layer(rl.ones(2, 3)).shape == (2, 4)
    assert type(layer) is nn.Linear
    assert type(layer.weight) is nn.Parameter
    layer(rl.ones(2, 3)).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0] * 3] * 4


class _Doubled(nn.Module):
    def forward(self, x: rl.Tensor) -> rl.Tensor:
        return x * 2

    def right_inverse(self, x: rl.Tensor) -> rl.Tensor:
        return x / 2


def test_a_parametrized_weight_is_computed_and_can_be_assigned_to() -> None:
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", _Doubled())
    assert rl.allclose(layer.weight, before)
    layer.weight = rl.ones(2, 2)
    assert layer.parametrizations.weight.original.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    twin = copy.deepcopy(layer)
    assert rl.equal(twin.weight, layer.weight)
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert layer.weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_orthogonal_weights_stay_orthogonal() -> None:
    for kind in ("matrix_exp", "cayley"):
        layer = parametrizations.orthogonal(nn.Linear(3, 4), orthogonal_map=kind)
        with rl.no_grad():
            layer.parametrizations.weight.original.add_(0.1)
        assert rl.allclose(layer.weight.mT @ layer.weight, rl.eye(3), atol=1e-5)


def test_spectral_norm_brings_the_largest_singular_value_to_one() -> None:
    layer = parametrizations.spectral_norm(nn.Linear(4, 4), n_power_iterations=50)
    assert rl.linalg.matrix_norm(layer.weight, 2).item() == pytest.approx(1.0, abs=1e-3)


def test_weight_norm_keeps_the_lengths_apart() -> None:
    layer = parametrizations.weight_norm(nn.Linear(3, 2))
    with rl.no_grad():
        layer.parametrizations.weight.original0.fill_(2.0)
    assert layer.weight.norm(dim=1).tolist() == pytest.approx([2.0, 2.0])


def test_pruned_entries_stay_zero_until_the_mask_is_removed() -> None:
    layer = prune.l1_unstructured(nn.Linear(4, 3), "weight", 5)
    assert int((layer.weight == 0).sum()) == 5
    layer(rl.ones(1, 4)).sum().backward()
    assert int((layer.weight_orig.grad == 0).sum()) == 5
    prune.remove(layer, "weight")
    assert int((layer.weight == 0).sum()) == 5
    assert not prune.is_pruned(layer)
