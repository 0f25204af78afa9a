"""torch.autograd.functional: vjp, jvp, jacobian, hessian and their products."""

import torch
from observation import each, near, outcome

A = torch.autograd.functional


def _cubes(x):
    return x**3


def _pair(x, y):
    return x.exp() * y, (x * y).sum()


def vector_jacobian_products() -> None:
    x = torch.tensor([1.0, 2.0])
    print(A.vjp(_cubes, x, torch.ones(2)), x.requires_grad)
    print(A.vjp(lambda t: (t**2).sum(), x))
    print(near(A.vjp(_pair, (x, x + 1), (torch.ones(2), torch.tensor(2.0)))[1]))


def jacobian_vector_products() -> None:
    x = torch.tensor([1.0, 2.0])
    print(A.jvp(_cubes, x, torch.tensor([1.0, 0.0])))
    print(near(A.jvp(_pair, (x, x), (torch.ones(2), torch.zeros(2)))[1]))
    print(A.jvp(lambda t: t * 2, torch.tensor(3.0)))


def products_refuse_bad_vectors() -> None:
    x = torch.tensor([1.0, 2.0])
    each(
        none=lambda: A.vjp(_cubes, x),
        shape=lambda: A.vjp(_cubes, x, torch.ones(3)),
        jvp_none=lambda: A.jvp(_cubes, x),
        jvp_shape=lambda: A.jvp(_cubes, x, torch.ones(3)),
        count=lambda: A.vjp(_pair, (x, x), torch.ones(2)),
        kind=lambda: A.vjp(_cubes, 5),
        output=lambda: A.vjp(lambda t: 5, x),
    )


def jacobians() -> None:
    x = torch.tensor([1.0, 2.0])
    print(A.jacobian(_cubes, x))
    print(A.jacobian(lambda t: t.sum(), x), A.jacobian(lambda t: t.view(1, 2), x).shape)
    print(near(A.jacobian(_pair, (x, x + 1))[0]), near(A.jacobian(_pair, (x, x + 1))[1]))
    print(
        A.jacobian(_cubes, x, vectorize=True),
        A.jacobian(_cubes, x, strategy="forward-mode", vectorize=True),
    )
    outcome(A.jacobian, _cubes, x, strategy="forward-mode")
    outcome(A.jacobian, _cubes, x, strategy="sideways")


def jacobians_with_graphs() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    j = A.jacobian(_cubes, x, create_graph=True)
    print(j)
    j.sum().backward()
    print(x.grad, A.jacobian(_cubes, x).requires_grad)


def strict_jacobians() -> None:
    x = torch.ones(2)
    print(A.jacobian(lambda t: torch.ones(1), x))
    outcome(A.jacobian, lambda t: torch.ones(1), x, strict=True)
    outcome(A.jacobian, lambda a, b: a * 2, (x, x), strict=True)
    print(A.jacobian(lambda a, b: a * 2, (x, x)))
    outcome(A.jacobian, _cubes, x, strict=True, vectorize=True)


def hessians() -> None:
    x = torch.tensor([1.0, 2.0])
    print(A.hessian(lambda t: (t**3).sum(), x))
    print(A.hessian(lambda a, b: (a * b).sum(), (x, x)))
    print(A.hessian(lambda t: (t**3).sum(), x, vectorize=True))
    print(near(A.hessian(lambda t: t.prod().sin(), x)))
    outcome(A.hessian, _cubes, x)


def products_with_the_hessian() -> None:
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
    print(A.vhp(lambda t: (t**3).sum(), x, v), A.hvp(lambda t: (t**3).sum(), x, v))
    outcome(A.vhp, _cubes, x, v)
    outcome(A.hvp, lambda t: (t**3).sum(), x)


def strict_products() -> None:
    x = torch.ones(2)
    outcome(A.vjp, lambda t: torch.ones(2), x, torch.ones(2), strict=True)
    outcome(A.jvp, lambda t: torch.ones(2), x, torch.ones(2), strict=True)
    outcome(A.vjp, lambda t: torch.ones(2), x, torch.ones(2))
    outcome(A.hvp, lambda t: t.sum(), x, torch.ones(2), strict=True)
    outcome(A.hvp, lambda t: t.sum(), x, torch.ones(2))


def gradients_of_complex_functions() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    for f in (
        lambda z: (z * z).real.sum(),
        lambda z: z.abs().sum(),
        lambda z: (z * z.conj()).real.sum(),
        lambda z: z.exp().imag.sum(),
        lambda z: z.angle().sum(),
        lambda z: torch.view_as_real(z).sum(),
        lambda z: (1 / z).real.sum(),
        lambda z: (z**3).real.sum(),
    ):
        print(near(torch.autograd.grad(f(z), z)))


def gradcheck_forms() -> None:
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    each(
        good=lambda: check(torch.sin, (x,)),
        single=lambda: check(torch.sin, x),
        fast=lambda: check(torch.sin, (x,), fast_mode=True),
        gradgrad=lambda: torch.autograd.gradgradcheck(torch.sin, (x,)),
        forward=lambda: check(torch.sin, (x,), check_forward_ad=True),
        nothing=lambda: check(torch.sin, (x.detach(),)),
        several=lambda: check(torch.mul, (x, x.detach().clone().requires_grad_())),
        tensor_output=lambda: check(lambda t: (t.sin(), t.cos()), (x,)),
    )


def gradcheck_in_single_precision_warns() -> None:
    x = torch.ones(1, requires_grad=True)
    print(torch.autograd.gradcheck(lambda t: t * 2, (x,), eps=1e-2, atol=1e-1))
