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


def test_a_slice_leads_back_to_the_whole() -> None:
    whole = torch.zeros(4)
    back = torch.slice_inverse(whole[1:3], whole, 0, 1, 3)
    back[0] = 7
    assert whole.tolist() == [7, 0, 0, 0]
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        torch.slice_inverse(torch.ones(2), torch.ones(4), 0, 1, 3)


def test_the_whole_of_a_slice_has_gradients_for_the_slice_and_for_the_rest() -> None:
    x = torch.ones(4, requires_grad=True)
    rest = torch.ones(4, requires_grad=True)
    back = torch.ops.aten.slice_inverse(x[1:3], rest, 0, 1, 3, 1)
    assert back.grad_fn.name() == "SliceInverseBackward0"
    (back * torch.arange(1.0, 5.0)).sum().backward()
    assert x.grad is not None and rest.grad is not None
    assert x.grad.tolist() == [0, 2, 3, 0]
    assert rest.grad.tolist() == [1, 0, 0, 4]


def test_a_view_that_is_taken_again_asks_about_the_tensors_that_it_keeps() -> None:
    base = torch.arange(6.0)
    with torch.autograd._force_original_view_tracking(True):
        part = base[2:4].detach()
        back = torch.slice_inverse(part, base, 0, 2, 4)
        again = back._view_func(part, tensor_visitor_fn=lambda t: torch.ones(2, 3))
        assert again.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert back._view_func(part).shape == (6,)
