"""Classes with a `__torch_function__` are asked about attributes."""

import copy
import pickle
from typing import Any

import pytest

import rushlight as torch


class Noting(torch.Tensor):
    """Notes what it is asked."""

    heard: list[tuple[Any, tuple[object, ...], Any]] = []

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        cls.heard.append((func, args, kwargs))
        return super().__torch_function__(func, types, args, kwargs)


class Flat(torch.Tensor):
    """Says that it has one dimension."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        if func == torch.Tensor.ndim.__get__:
            return 1
        return super().__torch_function__(func, types, args, kwargs)


class Refusing(torch.Tensor):
    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        return NotImplemented


@pytest.fixture(autouse=True)
def _silence() -> None:
    Noting.heard.clear()


NAMES = (
    "T", "H", "mT", "mH", "real", "shape", "dtype", "device", "grad", "grad_fn", "requires_grad",
    "is_leaf", "data", "ndim", "is_cpu", "is_meta", "output_nr", "_version", "_base",
    "_backward_hooks", "itemsize", "nbytes", "retains_grad",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_class_is_asked_about_an_attribute_once_and_by_its_getter(name: str) -> None:
    t = torch.ones(2, 2)
    x = t.as_subclass(Noting)
    Noting.heard.clear()
    value = getattr(x, name)
    ((func, args, kwargs),) = Noting.heard
    assert func == getattr(torch.Tensor, name).__get__ and args == (x,) and kwargs is None
    plain = getattr(t, name)
    if isinstance(plain, torch.Tensor):
        assert type(value) is Noting and value.tolist() == plain.tolist()
    else:
        assert value == plain


def test_what_a_class_answers_is_the_attribute() -> None:
    x = torch.ones(2, 2).as_subclass(Flat)
    assert x.ndim == 1 and x.shape == (2, 2) and type(x.shape) is torch.Size
    assert (x + 1).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_writes_and_deletions_are_asked_about_too() -> None:
    x = torch.ones(2).as_subclass(Noting)
    Noting.heard.clear()
    x.requires_grad = True
    x.grad = torch.ones(2)
    assert type(x.grad) is torch.Tensor and x.grad is x.grad  # it stays what it is
    del x.grad
    x.data = torch.zeros(2)
    given = [(f, a[1:]) for f, a, _ in Noting.heard if f.__name__ != "__get__"]
    assert [f for f, _ in given] == [
        torch.Tensor.requires_grad.__set__,
        torch.Tensor.grad.__set__,
        torch.Tensor.grad.__delete__,
        torch.Tensor.data.__set__,
    ]
    assert given[0][1] == (True,) and x.requires_grad and x.grad is None and x.tolist() == [0, 0]


def test_a_refused_attribute_is_a_type_error_that_names_it() -> None:
    x = torch.ones(2).as_subclass(Refusing)
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch.Tensor.shape.__get"):
        x.shape  # noqa: B018
    with pytest.raises(TypeError, match=r"'torch.Tensor.requires_grad.__set__'; all"):
        x.requires_grad = True


def test_attributes_are_not_asked_about_where_classes_are_off_or_the_library_reads() -> None:
    x = torch.ones(2, 2).as_subclass(Noting)
    Noting.heard.clear()
    with torch._C.DisableTorchFunctionSubclass():
        assert x.shape == (2, 2)
    assert Noting.heard == []
    len(x), repr(x)
    assert not [f for f, _, _ in Noting.heard if f.__name__ in ("__get__", "__set__")]


def test_a_derived_class_keeps_its_own_attributes_and_those_of_its_parents() -> None:
    class Named(Noting):
        @property
        def shape(self) -> str:  # type: ignore[override]
            return "mine"

    class Deeper(Named):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> object:
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2).as_subclass(Deeper)
    Noting.heard.clear()
    Deeper.heard.clear()
    assert x.shape == "mine" and x.ndim == 1
    assert [f for f, _, _ in Deeper.heard] == [torch.Tensor.ndim.__get__]
    assert Deeper.ndim is torch.Tensor.ndim and Noting.shape is torch.Tensor.shape


def test_gradients_copies_and_pickles_of_an_asked_class_are_as_before() -> None:
    x = torch.ones(2).as_subclass(Noting).requires_grad_()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    other = copy.deepcopy(x)
    assert type(other) is Noting and other.requires_grad
    again = pickle.loads(pickle.dumps(x.detach()))
    assert again.tolist() == [1.0, 1.0]
    member = vars(Noting)["shape"]
    assert pickle.loads(pickle.dumps(member)).name == "shape"


def test_a_class_without_rules_has_the_attributes_of_tensor() -> None:
    class Quiet(torch.Tensor):
        pass

    assert "shape" not in vars(Quiet) and torch.ones(3).as_subclass(Quiet).shape == (3,)


def test_nested_tensors_tell_their_attributes_themselves() -> None:
    parts = [torch.ones(3), torch.ones(2)]
    t = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    assert t.dtype == torch.float32 and t.requires_grad and t.is_leaf and t.grad is None
