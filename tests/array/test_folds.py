"""Reductions over dimensions with short lines, against NumPy's."""

from typing import Any

import numpy as np
import pytest

from rushlight._array.reduce import extreme, folds, norm, reduce, row_sums

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


LINES = [*SHAPES, ((300, 100), 1), ((40, 1000), -1), ((64, 2, 40, 3), 1), ((600, 7), None)]


def _drawn(shape: tuple[int, ...], dtype: str, turned: bool) -> Any:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) * 2).astype(dtype)
    if x.dtype.kind == "f":
        x = x + np.sign(x)  # not near zero, so that products don't vanish
        x.reshape(-1)[rng.integers(0, x.size, 8)] = [np.nan, np.inf, -np.inf, 0, -0.0, 1, 1, 1]
    return np.ascontiguousarray(x.T).T if turned else x


@pytest.mark.parametrize(("shape", "dim"), LINES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "i2", "u1", "?", "c8"])
@pytest.mark.parametrize("turned", [False, True])
def test_truth_and_counts_equal_numpys(
    turned: bool, dtype: str, shape: tuple[int, ...], dim: Any
) -> None:
    x = _drawn(shape, dtype, turned)
    kind = np.uint8 if dtype == "u1" else np.bool_
    for keepdim in (False, True):
        for found, plain in ((reduce.any, np.any), (reduce.all, np.all)):
            value = found(x, dim, keepdim)
            np.testing.assert_array_equal(value, plain(x, dim, keepdims=keepdim))
            assert value.dtype == kind and value.flags.c_contiguous
    value = reduce.count_nonzero(x, dim)
    np.testing.assert_array_equal(value, np.count_nonzero(x, dim))
    assert value.dtype == np.int64 and value.flags.c_contiguous


@pytest.mark.parametrize(("shape", "dim"), LINES)
@pytest.mark.parametrize("dtype", ["i8", "i4", "u1", "?"])
@pytest.mark.parametrize("turned", [False, True])
def test_sums_and_products_of_whole_numbers_equal_numpys(
    turned: bool, dtype: str, shape: tuple[int, ...], dim: Any
) -> None:
    x = _drawn(shape, dtype, turned)
    for keepdim in (False, True):
        for found, plain in ((reduce.sum, np.sum), (reduce.prod, np.prod)):
            if found is reduce.prod and isinstance(dim, tuple):
                continue
            value: Any = found(x, dim, keepdim)  # type: ignore[arg-type]
            exact = plain(x, dim, dtype=np.int64, keepdims=keepdim)
            np.testing.assert_array_equal(value, exact)
            assert value.dtype == np.int64 and value.flags.c_contiguous


@pytest.mark.parametrize(("shape", "dim"), LINES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "c8"])
@pytest.mark.parametrize("turned", [False, True])
def test_products_and_norms_equal_those_of_more_digits(
    turned: bool, dtype: str, shape: tuple[int, ...], dim: Any
) -> None:
    x = _drawn(shape, dtype, turned)
    rtol = {"f4": 2e-5, "f8": 1e-13, "f2": 4e-3, "c8": 2e-5}[dtype]
    if dtype == "f2":
        x = (x / 4).astype(dtype)
    wide = x.astype(np.complex128 if dtype == "c8" else np.longdouble)
    for keepdim in (False, True):
        with np.errstate(all="ignore"):
            if dim in (1, 2, -1) and (dtype in ("f4", "f8") or shape[dim] < 40):
                exact = np.prod(wide, dim, keepdims=keepdim).astype(x.dtype)
                small = abs(exact) < 1e-30
                value: Any = reduce.prod(x, dim, keepdim)
                assert value.dtype == x.dtype and value.shape == exact.shape
                value = np.where(small, exact, value)
                np.testing.assert_allclose(value, exact, rtol=rtol, equal_nan=True)
            for p in (2, 1, 0, 3, float("inf"), -float("inf")):
                size: Any = abs(wide)
                if p in (0, 1, 2, 3):
                    terms = (size != 0) if p == 0 else size**p
                    exact = np.sum(terms, dim, keepdims=keepdim) ** (1 / max(p, 1))
                else:
                    exact = (np.max if p > 0 else np.min)(size, dim, keepdims=keepdim)
                real = np.float32 if dtype == "c8" else x.dtype
                value = norm.vector_norm(x, p, dim, keepdim)
                assert value.dtype == real and np.shape(value) == np.shape(exact)
                np.testing.assert_allclose(value, exact.astype(real), rtol=rtol)


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33])
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_inner_products_of_short_rows_keep_to_their_own_row(special: float, length: int) -> None:
    x = np.ones((3000, length), np.float32)
    x[7, 0] = special
    found = row_sums.row_dot(x, x)
    assert np.isfinite(np.delete(found, 7)).all() and (np.delete(found, 7) == length).all()
    assert found.shape == (3000,) and not np.isfinite(found[7])


PLACED: list[tuple[tuple[int, ...], int]] = [
    ((3000, 3), 1), ((700, 16), 1), ((700, 17), 1), ((100, 100, 4), 1), ((40, 10, 15, 2), 1),
    ((30, 5, 64), 1), ((30, 5, 65), 1), ((3, 2, 9000), 1), ((32, 300), 0), ((33, 300), 0),
    ((1, 32, 200), 1), ((20000, 2), -1), ((70, 1, 90), 1), ((16, 2, 256), -2), ((5, 4, 4, 90), 2),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "dim"), PLACED)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "i2", "u1", "?"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("block", [1 << 16, 100])
def test_places_are_those_of_the_first_as_numpy_finds_them(
    monkeypatch: pytest.MonkeyPatch, block: int, turned: bool, dtype: str, shape: Any, dim: int
) -> None:
    monkeypatch.setattr(folds, "_BLOCK", block)
    rng = np.random.default_rng(0)
    x: Any = rng.integers(-3, 4, shape).astype(dtype)  # many are equal
    if x.dtype.kind == "f":
        x.reshape(-1)[rng.integers(0, x.size, 400)] = [np.nan, np.inf, -np.inf, -0.0] * 100
        x[(slice(None),) * (dim % x.ndim) + (slice(None, None, 2),)] *= -1  # zeros of both signs
    if turned:
        x = np.ascontiguousarray(x.T).T
    for along, place, find in (
        (extreme.max_along, extreme.argmax, np.argmax),
        (extreme.min_along, extreme.argmin, np.argmin),
    ):
        for keepdim in (False, True):
            wanted = find(x, dim, keepdims=True)
            exact = np.take_along_axis(x, wanted, dim)
            if not keepdim:
                wanted, exact = wanted.squeeze(dim), exact.squeeze(dim)
            values, places = along(x, dim, keepdim)
            np.testing.assert_array_equal(places, wanted)
            np.testing.assert_array_equal(values, exact)
            if x.dtype.kind == "f":
                there = ~np.isnan(exact)
                assert (np.signbit(values) == np.signbit(exact))[there].all()
            assert values.dtype == x.dtype and places.dtype == np.int64
            assert values.shape == places.shape == wanted.shape
            assert values.flags.c_contiguous and places.flags.c_contiguous
            if dtype != "?":
                np.testing.assert_array_equal(place(x, dim, keepdim), wanted)


@pytest.mark.parametrize(("shape", "dim"), [*PLACED, ((7,), 0), ((3, 4, 5), 1), ((0, 3), 1)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_elements_are_placed_along_a_dimension(keepdim: bool, shape: Any, dim: int) -> None:
    rng = np.random.default_rng(0)
    kept = list(shape)
    kept[dim] = 1
    places, g = rng.integers(0, shape[dim], kept), rng.standard_normal(kept)
    wanted = np.zeros(shape)
    np.put_along_axis(wanted, places, g, dim)
    if not keepdim:
        places, g = places.squeeze(dim), g.squeeze(dim)
    found = extreme.place_along(g, places, dim, keepdim, shape)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(extreme.take_along(found, places, dim, keepdim), g)


def test_several_elements_are_placed_along_one_line() -> None:
    places, g = np.array([[0, 2], [3, 1]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    found = extreme.place_along(g, places, 1, True, (2, 4))
    assert found.tolist() == [[1, 0, 2, 0], [0, 4, 0, 3]]
