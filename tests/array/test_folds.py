"""Largest and smallest elements over dimensions with short lines, against NumPy's."""

from typing import Any

import numpy as np
import pytest

from rushlight._array.reduce import extreme, folds

SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((100, 100, 4), 1), ((100, 100, 4), -1), ((100, 100, 4), (2,)), ((100, 100, 4), (1, 2)),
    ((400, 50, 2), 1), ((3000, 2), 1), ((17, 33, 16), 1), ((17, 33, 17), 1), ((300, 16), 1),
    ((300, 17), 1), ((16, 257, 1), 1), ((5000, 1, 2), 1), ((40, 3, 5, 7), 1), ((40, 3, 5, 7), 2),
    ((20000, 7), 1), ((2, 40000, 3), 1), ((16, 9000, 3), 1), ((10, 10), 0), ((4096,), 0),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_extremes_equal_numpys(
    turned: bool, keepdim: bool, dtype: str, shape: tuple[int, ...], dim: Any
) -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) * 50).astype(dtype)
    if x.dtype.kind == "f":
        x.reshape(-1)[rng.integers(0, x.size, 20)] = np.nan
        x.reshape(-1)[rng.integers(0, x.size, 20)] = [np.inf, -np.inf] * 10
    if turned:
        x = np.ascontiguousarray(x.T).T
    for found, plain in ((extreme.amax, np.max), (extreme.amin, np.min)):
        exact = plain(x, dim, keepdims=keepdim)
        value: Any = found(x, dim, keepdim)
        np.testing.assert_array_equal(value, exact)
        assert value.dtype == x.dtype and value.shape == exact.shape
        assert value.flags.c_contiguous and not np.may_share_memory(value, x)


def test_short_lines_are_folded_and_long_ones_left_to_numpy() -> None:
    x = np.ones((100, 100, 4), np.float32)
    assert folds._fold_lines(np.maximum, x, 1) is not None
    assert folds._fold_lines(np.maximum, x, 2) is not None
    assert folds._fold_lines(np.maximum, x, 0) is None
    assert folds._fold_lines(np.maximum, x.reshape(100, 400), 1) is None
    assert folds._fold_lines(np.maximum, x.swapaxes(0, 1), 1) is None
    assert folds._fold_lines(np.maximum, np.ones((5000, 2), "c8"), 1) is None
