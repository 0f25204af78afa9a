"""Windows that overlap, added up, against one addition for each place in a window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.shape.as_strided import unfold_backward


def one_by_one(g: Any, shape: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    out = np.zeros(shape, g.dtype)
    lead = (slice(None),) * dim
    for k in range(size):
        out[(*lead, slice(k, k + (g.shape[dim] - 1) * step + 1, step))] += g[..., k]
    return out


@pytest.mark.parametrize("seed", range(60))
def test_windows_are_added_to_the_same_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, rng.integers(1, 4)).tolist())
    dim = int(rng.integers(0, len(shape)))
    size, step = int(rng.integers(0, shape[dim] + 1)), int(rng.integers(1, 6))
    count = (shape[dim] - size) // step + 1
    g = rng.standard_normal((*shape[:dim], count, *shape[dim + 1 :], size))
    g = g.astype(("f4", "f8", "c8", "i8")[seed % 4])
    g = np.asfortranarray(g) if seed % 2 else g
    found = unfold_backward(g, shape, dim, size, step)
    assert found.tobytes() == one_by_one(g, shape, dim, size, step).tobytes()


@pytest.mark.parametrize(
    ("shape", "sizes", "size", "step"),
    [
        ((3, 2), (5,), 2, 2), ((2, 2), (5,), 3, 1), ((2, 3), (5,), 2, 1),
        ((3, 2, 2), (2, 5), 2, 1), ((2, 2), (5,), 2, 0),
    ],
)  # fmt: skip
def test_windows_that_dont_fit_are_refused(shape: Any, sizes: Any, size: int, step: int) -> None:
    with pytest.raises(ValueError):
        unfold_backward(np.ones(shape), sizes, 0, size, step)


def test_nothing_is_added_of_no_windows() -> None:
    x = torch.ones(0, 4, requires_grad=True)
    x.unfold(1, 2, 1).sum().backward()
    assert x.grad is not None and x.grad.shape == (0, 4)
    y = torch.ones(4, requires_grad=True)
    y.unfold(0, 0, 1).sum().backward()
    assert y.grad is not None and y.grad.tolist() == [0.0] * 4
