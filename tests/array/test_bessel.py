"""Special functions of large float32 arrays are right to the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight._array.elementwise import chains, in_float64, special

scipy_special = pytest.importorskip("scipy.special")

NAMES = {
    "i0": "i0", "i0e": "i0e", "i1": "i1", "i1e": "i1e", "lgamma": "gammaln", "digamma": "psi",
    "erfcx": "erfcx", "log_ndtr": "log_ndtr", "ndtri": "ndtri", "bessel_j0": "j0",
    "bessel_j1": "j1", "entr": "entr",
}  # fmt: skip


def _arguments(name: str) -> Any:
    generator = np.random.default_rng(0)
    x = np.concatenate([
        generator.random(5000) * 8 - 4, generator.random(5000) * 160 - 80,
        10 ** (generator.random(5000) * 9 - 5), 1 + generator.random(5000) * 1e-4,
    ]).astype(np.float32)  # fmt: skip
    if name == "ndtri":
        x = np.concatenate([generator.random(5000), 10.0 ** -(generator.random(9000) * 45)])
    if name.startswith("bessel"):
        x = x[np.abs(x) < 1e3]  # further out SciPy rounds x - π/4
    return x.astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_a_large_array_is_right_to_two_units_of_the_last_place(name: str) -> None:
    x = _arguments(name)
    with np.errstate(all="ignore"):
        found = getattr(special, name)(x)
        exact = getattr(scipy_special, NAMES[name])(x.astype(np.float64)).astype(np.float32)
        assert found.dtype == np.float32
        finite = np.isfinite(exact)
        np.testing.assert_array_equal(found[~finite], exact[~finite])
        error = np.abs(found[finite] - exact[finite])
        assert (error <= 2 * np.spacing(np.abs(exact[finite]))).all()


@pytest.mark.parametrize("name", NAMES)
def test_infinities_and_nan_are_scipys(name: str) -> None:
    x = _arguments(name)
    x[:5] = np.inf, -np.inf, np.nan, 0.0, -0.0
    with np.errstate(all="ignore"):
        expected = getattr(scipy_special, NAMES[name])(x[:5])
        if name == "lgamma":
            expected[1] = np.inf  # as the C library's
        if name == "digamma":
            expected[3:5] = -np.inf, np.inf
        np.testing.assert_array_equal(getattr(special, name)(x)[:5], expected)


@pytest.mark.parametrize("name", NAMES)
def test_without_scipy_small_arrays_go_the_same_way(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_float64, "has_scipy", lambda: False)
    function = getattr(special, name)
    x = _arguments(name)
    with np.errstate(all="ignore"):
        wanted = function(x)
        for size in (1, 7, 100, 2000):
            np.testing.assert_allclose(function(x[:size]), wanted[:size], 2e-7)
        square = x[:1600].reshape(40, 40)
        for part in (square.T, square[::2, ::3], square[:0], square[1]):
            found = function(part)
            assert found.shape == part.shape and found.dtype == np.float32
            np.testing.assert_allclose(found, function(part.copy()), 2e-7)
        assert np.shape(function(x[:1].reshape(()))) == ()


def test_far_waves_are_those_of_the_argument() -> None:
    x = np.float32([1e4, 1e6, 14701880.0, 1e15, 1e20, 3e38])
    x = np.concatenate([x, np.ones(4096, np.float32)])
    for name in ("bessel_j0", "bessel_j1"):
        found = getattr(special, name)(x)[:6]
        wide = x[:6].astype(np.float64)
        with np.errstate(all="ignore"):
            sine, cosine = np.sin(wide), np.cos(wide)
            both = cosine + sine if name == "bessel_j0" else sine - cosine
            wanted = both / np.sqrt(wide * np.pi)
        slope = wide**-1.5
        assert (np.abs(found - wanted) <= 1e-7 * np.abs(wanted) + slope).all()


def test_without_scipy_kernels_take_few_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chains._of_kernel_alone(special.i0) is None
    monkeypatch.setattr(in_float64, "has_scipy", lambda: False)
    for name in NAMES:
        kinds, (chain,) = chains._of_kernel_alone(getattr(special, name))  # type: ignore[misc]
        assert kinds == "f" and chain[6:8] == (1, 0) and chain[-1] == 1
        assert chains._with_kernel(getattr(special, name), chain) is chain
    assert chains._of_kernel_alone(special.ndtr) is None
