"""`to` with a device: whatever is made of the name "cpu" is the one device that there is."""

import copy
import itertools
import pickle

import pytest

import rushlight as torch


def test_the_cpu_is_one_object_and_others_are_themselves() -> None:
    cpu = torch.device("cpu")
    assert torch.device("cpu") is cpu and torch.device(type="cpu") == cpu
    assert torch.device(cpu) is copy.deepcopy([cpu])[0] is copy.copy(cpu) is cpu
    assert pickle.loads(pickle.dumps(cpu)) == cpu
    assert torch.device("cpu", 0) != cpu and torch.device("cpu:0").index == 0
    assert str(torch.device("cuda:1")) == "cuda:1" and cpu.index is None


@pytest.mark.parametrize("device", [None, torch.device("cpu"), "cpu", torch.device("cpu", 0)])
def test_what_follows_a_device_by_position(device: object) -> None:
    x = torch.ones(2, requires_grad=True)
    for dtype, blocking, copied in itertools.product(
        (None, torch.float32, torch.float64), (False, True), (False, True)
    ):
        made = x.to(device, dtype, blocking, copied)
        assert made.dtype is (dtype or torch.float32)
        assert (made is x) == (dtype is not torch.float64 and not copied)
        assert x.to(device, dtype, blocking).dtype is x.to(device, dtype).dtype is made.dtype
    for wrong in ((torch.float32, device), (device, 1), (device, None, "a"), (device, None, 1, 1)):
        with pytest.raises(TypeError, match="invalid combination"):
            x.to(*wrong)
