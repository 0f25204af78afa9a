"""A backward inside a backward: in hooks, in custom functions, deeply, over the same graph."""

import pytest

import rushlight as torch

Function = torch.autograd.Function


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_a_hook_may_run_the_backward_of_another_graph() -> None:
    x, w = leaf(2.0), leaf(3.0)
    y = x * 2

    def inner(g: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            (w * w).backward()
        return g * w.grad

    y.register_hook(inner)
    y.backward()
    assert w.grad.item() == 6.0 and x.grad.item() == 12.0


def test_a_hook_may_run_the_same_graph_again() -> None:
    x = leaf(2.0)
    y = x * x
    z = y * 5
    inner: list[float] = []

    def again(g: torch.Tensor) -> None:
        if not inner:
            inner.append(0.0)
            inner[0] = torch.autograd.grad(y, x, retain_graph=True)[0].item()

    z.register_hook(again)
    z.backward()
    assert inner == [4.0] and x.grad.item() == 20.0


def test_an_inner_backward_may_accumulate_into_a_leaf_of_the_outer_one() -> None:
    x = leaf(2.0)
    y = x * 3

    def inner(g: torch.Tensor) -> None:
        with torch.enable_grad():
            (x * 100).backward()

    y.register_hook(inner)
    y.backward()
    assert x.grad.item() == 103.0


def test_an_error_in_an_inner_backward_leaves_both_usable() -> None:
    x = leaf(2.0)
    y = x * x

    def inner(g: torch.Tensor) -> None:
        with torch.enable_grad():
            (leaf(1.0, 2.0) * 2).backward()

    handle = y.register_hook(inner)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert x.grad.item() == 4.0


class Nest(Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x * 1

    @staticmethod
    def backward(ctx, g):
        if not ctx.depth:
            return g, None
        with torch.enable_grad():
            y = g.detach().requires_grad_()
            Nest.apply(y, ctx.depth - 1).sum().backward()
        return y.grad + 1, None


def test_backward_nests_deeper_than_the_interpreters_stack() -> None:
    x = leaf(3.0)
    Nest.apply(x, 300).backward()
    assert x.grad.item() == 301.0


def test_an_error_deep_inside_reaches_the_caller() -> None:
    class Deep(Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if not ctx.depth:
                raise KeyError("bottom")
            with torch.enable_grad():
                Deep.apply(g.detach().requires_grad_(), ctx.depth - 1).sum().backward()

    with pytest.raises(KeyError, match="bottom"):
        Deep.apply(leaf(1.0), 60).backward()


def test_the_grad_mode_of_an_inner_backward_ends_with_it() -> None:
    x = leaf(2.0)
    seen: list[bool] = []
    y = x * x

    def inner(g: torch.Tensor) -> None:
        with torch.enable_grad():
            z = leaf(3.0)
            torch.autograd.grad(z * z, z, create_graph=True)
        seen.append(torch.is_grad_enabled())

    y.register_hook(inner)
    y.backward()
    assert seen == [False]


def test_callbacks_belong_to_the_run_that_queued_them() -> None:
    queue = torch.autograd.Variable._execution_engine.queue_callback
    order: list[str] = []
    x, w = leaf(2.0), leaf(3.0)
    y = x * 2

    def inner(g: torch.Tensor) -> None:
        queue(lambda: order.append("outer"))
        with torch.enable_grad():
            v = w * 2
            v.register_hook(lambda h: queue(lambda: order.append("inner")))
            v.backward()
        order.append("hook done")

    y.register_hook(inner)
    y.backward()
    assert order == ["inner", "hook done", "outer"]
