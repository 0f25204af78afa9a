"""Row operations: against plain float64 NumPy, and gradients against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array.types import ignore_float_errors
from rushlight._table import ROWS
from rushlight._table.reduce.softmax import LOG_SOFTMAX, SOFTMAX

softmax, log_softmax = SOFTMAX.op.raw, LOG_SOFTMAX.op.raw
logsumexp = ROWS["logsumexp"][0].op.raw


@pytest.fixture(autouse=True)
def _as_in_calls() -> None:
    ignore_float_errors()


def normal(*shape: int, scale: float = 1.0, offset: float = 0.0, dtype: type = np.float64) -> Any:
    seed = sum(shape) + len(shape)
    values = np.random.default_rng(seed).standard_normal(shape) * scale + offset
    return np.asarray(values).astype(dtype)


def slope(loss: Callable[[Any], Any], x: Any, direction: Any, h: float = 1e-6) -> float:
    """The derivative of a number-valued function along a direction, by central differences."""
    return float((loss(x + h * direction) - loss(x - h * direction)) / (2 * h))


def plain_log_softmax(x: Any, axis: int) -> Any:
    x = x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


# The last ones leave the range in which the row maximum is not needed.
RANGES = [(1.0, 0.0), (10.0, 0.0), (3.0, 55.0), (20.0, -300.0), (1.0, 10_000.0)]


@pytest.mark.parametrize(("scale", "offset"), RANGES)
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize(("dtype", "eps"), [(np.float32, 1.2e-7), (np.float64, 2.3e-16)])
def test_softmax_and_log_softmax_are_accurate(
    scale: float, offset: float, axis: int, dtype: type, eps: float
) -> None:
    x: Any = normal(7, 40, 33, scale=scale, offset=offset, dtype=dtype)
    exact = plain_log_softmax(x, axis)
    # exp magnifies the rounding of a logit's distance from the row maximum.
    distance = 8 + 1.5 * np.abs(exact)
    result = softmax(x, axis)
    assert result.dtype == dtype
    least = 4 * float(np.finfo(dtype).smallest_subnormal)
    assert np.all(np.abs(result - np.exp(exact)) <= eps * distance * np.exp(exact) + least)
    assert np.all(np.abs(log_softmax(x, axis) - exact) <= eps * distance)


@pytest.mark.parametrize(("scale", "offset"), RANGES)
def test_logsumexp_is_accurate(scale: float, offset: float) -> None:
    x: Any = normal(40, 33, scale=scale, offset=offset, dtype=np.float32)
    wide = x.astype(np.float64)
    top = wide.max(1)
    exact = np.log(np.exp(wide - top[:, None]).sum(1)) + top
    assert np.all(np.abs(logsumexp(x, 1) - exact) <= 1.2e-7 * np.abs(exact) + 4e-7)


def test_logsumexp_reduces_any_axes() -> None:
    x: Any = normal(3, 4, 5)
    for axis in (0, -2, (0, 2), (2, 1), (0, 1, 2)):
        expected = np.log(np.exp(x).sum(axis=axis))
        np.testing.assert_allclose(logsumexp(x, axis), expected)
        kept = logsumexp(x, axis, True)
        assert kept.shape == x.sum(axis=axis, keepdims=True).shape
    assert logsumexp(np.asarray(3.0), 0) == 3.0


INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [[1, -INF, 2], [-INF, -INF, -INF], [INF, 1, 2], [NAN, 1, 2], [INF, -INF, 0], [INF, NAN, 0]]
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_with_infinities_and_nan(dtype: type) -> None:
    x: Any = SPECIAL.astype(dtype)
    total = logsumexp(x, 1)
    probabilities = softmax(x, 1)
    logs = log_softmax(x, 1)
    np.testing.assert_allclose(
        total, [np.log(np.exp(1) + np.exp(2)), -INF, INF, NAN, INF, NAN], 1e-6
    )
    assert probabilities[0, 1] == 0 and logs[0, 1] == -INF
    np.testing.assert_allclose(probabilities[0].sum(), 1, 1e-6)
    assert np.isnan(probabilities[1]).all() and np.isnan(probabilities[3]).all()
    assert np.isnan(probabilities[2, 0]) and np.isnan(logs[1]).all()
    assert logsumexp(np.empty((2, 0)), 1).tolist() == [-INF, -INF]


def test_a_row_far_below_its_block_keeps_its_digits() -> None:
    x: Any = normal(4, 8, dtype=np.float32)
    x[2] -= 200
    np.testing.assert_allclose(softmax(x, -1), np.exp(plain_log_softmax(x, 1)), rtol=2e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_gradients_agree_with_differences(name: str, axis: int) -> None:
    function, backward = ROWS[name][0].op.raw, ROWS[name][0].op.formulas[0]
    x, g, direction = normal(4, 5, 6), normal(4, 5, 6, scale=2), normal(4, 5, 6, offset=0.3)
    gradient = backward(g, function(x, axis), axis)
    expected = slope(lambda v: (g * function(v, axis)).sum(), x, direction)
    assert abs((gradient * direction).sum() - expected) < 1e-7


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_odd_shapes(name: str) -> None:
    function, backward = ROWS[name][0].op.raw, ROWS[name][0].op.formulas[0]
    for shape, axis in (((), 0), ((0,), 0), ((3, 0), 1), ((0, 3), 1), ((5,), -1), ((1, 1), 0)):
        x = np.zeros(shape, np.float32)
        y = function(x, axis)
        assert isinstance(y, np.ndarray) and y.shape == shape and y.dtype == np.float32
        assert backward(x, y, axis).shape == shape
    x = normal(6, 8, dtype=np.float32)
    np.testing.assert_array_equal(function(x[::2, ::-1], -1), function(x[::2, ::-1].copy(), -1))
    np.testing.assert_allclose(function(x.T, -1), function(x, 0).T, rtol=1e-5, atol=1e-7)
    half = x.astype(np.float16)
    assert function(half, -1).dtype == np.float16
    np.testing.assert_array_equal(
        function(half, -1), function(half.astype(np.float32), -1).astype(np.float16)
    )
