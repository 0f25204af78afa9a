"""What `__torch_function__` is told: which function, which types, which arguments."""

import contextlib

import pytest
from rushlight.overrides import TorchFunctionMode

import rushlight as torch


class Stop(Exception):
    pass


def heard(call, kind):
    """What the first call of a program's `__torch_function__` gets."""
    found = []

    def rule(func, types, args=(), kwargs=None):
        found.append((func, types, args, kwargs))
        raise Stop

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return rule(func, types, args, kwargs)

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return rule(func, types, args, kwargs)

    x = torch.ones(2, 2)
    if kind == "class":
        x = x.as_subclass(Told)
        with pytest.raises(Stop):
            call(x)
        return found[0], x
    with Mode(), pytest.raises(Stop):
        call(x)
    return found[0], x


READ = ("shape", "dtype", "device", "grad", "requires_grad", "is_leaf", "data", "T", "is_sparse")


@pytest.mark.parametrize("kind", ["class", "mode"])
@pytest.mark.parametrize("name", READ)
def test_attributes_ask_when_they_are_read(name, kind):
    (func, types, args, kwargs), x = heard(lambda x: getattr(x, name), kind)
    assert func == getattr(torch.Tensor, name).__get__
    assert func.__name__ == "__get__"
    assert types == (type(x),) and args[0] is x and len(args) == 1 and kwargs is None


@pytest.mark.parametrize("kind", ["class", "mode"])
@pytest.mark.parametrize("name", ["grad", "requires_grad", "data"])
def test_attributes_ask_when_they_are_set(name, kind):
    (func, types, args, kwargs), x = heard(lambda x: setattr(x, name, 5), kind)
    assert func == getattr(torch.Tensor, name).__set__
    assert types == (type(x),) and args[0] is x and args[1] == 5 and kwargs is None


def test_parts_of_a_complex_tensor_are_written_without_asking():
    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise Stop

    z, one = torch.zeros(1, dtype=torch.complex64), torch.ones(1)
    with pytest.raises(Stop), Mode():
        _ = z.imag
    with Mode(), contextlib.suppress(Stop):
        z.imag = one
    assert not hasattr(torch.Tensor.imag.fset, "__wrapped__")


METHODS = (
    ("size", lambda x: x.size(), None, ()),
    ("dim", lambda x: x.dim(), None, None),
    ("dim", lambda x: x.ndimension(), None, None),
    ("numel", lambda x: x.nelement(), None, None),
    ("is_floating_point", lambda x: x.is_floating_point(), None, None),
    ("__bool__", bool, None, None),
    ("__float__", float, None, None),
    ("__len__", len, {}, None),
    ("__repr__", repr, {"tensor_contents": None}, None),
    ("abs", lambda x: x.abs(), None, None),
    ("sum", lambda x: x.sum(), None, ()),
    ("split", lambda x: x.split(1), {"dim": 0}, None),
    ("unique_consecutive", lambda x: x.unique_consecutive(),
     {"return_inverse": False, "return_counts": False, "dim": None}, None),
)  # fmt: skip


@pytest.mark.parametrize("kind", ["class", "mode"])
@pytest.mark.parametrize(("name", "call", "named", "plain"), METHODS)
def test_methods_say_their_name_and_their_keywords(name, call, named, plain, kind):
    (func, types, _, kwargs), x = heard(call, kind)
    assert func is getattr(torch.Tensor, name)
    assert kwargs == named
    # What takes nothing else, and what is written in Python, tells of a plain tensor's type.
    assert types == ((type(x),) if kind == "class" or plain is None else plain)


FUNCTIONS = (
    (torch.abs, lambda f, x: f(x), None),
    (torch.dot, lambda f, x: f(x, x), None),
    (torch.numel, lambda f, x: f(x), None),
    (torch.det, lambda f, x: f(x), None),
    (torch.linalg.norm, lambda f, x: f(x), None),
    (torch.linalg.inv, lambda f, x: f(x), None),
    (torch.fft.fft2, lambda f, x: f(x), None),
    (torch.special.erf, lambda f, x: f(x), None),
    (torch.special.expit, lambda f, x: f(x), None),
    (torch.nn.functional.relu, lambda f, x: f(x), {"inplace": False}),
    (torch.nn.functional.dropout, lambda f, x: f(x),
     {"p": 0.5, "training": True, "inplace": False}),
    (torch.split, lambda f, x: f(x, 1), {"dim": 0}),
)  # fmt: skip


@pytest.mark.parametrize("kind", ["class", "mode"])
@pytest.mark.parametrize(("function", "call", "named"), FUNCTIONS)
def test_functions_are_told_as_they_were_called(function, call, named, kind):
    (func, types, args, kwargs), x = heard(lambda x: call(function, x), kind)
    assert func is function
    assert args[0] is x and kwargs == named
    assert types == ((type(x),) if kind == "class" or named is not None else ())


def test_a_mode_hears_of_classes_in_lists():
    class Quiet(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

    q = torch.ones(2).as_subclass(Quiet)
    (func, types, _, kwargs), _ = heard(lambda x: torch.cat([q, q]), "mode")
    assert func is torch.cat and types == (Quiet,) and kwargs is None


@pytest.mark.parametrize("kind", ["class", "mode"])
def test_initial_values_ask_with_all_arguments_by_name(kind):
    (func, types, args, kwargs), x = heard(torch.nn.init.uniform_, kind)
    assert func is torch.nn.init.uniform_ and types == (type(x),) and args == ()
    assert list(kwargs) == ["tensor", "a", "b", "generator"] and kwargs["tensor"] is x


def test_functions_that_two_places_have_are_the_same():
    for name in ("conv2d", "bilinear", "prelu", "pdist", "cosine_similarity", "pixel_shuffle"):
        assert getattr(torch.nn.functional, name) is getattr(torch, name)


def test_an_attribute_works_as_before_where_the_class_leaves_it_alone():
    class Plain(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2, 3).as_subclass(Plain)
    assert x.shape == (2, 3) and x.dtype is torch.float32 and not x.requires_grad
    x.requires_grad = True
    x.sum().backward()
    assert type(x.grad) is Plain and x.is_leaf and len(x) == 2 and "ones" not in repr(x)
    assert not x.is_sparse and x.layout is torch.strided
    with pytest.raises(AttributeError, match="not writable"):
        x.shape = (1,)
