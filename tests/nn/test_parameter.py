"""`nn.Parameter` and `nn.Buffer`."""

import copy
import pickle

import pytest

import rushlight as rl
from rushlight import nn


def test_a_parameter_requires_gradients_even_in_no_grad() -> None:
    with rl.no_grad():
        assert nn.Parameter(rl.ones(2)).requires_grad
    assert not nn.Parameter(rl.ones(2), requires_grad=False).requires_grad


def test_a_parameter_shares_the_memory_of_its_data() -> None:
    data = rl.zeros(2)
    parameter = nn.Parameter(data)
    data.fill_(3)
    assert parameter.tolist() == [3.0, 3.0]


def test_its_text_says_that_it_is_a_parameter() -> None:
    text = "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(nn.Parameter(rl.ones(2))) == text


def test_operations_on_a_parameter_give_plain_tensors() -> None:
    parameter = nn.Parameter(rl.ones(2))
    assert type(parameter * 2) is rl.Tensor
    assert type(parameter.detach()) is rl.Tensor
    assert isinstance(parameter, nn.Parameter)
    assert not isinstance(rl.ones(2), nn.Parameter)


def test_integers_and_lists_are_refused() -> None:
    with pytest.raises(RuntimeError, match="floating point and complex dtype"):
        nn.Parameter(rl.tensor([1, 2]))
    with pytest.raises(AttributeError, match="'list' object has no attribute 'detach'"):
        nn.Parameter([1.0])  # type: ignore[arg-type]


def test_copies_and_pickles_are_parameters_of_their_own() -> None:
    parameter = nn.Parameter(rl.ones(2), requires_grad=False)
    for twin in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert type(twin) is nn.Parameter
        assert not twin.requires_grad
        twin.fill_(5)
    assert parameter.tolist() == [1.0, 1.0]


def test_a_buffer_is_a_marked_plain_tensor() -> None:
    buffer = nn.Buffer(rl.ones(1), persistent=False)
    assert isinstance(buffer, nn.Buffer)
    assert type(buffer) is rl.Tensor
    assert not isinstance(rl.ones(1), nn.Buffer)
    module = nn.Module()
    module.own = buffer
    assert [name for name, _ in module.named_buffers()] == ["own"]
    assert module.state_dict() == {}
