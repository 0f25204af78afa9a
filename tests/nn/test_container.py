"""Containers of modules and of parameters."""

from collections import OrderedDict

import pytest

import rushlight as rl
from rushlight import nn


def test_a_sequential_calls_its_modules_in_order() -> None:
    chain = nn.Sequential(OrderedDict(twice=nn.Linear(1, 1, bias=False), act=nn.ReLU()))
    chain.twice.weight.data.fill_(-2)
    assert chain(rl.ones(1, 1)).tolist() == [[0.0]]
    assert list(chain.state_dict()) == ["twice.weight"]


def test_sequentials_slice_join_repeat_and_renumber() -> None:
    chain = nn.Sequential(nn.Tanh(), nn.ReLU(), nn.Sigmoid())
    assert [type(m).__name__ for m in chain[1:]] == ["ReLU", "Sigmoid"]
    assert len(chain + nn.Sequential(nn.ELU())) == 4 and len(2 * chain) == 6
    chain.insert(0, nn.ELU())
    del chain[1]
    assert list(chain._modules) == ["0", "1", "2"]
    assert repr(chain[0]) == "ELU(alpha=1.0)"
    with pytest.raises(IndexError, match="index 9 is out of range"):
        chain[9]


def test_a_module_list_registers_and_folds_equal_lines() -> None:
    layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(3))
    line = "Linear(in_features=1, out_features=1, bias=True)"
    assert repr(layers) == f"ModuleList(\n  (0-2): 3 x {line}\n)"
    assert len(list(layers.parameters())) == 6
    layers.append(nn.Tanh()).extend([nn.ReLU()])
    assert isinstance(layers.pop(-1), nn.ReLU) and len(layers) == 4
    with pytest.raises(TypeError, match="should be called with an iterable, but got int"):
        layers.extend(3)  # type: ignore[arg-type]


def test_a_module_dict_behaves_as_a_dictionary() -> None:
    table = nn.ModuleDict({"a": nn.Tanh(), "b": nn.ReLU()})
    assert list(table) == ["a", "b"] and "a" in table
    table.update([("c", nn.ELU())])
    assert isinstance(table.pop("a"), nn.Tanh) and len(table) == 2
    with pytest.raises(KeyError, match="'a'"):
        table["a"]
    with pytest.raises(KeyError, match="attribute 'keys' already exists"):
        table["keys"] = nn.ReLU()


def test_a_parameter_list_makes_parameters_of_tensors() -> None:
    values = nn.ParameterList([rl.ones(2), 3])
    assert isinstance(values[0], nn.Parameter) and values[1] == 3
    assert list(values.state_dict()) == ["0"]
    text = "    (0): Parameter containing: [torch.float32 of size 2]\n    (1): Object of type: int"
    assert repr(values) == f"ParameterList(\n{text}\n)"
    assert len(values[:1]) == 1
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        values()


def test_a_parameter_dict_sorts_plain_dictionaries() -> None:
    values = nn.ParameterDict({"b": rl.ones(1), "a": rl.zeros(1)})
    assert list(values) == ["a", "b"]
    assert list(values | {"z": rl.ones(1)}) == ["a", "b", "z"]
    assert values.popitem()[0] == "b" and values.get("b") is None
    assert list(dict(values.named_parameters())) == ["a"]


def test_containers_find_places_by_the_names_that_programs_use() -> None:
    chain = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert chain._get_item_by_idx(chain._modules.values(), -1) is chain[1]
    assert nn.ModuleList(chain)._get_abs_string_index(-1) == "1"
    assert nn.ParameterList([rl.ones(1)])._get_abs_string_index(0) == "0"
    for find in (nn.ModuleList()._get_abs_string_index, lambda i: chain._get_item_by_idx([], i)):
        with pytest.raises(IndexError, match="index 2 is out of range"):
            find(2)
