"""Running sums, products and extremes along any dimension, to the bit of those step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight._array import numpy_namespace
from rushlight._array.reduce import scan

SHAPES: list[tuple[tuple[int, ...], int]] = [
    ((64, 10, 8, 8), 1), ((40, 20, 4), 1), ((40, 20, 16), 1), ((40, 2, 17), 1), ((300, 200), 0),
    ((2, 300, 100), 1), ((1, 5, 192), 1), ((1, 5, 191), 1), ((300, 8), 1), ((300, 7), 1),
    ((30, 7, 8), 2), ((7, 5, 3, 40), -2), ((200, 1, 3), 1), ((0, 3, 300), 1), ((3, 0, 300), 1),
    ((20, 9, 100, 2), 1), ((5,), 0),
]  # fmt: skip


def _along(ufunc: Any, x: Any, dim: int, wide: Any, stored: Any) -> Any:
    steps = np.moveaxis(x.astype(wide), dim, 0).copy()
    for k in range(1, len(steps)):
        steps[k] = ufunc(steps[k - 1], steps[k])
    return np.moveaxis(steps, 0, dim).astype(stored)


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "i2", "u1", "?", "c8"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("block", [1 << 15, 100])
def test_scans_are_those_step_by_step(
    monkeypatch: pytest.MonkeyPatch, block: int, turned: bool, dtype: str, shape: Any, dim: int
) -> None:
    monkeypatch.setattr(scan, "_BLOCK", block)
    x = (np.random.default_rng(0).standard_normal(shape) * 3).astype(dtype)
    if x.dtype.kind == "f" and x.size > 200:
        x.reshape(-1)[::37][:4] = [np.nan, np.inf, -np.inf, -0.0]
    if turned:
        x = np.ascontiguousarray(x.T).T
    before = x.copy()
    wide = {"f4": "f8", "f8": "f8", "f2": "f4", "c8": "c16"}.get(dtype, "i8")
    stored = dtype if x.dtype.kind in "fc" else "i8"
    for found, ufunc in ((scan.cumsum(x, dim), np.add), (scan.cumprod(x, dim), np.multiply)):
        assert found.dtype == stored and found.flags.c_contiguous
        np.testing.assert_array_equal(found, _along(ufunc, x, dim, wide, stored))
    if dtype != "c8":
        values: Any = scan.cummax(x, dim)[0]
        np.testing.assert_array_equal(values, _along(np.maximum, x, dim, x.dtype, dtype))
    if x.dtype.kind == "f":
        logs = scan.logcumsumexp(x, dim)
        np.testing.assert_array_equal(logs, _along(np.logaddexp, x, dim, wide, stored))
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "c8"])
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_those_before_and_shifts(
    turned: bool, dtype: str, shape: Any, dim: int
) -> None:
    x = (np.random.default_rng(0).standard_normal(shape) * 3).astype(dtype)
    if turned:
        x = np.ascontiguousarray(x.T).T
    wide = {"f4": "f8", "f8": "f8", "f2": "f4", "c8": "c16"}[dtype]
    for by in (1, -1):
        kept = np.roll(x, -by, dim)
        if x.shape[dim]:
            np.moveaxis(kept, dim, 0)[-1 if by > 0 else 0] = 0
        found = scan.shift_along(x, dim, by)
        assert found.dtype == dtype and found.flags.c_contiguous
        np.testing.assert_array_equal(found, kept)
    for back in (False, True):
        rows = np.moveaxis(x.astype(wide), dim, 0)
        rows = rows[::-1] if back else rows
        steps = np.ones_like(rows)
        for k in range(1, len(rows)):
            steps[k] = rows[0] if k == 1 else steps[k - 1] * rows[k - 1]
        wanted = np.moveaxis(steps[::-1] if back else steps, 0, dim).astype(dtype)
        found = scan.exclusive_products(x, dim, back)
        assert found.dtype == dtype and found.flags.c_contiguous
        np.testing.assert_allclose(found, wanted, {"f2": 1e-3, "f8": 1e-15}.get(dtype, 1e-6))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 1), (1, 2), (-1, -2), (2, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "c8"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_of_formulas_are_numpys(keepdims: bool, dtype: str, axis: Any) -> None:
    for shape in ((30, 50, 3), (3, 4, 5), (3, 20, 300)):
        x: Any = (np.random.default_rng(0).standard_normal(shape) * 3).astype(dtype)
        for other in (x, x.swapaxes(0, 1)):
            found: Any = numpy_namespace.sum(other, axis, keepdims)
            wanted = np.sum(other, axis, keepdims=keepdims, dtype=np.add.reduce(other, 0).dtype)
            assert found.shape == wanted.shape and found.dtype == wanted.dtype
            near = {"f2": 0.3, "f8": 1e-10, "i8": 0}.get(dtype, 2e-3)
            np.testing.assert_allclose(found, wanted, near, near)
