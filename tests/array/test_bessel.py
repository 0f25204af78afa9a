"""Special functions of large float32 arrays are right to the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight._array.elementwise import special

scipy_special = pytest.importorskip("scipy.special")

NAMES = {"i0": "i0", "i0e": "i0e", "i1": "i1", "i1e": "i1e", "lgamma": "gammaln"}


def _arguments(name: str) -> Any:
    generator = np.random.default_rng(0)
    x = np.concatenate([
        generator.random(5000) * 8 - 4, generator.random(5000) * 160 - 80,
        10 ** (generator.random(5000) * 9 - 5), 1 + generator.random(5000) * 1e-4,
    ]).astype(np.float32)  # fmt: skip
    return np.abs(x) if name == "lgamma" else x


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
        np.testing.assert_array_equal(getattr(special, name)(x)[:5], expected)
