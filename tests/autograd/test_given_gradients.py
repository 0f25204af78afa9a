"""Hooks see the very tensor that a backward is given, so what they write to it is counted."""

from typing import Any

import pytest

import rushlight as torch


def test_hooks_are_shown_the_tensor_that_was_given() -> None:
    seen: list[Any] = []
    a = torch.rand(2, 3, requires_grad=True)
    holds: tuple[Any, ...] = (
        lambda y: y.register_hook(seen.append),
        lambda y: y.grad_fn.register_prehook(lambda gs: seen.append(gs[0])),
        lambda y: y.grad_fn.register_hook(lambda ins, outs: seen.extend([*ins[:1], *outs])),
    )
    for hold in holds:
        y, given = a + 1, torch.ones(2, 3)
        hold(y)
        y.backward(given)
        assert seen and all(x is given for x in seen)
        seen.clear()
    a.register_hook(seen.append)
    given = torch.ones(2, 3)
    torch.autograd.grad(a + 1, a, given)
    assert len(seen) == 1 and seen[0] is given


def test_what_a_hook_writes_to_a_saved_result_is_noticed() -> None:
    a = torch.rand(3, 3, requires_grad=True)
    v = torch.linalg.matrix_norm(a)
    v.register_hook(lambda g: g.mul_(2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.backward(v.sum(), v)


def test_a_backward_of_the_users_writes_to_the_tensor_that_was_given() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.mul_(2)

    a, given = torch.ones(2, requires_grad=True), torch.ones(2)
    Twice.apply(a).backward(given)
    assert given._version == 1
    assert given.tolist() == [2, 2]


def test_parts_of_an_inference_tensor_are_inference_tensors() -> None:
    with torch.inference_mode():
        v = torch.ones(4, 3)
    for parts in (v.unsafe_split(2), v.unsafe_chunk(2), v.unsafe_split_with_sizes([1, 3])):
        assert all(part.is_inference() for part in parts)
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            parts[0].add_(1)
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        torch.kron(v, torch.ones(2, 2, requires_grad=True))
