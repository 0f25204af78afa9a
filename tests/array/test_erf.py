"""The error function and its relatives: against `math`, against each other, at the edges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.elementwise import erf as module

FLOATS = (np.float32, np.float64)


def units_in_the_last_place(got: Any, exact: Any) -> float:
    """The largest error, in spacings of the exact values' dtype."""
    rounded = exact.astype(got.dtype)
    spacing = np.spacing(np.abs(rounded)).astype(np.float64)
    return float(np.max(np.abs(got.astype(np.float64) - exact) / spacing))


def elementwise(function: Callable[[float], float], x: Any) -> Any:
    return np.array([function(float(v)) for v in x.reshape(-1)]).reshape(x.shape)


def points(low: float, high: float, dtype: type, count: int = 20_000) -> Any:
    return np.random.default_rng(0).uniform(low, high, count).astype(dtype)


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 2.1), (np.float64, 2.5)])
def test_erf_agrees_with_math(dtype: type, limit: float) -> None:
    # The reference has half a unit of error itself in float64.
    tiny: Any = np.geomspace(1e-38, 1, 5000).astype(dtype)
    x: Any = np.concatenate([points(-7, 7, dtype), tiny, -tiny])
    assert units_in_the_last_place(module.erf(x), elementwise(math.erf, x)) <= limit


@pytest.mark.parametrize(
    ("dtype", "high", "limit"), [(np.float32, 9.0, 0.6), (np.float64, 26.0, 5.5)]
)
def test_erfc_agrees_with_math_into_the_tail(dtype: type, high: float, limit: float) -> None:
    x: Any = np.concatenate([points(-6, 2, dtype), points(0, high, dtype)])
    assert units_in_the_last_place(module.erfc(x), elementwise(math.erfc, x)) <= limit


def test_erfc_of_large_float32_numbers_reaches_the_subnormal_numbers() -> None:
    x: Any = np.array([9.5, 10.0, 10.05, 11.0], np.float32)
    exact = elementwise(math.erfc, x)
    assert np.all(np.abs(module.erfc(x) - exact) <= np.spacing(np.float32(0)))


def test_erfinv_undoes_erf_in_float64() -> None:
    y = np.concatenate([points(-3, 3, np.float64), np.geomspace(1e-300, 1e-3, 500)])
    # Near 1 the argument's own rounding is magnified by the slope of the inverse.
    slope = math.sqrt(math.pi) / 2 * np.exp(y * y)
    bound = 8e-16 * np.abs(y) + 2e-16 * slope * np.abs(module.erf(y))
    assert np.all(np.abs(module.erfinv(module.erf(y)) - y) <= bound)


def test_erfinv_is_exact_to_the_digit_in_its_tail() -> None:
    # erfc of the result must give the distance from 1, which is exact in floating point.
    distance = np.geomspace(2.0**-52, 0.5, 4000)
    x = 1 - distance
    distance = 1 - x
    y = module.erfinv(x)
    relative = np.abs(elementwise(math.erfc, y) / distance - 1)
    # d log erfc(y) = -2 y dy at worst, times the six units allowed to y.
    assert np.all(relative <= 2 * (y * y + 1) * 6 * 2.0**-53 + 1e-15)


def test_float32_erfinv_is_float64_erfinv_rounded() -> None:
    x: Any = np.concatenate([points(-1, 1, np.float32), 1 - np.float32(2**-24) * np.arange(1, 500)])
    x = x.astype(np.float32)
    assert units_in_the_last_place(module.erfinv(x), module.erfinv(x.astype(np.float64))) <= 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [12, 100_000])
def test_special_values_come_out_without_warnings(dtype: type, size: int) -> None:
    x: Any = np.resize(np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, -1e30], dtype), size)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        np.testing.assert_array_equal(module.erf(x)[:7], [1, -1, np.nan, 0, 0, 1, -1])
        np.testing.assert_array_equal(module.erfc(x)[:7], [0, 2, np.nan, 1, 1, 0, 2])
        assert np.signbit(module.erf(x)[4])
        ends: Any = np.resize(np.array([1.0, -1.0, np.nan, 0.0, -0.0, 1.5, -np.inf], dtype), size)
        expected = [np.inf, -np.inf, np.nan, 0, 0, np.nan, np.nan]
        np.testing.assert_array_equal(module.erfinv(ends)[:7], expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_subnormal_numbers_are_not_flushed(dtype: type) -> None:
    tiny = np.finfo(dtype).smallest_subnormal * 1000
    x: Any = np.array([tiny, -tiny], dtype)
    assert abs(float(module.erf(x)[0]) / float(tiny) - 2 / math.sqrt(math.pi)) < 1e-3
    assert abs(float(module.erfinv(x)[1]) / float(tiny) + math.sqrt(math.pi) / 2) < 1e-3


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "erf": module.erf,
    "erfc": module.erfc,
    "erfinv": module.erfinv,
    "gelu": module.gelu,
    "gelu_tanh": lambda x: module.gelu(x, "tanh"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_shape_and_dtype_are_kept(name: str, dtype: type) -> None:
    function = FUNCTIONS[name]
    for shape in ((), (0,), (3, 0), (2, 3, 4)):
        x: Any = np.full(shape, 0.25, dtype)
        result = function(x)
        assert isinstance(result, np.ndarray)
        assert result.shape == shape and result.dtype == dtype


@pytest.mark.parametrize("name", FUNCTIONS)
def test_strided_input_gives_what_its_copy_gives(name: str) -> None:
    function = FUNCTIONS[name]
    x = points(-0.9, 0.9, np.float32, 120).reshape(10, 12)
    np.testing.assert_array_equal(function(x.T[::2, ::-1]), function(x.T[::2, ::-1].copy()))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_an_element_does_not_depend_on_its_block(name: str, dtype: type) -> None:
    function = FUNCTIONS[name]
    x = points(-0.99, 0.99, dtype, 70_001)
    whole = function(x)
    few = function(x[65_530:65_540])
    # NumPy's own loops may treat the last elements of an array otherwise, by a unit or two.
    np.testing.assert_allclose(whole[65_530:65_540], few, rtol=8 * float(np.finfo(dtype).eps))


def test_float16_is_computed_in_float32() -> None:
    x = np.linspace(-4, 4, 999).astype(np.float16)
    np.testing.assert_array_equal(
        module.erf(x), module.erf(x.astype(np.float32)).astype(np.float16)
    )


def test_integers_are_refused() -> None:
    with pytest.raises(TypeError, match="floating point"):
        module.erf(np.arange(3))


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 2e-7), (np.float64, 1e-15)])
def test_gelu_is_x_times_the_normal_distribution(dtype: type, bound: float) -> None:
    x = points(-8, 8, dtype)
    exact = x * elementwise(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)), x)
    assert np.all(np.abs(module.gelu(x) - exact) <= bound * np.maximum(np.abs(x), 1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_tanh_gelu_is_near_the_exact_one(dtype: type) -> None:
    x = points(-10, 10, dtype)
    difference = np.abs(module.gelu(x, "tanh") - module.gelu(x))
    assert 1e-4 < float(difference.max()) < 6e-4


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_backward_is_the_slope_of_gelu(approximate: str) -> None:
    x: Any = np.concatenate([points(-6, 6, np.float64, 2000), [0.0, -0.0, 30.0, -30.0]])
    g = points(-1, 1, np.float64, x.size)
    h = 1e-5
    slope = (module.gelu(x + h, approximate) - module.gelu(x - h, approximate)) / (2 * h)
    np.testing.assert_allclose(module.gelu_backward(g, x, approximate), g * slope, atol=1e-9)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_float32_gelu_backward_agrees_with_float64(approximate: str) -> None:
    x, g = points(-9, 9, np.float32), points(-1, 1, np.float32)
    exact = module.gelu_backward(g.astype(np.float64), x.astype(np.float64), approximate)
    np.testing.assert_allclose(module.gelu_backward(g, x, approximate), exact, atol=1e-6)


def test_gelu_backward_of_huge_numbers_is_zero_or_the_gradient() -> None:
    x: Any = np.array([1e30, -1e30, 1e5, -1e5], np.float32)
    g = np.full(4, 3, np.float32)
    for approximate in ("none", "tanh"):
        np.testing.assert_array_equal(module.gelu_backward(g, x, approximate), [3, 0, 3, 0])


def test_gelu_backward_broadcasts_an_expanded_gradient() -> None:
    x = points(-2, 2, np.float32, 12).reshape(3, 4)
    g = np.broadcast_to(np.float32(2), (3, 4))
    np.testing.assert_array_equal(module.gelu_backward(g, x), module.gelu_backward(g.copy(), x))


def test_an_unknown_approximation_is_refused() -> None:
    x = np.ones(2, np.float32)
    message = "approximate argument must be either none or tanh"
    with pytest.raises(RuntimeError, match=message):
        module.gelu(x, "cubic")
    with pytest.raises(RuntimeError, match=message):
        module.gelu_backward(x, x, "cubic")


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_recorded_gradient_of_gelu_at_huge_numbers_is_that_of_arrays(approximate: str) -> None:
    x = torch.tensor([1e15, -1e15, 3e38, -3e38, -40.0], requires_grad=True)
    out = torch.nn.functional.gelu(x, approximate=approximate).sum()
    (recorded,) = torch.autograd.grad(out, x, create_graph=True)
    assert recorded.tolist() == [1.0, 0.0, 1.0, 0.0, 0.0]
