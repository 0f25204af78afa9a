"""`swap_tensors`: what changes places, and what is refused."""

from __future__ import annotations

import weakref

import pytest

import rushlight as torch

swap = torch.utils.swap_tensors


class First(torch.Tensor):
    __slots__ = ("left", "right")


class Turned(torch.Tensor):
    __slots__ = ("right", "left")


class Other(torch.Tensor):
    __slots__ = ("left", "up")


def test_values_of_slots_change_places() -> None:
    a, b = torch.ones(2).as_subclass(First), torch.zeros(3).as_subclass(Turned)
    a.left, b.right = 1, 2
    swap(a, b)
    assert type(a) is Turned and type(b) is First
    assert a.right == 2 and not hasattr(a, "left")
    assert b.left == 1 and not hasattr(b, "right")
    assert a.shape == (3,) and b.shape == (2,)


@pytest.mark.parametrize("other", [torch.ones(2), torch.ones(2).as_subclass(Other)])
def test_other_slots_are_refused(other: torch.Tensor) -> None:
    with pytest.raises(RuntimeError, match="different slots"):
        swap(torch.ones(2).as_subclass(First), other)


def test_a_weak_reference_is_refused() -> None:
    a, b = torch.ones(2), torch.zeros(2)
    kept = weakref.ref(b)
    with pytest.raises(RuntimeError, match="Cannot swap t2 because it has weakref"):
        swap(a, b)
    assert kept() is b


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_graph_from_before_has_no_way_back(requires_grad: bool) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=requires_grad)
    before = a * 2
    swap(a, b)
    with pytest.raises(RuntimeError, match="poisoned by swap_tensors"):
        before.sum().backward()
    (b * 3).sum().backward()
    assert b.grad.tolist() == [3, 3] and a.grad is None
