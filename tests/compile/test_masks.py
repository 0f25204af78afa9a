"""Gradients that are kept where a mask says so, in compiled steps."""

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch


def _gradients(native: bool, w: Any, loss_of: Callable[[], Any]) -> tuple[Any, Any]:
    """The gradient of `w` from an eager step and from a compiled one."""

    def step() -> Any:
        w.grad = None
        loss = loss_of()
        loss.backward()
        return loss.detach()

    step()
    expected = w.grad
    compiled = torch.compile(step, options={"native": native})
    for _ in range(4):
        compiled()
    assert len(compiled.variants) == 1, compiled.explain()
    return expected, w.grad


@pytest.mark.parametrize("native", [False, True])
def test_the_mask_of_a_single_number_counts(native: bool) -> None:
    w = torch.tensor(-3.0, requires_grad=True)
    expected, found = _gradients(native, w, lambda: torch.relu(w * 1.5) + 0.5 * w)
    assert found.item() == expected.item() == 0.5


@pytest.mark.parametrize("native", [False, True])
def test_a_transposed_gradient_is_masked_where_it_belongs(native: bool) -> None:
    torch.manual_seed(0)
    a, w = torch.randn(4, 4), torch.randn(4, 4, requires_grad=True)
    expected, found = _gradients(native, w, lambda: (torch.maximum(a, w).t() * w).mean())
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-7)
