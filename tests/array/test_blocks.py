"""Large arrays go block by block: the same elements as those of many small arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.elementwise import (
    activations as logistic,
    blocked as blocks,
    comparison as relations,
    complexes,
    division as quotients,
    rounding,
)
from rushlight._array.memory import parallel
from rushlight._array.reduce import extreme, reduce, scan, sort
from rushlight._array.shape import indexing
from rushlight._table import ROWS


@pytest.fixture(autouse=True)
def without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here are NumPy's blocks."""
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)


SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, -0.5, 3.0e38, -3.0e38, 1e10, 6.0)
SIZES = (blocks.LARGE, blocks.BLOCK + 17)

UNARY: dict[str, Callable[[Any], Any]] = {
    "relu": logistic.relu,
    "sigmoid": logistic.sigmoid,
    "silu": ROWS["silu"][0].op.raw,
    "leaky_relu": lambda x: ROWS["leaky_relu"][0].op.raw(x, 0.2),
    "leaky_relu of a steep slope": lambda x: ROWS["leaky_relu"][0].op.raw(x, 3.0),
    "leaky_relu of a negative slope": lambda x: ROWS["leaky_relu"][0].op.raw(x, -0.5),
    "hardtanh": lambda x: ROWS["hardtanh"][0].op.raw(x, -1.0, 0.5),
    "hardsigmoid": ROWS["hardsigmoid"][0].op.raw,
    "hardswish": ROWS["hardswish"][0].op.raw,
    "hardshrink": lambda x: ROWS["hardshrink"][0].op.raw(x, 0.5),
    "softshrink": lambda x: logistic.softshrink(x, 0.5),
    "frac": rounding.frac,
    "sign": rounding.sign,
    "nan_to_num": lambda x: rounding.nan_to_num(x, None, None, None),
    "clamp": lambda x: rounding.clamp(x, -0.5, 0.25),
    "clamp from below": lambda x: rounding.clamp(x, 0.5, None),
    "clamp between crossed bounds": lambda x: rounding.clamp(x, 1, -1),
    "rsqrt": quotients.rsqrt,
    "reciprocal": quotients.reciprocal,
    "logical_not": relations.logical_not,
    "angle": complexes.angle,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "fmod": quotients.fmod,
    "remainder": quotients.remainder,
    "floor_divide": quotients.floor_divide,
    "hypot": quotients.hypot,
    "lerp": lambda x, y: quotients.lerp(x, y, 0.3),
    "lerp from the end": lambda x, y: quotients.lerp(x, y, 0.75),
    "add_product": lambda x, y: quotients.add_product(x, y, x, 0.5),
    "add_quotient": lambda x, y: quotients.add_quotient(x, y, x, 0.5),
    "copysign": rounding.copysign,
    "logical_and": relations.logical_and,
    "logical_or": relations.logical_or,
    "logical_xor": relations.logical_xor,
    "nextafter": relations.nextafter,
}


def _values(size: int, dtype: str, special: bool, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    x = ((generator.random(size) - 0.5) * 8).astype(dtype)
    if special:
        places = generator.integers(0, size, size // 4)
        x[places] = np.array(SPECIAL, dtype)[generator.integers(0, len(SPECIAL), len(places))]
    return x


def _in_pieces(function: Callable[..., Any], *arrays: Any) -> Any:
    step = 1000
    return np.concatenate(
        [function(*[a[i : i + step] for a in arrays]) for i in range(0, arrays[0].size, step)]
    )


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_a_large_array_gives_what_its_pieces_give(name: str, dtype: str, special: bool) -> None:
    for size in SIZES:
        x = _values(size, dtype, special, size)
        before = x.copy()
        whole, pieces = UNARY[name](x), _in_pieces(UNARY[name], x)
        assert whole.dtype == pieces.dtype
        np.testing.assert_array_equal(whole, pieces)
        np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_two_large_arrays_give_what_their_pieces_give(name: str, dtype: str, special: bool) -> None:
    for size in SIZES:
        x, y = (_values(size, dtype, special, size + k) for k in (1, 2))
        whole, pieces = BINARY[name](x, y), _in_pieces(BINARY[name], x, y)
        assert whole.dtype == pieces.dtype
        np.testing.assert_array_equal(whole, pieces)


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders_of_zero_keep_their_sign(name: str) -> None:
    x = np.tile(np.array([4, -4, 0.0, -0.0, 6, -6], np.float32), 1000)
    y = np.tile(np.array([2, -2, 3, 3, -3, 3], np.float32), 1000)
    rest = BINARY[name](x, y)
    assert (rest == 0).all()
    np.testing.assert_array_equal(np.signbit(rest), np.signbit(x))


def test_quotients_too_large_to_be_exact_go_another_way() -> None:
    x = _values(5000, "float32", False, 3) * np.float32(1e20)
    y = _values(5000, "float32", False, 4)
    np.testing.assert_array_equal(quotients.fmod(x, y), np.fmod(x, y))
    np.testing.assert_array_equal(quotients.floor_divide(x, y), np.floor_divide(x, y))


@pytest.mark.parametrize("bound", [0.3, 1.0, 2.0])
def test_reduced_losses_are_those_of_the_elements(bound: float) -> None:
    x, y = (_values(50_000, "float64", False, k) for k in (1, 2))
    for loss in (ROWS[name][0].op.raw for name in ("smooth_l1_loss", "huber_loss")):
        each = loss(x, y, 0, bound)
        assert np.isclose(loss(x, y, 2, bound), each.sum(), rtol=1e-13)
        assert np.isclose(loss(x, y, 1, bound), each.mean(), rtol=1e-13)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("special", [False, True])
def test_scans_of_many_lanes_are_those_of_each_lane(axis: int, special: bool) -> None:
    x = _values(300 * 290, "float32", special, 5).reshape(300, 290)
    lanes = x if axis else x.T
    for function in (scan.cumsum, scan.cumprod):
        single = np.stack([function(lane, 0) for lane in lanes])
        np.testing.assert_array_equal(function(x, axis), single if axis else single.T)
    for extreme_of in (scan.cummax, scan.cummin):
        values, places = extreme_of(x, axis)
        single_values = np.stack([extreme_of(lane, 0)[0] for lane in lanes])
        single_places = np.stack([extreme_of(lane, 0)[1] for lane in lanes])
        np.testing.assert_array_equal(values, single_values if axis else single_values.T)
        np.testing.assert_array_equal(places, single_places if axis else single_places.T)
        assert places.dtype == np.int64


@pytest.mark.parametrize("kind", ["plain", "ties", "special"])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [2, 20])
def test_the_k_extreme_elements_are_the_first_in_a_stable_order(
    k: int, largest: bool, kind: str
) -> None:
    x = _values(100 * 120, "float32", kind == "special", 6).reshape(100, 120)
    if kind == "ties":
        x = np.round(x)
    values, places = sort.topk(x, k, 1, largest)
    ordered = sort.order(x, 1, largest)[:, :k]
    np.testing.assert_array_equal(places, ordered)
    np.testing.assert_array_equal(values, np.take_along_axis(x, ordered, 1))


@pytest.mark.parametrize("kind", ["plain", "ties", "special"])
def test_the_element_of_a_rank_is_that_of_a_stable_order(kind: str) -> None:
    x = _values(100 * 121, "float32", kind == "special", 7).reshape(100, 121)
    if kind == "ties":
        x = np.round(x)
    values, places = sort.kthvalue(x, 31, 1)
    ordered = sort.order(x, 1)
    np.testing.assert_array_equal(places, ordered[:, 30])
    np.testing.assert_array_equal(values, np.sort(x, 1)[:, 30])


@pytest.mark.parametrize("special", [False, True])
def test_sums_and_extremes_along_rows_are_those_of_each_row(special: bool) -> None:
    x = _values(120 * 100, "float32", special, 8).reshape(120, 100)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(reduce.sum(x, 1), wide.sum(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(reduce.mean(x, -1, True), wide.mean(1, keepdims=True), 1e-4, 1e-4)
    np.testing.assert_allclose(reduce.sum(x), wide.sum(), rtol=1e-4)
    np.testing.assert_array_equal(extreme.amax(x, 1), np.maximum.reduce(x, 1))
    np.testing.assert_array_equal(extreme.amin(x, (1,), True), x.min(1, keepdims=True))


def test_the_places_of_nonzero_elements_are_in_order() -> None:
    x = _values(100 * 90, "float32", True, 9).reshape(100, 90)
    np.testing.assert_array_equal(indexing.nonzero(x), np.argwhere(x))


def test_arrays_that_differ_late_are_not_equal() -> None:
    x = _values(100_000, "float32", False, 10)
    for place in (0, 255, 256, 40_000, 99_999):
        other = x.copy()
        assert relations.equal_arrays(x, other)
        other[place] += 1
        assert not relations.equal_arrays(x, other)


def test_the_number_of_threads_does_not_change_the_result() -> None:
    x = _values(4_100_000, "float32", False, 11)
    threads = parallel.get_num_threads()
    try:
        parallel.set_num_threads(1)
        one = logistic.sigmoid(x)
        parallel.set_num_threads(3)
        np.testing.assert_array_equal(logistic.sigmoid(x), one)
    finally:
        parallel.set_num_threads(threads)
