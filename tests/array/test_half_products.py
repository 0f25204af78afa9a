"""Products and masks of 16-bit numbers: sums are of float32, and bits stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight._array.elementwise import masks
from rushlight._array.linalg import matmul
from rushlight._array.types import to_raw
from rushlight._base import dtypes as D

HALVES = [to_raw(D.float16), to_raw(D.bfloat16)]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(
    ("first", "second"), [((3, 300), (300, 5)), ((64, 70), (70, 65)), ((2, 8, 9), (2, 9, 4))]
)
def test_a_product_in_a_formula_is_rounded_once(
    dtype: np.dtype[np.generic], first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32).astype(dtype) for s in (first, second))
    found = matmul.product(a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    spacing = 2.0**-10 if dtype == HALVES[0] else 2.0**-7
    assert (abs(found.astype(np.float64) - exact) <= abs(exact) * spacing + 1e-3).all()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("size", [5, 2047, 5000])
def test_what_a_mask_keeps_has_the_same_bits(dtype: np.dtype[np.generic], size: int) -> None:
    special = np.array([1, -0.0, np.inf, -np.inf, np.nan, -3, 1e-7], np.float32).astype(dtype)
    rng = np.random.default_rng(1)
    x, y = rng.choice(special, size), rng.choice(special, size)
    mask = rng.random(size) < 0.5
    bits = np.where(mask, x.view(np.int16), 0)
    assert np.array_equal(masks.keep(x, mask).view(np.int16), bits)
    bits = np.where(mask, x.view(np.int16), y.view(np.int16))
    assert np.array_equal(masks.where(mask, x, y).view(np.int16), bits)
