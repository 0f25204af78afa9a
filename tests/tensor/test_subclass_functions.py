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


def test_the_class_of_what_is_written_into_is_asked() -> None:
    class Noted(torch.Tensor):
        seen: list[object] = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            cls.seen.append((func, len(args), sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs or {})

    out, x = torch.zeros(2).as_subclass(Noted), torch.ones(2)
    assert torch.add(x, x, out=out) is out
    assert Noted.seen[0] == (torch.add, 2, ["out"])
    torch.exp(x * 0, out=out)
    torch.clamp(x, 3, out=out)
    assert [name.__name__ for name, *_ in Noted.seen] == ["add", "exp", "clamp"]
    assert type(out) is Noted and torch.add(x, x, out=torch.zeros(2)).tolist() == [2.0, 2.0]


def test_the_matrix_product_asks_with_the_method_whatever_the_other_operand_is():
    class Telling:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    class Subclass(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    plain, other = torch.ones(3, 3), torch.ones(3, 3).as_subclass(Subclass)
    for left, right in ((plain, Telling()), (plain, other), (other, plain)):
        for _ in range(2):
            assert left @ right is torch.Tensor.matmul
