"""Sums over dimensions behind which few elements lie, against NumPy's in long double."""

from typing import Any

import numpy as np
import pytest

from rushlight._array import numpy_namespace
from rushlight._array.reduce import reduce, row_sums

SHAPES = [
    ((100, 100, 4), 1), ((400, 50, 2), 1), ((300, 7, 3), 1), ((300, 8, 32), 1), ((300, 8, 33), 1),
    ((5, 3000, 3), 1), ((5, 2048, 3), -2), ((10, 12, 13, 4), (1, 2)), ((10, 12, 13, 4), (2, 1)),
    ((10, 12, 13, 4), (0, 2)), ((100, 100, 1), 1), ((1, 5000, 2), 1), ((2000, 4), 1),
    ((3000, 2), -1), ((0, 10, 3), 1),
    ((2000, 0, 3), 1), ((70, 9, 2, 2, 2), 1), ((700, 3, 2), (1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "c8"])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_sums_equal_those_of_more_digits(
    turned: bool, keepdim: bool, dtype: str, shape: tuple[int, ...], dim: Any
) -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) * 4).astype(dtype)
    if turned:
        x = np.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1)
    exact = np.sum(
        x.astype(np.clongdouble if dtype == "c8" else np.longdouble), dim, keepdims=keepdim
    )
    found = reduce.sum(x, dim, keepdim)
    assert found.shape == exact.shape and found.dtype == (np.int64 if dtype == "i8" else x.dtype)
    assert found.flags.c_contiguous
    size = np.sum(abs(x.astype(np.complex128)), dim, keepdims=keepdim) + 1
    bound = {"f4": 1e-6, "f8": 1e-15, "f2": 2e-3, "i8": 0, "c8": 2e-6}[dtype] * 8
    assert (abs(found - exact) <= bound * size).all()


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_stays_in_its_own_sum(special: float) -> None:
    x = np.ones((100, 100, 4), np.float32)
    x[3, 5, 2] = special
    found = reduce.sum(x, 1)
    np.testing.assert_array_equal(found, np.add.reduce(x, 1))
    assert np.isfinite(np.delete(found.reshape(-1), 3 * 4 + 2)).all()


@pytest.mark.parametrize("to", [(100, 1, 4), (1, 100, 4), (100, 4), (4,), (100, 1, 1), (1, 1, 1)])
def test_gradients_of_what_was_broadcast_are_sums(to: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal((100, 100, 4))
    lead = x.ndim - len(to)
    axes = tuple(range(lead)) + tuple(k + lead for k, n in enumerate(to) if n == 1)
    found = numpy_namespace.sum_to(x, to)
    assert found.shape == to
    np.testing.assert_allclose(found, np.add.reduce(x, axes).reshape(to), rtol=1e-11, atol=1e-11)


def test_short_lines_are_summed_by_products(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    plain = row_sums.sum_short_lines

    def note(*args: Any) -> Any:
        found = plain(*args)
        asked.append(found is not None)
        return found

    monkeypatch.setattr(reduce, "sum_short_lines", note)
    x = np.ones((100, 100, 4), np.float32)
    reduce.sum(x, 1)
    reduce.sum(x[:, :, :1], 1)
    reduce.sum(x[:50], (0, 1))
    reduce.sum(np.ones((100, 4, 33), np.float32), 1)
    assert asked == [True, True, False]


@pytest.mark.parametrize("dim", [(0, 2, 3), (0, 3), (-1, 0), (0, 1, 3), (1, 3)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_last_dimensions_are_summed_before_the_others(dim: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(5).standard_normal((6, 5, 9, 33)).astype(dtype)
    expected = np.add.reduce(x.astype(np.float64), dim)
    for keepdim in (False, True):
        found = reduce.sum(x, dim, keepdim)
        wanted = np.add.reduce(x.astype(np.float64), dim, keepdims=True) if keepdim else expected
        assert found.dtype == x.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, atol=1e-4 if dtype == "f4" else 1e-12)
