"""Transforms of transforms, and of what neural networks are made of."""

import warnings

import torch
from observation import each, near, outcome

func, F = torch.func, torch.nn.functional
functional_call, linearize, vmap = func.functional_call, func.linearize, func.vmap
grad, grad_and_value, vjp, jvp = func.grad, func.grad_and_value, func.vjp, func.jvp
hessian, jacfwd, jacrev = func.hessian, func.jacfwd, func.jacrev

X = torch.tensor([[0.5, -1.0], [1.5, 2.0], [-0.5, 0.25]])
W = torch.tensor([[0.3, -0.2, 0.1], [0.4, 0.6, -0.5]])
V = X[0]


def _f(a):
    return torch.tanh(a @ W)


def gradients_of_examples() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.LayerNorm(4), torch.nn.Linear(4, 3)
    )
    p = dict(net.named_parameters())
    t = torch.tensor([0, 2, 1])

    def loss(p, x, y):
        return F.cross_entropy(functional_call(net, p, (x,)), y)

    g = vmap(grad(loss), in_dims=(None, 0, 0))(p, X, t)
    print({k: tuple(v.shape) for k, v in g.items()}, near(g["0.weight"], 3))
    g, v = vmap(grad_and_value(loss), in_dims=(None, 0, 0))(p, X, t)
    print(near(v, 4), near(g["3.bias"], 3))


def jacobians_of_examples() -> None:
    print(near(vmap(jacrev(_f))(X), 4))
    print(near(vmap(jacfwd(_f))(X), 4))
    print(near(jacrev(vmap(_f))(X[:1]), 4))


def hessians_every_way() -> None:
    g = lambda a: _f(a).sum()  # noqa: E731
    for h in (
        hessian(g),
        jacrev(jacrev(g)),
        jacrev(jacfwd(g)),
        jacfwd(jacfwd(g)),
        jacfwd(jacrev(g)),
    ):
        print(near(h(V), 4))
    print(near(vmap(hessian(g))(X), 4))


def third_derivatives() -> None:
    g = lambda a: (a**4).sum()  # noqa: E731
    print(
        near(jacfwd(jacrev(jacfwd(g)))(V)),
        near(grad(grad(grad(lambda a: a**4)))(torch.tensor(2.0))),
    )


def forward_and_reverse_mixed() -> None:
    cube = lambda a: a**3  # noqa: E731
    print(near(jvp(grad(lambda a: cube(a).sum()), (V,), (V,))))
    print(near(grad(lambda a: jvp(cube, (a,), (V,))[1].sum())(V)))
    print(near(jvp(lambda a: jvp(cube, (a,), (V,))[1], (V,), (V,))))
    print(near(vjp(lambda a: jvp(cube, (a,), (V,))[1], V)[1](V)))


def directions_as_batches() -> None:
    print(near(vmap(lambda t: jvp(_f, (V,), (t,))[1])(X), 4))
    print(near(vmap(vjp(_f, V)[1])(torch.eye(3)), 4))
    print(near(vmap(lambda a, b: vjp(_f, a)[1](b)[0], in_dims=(0, None))(X, W[0]), 4))


def gradient_through_a_vmap() -> None:
    print(near(grad(lambda w: vmap(lambda a: (a @ w).pow(2).sum())(X).sum())(W), 4))
    print(near(grad(lambda w: vmap(grad(lambda a: (a @ w).pow(2).sum()))(X).pow(2).sum())(W), 4))


def captured_tensors_keep_their_graph() -> None:
    y = V.clone().requires_grad_()
    out = grad(lambda a: (a * a * y).sum())(V)
    print(out.requires_grad, near(torch.autograd.grad(out.sum(), y)[0]))
    out, back = vjp(lambda a: a * y, V)
    print(out.requires_grad, near(back(torch.ones(2))[0]))
    print(jvp(lambda a: a * y, (V,), (V,))[1].requires_grad, vmap(lambda a: a * y)(X).requires_grad)
    print(grad(lambda a: (a * a).sum())(V).requires_grad)


def detaching_and_switching_off_inside() -> None:
    def quiet(a):
        with torch.no_grad():
            b = a**2
        return (b * a).sum()

    print(near(grad(quiet)(V)), near(grad(lambda a: (a.detach() * a).sum())(V)))
    with torch.no_grad():
        print(near(grad(lambda a: (a**2).sum())(V)), near(jacrev(torch.sin)(V), 4))


def writes_inside() -> None:
    def g(a):
        b = a.clone()
        b[0] = 5.0
        b.mul_(a)
        return b.sum()

    print(near(grad(g)(V)), near(vmap(grad(g))(X)), near(jacfwd(lambda a: a.clone().mul_(a))(V)))


def arguments_that_are_trees() -> None:
    print(near(grad(lambda d: d["a"].sum() * d["b"][0].sum())({"a": V, "b": (V,)})["a"]))
    print(jacrev(lambda d: {"o": d["a"] * 2, "p": (d["a"].sum(),)})({"a": V}))
    print(jacfwd(lambda d: {"o": d["a"] * 2, "p": (d["a"].sum(),)})({"a": V}))
    print(hessian(lambda a, b: (a * b).sum(), argnums=(0, 1))(V, V))


def argnums_that_do_not_fit() -> None:
    s = lambda a: a.sum()  # noqa: E731
    each(
        far=lambda: grad(s, argnums=1)(V),
        word=lambda: grad(s, argnums="a")(V),
        none=lambda: grad(s, argnums=())(V),
        twice=lambda: grad(lambda a, b: (a * b).sum(), argnums=(0, 0))(V, V),
        wrapped=lambda: grad(s, argnums=(0, -1))(V),
        jacobian=lambda: jacrev(s, argnums=1)(V),
        forward=lambda: jacfwd(s, argnums=1)(V),
    )


def results_that_are_refused() -> None:
    each(
        vector=lambda: grad(lambda a: a)(V),
        number=lambda: grad(lambda a: 5)(V),
        several=lambda: grad(lambda a: (a.sum(), a.sum()))(V),
        complex=lambda: grad(lambda a: (a * 1j).sum())(V),
        aux=lambda: grad(lambda a: a.sum(), has_aux=True)(V),
        three=lambda: grad(lambda a: (a.sum(), 1, 2), has_aux=True)(V),
        vjp=lambda: vjp(lambda a: 5, V),
        jvp=lambda: jvp(lambda a: (a, 5), (V,), (V,)),
        jacrev=lambda: jacrev(lambda a: (a, 5))(V),
        integers=lambda: jacrev(lambda a: a.int())(V),
        truth=lambda: grad(lambda a: (a.sum(), True), has_aux=True)(V),
    )


def inputs_that_are_refused() -> None:
    each(
        number=lambda: grad(lambda a: a)(5.0),
        integers=lambda: grad(lambda a: a.sum())(V.int()),
        vjp=lambda: vjp(torch.sin, 5),
        primals=lambda: jvp(torch.sin, V, V),
        structure=lambda: jvp(torch.sin, (V,), (V, V)),
        tangents=lambda: jvp(torch.sin, (V,), V),
        shape=lambda: jvp(torch.sin, (V,), (V[:1],)),
        empty=lambda: jvp(torch.sin, (), ()),
        other=lambda: jvp(torch.sin, (5,), (V,)),
        strict=lambda: jvp(lambda a: torch.ones(2), (V,), (V,), strict=True),
        cotangent=lambda: vjp(torch.sin, V)[1]((V,)),
        mismatch=lambda: vjp(torch.sin, V)[1](V[:1]),
        jacobian=lambda: jacrev(torch.sin)(5),
        chunks=lambda: jacrev(torch.sin, chunk_size=0)(V),
    )


def linear_maps() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _linear_maps()


def _linear_maps() -> None:
    out, push = linearize(_f, V)
    print(near(out, 4), near(push(V), 4), near(vmap(push)(X), 4))
    out, push = linearize(lambda d: d["a"].sin(), {"a": V})
    print(near(push({"a": V}), 4))
    each(
        shape=lambda: linearize(torch.sin, V)[1](X),
        structure=lambda: linearize(torch.sin, V)[1]((V,)),
        many=lambda: linearize(torch.sin, V)[1](V, V),
    )


def results_that_do_not_depend() -> None:
    print(jacrev(lambda a: torch.ones(2))(V), jacfwd(lambda a: torch.ones(2))(V))
    print(grad(lambda a: torch.ones(()))(V), jvp(lambda a: torch.ones(2), (V,), (V,))[1])


def chunks_of_a_jacobian() -> None:
    for size in (1, 2, 5, None):
        print(near(jacrev(_f, chunk_size=size)(V), 4))


def networks_in_one_call() -> None:
    torch.manual_seed(0)
    nets = [torch.nn.Linear(2, 1) for _ in range(3)]
    p, b = func.stack_module_state(nets)
    print({k: (tuple(v.shape), v.requires_grad, v.is_leaf) for k, v in p.items()}, b)
    print(
        near(
            vmap(lambda p, b, x: functional_call(nets[0], (p, b), (x,)), in_dims=(0, 0, None))(
                p, b, X
            ),
            4,
        )
    )
    frozen = [torch.nn.Linear(2, 1), torch.nn.Linear(2, 1).requires_grad_(False)]
    each(
        none=lambda: func.stack_module_state([]),
        modes=lambda: func.stack_module_state([nets[0], torch.nn.Linear(2, 1).eval()]),
        classes=lambda: func.stack_module_state([nets[0], torch.nn.ReLU()]),
        frozen=lambda: func.stack_module_state(frozen),
    )


def calls_with_other_parameters() -> None:
    n = torch.nn.Linear(2, 1)
    one, zero = torch.ones(1, 2), torch.zeros(1)
    print(
        functional_call(n, {"weight": one, "bias": zero}, V),
        functional_call(n, ({"weight": one}, {"bias": zero}), (V,)),
    )
    each(
        twice=lambda: functional_call(n, [{"weight": one}, {"weight": one}], V),
        kind=lambda: functional_call(n, ({"weight": one}, 3), V),
        number=lambda: functional_call(n, 3, V),
        unknown=lambda: functional_call(n, {"nothing": one}, V, strict=True),
        missing=lambda: functional_call(n, {"weight": one}, V, strict=True),
        value=lambda: functional_call(n, {"weight": 3}, V),
        path=lambda: functional_call(n, {"a.weight": one}, V),
    )


def tied_parameters() -> None:
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = (torch.nn.Linear(2, 2, bias=False) for _ in range(2))
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    t, eye = Tied(), torch.eye(2)
    print(functional_call(t, {"a.weight": eye}, V), functional_call(t, {"b.weight": eye * 2}, V))
    print(functional_call(t, {"a.weight": eye, "b.weight": eye * 3}, V, tie_weights=False))
    outcome(functional_call, t, {"a.weight": eye, "b.weight": eye * 3}, V)
    print(t.a.weight is t.b.weight)


def norms_without_statistics() -> None:
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2))
    func.replace_all_batch_norm_modules_(net)
    print(net[1].track_running_stats, net[1].running_mean, net[1].num_batches_tracked)
    x = torch.arange(16.0).view(2, 2, 1, 2, 2)
    print(vmap(net)(x).shape)
    outcome(vmap(torch.nn.BatchNorm2d(1)), x)


def functionalize_is_accepted() -> None:
    print(func.functionalize(lambda a: a.clone().add_(1))(V))
    print(grad(func.functionalize(lambda a: a.clone().mul_(2).sum()))(V))
    outcome(lambda: func.functionalize(torch.sin, remove="x"))


def losses_and_layers_of_examples() -> None:
    t = torch.tensor([0, 1, 1])
    print(near(vmap(F.cross_entropy)(X, t), 4), near(vmap(F.mse_loss)(X, X * 2), 4))
    print(
        near(vmap(lambda a: F.softmax(a, 0))(X), 4),
        near(vmap(lambda a: F.layer_norm(a, (2,)))(X), 4),
    )
    w = torch.arange(8.0).view(2, 2, 1, 2, 1)
    print(vmap(lambda a: F.conv2d(a, w[0]))(torch.arange(12.0).view(2, 1, 1, 3, 2)).shape)
    print(near(vmap(lambda k: F.conv2d(torch.arange(6.0).view(1, 1, 3, 2), k))(w)))
    print(
        near(
            vmap(lambda a: F.batch_norm(a, None, None, training=True))(
                torch.arange(8.0).view(2, 2, 2)
            ),
            4,
        )
    )
    print(vmap(lambda a: F.max_pool2d(a, 2))(torch.arange(32.0).view(2, 1, 4, 4)))
