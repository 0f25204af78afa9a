"""Reductions of arrays whose dimensions lie in another order: values, and a result in C order."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from rushlight._array.reduce import reduce as reductions
from rushlight._array.reduce.folds import by_memory_order, fold

SHAPE = (9, 8, 7, 16)


def drawn(order: tuple[int, ...], dtype: str = "f4", shape: tuple[int, ...] = SHAPE) -> Any:
    """An array of a shape whose dimensions lie in an order."""
    x = np.random.default_rng(0).integers(-9, 9, [shape[d] for d in order]).astype(dtype)
    return x.transpose(np.argsort(order))


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_sums_and_extremes(order: tuple[int, ...]) -> None:
    x = drawn(order)
    plain = np.ascontiguousarray(x)
    for dim in (0, 1, 2, 3, -1, (0, 1), (1, 3), (0, 2, 3), (-1, 0), (0, 1, 2, 3)):
        axes = dim if isinstance(dim, tuple) else (dim,)
        for keepdim in (False, True):
            expected = plain.sum(axes, keepdims=keepdim)
            found = reductions.sum(x, axes, keepdim)
            assert np.array_equal(found, expected) and found.flags.c_contiguous, (dim, keepdim)
            assert found.strides == reductions.sum(plain, axes, keepdim).strides
            for ufunc in (np.maximum, np.minimum, np.add):
                found = fold(ufunc, x, axes, keepdim)
                assert np.array_equal(found, ufunc.reduce(plain, axes, keepdims=keepdim))


def test_integers_and_what_is_not_a_number() -> None:
    x = drawn((3, 1, 0, 2), "i8")
    assert np.array_equal(fold(np.add, x, (2,), False), x.sum(2))
    y = drawn((2, 3, 1, 0))
    y[3, 2, 1, 5], y[0, 0, 0, 0], y[1, 1, 1, 1] = np.nan, -0.0, np.inf
    for axis in ((0,), (2,), (0, 3)):
        found, expected = fold(np.maximum, y, axis, False), np.maximum.reduce(y, axis)
        assert np.array_equal(found, expected, equal_nan=True)


def test_what_is_left_to_others() -> None:
    never: Any = None  # is never called
    x = drawn((3, 2, 1, 0))
    assert by_memory_order(never, x[::2], (0,), False) is None  # gaps
    assert by_memory_order(never, x, (3,), False) is None  # elements side by side are kept
    assert by_memory_order(never, x, None, False) is None
    assert by_memory_order(never, np.broadcast_to(x[:1], SHAPE), (0,), False) is None
    assert by_memory_order(never, x[..., ::-1], (0,), False) is None
    assert by_memory_order(lambda *_: None, x, (0,), False) is None


def test_sizes_of_one() -> None:
    for shape in ((600, 1, 8), (1, 600, 8), (8, 600, 1), (1, 1, 4800)):
        for order in permutations(range(3)):
            x = drawn(order, "f4", shape)
            for dim in range(3):
                for keepdim in (False, True):
                    found = reductions.sum(x, (dim,), keepdim)
                    assert np.array_equal(found, x.sum(dim, keepdims=keepdim))
