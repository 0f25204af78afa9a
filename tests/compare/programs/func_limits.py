"""What transforms show of themselves, and what they refuse inside."""

import torch
from observation import outcome

X = torch.tensor([1.0, 2.0])


def printing_inside_a_derivative() -> None:
    torch.func.grad(lambda a: print(a) or a.sum())(X)


def writing_to_a_captured_tensor() -> None:
    kept = torch.zeros(2)
    outcome(torch.func.grad(lambda a: kept.add_(a).sum()), X)


def asking_for_gradients_inside() -> None:
    outcome(torch.func.grad(lambda a: a.requires_grad_().sum()), X)
    outcome(torch.func.grad(lambda a: a.sum().backward() or a.sum()), X)


def dual_numbers_inside_vmap() -> None:
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        outcome(torch.func.vmap(lambda a: ad.unpack_dual(ad.make_dual(a, a).sin()).tangent), X)


def the_class_of_an_example() -> None:
    torch.func.vmap(lambda a: print(type(a).__name__) or a)(X)
