"""A view taken again of another base, and the base of another view."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

_VIEWS: list[Any] = [
    lambda b: b.select(1, 2), lambda b: b[1:, 2], lambda b: b.view(12, 5), lambda b: b.diagonal(),
    lambda b: b.permute(2, 0, 1)[1], lambda b: b.split(2)[1], lambda b: b.expand(2, 3, 4, 5),
    lambda b: b.unfold(1, 2, 2),
]  # fmt: skip


@pytest.mark.parametrize("replayed", [False, True])
@pytest.mark.parametrize("number", range(len(_VIEWS)))
def test_the_same_view_of_another_base(number: int, replayed: bool) -> None:
    take = _VIEWS[number]
    base, other = torch.randn(3, 4, 5), torch.randn(3, 4, 5)
    with torch.autograd._force_original_view_tracking(replayed):
        view = take(base)
    again = view._view_func(other)
    assert torch.equal(again, take(other)) and again._base is other
    assert again.stride() == view.stride() and again.storage_offset() == view.storage_offset()
    if replayed and view.dtype == base.dtype:
        back = view._rev_view_func_unsafe(view.detach())
        assert torch.equal(back, base) and back._is_view()


@pytest.mark.parametrize("take", [torch.view_as_real, lambda c: c.real, lambda c: c.imag.t()])
def test_parts_of_complex_numbers(take: Any) -> None:
    base, other = torch.randn(2, 3, dtype=torch.cfloat), torch.randn(2, 3, dtype=torch.cfloat)
    view = take(base)
    assert torch.equal(view._view_func(other), take(other))


def test_what_is_no_view_or_laid_out_otherwise_gives_none() -> None:
    base = torch.randn(3, 4)
    view = base[1:]
    assert base._view_func(base) is None and base._rev_view_func_unsafe(base) is None
    assert view._view_func(torch.ones(3, 5)) is None
    assert view._view_func(torch.ones(4, 3).t()) is None
    assert view._view_func_unsafe(torch.ones(3, 5)).shape == (2, 4)
    with pytest.raises(RuntimeError, match=r"No _rev_view_func\(\) found"):
        view._rev_view_func_unsafe(view.detach())
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        view._view_func(3)


def test_a_visitor_moves_what_is_remembered() -> None:
    base, other = torch.randn(3, 4, 5), torch.randn(3, 4, 5)
    with torch.autograd._force_original_view_tracking(True):
        view = base.select(1, 2)
    moved = view._view_func(other, symint_visitor_fn=lambda x: x + 1)
    assert torch.equal(moved, other.select(1, 3))
    assert torch.equal(view._view_func(other), other.select(1, 2))
