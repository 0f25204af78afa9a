"""Maxima of windows by emitted code, and elements put back to their places, against NumPy's."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from rushlight._array import kernels
from rushlight._array.kernels import max_pool
from rushlight._array.memory import parallel
from rushlight._array.nn import pooling as pool
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pool` does is NumPy's way, unless a test says otherwise."""
    monkeypatch.setattr(kernels, "LEAST", 1 << 60)


def drawn(seed: int) -> tuple[Any, tuple[Any, ...]]:
    """An array of few different numbers, and a kernel, stride, padding, dilation, output size."""
    rng = np.random.default_rng(seed)

    def pair(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, 2))

    k, stride, dilation = pair(1, 5), pair(1, 5), pair(1, 3)
    pad = tuple(int(rng.integers(0, n // 2 + 1)) for n in k)
    size = tuple(max(n, d * (m - 1) + 1) for n, d, m in zip(pair(1, 45), dilation, k))
    ceil = bool(rng.integers(2))
    shapes = zip(size, k, stride, pad, dilation)
    out = tuple(pool.pooled_size(n, m, s, p, d, ceil) for n, m, s, p, d in shapes)
    x = np.round(2 * rng.standard_normal((2, 3, *size))).astype(rng.choice(["f4", "f8"]))
    return x, (k, stride, pad, dilation, out)


@pytest.mark.parametrize("special", [None, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("seed", range(25))
def test_maxima_and_their_places_equal_numpys(seed: int, special: float | None) -> None:
    x, window = drawn(seed)
    if special is not None:
        x[np.random.default_rng(seed).random(x.shape) < 0.5] = special
    found = max_pool.largest(x, *window, True)
    assert found is not None
    values, where = pool.max_pool(x, *window)
    assert found[0].dtype == x.dtype and np.array_equal(found[0], values, equal_nan=True)
    assert found[1].dtype == np.int64 and np.array_equal(found[1], where)
    alone = max_pool.largest(x, *window, False)
    assert alone is not None and np.array_equal(alone[0], values, equal_nan=True)


@pytest.mark.parametrize("seed", range(25))
def test_elements_put_back_equal_numpys(seed: int) -> None:
    x, window = drawn(seed)
    g, where = pool.max_pool(x, *window)
    size = x.shape[2:]
    found = max_pool.place(g, where, size)
    assert found.dtype == x.dtype
    assert np.array_equal(found, pool.place_in_planes(g, where, size))  # whole numbers


def test_a_place_outside_of_the_plane_is_left_to_numpy() -> None:
    g, where = np.ones((2, 4)), np.zeros((2, 4), np.int64)
    where[1, 2] = 9
    assert max_pool.place(g, where, (3, 3)) is None
    where[1, 2] = -1
    assert max_pool.place(g, where, (3, 3)) is None
    assert max_pool.place(g, where.astype("i4"), (3, 3)) is None
    assert max_pool.place(g.astype("i8"), where, (3, 3)) is None


def test_what_is_not_taken_is_left_to_numpy() -> None:
    window = ((2, 2), (2, 2), (0, 0), (1, 1), (2, 2))
    x = np.ones((2, 4, 4))
    assert max_pool.largest(x.astype("i8"), *window, True) is None
    assert max_pool.largest(x.swapaxes(1, 2), *window, True) is None
    one = ((2,), (2,), (0,), (1,), (2,))
    assert max_pool.largest(x, *one, True) is None


def test_large_arrays_take_this_way_with_the_digits_of_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 1)
    x = np.random.default_rng(8).standard_normal((8, 8, 60, 60)).astype("f4")
    window = ((3, 3), (2, 2), (1, 1), (1, 1), (30, 30))
    before = parallel.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            values, where = pool.max_pool(x, *window)
            only = pool.max_values(x, *window)
            results.append([values, where, only, pool.place_in_planes(values, where, (60, 60))])
    finally:
        parallel.set_num_threads(before)
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))
    assert np.array_equal(results[0][0], results[0][2])
