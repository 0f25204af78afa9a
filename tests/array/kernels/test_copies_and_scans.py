"""Copies that exchange axes, and running sums and products, by emitted code."""

from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.kernels import scans, transpose
from rushlight._array.reduce import scan
from rushlight._array.types import in_order_copy
from rushlight._native.llvm import target

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

# Shapes, the order of their axes, and whether a kernel copies them.
LAYOUTS = [
    ((37, 53), (1, 0), True), ((4, 9, 33), (0, 2, 1), True), ((300, 64), (1, 0), True),
    ((3, 20, 5, 6), (0, 3, 1, 2), False), ((3, 17, 5, 6), (0, 2, 3, 1), True),
    ((3, 5, 6, 17), (0, 3, 1, 2), True), ((2, 3, 10, 16), (0, 1, 3, 2), True),
    ((2, 40, 3, 16), (0, 2, 3, 1), True), ((5, 6, 7, 8), (3, 2, 1, 0), False),
    ((4, 8, 6, 32), (0, 2, 1, 3), False), ((7, 9), (1, 0), False),
]  # fmt: skip


@pytest.mark.parametrize("case", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "c8"])
def test_a_copy_in_order_has_the_same_elements(case: Any, dtype: str) -> None:
    shape, order, taken = case
    whole = np.random.default_rng(0).integers(0, 1000, shape).astype(dtype)
    x = whole.transpose(order)
    found = transpose.copy_in_order(x)
    assert (found is not None) == taken
    if found is not None:
        assert found.flags.c_contiguous and found.shape == x.shape and (found == x).all()
    for part in (whole[1:].transpose(order), whole[..., ::2].transpose(order), x[::-1]):
        found = transpose.copy_in_order(part)
        assert found is None or (found.flags.c_contiguous and (found == part).all())


def test_elements_that_share_memory_and_other_sizes_are_left_to_numpy() -> None:
    row = np.arange(40.0)
    assert transpose.copy_in_order(np.broadcast_to(row, (50, 40)).T) is None
    assert transpose.copy_in_order(np.zeros((50, 40), np.int16).T) is None
    assert transpose.copy_in_order(np.zeros((50, 40), np.complex128).T) is None


def test_nan_bits_are_moved_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", 0)
    bits = np.random.default_rng(1).integers(0, 1 << 32, (64, 40), dtype=np.uint32)
    found = in_order_copy(bits.view(np.float32).T)
    assert found.flags.c_contiguous and (found.view(np.uint32) == bits.T).all()


@pytest.mark.parametrize("shape", [(3, 7), (8, 100), (19, 33), (1, 5), (2, 4, 9), (5000,)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_running_sums_and_products(shape: tuple[int, ...], dtype: Any) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    exact = np.cumsum(x, -1, np.float64).astype(dtype)
    np.testing.assert_array_equal(scans.running(x, False), exact)
    exact = np.cumprod(x, -1, np.float64).astype(dtype)
    np.testing.assert_array_equal(scans.running(x, True), exact)
    exact = np.cumsum(x[..., ::-1], -1, np.float64)[..., ::-1].astype(dtype)
    np.testing.assert_array_equal(scans.running(x, False, True), exact)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_scans_give_the_same_with_and_without_kernels(
    monkeypatch: pytest.MonkeyPatch, dim: int
) -> None:
    x = np.random.default_rng(0).standard_normal((60, 50)).astype(np.float32)
    found = []
    for least in (0, 1 << 60):
        monkeypatch.setattr(kernels, "LEAST", least)
        found.append([scan.cumsum(x, dim), scan.cumprod(x, dim), scan.reverse_cumsum(x, dim)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
