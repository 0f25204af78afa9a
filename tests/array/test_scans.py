"""Running sums, products and extremes along any dimension, to the bit of those step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
