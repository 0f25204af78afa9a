"""Functions written by hand whose large arrays kernels take: the same as for few elements."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.elementwise import (
    activations,
    comparison,
    complexes,
    division,
    erf,
    rounding,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rushlight._array.annotations import Array

pytestmark = pytest.mark.skipif(sys.maxsize == kernels.LEAST, reason="there are no kernels here")
_SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 0.25, 1.5, -1.5, 1e-3, 1e30, -1e30, 3e38,
    -3e38,
    1e-38, -1e-38, 1e-45, -1e-45, 1e-40, 16777217.0, 0.3, -0.7, 1e10, 7.25, float("inf"),
    float("-inf"), float("nan"),
)  # fmt: skip
#: A function, how many arrays it takes, numbers, and units in the last place that it may differ by.
_CASES: dict[str, tuple[Any, int, tuple[Any, ...], int]] = {
    "sign": (rounding.sign, 1, (), 0), "sgn": (rounding.sgn, 1, (), 0),
    "frac": (rounding.frac, 1, (), 0), "copysign": (rounding.copysign, 2, (), 0),
    "nan_to_num": (rounding.nan_to_num, 1, (None, None, None), 0),
    "nan_to_num with numbers": (rounding.nan_to_num, 1, (1.0, 2.0, 3.0), 0),
    "clamp": (rounding.clamp, 1, (-0.5, 0.75), 0), "clamp to 0": (rounding.clamp, 1, (0, 1), 0),
    "clamp crossed": (rounding.clamp, 1, (1.0, -1.0), 0),
    "clamp by inf": (rounding.clamp, 1, (float("-inf"), 1.0), 0),
    "clamp by nan": (rounding.clamp, 1, (float("nan"), 1.0), 0),
    "clamp below": (rounding.clamp, 1, (0.25, None), 0),
    "clamp above": (rounding.clamp, 1, (None, 0.25), 0),
    "clamp_min": (rounding.clamp_min, 1, (0.25,), 0),
    "clamp_max": (rounding.clamp_max, 1, (0.25,), 0),
    "relu": (activations.relu, 1, (), 0), "softshrink": (activations.softshrink, 1, (0.5,), 0),
    "angle": (complexes.angle, 1, (), 0), "nextafter": (comparison.nextafter, 2, (), 0),
    "hypot": (division.hypot, 2, (), 1), "fmod": (division.fmod, 2, (), 0),
    "remainder": (division.remainder, 2, (), 0), "rsqrt": (division.rsqrt, 1, (), 1),
    "reciprocal": (division.reciprocal, 1, (), 0),
    "add_product": (division.add_product, 3, (0.5,), 4),
    "add_quotient": (division.add_quotient, 3, (0.5,), 4),
    "lerp": (division.lerp, 2, (0.25,), 4), "lerp far": (division.lerp, 2, (0.75,), 4),
    "lerp to the end": (division.lerp, 2, (1.0,), 4), "erf": (erf.erf, 1, (), 4),
    "erfc": (erf.erfc, 1, (), 8), "erfinv": (erf.erfinv, 1, (), 2),
    "logaddexp": (activations.logaddexp, 2, (), 8),
}  # fmt: skip


def _operands(count: int, dtype: type, random: bool = False) -> list[Array]:
    """All tuples of special values, and arrays of numbers of many sizes."""
    if random:
        rng = np.random.default_rng(0)
        return [
            (rng.standard_normal(30_000) * 10 ** rng.uniform(-3, 3, 30_000)).astype(dtype)
            for _ in range(count)
        ]
    with np.errstate(all="ignore"):
        values = np.array(_SPECIAL, dtype)
    grids = np.meshgrid(*[values] * count, indexing="ij")
    return [np.resize(grid.reshape(-1), 30_000) for grid in grids]


def _agree(found: Array, expected: Array, units: int) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    there = ~np.isnan(expected) & np.isfinite(expected)
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    np.testing.assert_array_equal(found[np.isinf(expected)], expected[np.isinf(expected)])
    if units == 0:
        np.testing.assert_array_equal(found[there], expected[there])
        return
    limit = units * np.spacing(np.abs(expected[there])).astype(np.float64)
    gap = np.abs(found[there].astype(np.float64) - expected[there].astype(np.float64))
    assert (gap <= limit).all(), (gap / limit).max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("random", [False, True])
@pytest.mark.parametrize("name", _CASES)
def test_a_kernel_gives_what_the_function_gives(name: str, random: bool, dtype: type) -> None:
    function, count, numbers, units = _CASES[name]
    operands = _operands(count, dtype, random)
    if units > 2 and count > 1:  # sums that cancel have fewer digits
        operands = [np.abs(x) for x in operands]
        if not random:
            operands = [np.where(np.abs(x) > 1e15, 1, x).astype(dtype) for x in operands]
    with np.errstate(all="ignore"):
        found = function(*operands, *numbers)
        expected = [
            function(*[x[k : k + 50] for x in operands], *numbers) for k in range(0, 30_000, 50)
        ]
    _agree(found, np.concatenate(expected), units)


@pytest.mark.parametrize("name", ["sign", "copysign", "frac", "fmod", "remainder", "angle"])
def test_zeros_keep_their_signs(name: str) -> None:
    function, count, numbers, _ = _CASES[name]
    operands = _operands(count, np.float32)
    with np.errstate(all="ignore"):
        found = function(*operands, *numbers)
        few = [function(*[x[k : k + 50] for x in operands], *numbers) for k in range(0, 30_000, 50)]
    expected = np.concatenate(few)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


def test_remainders_of_huge_quotients_are_exact() -> None:
    rng = np.random.default_rng(1)
    a = (rng.standard_normal(20_000) * 1e20).astype(np.float32)
    b = rng.standard_normal(20_000).astype(np.float32)
    np.testing.assert_array_equal(division.fmod(a, b), np.fmod(a, b))
    a[7:] = 1.0
    np.testing.assert_array_equal(division.fmod(a, b), np.fmod(a, b))
    near = (np.round(a) * b).astype(np.float32)  # quotients that are nearly whole
    np.testing.assert_array_equal(division.fmod(near, b), np.fmod(near, b))


_PUBLIC: dict[str, Callable[[Any], Any]] = {
    "relu": torch.relu, "sign": torch.sign, "clamp": lambda x: x.clamp(-0.5, 0.5),
    "hardtanh": torch.nn.functional.hardtanh, "silu": torch.nn.functional.silu,
    "leaky_relu": lambda x: torch.nn.functional.leaky_relu(x, 0.2),
    "lerp": lambda x: torch.lerp(x, 2 * x, 0.3), "hypot": lambda x: torch.hypot(x, 3 * x),
    "nan_to_num": torch.nan_to_num, "erfc": torch.erfc, "mish": torch.nn.functional.mish,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", _PUBLIC)
def test_calls_of_any_layout_agree(name: str, dtype: str) -> None:
    function = _PUBLIC[name]
    torch.manual_seed(0)
    whole = (torch.randn(200, 200) * 3).to(getattr(torch, dtype))
    for _ in range(20):  # until the way in C is there
        function(whole[:2, :2].contiguous())
    layouts = {
        "in order": whole, "turned": whole.t(), "by steps": whole[::2, 1:],
        "a row": whole[:1].expand(100, 200), "flat": whole.reshape(-1)[3:],
        "a number": whole[0, 0].expand(9000), "nothing": whole[:0],
    }  # fmt: skip
    first = function(whole)
    for x in layouts.values():
        before = x.clone()
        found = function(x)
        expected = function(x.clone(memory_format=torch.contiguous_format))
        torch.testing.assert_close(found, expected, equal_nan=True)
        assert torch.equal(x, before)
        assert found.data_ptr() != x.data_ptr() or not x.numel()
    for _ in range(40):
        assert torch.equal(function(whole), first)
    threads = torch.get_num_threads()
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            assert torch.equal(function(whole), first)
    finally:
        torch.set_num_threads(threads)


def test_numbers_that_functions_refuse_are_refused_for_large_arrays() -> None:
    x = torch.randn(100, 100)
    for _ in range(20):
        torch.nn.functional.softshrink(x, 0.5)
    with pytest.raises(RuntimeError, match="lambda must be"):
        torch.nn.functional.softshrink(x, -1.0)
    with pytest.raises(RuntimeError, match="At least one"):
        x.clamp()
    with pytest.raises(NotImplementedError, match="complex"):
        torch.sign(torch.zeros(100, 100, dtype=torch.complex64))


def test_double_gives_double_where_a_formula_is_of_single_numbers() -> None:
    x = torch.full((100, 100), 1e200, dtype=torch.float64)
    small = torch.full((100, 100), 1e-9, dtype=torch.float64)
    for _ in range(20):
        assert float(torch.hypot(x, x)[0, 0]) == float(np.hypot(1e200, 1e200))
        expected = float(torch.erfinv(small[0, :1])[0])
        assert float(torch.erfinv(small)[0, 0]) == pytest.approx(expected, rel=1e-14)


def test_operations_in_place_write_where_they_should() -> None:
    x = torch.randn(100, 100)
    view = x[:, :50]
    before = x.clone()
    view.clamp_(-0.5, 0.5)
    assert torch.equal(x[:, 50:], before[:, 50:])
    assert torch.equal(view, before[:, :50].contiguous().clamp(-0.5, 0.5))
    out = torch.empty(100, 100)
    assert torch.sign(before, out=out) is out
    assert torch.equal(out, torch.sign(before))
    y = before.clone()
    torch.nn.functional.relu_(y)
    assert torch.equal(y, torch.relu(before))
    y = before.clone()
    y.lerp_(y, 0.3)
    assert torch.allclose(y, before)
