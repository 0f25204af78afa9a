"""Operators that take functions: a kernel for each transform, mode and key."""

from collections.abc import Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight.func import grad, vmap
from rushlight.utils._python_dispatch import TorchDispatchMode

functorch = torch._C._functorch


class Sum(torch._ops.HigherOrderOperator):
    def __init__(self) -> None:
        super().__init__("sum_of")


@pytest.fixture
def sum_of() -> Iterator[Any]:
    op = Sum()

    @op.py_impl(functorch.TransformType.Vmap)
    def batched(interpreter: Any, x: torch.Tensor, dim: int) -> torch.Tensor:
        whole = functorch.get_unwrapped(x).movedim(functorch.maybe_get_bdim(x), 0)
        with interpreter.lower():
            found = op(whole, dim + 1)
        return functorch._add_batch_dim(found, 0, interpreter.level())

    @op.py_impl(functorch.TransformType.Grad)
    def recorded(interpreter: Any, x: torch.Tensor, dim: int) -> torch.Tensor:
        level = interpreter.level()

        class Recorded(torch.autograd.function._SingleLevelFunction):
            @staticmethod
            def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
                ctx.shape = x.shape
                with torch.enable_grad(), interpreter.lower():
                    found = op(functorch._unwrap_for_grad(x, level), dim)
                return functorch._wrap_for_grad(found, level)

            @staticmethod
            def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
                return 3 * g.unsqueeze(dim).expand(ctx.shape)

        return Recorded.apply(x)

    @op.py_impl(torch._C.DispatchKey.AutogradCPU)
    def computed(x: torch.Tensor, dim: int) -> torch.Tensor:
        return x.sum(dim)

    yield op


def test_each_transform_has_its_kernel(sum_of: Any) -> None:
    x = torch.randn(2, 3, 4)
    assert torch.equal(sum_of(x, 0), x.sum(0))
    assert torch.equal(vmap(sum_of, (0, None))(x, 0), x.sum(1))
    assert torch.equal(vmap(vmap(sum_of, (0, None)), (0, None))(x, 0), x.sum(2))
    line = torch.randn(3, requires_grad=True)
    assert grad(sum_of)(line, 0).tolist() == [3] * 3
    with torch.no_grad():
        assert not grad(sum_of)(line, 0).requires_grad
    with pytest.raises(NotImplementedError, match="can't be recorded under vmap"):
        vmap(grad(sum_of), (0, None))(x[0], 0)


def test_a_mode_sees_the_operator(sum_of: Any) -> None:
    seen: list[Any] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Watch():
        sum_of(x, 0)
    assert seen[0] is sum_of


def test_keys_in_order_and_none() -> None:
    op = Sum()
    with pytest.raises(NotImplementedError, match="could not find kernel for HigherOrderOperator"):
        op()
    with pytest.raises(KeyError):
        vmap(op)(torch.ones(2))

    @op.py_impl(torch._C.DispatchKey.Autograd)
    def outer() -> str:
        with torch._C._AutoDispatchBelowAutograd():
            return "outer, " + op()

    @op.py_impl(torch._C.DispatchKey.CPU)
    def inner() -> str:
        return "inner"

    assert op() == "outer, inner"
    assert str(op) == op.name() == "sum_of"
