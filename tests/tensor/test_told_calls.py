"""What `__torch_function__` is told: which function, which types, which arguments."""

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


METHODS = (
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
