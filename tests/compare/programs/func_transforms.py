"""torch.func: grad, vjp, jvp, jacobians, vmap, functional calls."""

import warnings

import torch
from observation import each, near, outcome

func = torch.func


def grad_of_a_function() -> None:
    print(
        func.grad(torch.sin)(torch.tensor(0.0)),
        func.grad(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0])),
    )
    print(
        func.grad(func.grad(torch.sin))(torch.tensor(1.0)),
        func.grad(func.grad(func.grad(lambda x: x**4)))(torch.tensor(2.0)),
    )


def grad_with_chosen_arguments() -> None:
    f = lambda a, b: (a * b).sum()  # noqa: E731
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    print(
        func.grad(f)(a, b),
        func.grad(f, argnums=1)(a, b),
        func.grad(f, argnums=(0, 1))(a, b),
        func.grad(f, argnums=-1)(a, b),
    )
    outcome(func.grad(f, argnums=2), a, b)


def grad_and_value_and_auxiliary() -> None:
    f = lambda x: ((x**2).sum(), {"twice": x * 2})  # noqa: E731
    x = torch.tensor([1.0, 2.0])
    print(
        func.grad(f, has_aux=True)(x),
        func.grad_and_value(lambda x: (x**2).sum())(x),
        func.grad_and_value(f, has_aux=True)(x),
    )


def grad_of_trees() -> None:
    print(
        func.grad(lambda p: (p["w"] * p["b"][0]).sum())(
            {"w": torch.tensor([1.0, 2.0]), "b": [torch.tensor(3.0)]}
        )
    )


def grad_refuses_what_is_not_a_scalar() -> None:
    each(
        vector=lambda: func.grad(lambda x: x * 2)(torch.ones(2)),
        number=lambda: func.grad(lambda x: 5.0)(torch.ones(())),
        integer=lambda: func.grad(lambda x: x.sum())(torch.arange(2)),
        value=lambda: func.grad(torch.sin)(1.0),
    )


def vjp_and_jvp() -> None:
    out, back = func.vjp(lambda x: x**3, torch.tensor([1.0, 2.0]))
    print(out, back(torch.ones(2)))
    print(func.jvp(lambda x: x**3, (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 0.0]),)))
    out, back, aux = func.vjp(lambda x: (x.sin(), x), torch.tensor(0.0), has_aux=True)
    print(out, back(torch.tensor(2.0)), aux)
    outcome(func.jvp, torch.sin, torch.ones(1), torch.ones(1))


def jacobians_both_ways() -> None:
    x = torch.tensor([1.0, 2.0])
    print(func.jacrev(torch.sin)(x), func.jacfwd(torch.sin)(x))
    print(
        near(func.jacrev(lambda a, b: a @ b, argnums=(0, 1))(torch.ones(2, 2), x)),
        func.hessian(lambda x: (x**3).sum())(x),
    )
    print(near(func.jacfwd(func.jacrev(lambda x: x.prod()))(x)))


def vmap_of_simple_functions() -> None:
    x = torch.arange(6.0).view(3, 2)
    print(
        func.vmap(torch.sum)(x),
        func.vmap(lambda r: r * 2)(x),
        func.vmap(torch.dot)(x, x),
        torch.vmap(lambda r: r.max())(x),
    )
    print(
        func.vmap(torch.mul, in_dims=(0, None))(x, torch.ones(2)),
        func.vmap(lambda c: c.sum(), in_dims=1)(x),
        func.vmap(lambda r: r, out_dims=1)(x),
    )


def vmap_errors() -> None:
    x = torch.arange(6.0).view(3, 2)
    each(
        item=lambda: func.vmap(lambda r: r.sum().item())(x),
        branch=lambda: func.vmap(lambda r: r if r.sum() > 3 else -r)(x),
        sizes=lambda: func.vmap(torch.add)(x, torch.ones(2, 2)),
        dims=lambda: func.vmap(torch.sum, in_dims=5)(x),
        none=lambda: func.vmap(torch.sum, in_dims=None)(x),
        kind=lambda: func.vmap(torch.sum, in_dims="a")(x),
        random=lambda: func.vmap(lambda r: r + torch.rand(2))(x),
        output=lambda: func.vmap(lambda r: 5)(x),
    )


def vmap_and_randomness() -> None:
    x = torch.zeros(3, 2)
    print(
        func.vmap(lambda r: r + torch.rand(2), randomness="same")(x).unique().numel(),
        func.vmap(lambda r: r + torch.rand(2), randomness="different")(x).unique().numel(),
    )


def gradients_per_sample() -> None:
    net = torch.nn.Linear(2, 1)
    params = dict(net.named_parameters())

    def loss(p, x, y):
        return ((func.functional_call(net, p, (x,)) - y) ** 2).sum()

    x, y = torch.randn(4, 2), torch.randn(4, 1)
    g = func.vmap(func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    print({k: tuple(v.shape) for k, v in g.items()}, near(g["weight"]))


def functional_call_leaves_the_module_alone() -> None:
    net = torch.nn.Linear(2, 1)
    before = net.weight.clone()
    print(
        func.functional_call(
            net, {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, torch.ones(1, 2)
        ),
        net.weight.equal(before),
    )
    outcome(func.functional_call, net, {"nothing": torch.ones(1)}, torch.ones(1, 2))


def stacking_modules() -> None:
    nets = [torch.nn.Linear(2, 1) for _ in range(3)]
    params, buffers = func.stack_module_state(nets)
    print({k: tuple(v.shape) for k, v in params.items()}, buffers)
    x = torch.ones(2)
    print(near(func.vmap(lambda p: func.functional_call(nets[0], p, (x,)))(params)))


def transforms_compose() -> None:
    x = torch.tensor([0.5, 1.0, 1.5])
    print(
        near(func.vmap(func.grad(torch.sin))(x)),
        near(func.grad(lambda x: func.vmap(torch.sin)(x).sum())(x)),
        near(func.vmap(func.vmap(torch.cos))(x.expand(2, 3))),
        near(func.jvp(func.grad(torch.sin), (x[0],), (torch.tensor(1.0),))),
    )


def autograd_outside_a_transform() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = func.grad(lambda t: t**3)(x)
    print(y)
    y.backward()
    print(x.grad)


def linearize_and_functionals() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out, f = func.linearize(lambda x: x**2, torch.tensor([1.0, 2.0]))
    print(out, f(torch.tensor([1.0, 0.0])))


def a_transform_leaks_nothing() -> None:
    kept = []
    func.grad(lambda x: kept.append(x) or x.sum())(torch.ones(2))
    print(torch.ones(2).requires_grad, torch.is_grad_enabled(), type(kept[0]).__name__)


def in_place_inside_transforms() -> None:
    def f(x):
        y = x.clone()
        y[0] = 5.0
        y.mul_(2)
        return y.sum()

    print(func.grad(f)(torch.ones(3)), func.vmap(f)(torch.ones(2, 3)))
