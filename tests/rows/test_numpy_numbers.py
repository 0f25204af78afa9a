"""Numbers of NumPy's among the arguments: the tensor decides the types of results and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional as F

N = np.float64
CALLS: dict[str, Callable[[Any], Any]] = {
    "mul": lambda x: x * N(2),
    "mul from the left": lambda x: N(2) * x,
    "torch.mul": lambda x: torch.mul(x, N(2)),
    "add with alpha": lambda x: torch.add(x, x, alpha=N(2)),
    "pow": lambda x: x.pow(N(2)),
    "lerp": lambda x: torch.lerp(x, x * 2, N(0.1)),
    "addcmul": lambda x: torch.addcmul(x, x, x, value=N(0.1)),
    "clamp": lambda x: torch.clamp(x, N(0.1)),
    "addmm": lambda x: torch.addmm(x[None], x[:1, None], x[None], beta=N(1), alpha=N(2)),
    "leaky_relu": lambda x: F.leaky_relu(x, N(2)),
    "hardtanh": lambda x: F.hardtanh(x, N(-2), N(0.3)),
    "threshold": lambda x: F.threshold(x, N(0.2), N(0.3)),
    "softplus": lambda x: F.softplus(x, N(2)),
    "triplet": lambda x: F.triplet_margin_loss(x[None], x[None] * 2, x[None] * 3, margin=N(0.1)),
    "ranking": lambda x: F.margin_ranking_loss(x, x * 2, x, margin=N(0.1)),
    "smoothing": lambda x: F.cross_entropy(x[None], torch.tensor([1]), label_smoothing=N(0.1)),
    "renorm": lambda x: torch.renorm(x[None], N(2), 0, N(1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_double_of_numpys_changes_no_type(name: str) -> None:
    x = torch.tensor([0.3, -0.2, 1.5], requires_grad=True)
    y = CALLS[name](x)
    y.sum().backward()
    assert x.grad is not None and y.dtype is x.grad.dtype is torch.float32


@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor])
def test_a_tensor_of_a_number_of_numpys_has_its_type(make: Callable[..., Any]) -> None:
    assert make(N(2), device="cpu").dtype is torch.float64
    assert make(np.complex128(2), device="cpu").dtype is torch.complex128
    assert torch.asarray(N(2)).dtype is torch.float64
