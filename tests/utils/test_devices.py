"""Devices as contexts and decorators, and calls as text."""

from collections.abc import Iterator

import pytest

import rushlight as torch
from rushlight import _utils
from rushlight.utils._device import set_device


def test_a_generator_makes_its_tensors_on_the_device() -> None:
    @set_device("meta")
    def made() -> Iterator[torch.Tensor]:
        yield torch.empty(1)
        yield torch.empty(2)

    found = []
    for x in made():
        found.append((x.device.type, torch.empty(1).device.type))
    assert found == [("meta", "cpu"), ("meta", "cpu")]
    with pytest.raises(RuntimeError, match="Cannot decorate classes; it is ambiguous"):
        set_device("meta")(type("Some", (), {}))


def test_calls_show_tensors_by_their_sizes() -> None:
    shown = _utils.render_call(torch.sum, [torch.ones(100)], {"dim": 0})
    assert shown == "torch.sum(tensor([...], size=(100,)), dim=0)"
    shown = _utils.render_call(torch.Tensor.add, [[torch.ones(2, 3)], 3], {})
    assert shown == "torch.Tensor.add([tensor([...], size=(2, 3))], 3)"
