"""Subclasses with rules of their own are asked about whole functions."""

import operator

import pytest

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


class Told(torch.Tensor):
    heard: list[object] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.heard.append((func, types, args, kwargs))
        return super().__torch_function__(func, types, args, kwargs or {})


def told():
    Told.heard.clear()
    return torch.tensor([[1, 2], [3, 4]]).as_subclass(Told)


@pytest.mark.parametrize(
    ("sign", "name", "reflected"),
    [
        ("add", "add", "add"), ("sub", "sub", "__rsub__"), ("mul", "mul", "mul"),
        ("truediv", "div", "__rtruediv__"), ("mod", "remainder", "__rmod__"),
        ("and_", "__and__", "bitwise_and"), ("lshift", "__lshift__", "__rlshift__"),
        ("floordiv", "__floordiv__", "__rfloordiv__"), ("pow", "__pow__", "__rpow__"),
        ("eq", "__eq__", "__eq__"), ("lt", "lt", "gt"), ("iadd", "add_", "add"),
        ("ifloordiv", "floor_divide_", "__rfloordiv__"), ("ipow", "__ipow__", "__rpow__"),
    ],
)  # fmt: skip
def test_operators_ask_with_methods_and_their_own_operands(sign, name, reflected):
    call = getattr(operator, sign)
    x = told()
    call(2, x)
    call(x, 2)
    (func2, types2, args2, _), (func, types, args, _) = Told.heard
    assert func == getattr(torch.Tensor, name) and func2 == getattr(torch.Tensor, reflected)
    assert types == types2 == (Told,)
    assert args[0] is args2[0] is x and args[1] == args2[1] == 2


def test_a_reflected_operator_tells_of_plain_tensors_too():
    x, plain = told(), torch.ones(2, 2)
    assert type(plain**x) is Told
    func, types, args, kwargs = Told.heard[0]
    assert func is torch.Tensor.__pow__ and types == (Told, torch.Tensor) and kwargs == {}
    assert args[0] is plain and args[1] is x
    torch.Tensor.__rtruediv__(x, plain)
    assert Told.heard[1][:2] == (torch.Tensor.__rtruediv__, (Told, torch.Tensor))


def test_an_operator_made_of_operations_is_asked_about_once():
    x = told().float()
    Told.heard.clear()
    assert (2 / x)[0, 1].item() == 1.0
    assert [func for func, *_ in Told.heard][:1] == [torch.Tensor.__rtruediv__]
    assert len(Told.heard) == 3


def test_a_method_is_told_with_the_arguments_of_its_call():
    x, y = told(), torch.ones(2, 2, dtype=torch.int64)
    x.add(y, alpha=2)
    x.sum(dim=1, keepdim=True)
    torch.add(x, y)
    assert Told.heard[0][0] is torch.Tensor.add and Told.heard[0][3] == {"alpha": 2}
    assert Told.heard[1][0] is torch.Tensor.sum and len(Told.heard[1][2]) == 1
    assert Told.heard[1][3] == {"dim": 1, "keepdim": True}
    assert Told.heard[2][0] is torch.add and torch.add is not torch.Tensor.add


def test_a_part_of_a_method_is_not_taken_for_the_whole():
    class Halving(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    class Inherits(torch.Tensor):
        pass

    for kind in (Halving, Inherits):
        x = torch.tensor([1.0, 2.0]).as_subclass(kind)
        assert (1 / x).tolist() == [1.0, 0.5] and type(1 / x) is kind
        assert x.norm(1).item() == 3.0


def test_an_operator_asks_before_it_refuses():
    x = told().float()
    Told.heard.clear()
    with pytest.raises(TypeError):
        operator.invert(x)
    assert Told.heard[0][0] is torch.Tensor.__invert__


def test_functions_in_python_tell_of_plain_tensors_too():
    x, y = told().float(), torch.ones(2, 2)
    Told.heard.clear()
    F.mse_loss(x, y)
    torch.mul(x, y)
    assert [types for _, types, *_ in Told.heard] == [(Told, torch.Tensor), (Told,)]
