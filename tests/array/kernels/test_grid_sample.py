"""Sampling at points of a grid by emitted code, against NumPy's way."""

from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.kernels import grid_sample
from rushlight._array.nn import grid_sample as grid
from rushlight._native.llvm import target

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

SHAPES = [((2, 3, 5, 7), (6, 9)), ((1, 2, 1, 4), (3, 11)), ((2, 1, 8, 8), (4, 4)),
          ((2, 2, 3, 4, 5), (2, 3, 4)), ((1, 5, 2, 6, 1), (1, 7, 5))]  # fmt: skip


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", [grid.ZEROS, grid.BORDER, grid.REFLECTION])
@pytest.mark.parametrize("mode", [grid.BILINEAR, grid.NEAREST])
@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_and_gradients_equal_numpys(
    monkeypatch: pytest.MonkeyPatch, dtype: Any, case: Any, mode: int, padding: int, align: bool
) -> None:
    shape, points = case
    rng = np.random.default_rng(2)
    x = rng.standard_normal(shape).astype(dtype)
    far = 8.3 if padding == grid.REFLECTION else 1.4
    at = rng.uniform(-far, far, (shape[0], *points, len(points))).astype(dtype)
    lost = at.copy()
    lost.reshape(-1)[5] = np.nan
    monkeypatch.setattr(kernels, "LEAST", 1 << 60)
    exact = grid.grid_sample(x, at, mode, padding, align)
    g = rng.standard_normal(exact.shape).astype(dtype)
    tolerance = 3e-5 if dtype is np.float32 else 1e-12
    found = grid_sample.grid_sample(x, at, mode, padding, align)
    np.testing.assert_allclose(found, exact, rtol=0, atol=tolerance)
    with np.errstate(all="ignore"):
        exact = grid.grid_sample(x, lost, mode, padding, align)
    found = grid_sample.grid_sample(x, lost, mode, padding, align)
    if padding == grid.REFLECTION:
        assert found is None
    else:
        np.testing.assert_allclose(found, exact, rtol=0, atol=tolerance)
    for need in [(True, True), (True, False), (False, True)]:
        wanted = grid.grid_sample_backward(g, x, at, mode, padding, align, need)
        made = grid_sample.grid_sample_backward(g, x, at, mode, padding, align, need)
        for a, b in zip(made, wanted, strict=True):
            if b is None:
                assert a is None
            else:
                np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * len(points) * 8)


def test_infinite_elements_reach_only_the_points_beside_them() -> None:
    x = np.zeros((1, 1, 6, 6), np.float32)
    x[0, 0, 0, 0] = np.inf
    at = np.random.default_rng(1).uniform(0.2, 3, (1, 8, 8, 2)).astype(np.float32)
    assert np.isfinite(grid_sample.grid_sample(x, at, 0, 0, False)).all()


def test_other_ways_are_left_to_numpy() -> None:
    x, at = np.zeros((1, 1, 4, 4), np.float32), np.zeros((1, 2, 2, 2), np.float32)
    assert grid_sample.grid_sample(x, at, grid.BICUBIC, grid.ZEROS, False) is None
    far = np.full_like(at, 1e7)
    assert grid_sample.grid_sample(x, far, grid.BILINEAR, grid.REFLECTION, False) is None
    assert grid_sample.grid_sample(x, at.astype(np.float64), 0, 0, False) is None
    assert grid_sample.grid_sample(x[:, :, ::2], at, 0, 0, False) is None
