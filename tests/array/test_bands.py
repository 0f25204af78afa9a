"""Long lines resampled by bands of their map's matrix, against sums over the taps."""

import numpy as np
import pytest

from rushlight._array.nn import interpolation as way

MODES = ["linear", "cubic", "mean", "smooth-linear", "smooth-cubic", "smooth-lanczos"]
SIZES = [(161, 161), (161, 322), (200, 77), (333, 1), (1, 400), (170, 171), (1000, 900), (40, 500)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_bands_and_taps_agree_both_ways(mode: str, size: tuple[int, int], dtype: str) -> None:
    rng = np.random.default_rng(0)
    lines = way.line_map(mode, *size, False, None, False)
    for one in (lines, lines.transposed):
        x = rng.standard_normal((3, 2, one.size)).astype(dtype)
        found, taps = way.along(x, 2, one), way._by_taps(x, 2, one)
        assert found.dtype == x.dtype and found.shape == taps.shape
        np.testing.assert_allclose(found, taps, rtol=0, atol=3e-5 if dtype == "f4" else 1e-13)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_where_it_is(value: float) -> None:
    lines = way.line_map("linear", 300, 600, False, None, True)
    x = np.ones((2, 300), np.float32)
    x[0, 100] = value
    found = way.resample(x, (lines,))
    assert np.array_equal(found, way._by_taps(x, 1, lines), equal_nan=True)
    assert np.isfinite(found).sum() > 1190


def test_lines_that_lie_apart_and_none_at_all() -> None:
    lines = way.line_map("linear", 300, 600, False, None, True)
    x = np.random.default_rng(0).standard_normal((6, 4, 600)).astype(np.float32)[::2, ::-1, ::2]
    expected = way._by_taps(np.ascontiguousarray(x), 2, lines)
    np.testing.assert_allclose(way.along(x, 2, lines), expected, atol=1e-6)
    assert way.along(x[:0], 2, lines).shape == (0, 4, 600)


def test_a_band_that_is_wide_leaves_all_to_the_taps() -> None:
    assert way.line_map("mean", 4096, 64, False, None, True).bands == ()
