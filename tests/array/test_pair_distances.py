"""Distances of all pairs of rows, and their gradients, against those of each pair by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight._array.linalg import pair_distances
from rushlight._array.types import ignore_float_errors

ORDERS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")]


@pytest.fixture(autouse=True)
def _quiet() -> None:
    ignore_float_errors()


def _rows(count: int, width: int, dtype: str) -> Any:
    x = np.random.default_rng(0).standard_normal((count, width)).astype(dtype)
    if count > 4 and width:
        x[3] = x[1]  # a distance of zero
        x[2, 0] = x[0, 0]  # and a coordinate of a difference
    return x


def _share(d: Any, size: Any, p: float) -> Any:
    """The gradient of one distance for one difference."""
    if p == 0 or size == 0:
        return np.zeros_like(d)
    if p == np.inf:
        return np.sign(d) * (abs(d) == size)
    found = np.sign(d) * abs(d) ** (p - 1) / size ** (p - 1)
    return found if p == 1 else np.where(d == 0, 0, found)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (2, 1), (7, 3), (23, 5), (9, 0)])
@pytest.mark.parametrize("block", [1, 40, 1 << 15])
def test_distances_are_those_of_each_pair(
    monkeypatch: pytest.MonkeyPatch, block: int, shape: tuple[int, int], dtype: str, p: float
) -> None:
    monkeypatch.setattr(pair_distances, "_BLOCK", block)
    x = _rows(*shape, dtype)
    wide, near = x.astype("f8"), {"f4": 3e-6, "f8": 1e-14}[dtype]
    listed = [(i, j) for i in range(len(x)) for j in range(i + 1, len(x))]
    exact = np.array([np.linalg.norm(wide[i] - wide[j], p) if x.size else 0 for i, j in listed])
    found = pair_distances.pdist(x, p)
    assert found.dtype == dtype and found.shape == (len(listed),)
    np.testing.assert_allclose(found, exact, near, near)

    g = np.random.default_rng(1).standard_normal(len(listed)).astype(dtype)
    wanted = np.zeros(shape)
    for weight, size, (i, j) in zip(g, found, listed, strict=True):
        share = weight * _share(x[i] - x[j], size, p)
        wanted[i] += share
        wanted[j] -= share
    gradient = pair_distances.pdist_backward(g, x, p, found)
    assert gradient.dtype == dtype and gradient.flags.c_contiguous
    np.testing.assert_allclose(gradient, wanted, near * 20, near * 20)


@pytest.mark.parametrize("p", ORDERS[2:])
@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_own_pairs(special: float, p: float) -> None:
    x = _rows(8, 3, "f8")
    x[5, 1] = special
    found = pair_distances.pdist(x, p)
    own = np.array([5 in pair for pair in zip(*np.triu_indices(8, 1), strict=True)])
    assert np.isfinite(found[~own]).all() and not np.isfinite(found[own]).any()
    gradient = pair_distances.pdist_backward(np.where(own, 0.0, 1.0), x, p, found)
    assert gradient.shape == x.shape


def test_rows_need_not_be_in_order() -> None:
    x = _rows(40, 6, "f8")
    for other in (x[::2, ::-1], x.T, x[::-1]):
        np.testing.assert_array_equal(
            pair_distances.pdist(other, 2), pair_distances.pdist(other.copy(), 2)
        )
