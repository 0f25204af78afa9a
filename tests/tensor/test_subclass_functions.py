"""Subclasses with rules of their own are asked about whole functions."""

import rushlight as torch
from rushlight.nn import functional as F

asked = []


class Noting(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        asked.append((func.__name__, len(args), dict(kwargs or {})))
        return super().__torch_function__(func, types, args, kwargs or {})


def noting():
    asked.clear()
    return torch.arange(6.0).reshape(2, 3).as_subclass(Noting)


def test_spreads_are_asked_by_their_names():
    x = noting()
    assert type(torch.std(x, unbiased=False)) is Noting
    assert type(x.var(0, correction=0, keepdim=True)) is Noting
    assert [name for name, *_ in asked] == ["std", "var"]


def test_layers_are_asked_as_one_function():
    x = noting()
    assert type(F.layer_norm(x, (3,))) is Noting
    assert asked == [("layer_norm", 2, {"weight": None, "bias": None, "eps": 1e-05})]


def test_the_function_and_the_method_are_told_apart():
    assert torch.unbind != torch.Tensor.unbind
    assert len(torch.unbind(noting())) == 2
    assert asked[0][0] == "unbind"


def test_a_class_that_is_no_tensor_answers_for_lists_of_it():
    class Box:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert torch.stack([Box(), Box()]) == "stack"
    assert torch.cat([torch.ones(1), Box()], 0) == "cat"
