"""The rows that derivatives can be checked with: their gradients differ from those of copies."""

from __future__ import annotations

import pytest

import rushlight as torch


def test_a_gradient_of_its_own_tells_an_overload() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    torch._test_autograd_multiple_dispatch(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[2.0] * 3] * 2
    copied = torch._test_autograd_multiple_dispatch(x, False)
    assert copied.grad_fn.name() == "CloneBackward0"
    (g,) = torch.autograd.grad(copied.sum(), x)
    assert g.tolist() == [[1.0] * 3] * 2


def test_the_flat_view_shares_memory_and_its_copy_does_not() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    flat = torch._test_autograd_multiple_dispatch_view(x)
    copied = torch._test_autograd_multiple_dispatch_view_copy(x)
    assert flat._is_view() and not copied._is_view()
    assert flat.shape == copied.shape == (6,)
    weight = torch.arange(6.0)
    for result in (flat, copied):
        (g,) = torch.autograd.grad((result * weight).sum(), x)
        assert g.tolist() == weight.reshape(2, 3).tolist()


def test_a_warning_of_a_gradient_reaches_the_program() -> None:
    x = torch.zeros((), requires_grad=True)
    y = torch.ops.aten._test_warn_in_autograd(x)
    with pytest.warns(UserWarning, match="Warn from backward"):
        y.backward()
    assert x.grad == 1
    assert not hasattr(torch, "_test_warn_in_autograd")
