"""Euclidean distances by one product, against those of the differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight._array.linalg.vector_products import cdist
from rushlight._array.types import ignore_float_errors


@pytest.fixture(autouse=True)
def _quiet() -> None:
    ignore_float_errors()


def _rows(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    ("first", "second"),
    [((30, 3), (4, 3)), ((4, 3), (30, 3)), ((2000, 16), (20, 16)), ((3, 1, 40, 5), (2, 26, 5)),
     ((26, 1), (26, 1)), ((100, 3000), (30, 3000))],
)  # fmt: skip
def test_they_are_those_of_differences(
    dtype: str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    x, y = _rows(first, dtype), _rows(second, dtype, 1)
    expected = np.sqrt(np.sum((x[..., :, None, :] - y[..., None, :, :]) ** 2, -1))
    apart = np.asfortranarray(x), y[..., ::-1, :][..., ::-1, :]
    for a, b in ((x, y), apart):
        found = cdist(a, b)
        assert found.dtype == x.dtype and found.flags.c_contiguous
        np.testing.assert_allclose(found, expected, atol=3e-3 if dtype == "f4" else 1e-7)


def test_no_distance_is_below_zero_and_nan_stays() -> None:
    x = _rows((60, 7), "f4") * 1000
    x[3, 2], x[5, 0] = np.nan, np.inf
    found = np.asarray(cdist(x, x))
    known = np.ones(60, bool)
    known[[3, 5]] = False
    assert not np.signbit(found[known][:, known]).any()
    assert np.isnan(found[3]).all() and np.isnan(found[:, 3]).all()
    assert not np.isfinite(found[5]).any()
    assert np.isfinite(found[known][:, known]).all()
