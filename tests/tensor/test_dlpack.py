"""DLPack: what producers are asked for, what isn't read, and what comes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.utils.dlpack import to_dlpack


class Producer:
    """Gives the memory of a tensor, and notes what it has been asked for."""

    device = (1, 0)

    def __init__(self) -> None:
        self.data = torch.arange(4.0)
        self.asked: list[dict[str, Any]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **wishes: Any) -> object:
        self.asked.append(wishes)
        copy = wishes.pop("copy", False)
        return (self.data.clone() if copy else self.data).__dlpack__()


class Former(Producer):
    """Of before there were wishes."""

    def __dlpack__(self) -> object:  # type: ignore[override]
        return self.data.__dlpack__()


class WithoutCopies(Producer):
    """Knows of devices, but not of copies."""

    def __dlpack__(self, *, dl_device: Any = None) -> object:  # type: ignore[override]
        self.asked.append({"dl_device": dl_device})
        return self.data.__dlpack__()


def test_a_producer_is_asked_for_what_is_wished() -> None:
    producer = Producer()
    torch.from_dlpack(producer)
    assert producer.asked.pop() == {"max_version": (1, 0)}
    torch.from_dlpack(producer, device="cpu")
    assert producer.asked.pop() == {"max_version": (1, 0), "dl_device": (1, 0)}
    made = torch.from_dlpack(producer, copy=False)
    assert producer.asked.pop() == {"max_version": (1, 0)}
    assert made.data_ptr() == producer.data.data_ptr()
    assert torch.from_dlpack(producer, copy=True).data_ptr() != producer.data.data_ptr()
    assert producer.asked.pop() == {"max_version": (1, 0)}


def test_what_a_producer_has_not_heard_of_is_done_here() -> None:
    for kind in (Former, WithoutCopies):
        producer = kind()
        assert torch.from_dlpack(producer).data_ptr() == producer.data.data_ptr()
        copied = torch.from_dlpack(producer, copy=True, device="cpu")
        assert copied.data_ptr() != producer.data.data_ptr()
        assert torch.equal(copied, producer.data)
    assert producer.asked[-1] == {"dl_device": (1, 0)}


@pytest.mark.parametrize("device", [(2, 0), (10, 1)])
def test_memory_of_an_accelerator_is_not_read(device: tuple[int, int]) -> None:
    producer = Producer()
    producer.device = device
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.from_dlpack(producer)
    assert not producer.asked


def test_memory_that_would_have_to_move_is_not_had_without_a_copy() -> None:
    producer = Producer()
    producer.device = (3, 0)
    with pytest.raises(ValueError, match=r"from device \(3, 0\) to \(1, 0\) without copying"):
        torch.from_dlpack(producer, device="cpu", copy=False)
    assert torch.from_dlpack(producer, device="cpu").tolist() == [0, 1, 2, 3]
    assert producer.asked.pop() == {"max_version": (1, 0)}


def test_a_producer_says_where_it_is_and_fails_in_its_own_words() -> None:
    class Nowhere:
        def __dlpack__(self, **wishes: Any) -> object:
            return torch.ones(1).__dlpack__()

    class Unwilling(Producer):
        def __dlpack__(self, **wishes: Any) -> object:
            raise BufferError("not today")

    with pytest.raises(AttributeError, match="__dlpack_device__"):
        torch.from_dlpack(Nowhere())
    with pytest.raises(BufferError, match="not today"):
        torch.from_dlpack(Unwilling())


def test_a_capsule_fulfils_no_wishes() -> None:
    for wishes in ({"device": "cpu"}, {"copy": True}, {"copy": False}):
        with pytest.raises(AssertionError, match="device and copy kwargs not supported"):
            torch.from_dlpack(to_dlpack(torch.ones(2)), **wishes)
    assert torch.from_dlpack(to_dlpack(torch.ones(2))).tolist() == [1, 1]


@pytest.mark.parametrize("source", [torch.ones(2), np.ones(2)])
@pytest.mark.parametrize("device", [3, (1, 0), 5.5])
def test_a_device_is_a_text_or_a_device(source: object, device: Any) -> None:
    with pytest.raises(AssertionError, match="from_dlpack: unsupported device type: <class"):
        torch.from_dlpack(source, device=device)


def test_wishes_that_are_none_are_refused_by_name() -> None:
    x = torch.ones(2)
    with pytest.raises(TypeError, match="'copy' must be bool, not int"):
        x.__dlpack__(copy=3)
    with pytest.raises(TypeError, match="'dl_device' must be tuple of ints, not str"):
        x.__dlpack__(dl_device="cpu")
    with pytest.raises(TypeError, match="'int' object is not subscriptable"):
        x.__dlpack__(max_version=3)
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert "dltensor_versioned" not in repr(x.__dlpack__())


def test_what_comes_of_a_subclass_is_a_plain_tensor() -> None:
    class Own(torch.Tensor):
        pass

    own = torch.ones(2).as_subclass(Own)
    for copy in (None, True):
        assert type(torch.from_dlpack(own, copy=copy)) is torch.Tensor
    assert torch.from_dlpack(own).data_ptr() == own.data_ptr()
