"""Moments: against plain float64 NumPy, gradients against central differences."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.reduce import moments as module
from tests.array import _norms as norms


def normal(*shape: int, scale: float = 1.0, offset: float = 0.0, dtype: type = np.float64) -> Any:
    seed = sum(shape) + len(shape)
    values = np.random.default_rng(seed).standard_normal(shape) * scale + offset
    return np.asarray(values).astype(dtype)


def slope(loss: Callable[[Any], Any], x: Any, direction: Any, h: float = 1e-6) -> float:
    """The derivative of a number-valued function along a direction, by central differences."""
    return float((loss(x + h * direction) - loss(x - h * direction)) / (2 * h))


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((100, 64), 1), ((64, 100), 0), ((30_001,), None), ((2, 9000), 1), ((4, 3, 5, 6), (0, 2, 3))],
)
def test_variance_and_mean_are_rounded_once(
    offset: float, shape: tuple[int, ...], axis: Any
) -> None:
    x = normal(*shape, offset=offset, dtype=np.float32)
    exact = x.astype(np.float64)
    for correction, keepdims in ((1, False), (0, True), (2.5, False)):
        variance, mean = module.var_mean(x, axis, correction, keepdims)
        expected = exact.var(axis=axis, ddof=correction, keepdims=keepdims)
        assert variance.shape == expected.shape and variance.dtype == np.float32
        np.testing.assert_allclose(variance, expected, rtol=7e-8)
        np.testing.assert_allclose(
            module.std(x, axis, correction, keepdims), np.sqrt(expected), 2e-7
        )
        middle = exact.mean(axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(mean, middle, rtol=7e-8, atol=1e-12)
        np.testing.assert_array_equal(module.var(x, axis, correction, keepdims), variance)


def test_variance_of_few_and_special_elements() -> None:
    assert np.isnan(module.var(np.array([3.0], np.float32)))
    assert module.var(np.array([3.0], np.float32), correction=0) == 0
    assert np.isnan(module.var(np.empty((0, 3), np.float32), 0)).tolist() == [True] * 3
    assert module.var(np.empty((3, 0, 2)), 2).shape == (3, 0)
    assert np.isnan(module.var(np.array([1.0, np.nan, 2.0])))
    assert np.isnan(module.var(np.array([1.0, np.inf, 2.0])))
    assert module.var(np.asarray(2.0), correction=0).shape == ()
    assert module.var(np.array([1.0, 2.0]), correction=3) == np.inf
    assert module.var(np.full(1000, 0.1, np.float32)) < 1e-30


def plain_layer_norm(x: Any, axes: tuple[int, ...], weight: Any, bias: Any, eps: float) -> Any:
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


@pytest.mark.parametrize(
    ("shape", "normalized"), [((6, 7, 33), 1), ((5, 4, 6), 2), ((40,), 1), ((2, 9000), 1)]
)
@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm_and_its_gradients(
    shape: tuple[int, ...], normalized: int, affine: bool
) -> None:
    axes = tuple(range(len(shape) - normalized, len(shape)))
    x, g, direction = normal(*shape, offset=3), normal(*shape, scale=2), normal(*shape, scale=0.5)
    inner = shape[len(shape) - normalized :]
    weight, bias = (normal(*inner, offset=1), normal(*inner, scale=3)) if affine else (None, None)
    y, mean, rstd = norms.layer_norm(x, normalized, weight, bias, 1e-3)
    np.testing.assert_allclose(y, plain_layer_norm(x, axes, weight, bias, 1e-3), atol=1e-12)
    assert mean.shape == rstd.shape == shape[: len(shape) - normalized] + (1,) * normalized
    d_x, d_weight, d_bias = norms.layer_norm_backward(g, x, normalized, mean, rstd, weight)

    def loss(x: Any, weight: Any, bias: Any) -> Any:
        return (g * plain_layer_norm(x, axes, weight, bias, 1e-3)).sum()

    expected = slope(lambda v: loss(v, weight, bias), x, direction)
    assert abs((d_x * direction).sum() - expected) < 1e-5
    if affine:
        along = normal(*inner)
        assert (
            abs((d_weight * along).sum() - slope(lambda v: loss(x, v, bias), weight, along)) < 1e-5
        )
        assert abs((d_bias * along).sum() - slope(lambda v: loss(x, weight, v), bias, along)) < 1e-5


def test_only_the_wanted_layer_norm_gradients_are_computed() -> None:
    x = normal(6, 8)
    _, mean, rstd = norms.layer_norm(x, 1)
    every = norms.layer_norm_backward(x, x, 1, mean, rstd)
    for need in list(itertools.product([False, True], repeat=3))[1:]:
        some = norms.layer_norm_backward(x, x, 1, mean, rstd, need=need)
        for got, full, wanted in zip(some, every, need, strict=True):
            assert (got is not None) == wanted
            if wanted:
                np.testing.assert_array_equal(got, full)


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_float32_layer_norm_is_accurate(offset: float) -> None:
    x = normal(200, 128, offset=offset, dtype=np.float32)
    y, _, _ = norms.layer_norm(x, 1)
    exact = plain_layer_norm(x.astype(np.float64), (1,), None, None, 1e-5)
    # An offset costs the digits that the mean, rounded to float32, doesn't have.
    np.testing.assert_allclose(y, exact, atol=2e-6 + 3e-7 * offset)


def test_layer_norm_of_half_precision_and_of_nothing() -> None:
    x = normal(4, 6, dtype=np.float16)
    y, mean, rstd = norms.layer_norm(x, 1)
    assert y.dtype == np.float16 and mean.dtype == rstd.dtype == np.float32
    assert norms.layer_norm_backward(x, x, 1, mean, rstd)[0].dtype == np.float16
    empty = np.empty((0, 6), np.float32)
    y, mean, rstd = norms.layer_norm(empty, 1)
    assert y.shape == (0, 6) and mean.shape == (0, 1)
    d_x, d_weight, _ = norms.layer_norm_backward(empty, empty, 1, mean, rstd)
    assert d_x.shape == (0, 6) and not d_weight.any()


@pytest.mark.parametrize("least", [1, sys.maxsize], ids=["kernel", "numpy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("size", [5, 17_000, 70_001])
def test_all_elements_at_once(
    monkeypatch: pytest.MonkeyPatch, size: int, dtype: type, least: int
) -> None:
    monkeypatch.setattr(kernels, "LEAST", least)
    scales = [(1, 0), (1, 100)]
    scales += [] if dtype is np.float16 else [(1e15, 1e17), (1e-18, 0), (0, 0.1), (1e-3, -1e3)]
    for scale, offset in scales:
        x = normal(size, scale=scale, offset=offset, dtype=dtype)
        exact = x.astype(np.longdouble)
        variance, mean = module.var_mean(x, None, 1)
        rtol = {np.float16: 5e-4, np.float32: 7e-8, np.float64: 1e-11}[dtype]
        near = rtol * float(np.abs(exact).max()) * 1e-3
        np.testing.assert_allclose(mean, exact.mean().astype(dtype), 2 * rtol, near)
        np.testing.assert_allclose(variance, exact.var(ddof=1).astype(dtype), 2 * rtol, near**2)
    for special in (np.inf, -np.inf, np.nan):
        x = normal(size, dtype=dtype)
        x[3] = special
        variance, mean = module.var_mean(x)
        assert np.isnan(variance)
        np.testing.assert_array_equal(mean, np.asarray(np.nan, dtype))
