"""The inlined functions against wider arithmetic: every kind of argument, a few last places."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._native.math import functions as mathematics
from tests.native.native import elementwise

Wide = np.longdouble
MOST = 4  # units in the last place


def _logistic(x: Any) -> Any:
    falling = np.exp(-abs(x))
    return np.where(x < 0, falling, 1) / (1 + falling)


# `math` has no wider erf: in float64 half a unit is its own error.
REFERENCES: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
    "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": _logistic, "power": np.power,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
}  # fmt: skip
UNARY = [name for name in REFERENCES if name != "power"]


def special(dtype: Any) -> Any:
    limits = np.finfo(dtype)
    edges = [limits.max, limits.tiny, limits.smallest_subnormal, np.inf, np.nan]
    plain = [0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 88.7, 88.8, 103.9, 104.1, 709.7, 709.8, 745.1, 745.3]
    positive = np.array(plain + edges, dtype)
    return np.concatenate([positive, -positive])


def arguments(dtype: Any, seed: int = 0) -> Any:
    """Special values, numbers of every exponent, denormal ones, and those that programs use."""
    rng = np.random.default_rng(seed)
    limits = np.finfo(dtype)
    bits = np.uint32 if dtype == np.float32 else np.uint64
    every = rng.integers(0, np.iinfo(bits).max, 4000, dtype=bits, endpoint=True).view(dtype)
    usual = rng.uniform(-6, 6, 3000)
    wide = rng.uniform(-760, 760, 3000) if dtype == np.float64 else rng.uniform(-110, 110, 3000)
    denormal = rng.uniform(-1, 1, 300) * float(limits.tiny)
    near_one = 1 + rng.uniform(-0.1, 0.1, 1000)
    near_turns = np.arange(1, 1000) * (np.pi / 2)
    parts = [special(dtype), every, usual, wide, denormal, near_one, near_turns]
    return np.concatenate([np.asarray(part, dtype) for part in parts])


def errors(got: Any, exact: Any) -> Any:
    """Units in the last place; infinite where a special value is another one."""
    dtype = got.dtype
    rounded = exact.astype(dtype)
    same = (np.isnan(got) & np.isnan(rounded)) | (got == rounded)
    zeros = same & (got == 0)
    same &= ~zeros | (np.signbit(got) == np.signbit(rounded))
    finite = np.isfinite(got) & np.isfinite(rounded) & ~zeros
    unit = np.spacing(np.abs(np.where(finite, rounded, 1))).astype(Wide)
    apart = np.abs(np.where(finite, got, 0).astype(Wide) - np.where(finite, exact, 0)) / unit
    return np.where(finite, apart, np.where(same, 0, np.inf))


def assert_close(name: str, *operands: Any, lanes: int | None = None) -> None:
    dtype = operands[0].dtype
    if dtype == np.float64 and np.finfo(Wide).nmant <= np.finfo(np.float64).nmant:
        pytest.skip("this machine has nothing wider than float64 to compare with")
    wide = Wide if dtype == np.float64 and not name.startswith("erf") else np.float64
    run = elementwise(getattr(mathematics, name), dtype, len(operands), lanes)
    with np.errstate(all="ignore"):
        exact = REFERENCES[name](*(x.astype(wide) for x in operands))
        apart = errors(run(*operands), exact)
    worst = int(np.argmax(apart))
    allowed = MOST + 0.5 if name.startswith("erf") and dtype == np.float64 else MOST
    assert apart[worst] <= allowed, (apart[worst], [x[worst] for x in operands])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", UNARY)
def test_a_function_is_within_four_units_everywhere(name: str, dtype: Any) -> None:
    assert_close(name, arguments(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", UNARY)
def test_scalars_and_short_vectors_get_the_same(name: str, dtype: Any) -> None:
    x = np.concatenate([special(dtype), np.asarray(np.linspace(-5, 5, 101), dtype)])
    results = [elementwise(getattr(mathematics, name), dtype, 1, lanes)(x) for lanes in (0, 2, 4)]
    whole = elementwise(getattr(mathematics, name), dtype)(x)
    for result in results:
        assert np.array_equal(result, whole, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_are_within_four_units_everywhere(dtype: Any) -> None:
    x, y = arguments(dtype), arguments(dtype, seed=1)
    rng = np.random.default_rng(2)
    assert_close("power", x, rng.permutation(y))
    assert_close("power", abs(x), rng.uniform(-20, 20, x.size).astype(dtype))
    assert_close("power", x, rng.integers(-30, 30, x.size).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_special_values_are_those_of_c(dtype: Any) -> None:
    x, y = (a.ravel() for a in np.meshgrid(special(dtype), special(dtype)))
    assert_close("power", x, y)
    assert_close("power", x, y, lanes=0)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_huge_angles_are_reduced_exactly(name: str) -> None:
    rng = np.random.default_rng(3)
    x = np.ldexp(rng.uniform(-1, 1, 3000), rng.integers(15, 1024, 3000))
    assert_close(name, x)
    assert_close(name, np.ldexp(rng.uniform(-1, 1, 999), rng.integers(10, 128, 999)).astype("f4"))
    # The double that lies nearest to a multiple of pi/2.
    assert_close(name, np.array([6381956970095103 * 2.0**797]))
