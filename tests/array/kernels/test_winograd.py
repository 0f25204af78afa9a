"""Convolutions with small kernels from sums and differences, against the direct ones."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from rushlight._array.kernels import convolution, convolution_3d, winograd
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
#: Kernels and strides.
KINDS = [((3, 3), (1, 1)), ((2, 2), (1, 1)), ((4, 4), (2, 2)), ((6, 6), (2, 2))]


def forget() -> None:
    """Nothing is remembered of how convolutions are done."""
    for way in (
        convolution.output_ways,
        convolution.input_ways,
        convolution.weight_ways,
        winograd.correlating,
        winograd.weighing,
    ):
        way.cache_clear()


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The results of a function in the direct way and in this one, which must have been asked."""

    def ways(function: Any, refused: bool = False) -> tuple[Any, Any]:
        monkeypatch.setattr(winograd, "suits", lambda *_, **__: False)
        forget()
        exact = function()
        monkeypatch.setattr(winograd, "suits", lambda *_, **__: True)
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
        tried = [given for checked, given in asked if checked]
        assert (bool(tried) and all(tried)) != refused
        return exact, found

    return ways


def out_of(size: Any, pad: Any, k: Any = (3, 3), stride: Any = ONE) -> Any:
    return tuple((n + 2 * p - m) // s + 1 for n, p, m, s in zip(size, pad, k, stride, strict=True))


def normal(*shape: int, dtype: str = "f4", turned: bool = False) -> Any:
    rng = np.random.default_rng(shape)
    made = rng.standard_normal(shape).astype(dtype)
    if turned and len(shape) >= 4:
        return np.ascontiguousarray(made.swapaxes(1, -1)).swapaxes(1, -1)
    return made


def operands(case: Any, dtype: str, turned: bool = False, kind: Any = ((3, 3), ONE)) -> Any:
    samples, channels, rows, size, pad = case
    shapes = (
        (samples, channels, *size),
        (rows, channels, *kind[0]),
        (rows,),
        (samples, rows, *out_of(size, pad, *kind)),
    )
    return [normal(*shape, dtype=dtype, turned=turned) for shape in shapes]


def close(found: Any, exact: Any, terms: int) -> None:
    assert found.dtype == exact.dtype and found.shape == exact.shape
    tolerance = (3e-7 if exact.dtype == np.float32 else 1e-15) * (terms + 8)
    np.testing.assert_allclose(found, exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("case", CASES)
def test_all_three_products_are_those_of_the_direct_way(
    both: Any, case: Any, dtype: str, turned: bool, kind: Any
) -> None:
    size, pad = case[3:]
    k, stride = kind
    out = out_of(size, pad, *kind)
    if min(out) < 1:
        pytest.skip("the kernel is larger than the input")
    x, w, bias, g = operands(case, dtype, turned, kind)
    exact, found = both(lambda: convolution.correlate(x, w, bias, stride, pad, ONE, out, 1))
    close(found, exact, w[0].size)
    exact, found = both(
        lambda: convolution.correlate_transposed(g, w, size, stride, pad, ONE, 1),
        max(pad) >= k[0],  # windows begin behind the first element
    )
    close(found, exact, w[:, 0].size)
    exact, found = both(lambda: convolution.weigh(x, g, k, stride, pad, ONE, 1))
    close(found, exact, 2 * g[:, 0].size)


@pytest.mark.parametrize("pad", range(6))
@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_a_transpose_with_any_padding(both: Any, k: int, pad: int) -> None:
    stride = 1 if k < 4 else 2
    g, w = normal(2, 16, 7, 6), normal(16, 20, k, k)
    for more in range(stride):
        size = tuple(stride * (n - 1) + k - 2 * pad + more for n in (7, 6))
        if min(size) < 1:
            continue
        exact, found = both(
            lambda size=size: convolution.correlate_transposed(
                g, w, size, (stride, stride), (pad, pad), ONE, 1
            ),
            pad >= k,
        )
        close(found, exact, 16 * k * k)


# size, kernel, stride, padding, dilation along the depth
DEEP = [
    ((5, 8, 9), (3, 3, 3), (1, 1, 1), (1, 1, 1), 1),
    ((6, 7, 7), (2, 3, 3), (2, 1, 1), (0, 1, 1), 1),
    ((7, 9, 8), (4, 4, 4), (2, 2, 2), (1, 1, 1), 1),
    ((9, 6, 6), (3, 2, 2), (1, 1, 1), (2, 0, 1), 2),
    ((1, 8, 8), (3, 3, 3), (1, 1, 1), (2, 1, 1), 1),
    ((4, 8, 8), (1, 4, 4), (1, 2, 2), (0, 3, 0), 1),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("case", DEEP)
def test_planes_of_bodies_are_summed_in_windows(
    both: Any, case: Any, dtype: str, turned: bool
) -> None:
    size, k, stride, pad, far = case
    dilation = (far, 1, 1)
    span = (far * (k[0] - 1) + 1, *k[1:])
    out = out_of(size, pad, span, stride)
    x, w = normal(3, 16, *size, dtype=dtype, turned=turned), normal(20, 16, *k, dtype=dtype)
    g, bias = normal(3, 20, *out, dtype=dtype, turned=turned), normal(20, dtype=dtype)
    given = stride, pad, dilation
    exact, found = both(lambda: convolution_3d.correlate(x, w, bias, *given, out, 1))
    close(found, exact, w[0].size)
    exact, found = both(lambda: convolution_3d.correlate_transposed(g, w, size, *given, 1))
    close(found, exact, w[:, 0].size)
    exact, found = both(lambda: convolution_3d.weigh(x, g, k, *given, 1))
    close(found, exact, 2 * g[:, 0].size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_where_a_result_is_not_finite_the_direct_way_answers(
    both: Any, bad: float, kind: Any
) -> None:
    size, pad = (12, 14), ONE
    x, w, _, g = operands((2, 16, 16, size, pad), "f4", kind=kind)
    x[1, 3, 4, 5] = g[1, 3, 2, 3] = bad
    k, stride = kind
    out = g.shape[2:]
    for function in (
        lambda: convolution.correlate(x, w, None, stride, pad, ONE, out, 1),
        lambda: convolution.correlate_transposed(g, w, size, stride, pad, ONE, 1),
        lambda: convolution.weigh(x, g, k, stride, pad, ONE, 1),
    ):
        exact, found = both(function, refused=True)
        np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("kind", KINDS)
def test_small_whole_numbers_are_exact(both: Any, kind: Any) -> None:
    rng = np.random.default_rng(1)
    k, stride = kind
    x, w = (rng.integers(-9, 9, shape).astype("f4") for shape in ((2, 16, 11, 10), (16, 16, *k)))
    w[w == 0] = 3
    out = out_of((11, 10), ONE, *kind)
    exact, found = both(lambda: convolution.correlate(x, w, None, stride, ONE, ONE, out, 1))
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


def test_a_single_0_among_many_weights_hides_nothing(both: Any) -> None:
    x, w, _, _ = operands((2, 32, 32, (12, 12), ONE), "f4")
    w[3, 4, 1, 2] = w[9, 1, 0, 0] = 0
    exact, found = both(lambda: convolution.correlate(x, w, None, ONE, ONE, ONE, (12, 12), 1))
    close(found, exact, w[0].size)
    w[3, 4, 0] = 0
    both(lambda: convolution.correlate(x, w, None, ONE, ONE, ONE, (12, 12), 1), refused=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("samples", [1, 3, 8])
def test_threads_change_no_digit(monkeypatch: pytest.MonkeyPatch, samples: int, kind: Any) -> None:
    k, stride = kind
    size = (24, 24)
    x, w, bias, g = operands((samples, 32, 32, size, ONE), "f4", kind=kind)
    monkeypatch.setattr(winograd, "suits", lambda *_, **__: True)
    forget()
    made = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "_threads", threads)
        made.append((
            convolution.correlate(x, w, bias, stride, ONE, ONE, g.shape[2:], 1),
            convolution.correlate_transposed(g, w, size, stride, ONE, ONE, 1),
            convolution.weigh(x, g, k, stride, ONE, ONE, 1),
        ))  # fmt: skip
    forget()
    for other in made[1:]:
        for a, b in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_few_channels_small_planes_and_other_kernels_are_left_to_the_direct_way() -> None:
    for k, stride, dilation, taps in (
        ((3, 3), (1, 1), (1, 1), 3), ((2, 2), (1, 1), (1, 1), 2), ((4, 4), (2, 2), (1, 1), 2),
        ((6, 6), (2, 2), (1, 1), 3), ((3, 3), (2, 2), (1, 1), 0), ((4, 4), (1, 1), (1, 1), 0),
        ((5, 5), (1, 1), (1, 1), 0), ((3, 3), (1, 1), (1, 2), 0), ((3, 4), (1, 1), (1, 1), 0),
        ((4, 4), (2, 1), (1, 1), 0), ((9, 9), (3, 3), (1, 1), 0), ((1, 1), (1,), (1,), 0),
        ((3,), (1,), (1,), 0), ((1, 1), (1, 1), (1, 1), 0),
    ):  # fmt: skip
        assert winograd.taps_of(k, stride, dilation) == taps
    assert winograd.suits(3, 4, (32, 32), 8, 64, 64)
    assert winograd.suits(2, 4, (32, 32), 8, 64, 64)
    for taps, out, channels, rows in (
        (0, (32, 32), 64, 64), (3, (32, 32), 3, 64), (3, (32, 32), 64, 8), (3, (2, 2), 64, 64),
        (3, (32, 32), 4096, 64), (2, (32, 32), 2048, 64),
    ):  # fmt: skip
        assert not winograd.suits(taps, 4, out, 8, channels, rows)
