"""Convolutions of 3 by 3 from sums and differences, against the direct ones."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from rushlight._array.kernels import convolution, winograd
from rushlight._array.kernels.launches import Launches
from rushlight._array.memory import parallel
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

ONE = (1, 1)
# samples, channels, rows, size, padding
CASES = [
    (2, 16, 16, (8, 8), (1, 1)), (3, 20, 20, (9, 7), (1, 1)), (1, 32, 40, (33, 12), (0, 0)),
    (9, 16, 24, (5, 18), (2, 1)), (2, 4, 8, (3, 3), (0, 0)), (4, 36, 64, (14, 14), (1, 1)),
    (1, 16, 16, (70, 70), (1, 1)), (17, 64, 20, (4, 5), (0, 2)), (2, 8, 4, (1, 1), (1, 1)),
    (2, 8, 8, (2, 40), (1, 0)), (11, 16, 16, (6, 6), (2, 2)),
    (23, 32, 24, (8, 8), (1, 1)), (5, 64, 64, (16, 16), (1, 1)),
]  # fmt: skip


def forget() -> None:
    """Nothing is remembered of how convolutions are done."""
    for way in (convolution.output_ways, convolution.input_ways, convolution.weight_ways):
        way.cache_clear()


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The results of a function in the direct way and in this one, which must have been asked."""

    def ways(function: Any, refused: bool = False) -> tuple[Any, Any]:
        monkeypatch.setattr(winograd, "suits", lambda *_: False)
        forget()
        exact = function()
        monkeypatch.setattr(winograd, "suits", lambda *_: True)
        forget()
        asked: list[Any] = []  # of each run: whether it is checked, and whether it gave a result
        run = Launches.run

        def watched(self: Launches, *arrays: Any) -> bool:
            given = run(self, *arrays)
            asked.append((self.checks is not None, given))
            return given

        monkeypatch.setattr(Launches, "run", watched)
        found = function()
        monkeypatch.undo()
        forget()
        assert asked == [(True, True)] or (refused and asked[-1] == (False, True))
        return exact, found

    return ways


def out_of(size: Any, pad: Any) -> Any:
    return tuple(n + 2 * p - 2 for n, p in zip(size, pad))


def operands(case: Any, dtype: str, turned: bool = False) -> Any:
    samples, channels, rows, size, pad = case
    rng = np.random.default_rng(7)

    def normal(*shape: int) -> Any:
        made = rng.standard_normal(shape).astype(dtype)
        if turned and len(shape) == 4:
            return np.ascontiguousarray(made.swapaxes(1, -1)).swapaxes(1, -1)
        return made

    x, g = normal(samples, channels, *size), normal(samples, rows, *out_of(size, pad))
    return x, normal(rows, channels, 3, 3), normal(rows), g


def close(found: Any, exact: Any, terms: int) -> None:
    assert found.dtype == exact.dtype and found.shape == exact.shape
    tolerance = (3e-7 if exact.dtype == np.float32 else 1e-15) * (terms + 8)
    np.testing.assert_allclose(found, exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("case", CASES)
def test_all_three_products_are_those_of_the_direct_way(
    both: Any, case: Any, dtype: str, turned: bool
) -> None:
    x, w, bias, g = operands(case, dtype, turned)
    size, pad = case[3:]
    out = out_of(size, pad)
    exact, found = both(lambda: convolution.correlate(x, w, bias, ONE, pad, ONE, out, 1))
    close(found, exact, 9 * w.shape[1])
    exact, found = both(lambda: convolution.correlate_transposed(g, w, size, ONE, pad, ONE, 1))
    close(found, exact, 9 * w.shape[0])
    exact, found = both(lambda: convolution.weigh(x, g, (3, 3), ONE, pad, ONE, 1))
    close(found, exact, 2 * g[:, 0].size)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_where_a_result_is_not_finite_the_direct_way_answers(both: Any, bad: float) -> None:
    case = (2, 16, 16, (9, 8), (1, 1))
    x, w, _, g = operands(case, "f4")
    x[1, 3, 4, 5] = g[1, 3, 4, 5] = bad
    pad, out = ONE, (9, 8)
    for function in (
        lambda: convolution.correlate(x, w, None, ONE, pad, ONE, out, 1),
        lambda: convolution.correlate_transposed(g, w, out, ONE, pad, ONE, 1),
        lambda: convolution.weigh(x, g, (3, 3), ONE, pad, ONE, 1),
    ):
        exact, found = both(function, refused=True)
        np.testing.assert_array_equal(found, exact)


def test_small_whole_numbers_are_exact(both: Any) -> None:
    rng = np.random.default_rng(1)
    x, w = (rng.integers(-9, 9, shape).astype("f4") for shape in ((2, 16, 11, 10), (16, 16, 3, 3)))
    w[w == 0] = 3
    exact, found = both(lambda: convolution.correlate(x, w, None, ONE, ONE, ONE, (11, 10), 1))
    np.testing.assert_array_equal(found, exact)


def test_an_output_depends_on_its_own_window_alone(both: Any) -> None:
    x, w, _, _ = operands((1, 16, 16, (8, 8), (1, 1)), "f4")
    x[..., 3, 4] = 1e30
    x[..., :2, :2] = 0
    exact, found = both(lambda: convolution.correlate(x, w, None, ONE, ONE, ONE, (8, 8), 1))
    assert not found[..., 0, 0].any()
    apart = np.ones((8, 8), bool)
    apart[2:5, 3:6] = False
    close(found[..., apart], exact[..., apart], 9 * 16)


def test_what_weights_of_0_hide_leaves_no_trace(both: Any) -> None:
    x, w, _, g = operands((2, 16, 16, (9, 8), (1, 1)), "f4")
    w[:, :, 1, 1:] = w[:, :, 2] = 0  # a picture that is made point by point
    pad, out = ONE, (9, 8)
    function = lambda x: convolution.correlate(x, w, None, ONE, pad, ONE, out, 1)  # noqa: E731
    exact, found = both(lambda: function(x), refused=True)
    np.testing.assert_array_equal(found, exact)
    x[:, :, 5:] *= 1e6
    np.testing.assert_array_equal(function(x)[:, :, :5], exact[:, :, :5])
    gradient = lambda: convolution.correlate_transposed(g, w, out, ONE, pad, ONE, 1)  # noqa: E731
    exact, found = both(gradient, refused=True)
    np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("samples", [1, 3, 8])
def test_threads_change_no_digit(monkeypatch: pytest.MonkeyPatch, samples: int) -> None:
    x, w, bias, g = operands((samples, 32, 32, (24, 24), ONE), "f4")
    monkeypatch.setattr(winograd, "suits", lambda *_: True)
    forget()
    made = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "_threads", threads)
        made.append((
            convolution.correlate(x, w, bias, ONE, ONE, ONE, (24, 24), 1),
            convolution.correlate_transposed(g, w, (24, 24), ONE, ONE, ONE, 1),
            convolution.weigh(x, g, (3, 3), ONE, ONE, ONE, 1),
        ))  # fmt: skip
    forget()
    for other in made[1:]:
        for a, b in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_few_channels_small_planes_and_other_kernels_are_left_to_the_direct_way() -> None:
    assert winograd.suits((3, 3), 4, (1, 1, 1, 1), (32, 32), 8, 64, 64)
    for k, steps, out, channels, rows in (
        ((5, 5), (1, 1, 1, 1), (32, 32), 64, 64), ((3, 3), (2, 2, 1, 1), (32, 32), 64, 64),
        ((3, 3), (1, 1, 1, 2), (32, 32), 64, 64), ((3, 3), (1, 1, 1, 1), (32, 32), 3, 64),
        ((3, 3), (1, 1, 1, 1), (32, 32), 64, 8), ((3, 3), (1, 1, 1, 1), (2, 2), 64, 64),
        ((3, 3), (1, 1, 1, 1), (32, 32), 4096, 64), ((3,), (1, 1), (32, 32), 64, 64),
    ):  # fmt: skip
        assert not winograd.suits(k, 4, steps, out, 8, channels, rows)
