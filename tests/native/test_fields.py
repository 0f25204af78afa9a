"""What tensors are asked about their arrays in C: answers as of the plain ways; who is asked."""

import copy
import gc
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._base.size import Size
from tests.native.loops import module


@pytest.fixture(scope="module")
def fields(tmp_path_factory: pytest.TempPathFactory) -> Any:
    found = module("fields", tmp_path_factory.mktemp("fields"))
    found.set_size(Size)
    return found


class Holder:
    def __init__(self, raw: object) -> None:
        self._raw = raw


class Alike(np.ndarray[Any, Any]):
    pass


def plain(x: Any) -> str:
    return "plain"


def arrays() -> Iterator[Any]:
    base = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
    yield from (base, base[::2], base.T, base[:, :, 1:], base[..., ::-1], base[0, 0, 0, 0:1])
    yield from (np.zeros(()), np.zeros((0, 3)), np.zeros((3, 0))[::-1], np.zeros(1, bool))
    yield np.broadcast_to(np.float64(1), (1 << 40, 3))
    yield np.zeros((1,) * 32)


def test_answers_are_those_of_the_array(fields: Any) -> None:
    ask = {letter: fields.Field(plain, letter) for letter in "SDNCT"}
    for x in arrays():
        held = Holder(x)
        shape = ask["S"](held)
        assert type(shape) is Size and shape == x.shape and hash(shape) == hash(x.shape)
        assert ask["D"](held) == x.ndim and ask["N"](held) == x.size
        assert ask["C"](held) is x.flags.c_contiguous
        assert ask["T"](held) == (held if x.flags.c_contiguous else "plain")


def test_what_is_no_plain_array_is_left_to_the_plain_way(fields: Any) -> None:
    ask = fields.Field(plain, "S")
    for odd in (Holder(None), Holder([1]), Holder(np.zeros(3).view(Alike)), object(), None):
        assert ask(odd) == "plain"
    told = fields.Field(lambda *args, **words: (args, words), "S")
    x = Holder(np.zeros(3))
    assert told(x, 1) == ((x, 1), {}) and told(x, k=1) == ((x,), {"k": 1}) and told() == ((), {})
    for odd in (int, tuple, 5, type("Large", (tuple,), {"__dict__": {}})):
        if odd is not tuple:
            with pytest.raises(TypeError, match="set_size"):
                fields.set_size(odd if odd is not int else object)


def test_attributes_stand_before_properties(fields: Any) -> None:
    class Asked:
        def __init__(self, raw: object) -> None:
            self._raw = raw

        @property
        def shape(self) -> object:
            return "property"

        @shape.setter
        def shape(self, value: object) -> None:
            self.__dict__["set"] = value

    mine = Asked.shape
    Asked.shape = fields.Attribute(mine, "S")
    x = Asked(np.zeros((2, 3)))
    assert x.shape == (2, 3) and Asked.shape is mine and vars(Asked)["shape"].function is mine
    x.__dict__["shape"] = "not this"
    assert x.shape == (2, 3) and Asked(None).shape == "property"
    x.shape = 7
    assert vars(x)["set"] == 7
    with pytest.raises(AttributeError):
        del x.shape
    with pytest.raises(TypeError, match="property"):
        fields.Attribute(lambda self: 1, "S")


def test_shapes_leave_no_references(fields: Any) -> None:
    ask, x = fields.Field(plain, "S"), Holder(np.zeros((700, 800, 900)[:2]))
    before = sys.getrefcount(Size)
    for _ in range(1000):
        ask(x)
    gc.collect()
    assert abs(sys.getrefcount(Size) - before) < 5 and sys.getrefcount(x._raw) < 6


def test_tensors_say_what_they_say_without_c() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert x.shape == x.size() == torch.Size([2, 3, 4]) and type(x.shape) is torch.Size
    assert x.dim() == x.ndim == 3 and x.numel() == 24 and x.size(-1) == 4 and x.size(dim=0) == 2
    assert x.is_contiguous() and not x.mT.is_contiguous() and x.contiguous() is x
    assert x.mT.contiguous().is_contiguous() and torch.Tensor.contiguous(x) is x
    assert repr(x.shape[1:]) == "torch.Size([3, 4])" and copy.copy(x.shape) == x.shape
    for name in ("shape", "ndim"):
        with pytest.raises(AttributeError, match=f"'{name}' of .* is not writable"):
            setattr(x, name, 1)
        with pytest.raises(AttributeError, match=f"'{name}' of .* is not writable"):
            delattr(x, name)
    with pytest.raises(IndexError):
        x.size(3)
    with pytest.raises(TypeError):
        x.dim(1)
    meta = torch.empty(3, 2, device="meta")
    assert meta.shape == (3, 2) and meta.dim() == 2 and meta.is_contiguous() and meta.numel() == 6
    seen: list[object] = []
    torch.func.vmap(lambda row: (seen.append((row.shape, row.size(), row.dim())), row)[1])(x)
    assert seen == [((3, 4), (3, 4), 2)]


def test_classes_and_modes_are_asked_about_methods_as_before() -> None:
    names: list[str] = []

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            names.append(getattr(func, "__name__", "?"))
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(2, 2).as_subclass(Mine)
    for call in ("contiguous", "t", "abs", "squeeze", "add"):
        names.clear()
        getattr(x, call)(*[1] * (call == "add"))
        assert names[:1] == [call]
    names.clear()
    assert x.transpose(0, 1).shape == (2, 2) and names[:2] == ["transpose", "__get__"]
    y = torch.ones(2, 2)
    assert y.abs().add(1).transpose(0, 1).contiguous().sum().item() == 8
    assert torch.Tensor.abs.__name__ == "abs" and y.abs.__func__ is torch.Tensor.abs
