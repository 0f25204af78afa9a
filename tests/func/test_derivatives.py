"""`grad`, `vjp`, `jvp`, Jacobians and Hessians, alone and nested."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

V = torch.tensor([0.5, -1.0, 2.0])


def cube(a: Any) -> Any:
    return a**3


def test_derivatives_nest() -> None:
    d = grad(grad(grad(lambda a: a**4)))
    assert d(torch.tensor(2.0)).item() == 48.0
    assert vmap(grad(grad(lambda a: a**3)))(V).tolist() == (6 * V).tolist()


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_every_pair_of_modes_gives_the_hessian(outer: Any, inner: Any) -> None:
    assert outer(inner(lambda a: cube(a).sum()))(V).equal(torch.diag(6 * V))
    assert hessian(lambda a: cube(a).sum())(V).equal(torch.diag(6 * V))


def test_forward_mode_of_a_gradient_and_the_reverse() -> None:
    value, along = jvp(grad(lambda a: cube(a).sum()), (V,), (V,))
    assert value.allclose(3 * V**2)
    assert along.allclose(6 * V**2)
    assert grad(lambda a: jvp(cube, (a,), (V,))[1].sum())(V).allclose(6 * V**2)


def test_jacobians_of_batches() -> None:
    x = torch.arange(6.0).view(2, 3)
    assert vmap(jacrev(cube))(x).equal(torch.diag_embed(3 * x**2))
    assert vmap(jacfwd(cube))(x).equal(torch.diag_embed(3 * x**2))


def test_a_captured_tensor_keeps_its_graph() -> None:
    y = V.clone().requires_grad_()
    out = grad(lambda a: (a * a * y).sum())(V)
    assert torch.autograd.grad(out.sum(), y)[0].equal(2 * V)
    assert not grad(lambda a: (a * a).sum())(V).requires_grad


def test_a_pull_back_may_be_called_again() -> None:
    _, back = vjp(cube, V)
    first, second = back(torch.ones(3))[0], back(torch.ones(3))[0]
    assert first.equal(second)
    assert vmap(back)(torch.eye(3))[0].equal(torch.diag(3 * V**2))


def test_the_function_runs_once_for_a_linear_map() -> None:
    calls = []
    out, push = linearize(lambda a: calls.append(1) or cube(a), V)
    assert push(V).allclose(3 * V**3)
    assert push(2 * V).allclose(6 * V**3)
    assert out.equal(V**3)
    assert len(calls) == 1


def test_has_aux_gives_what_else_the_function_returns() -> None:
    g, (value, aux) = grad_and_value(lambda a: (a.sum(), {"twice": a * 2}), has_aux=True)(V)
    assert g.tolist() == [1.0] * 3
    assert value.item() == 1.5
    assert aux["twice"].equal(2 * V)
    assert not aux["twice"].requires_grad


def test_asking_for_gradients_inside_is_refused() -> None:
    with pytest.raises(RuntimeError, match="inside of a function being transformed"):
        grad(lambda a: a.requires_grad_().sum())(V)
    with pytest.raises(RuntimeError, match="called inside a functorch transform"):
        grad(lambda a: a.sum().backward())(V)
    assert V.clone().requires_grad_().requires_grad


def test_gradients_in_batches_take_one_backward() -> None:
    x = V.clone().requires_grad_()
    runs = []
    out = x**2
    out.register_hook(lambda g: runs.append(tuple(g.shape)))
    (g,) = torch.autograd.grad(out, x, torch.eye(3), is_grads_batched=True)
    assert g.equal(torch.diag(2 * V))
    assert runs == [(3,)]
    assert not g.requires_grad


def test_networks_are_stacked_and_called_with_other_parameters() -> None:
    nets = [torch.nn.Linear(3, 1) for _ in range(2)]
    params, buffers = stack_module_state(nets)
    out = vmap(lambda p, b: functional_call(nets[0], (p, b), (V,)))(params, buffers)
    assert out.allclose(torch.stack([n(V) for n in nets]))


class Scaled(torch.autograd.Function):
    """Twice its argument, with a rule made from its methods."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a: Any, b: Any) -> Any:
        """The product."""
        return a * b

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Saves both."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """The gradients."""
        a, b = ctx.saved_tensors
        return g * b, g * a


def test_a_generated_rule_sums_gradients_of_what_was_no_batch() -> None:
    x = torch.arange(6.0).view(2, 3)
    mapped = vmap(Scaled.apply, in_dims=(0, None))
    assert mapped(x, V).equal(x * V)
    assert grad(lambda b: mapped(x, b).sum())(V).equal(x.sum(0))
    per_example = vmap(grad(lambda b, a: Scaled.apply(a, b).sum()), in_dims=(None, 0))
    assert per_example(V, x).equal(x)


HOOKS = "saved tensor hooks"


@pytest.mark.parametrize("name", ["grad", "grad_and_value", "jacrev", "hessian"])
def test_a_gradient_of_a_function_refuses_saved_tensor_hooks(name):
    transform = getattr(torch.func, name)

    def packed(x):
        with torch.autograd.graph.save_on_cpu():
            return x.sin().sum()

    x = torch.randn(3)
    with pytest.raises(RuntimeError, match=HOOKS):
        transform(packed)(x)
    with pytest.raises(RuntimeError, match=HOOKS), torch.autograd.graph.save_on_cpu():
        transform(lambda x: x.sum())(x)
    with torch.autograd.graph.save_on_cpu():  # allowed again
        torch.func.jvp(lambda x: x.sum(), (x,), (x,))


@pytest.mark.parametrize("output", [None, ()])
def test_a_function_without_results_is_refused(output):
    x = torch.randn(3)
    for call in (
        lambda: torch.func.vjp(lambda x: output, x),
        lambda: torch.func.jvp(lambda x: output, (x,), (x,)),
        lambda: torch.func.jacfwd(lambda x: output)(x),
        lambda: torch.func.jacrev(lambda x: output)(x),
    ):
        with pytest.raises(RuntimeError, match="Expected f to be a function that has non-empty"):
            call()


def test_a_jacobian_of_what_does_not_depend_on_the_input_is_zero():
    x = torch.randn(3)
    assert torch.func.jacfwd(lambda x: torch.ones(2, 5))(x).equal(torch.zeros(2, 5, 3))
    assert torch.vmap(lambda x: torch.ones(2, 5), out_dims=-1)(x).equal(torch.ones(2, 5, 3))


def test_a_jacobian_of_one_row_at_a_time_needs_no_vmap():
    class Branching(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2 if bool(g.any()) else g

    x = torch.randn(2, 2)
    found = torch.func.jacrev(Branching.apply, chunk_size=1)(x)
    assert found.equal(torch.eye(4).view(2, 2, 2, 2) * 2)
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        torch.func.jacrev(Branching.apply, chunk_size=2)(x)


def test_no_grad_outside_of_a_transform_is_seen_by_the_graph_outside():
    x = torch.tensor(2.0, requires_grad=True)
    with torch.no_grad():
        assert not torch.func.grad(lambda x: x**3)(x).requires_grad
        assert not torch.func.jvp(lambda x: x**3, (x,), (x,))[1].requires_grad
        out, pull_back = torch.func.vjp(lambda x: x**3, x)
        assert not out.requires_grad and not pull_back(torch.tensor(1.0))[0].requires_grad
    (g,) = pull_back(torch.tensor(1.0))
    assert torch.autograd.grad(g, x)[0] == 12.0  # recorded where the gradient is asked for

    def minus_value(x):
        with torch.no_grad():
            _, value = torch.func.grad_and_value(lambda x: x**3)(x)
        return x**3 - value

    assert torch.func.grad(minus_value)(x) == 12.0


def _doubled(x):
    return x.mul_(2.0)


@pytest.mark.parametrize("x", [torch.ones(2), torch.ones(2, requires_grad=True), torch.ones(2) * 2])
def test_a_gradient_is_refused_of_a_function_that_writes_to_its_argument(x):
    message = "a leaf Variable that requires grad is being used in an in-place operation"
    with pytest.raises(RuntimeError, match=message):
        torch.func.grad(lambda x: _doubled(x).sum())(x)
    with pytest.raises(RuntimeError, match=message):
        torch.func.grad(lambda x: torch.func.grad(lambda x: _doubled(x).sum())(x).sum())(x)


def test_forward_mode_goes_through_writes_to_the_arguments():
    x, y, t = torch.ones(3), torch.arange(3.0), torch.tensor([1.0, 2.0, 3.0])
    out, along = torch.func.jvp(lambda x, y: x.copy_(y), (x, y), (t, t * 2))
    assert out.equal(y) and along.equal(t * 2) and x.equal(y)
    assert torch.func.jvp(lambda x: _doubled(x), (x,), (t,))[1].equal(t * 2)
    nested = torch.func.jvp(lambda x: torch.func.jvp(_doubled, (x,), (t,))[0], (x,), (t,))
    assert nested[1].equal(t * 2)
    batch = torch.ones(2, 3)
    out, along = torch.vmap(lambda x: torch.func.jvp(_doubled, (x,), (t,)))(batch)
    assert along.equal((t * 2).expand(2, 3)) and batch.equal(torch.full((2, 3), 2.0))


def test_a_function_with_one_context_is_refused_in_functionalize() -> None:
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sin()

    with pytest.raises(RuntimeError, match="must override the setup_context"):
        torch.func.functionalize(Old.apply)(torch.ones(2))


def test_forward_mode_may_be_off_for_a_part_of_a_function() -> None:
    fw = torch.autograd.forward_ad

    def shifted(x):
        with fw._set_fwd_grad_enabled(False):
            shift = x**2
        return x**2 - shift

    x, one = torch.tensor(3.0), torch.ones(())
    assert jvp(shifted, (x,), (one,))[1] == 6.0 and jacfwd(shifted)(x) == 6.0
    assert jvp(lambda x: jvp(shifted, (x,), (one,))[1], (x,), (one,))[1] == 2.0
    with fw._set_fwd_grad_enabled(False):  # a derivative inside switches it on for itself
        assert jvp(shifted, (x,), (one,))[1] == 6.0
    assert torch.is_grad_enabled()
    with pytest.raises(NotImplementedError, match="can't switch forward mode off alone"):
        jvp(grad(shifted), (x,), (one,))
    assert torch.is_grad_enabled()


def test_a_tangent_of_a_wider_type_gives_one_of_its_type() -> None:
    x = torch.tensor([0.5, 1.0])
    value, along = jvp(torch.sin, (x,), (torch.ones(2, dtype=torch.float64),))
    assert value.dtype is torch.float32
    assert along.dtype is torch.float64
    torch.testing.assert_close(along.float(), x.cos())
    assert jvp(torch.sin, (x,), (torch.ones(2).half(),))[1].dtype is torch.float32
    assert jvp(torch.sin, (x.double(),), (torch.ones(2),))[1].dtype is torch.float64
    _, (one, other) = jvp(
        lambda a, b: (a * 2, b * 2), (x, x), (torch.ones(2).double(), torch.ones(2))
    )
    assert (one.dtype, other.dtype) == (torch.float64, torch.float32)
