"""Custom Functions on views that were made without recording."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as rl


class Tripled(rl.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3


class AsItIs(rl.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


class Doubled(rl.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def unrecorded(of_result: bool) -> tuple[Any, Any]:
    """A tensor that requires grad, and a view of it made under no_grad."""
    x = rl.ones(3, requires_grad=True)
    x = x * 1 if of_result else x
    with rl.no_grad():
        return x, x[:2]


@pytest.mark.parametrize("of_result", [False, True])
def test_a_function_records_what_it_does_to_an_unrecorded_view(of_result: bool) -> None:
    for function in (Tripled, AsItIs):
        _, view = unrecorded(of_result)
        out = function.apply(view)
        assert out.requires_grad and type(out.grad_fn).__name__ == f"{function.__name__}Backward"
        out.sum().backward()


@pytest.mark.parametrize("of_result", [False, True])
def test_without_recording_a_function_gives_a_tensor_without_gradient(of_result: bool) -> None:
    for function in (Tripled, AsItIs):
        _, view = unrecorded(of_result)
        with rl.no_grad():
            assert not function.apply(view).requires_grad


@pytest.mark.parametrize("of_result", [False, True])
def test_a_function_may_not_write_to_an_unrecorded_view(of_result: bool) -> None:
    _, view = unrecorded(of_result)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Doubled.apply(view)


def test_a_mark_as_dirty_counts_though_the_call_is_refused() -> None:
    class Forgets(rl.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.sum()

    x = rl.ones(2)
    with pytest.raises(RuntimeError, match="must all be outputs"):
        Forgets.apply(x)
    assert x._version == 1


def test_gradients_that_nobody_wants_must_fit_too() -> None:
    class Halves(rl.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, o: Any) -> Any:
            return x + o

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g[0], g

    x, o = rl.ones(2, 3, requires_grad=True), rl.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"at index 0 - got \[3\] but expected .* \[2, 3\]"):
        rl.autograd.grad(Halves.apply(x, o).sum(), o)
