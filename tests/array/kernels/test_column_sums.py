"""Sums over axes that aren't the last by emitted code, against NumPy's."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels, numpy_namespace
from rushlight._array.kernels import column_sums
from rushlight._array.memory import parallel
from rushlight._array.reduce import reduce
from rushlight._native.llvm import target

pytest.importorskip("llvmlite")
if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((9, 16), (0,)), ((1, 300), (0,)), ((50, 1), (0,)), ((7, 2100), (0,)), ((3, 40, 65), (1,)),
    ((3, 40, 65), (0,)), ((3, 40, 65), (0, 1)), ((2, 3, 4, 5, 17), (1, 2)), ((40, 1, 2000), (0, 1)),
    ((2, 3, 4, 1100), (2,)), ((300, 5, 20), (1,)), ((2, 3, 4, 5), (1,)), ((1, 1, 64), (0,)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels for any size."""
    monkeypatch.setattr(kernels, "LEAST", 1)
    yield


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    x = np.random.default_rng(3).standard_normal(shape).astype(dtype)
    x.reshape(-1)[3:8] = [np.inf, 0.0, -0.0, np.nan, -np.inf]
    return x


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_have_numpys_digits(dtype: str) -> None:
    for shape, axes in CASES:
        x = drawn(shape, dtype)
        with np.errstate(all="ignore"):
            expected = np.add.reduce(x, axes)
            found = column_sums.add_lines(x, axes)
        if shape[-1] < 16 and x.ndim > 1 and np.prod(shape[max(axes) + 1 :]) < 16:
            assert found is None
            continue
        assert found is not None and found.dtype == x.dtype and found.shape == expected.shape
        assert found.flags.c_contiguous and np.array_equal(found, expected, equal_nan=True)


def test_threads_change_no_digit() -> None:
    before = parallel.get_num_threads()
    try:
        for shape, axes in (((90, 50, 100), (0,)), ((90, 50, 100), (1,)), ((200, 3000), (0,))):
            x = np.random.default_rng(1).standard_normal(shape).astype("f4")
            found = []
            for threads in (1, 2, 3):
                parallel.set_num_threads(threads)
                found.append(column_sums.add_lines(x, axes))
            assert all(np.array_equal(found[0], other) for other in found[1:])
    finally:
        parallel.set_num_threads(before)


def test_what_is_left_to_numpy() -> None:
    x = np.ones((20, 30, 40), np.float32)
    assert column_sums.add_lines(x, (0, 2)) is None  # not beside each other
    assert column_sums.add_lines(x, (2,)) is None
    assert column_sums.add_lines(x, ()) is None
    for other in (x[:0], x[..., :0], x[:, ::2], x.T, x.astype("i4"), x.astype("c8")):
        assert column_sums.add_lines(other, (0,)) is None


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "c8"])
def test_sums_and_means_are_what_they_were(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    for shape, axes in (*CASES, ((90, 60, 70), (0, 2)), ((90, 60, 70), (-2,)), ((5000,), (0,))):
        x = np.random.default_rng(3).standard_normal(shape).astype(dtype)
        for function in (reduce.sum, *([reduce.mean] if dtype[0] in "fc" else [])):
            for dim in (axes, axes[0], axes[::-1], ()):
                for keepdim in (True, False):
                    monkeypatch.setattr(kernels, "LEAST", 1)
                    found = function(x, dim, keepdim)
                    monkeypatch.setattr(kernels, "LEAST", 1 << 60)
                    expected = function(x, dim, keepdim)
                    assert found.dtype == expected.dtype and found.shape == expected.shape
                    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_gradients_are_summed_to_the_shape_that_was_broadcast() -> None:
    x = np.random.default_rng(3).standard_normal((12, 30, 40)).astype("f4")
    for shape, axes in (((30, 40), 0), ((12, 1, 40), 1), ((1, 1, 40), (0, 1)), ((40,), (0, 1)),
                        ((12, 30, 1), 2), ((1, 30, 1), (0, 2)), ((1,), None)):  # fmt: skip
        expected = np.add.reduce(x, axes).reshape(shape)
        np.testing.assert_allclose(numpy_namespace.sum_to(x, shape), expected, rtol=1e-4, atol=1e-4)
