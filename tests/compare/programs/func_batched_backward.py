"""Many backwards at once: `is_grads_batched`, vectorised Jacobians and Hessians."""

import torch
from observation import each, near

hessian, jacobian = torch.autograd.functional.hessian, torch.autograd.functional.jacobian
vmap = torch.func.vmap

X = torch.tensor([0.5, 1.0, 2.0])
Y = torch.tensor([1.0, 2.0])


def gradients_in_batches() -> None:
    x = X.clone().requires_grad_()
    out = x**2
    print(torch.autograd.grad(out, x, torch.eye(3), is_grads_batched=True, retain_graph=True))
    (g,) = torch.autograd.grad(out, x, torch.eye(3), is_grads_batched=True, create_graph=True)
    print(g.requires_grad, torch.autograd.grad(g.sum(), x))


def several_outputs_in_batches() -> None:
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    a, b = x * y.sum(), (x.sum() * y) ** 2
    seeds = torch.eye(5)
    print(torch.autograd.grad((a, b), (x, y), (seeds[:, :3], seeds[:, 3:]), is_grads_batched=True))


def gradients_that_do_not_fit() -> None:
    x = X.clone().requires_grad_()
    out = x**2
    grads = torch.autograd.grad
    each(
        shape=lambda: grads(out, x, torch.eye(2), is_grads_batched=True, retain_graph=True),
        flat=lambda: grads(out, x, torch.ones(3), is_grads_batched=True, retain_graph=True),
        sizes=lambda: grads(
            (out, out.sum()), x, (torch.eye(3), Y), is_grads_batched=True, retain_graph=True
        ),
        unused=lambda: grads(
            out,
            (x, Y.clone().requires_grad_()),
            torch.eye(3),
            is_grads_batched=True,
            retain_graph=True,
        ),
        allowed=lambda: grads(
            out,
            (x, Y.clone().requires_grad_()),
            torch.eye(3),
            is_grads_batched=True,
            retain_graph=True,
            allow_unused=True,
        ),
    )


def a_batch_of_cotangents_by_vmap() -> None:
    x = X.clone().requires_grad_()
    out = x.sin() * x.sum()
    print(
        near(vmap(lambda g: torch.autograd.grad(out, x, g, retain_graph=True)[0])(torch.eye(3)), 4)
    )


def vectorised_jacobians() -> None:
    f = lambda a, b: (a * b.sum(), b**2)  # noqa: E731
    print(jacobian(f, (X, Y), vectorize=True))
    print(jacobian(f, (X, Y), vectorize=True, strategy="forward-mode"))
    print(jacobian(lambda a: a * 2, X, vectorize=True, create_graph=True).requires_grad)
    print(jacobian(lambda a: torch.ones(2), X, vectorize=True, strategy="forward-mode"))


def vectorised_hessians() -> None:
    g = lambda a, b: (a.sum() * b**2).sum()  # noqa: E731
    print(hessian(g, (X, Y), vectorize=True))
    print(hessian(g, (X, Y), vectorize=True, outer_jacobian_strategy="forward-mode"))


def random_numbers_in_a_batched_jacobian() -> None:
    each(
        forward=lambda: jacobian(
            lambda a: a.sum() + torch.rand(1), X, vectorize=True, strategy="forward-mode"
        )
    )


def hooks_see_batches() -> None:
    x = X.clone().requires_grad_()
    out = x * 3
    out.register_hook(lambda g: print(tuple(g.shape)) or g * 2)
    print(torch.autograd.grad(out, x, torch.eye(3), is_grads_batched=True))
