"""Convolutions by emitted code, against NumPy's."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from rushlight._array import kernels
from rushlight._array.kernels import (
    bias_gradients,
    convolution,
    convolution_3d,
    depthwise,
    launches,
    small_convolution,
)
from rushlight._array.memory import parallel
from rushlight._array.nn import convolution as convolve
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

OFF = 1 << 60
DTYPES = ["f4", "f8"]


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `convolve` does is NumPy's way, unless a test says otherwise."""
    monkeypatch.setattr(kernels, "CONVOLUTION", OFF)


@pytest.fixture
def anew() -> Any:
    """Nothing is remembered of how convolutions are done."""
    ways = convolution.output_ways, convolution.input_ways, convolution.weight_ways
    for way in ways:
        way.cache_clear()
    yield
    for way in ways:
        way.cache_clear()


def close(found: Any, exact: Any, terms: int) -> bool:
    tolerance = (1e-6 if found.dtype == np.float32 else 1e-14) * (terms + 8)
    same = found.dtype == exact.dtype and found.shape == exact.shape
    return same and found.flags.c_contiguous and bool((abs(found - exact) <= tolerance).all())


def watched(monkeypatch: pytest.MonkeyPatch, module: Any, *names: str) -> list[str]:
    """The names of the functions that are called from now on, which still do their work."""
    calls: list[str] = []

    def watch(name: str, way: Any) -> None:
        def recorded(*args: Any) -> Any:
            calls.append(name)
            return way(*args)

        monkeypatch.setattr(module, name, recorded)

    for name in names:
        watch(name, getattr(module, name))
    return calls


def compare(
    dtype: str, samples: int, groups: int, channels: int, rows: int, size: Any, k: Any,
    stride: Any, pad: Any, dilation: Any, seed: int = 3, turned: bool = False,
) -> None:  # fmt: skip
    """All three products; `channels` and `rows` are those of one group."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> Any:
        made = rng.standard_normal(shape).astype(dtype)
        if turned:  # channels last
            return np.ascontiguousarray(made.swapaxes(1, -1)).swapaxes(1, -1)
        return made

    out = convolve.out_sizes(size, k, stride, pad, dilation)
    x, g = normal(samples, groups * channels, *size), normal(samples, groups * rows, *out)
    w, bias = normal(groups * rows, channels, *k), rng.standard_normal(groups * rows).astype(dtype)
    rest = (stride, pad, dilation)
    taps = int(np.prod(k))
    found = convolution.correlate(x, w, bias, *rest, out, groups)
    assert close(found, convolve.correlate(x, w, bias, *rest, groups), taps * channels)
    found = convolution.correlate_transposed(g, w, size, *rest, groups)
    assert close(found, convolve.correlate_transposed(g, w, size, *rest, groups), taps * rows)
    found = convolution.weigh(x, g, k, *rest, groups)
    assert close(found, convolve.weigh(x, g, k, *rest, groups), 8 * g.size // (groups * rows))


# samples, groups, channels, rows, size, kernel, stride, padding, dilation
CASES = [
    (2, 1, 8, 8, (12, 9), (3, 3), (1, 1), (1, 1), (1, 1)),
    (3, 1, 16, 12, (11, 13), (3, 2), (1, 1), (0, 1), (1, 1)),
    (2, 1, 8, 10, (15, 14), (3, 3), (2, 2), (1, 1), (1, 1)),
    (2, 1, 9, 33, (15, 14), (3, 3), (2, 1), (2, 1), (2, 1)),
    (2, 1, 8, 16, (16, 16), (1, 1), (2, 2), (0, 0), (1, 1)),
    (2, 1, 8, 16, (16, 16), (5, 5), (3, 2), (2, 2), (1, 2)),
    (1, 1, 8, 70, (40, 40), (3, 3), (1, 1), (0, 0), (2, 2)),
    (2, 1, 8, 8, (7, 7), (7, 7), (1, 1), (3, 3), (1, 1)),
    (2, 1, 8, 8, (5, 5), (2, 2), (4, 4), (0, 0), (1, 1)),
    (2, 1, 8, 8, (5, 5), (1, 1), (3, 3), (2, 2), (1, 1)),
    (1, 1, 8, 8, (3, 3), (3, 3), (1, 1), (0, 0), (1, 1)),
    (9, 1, 1, 5, (28, 28), (3, 3), (1, 1), (0, 0), (1, 1)),
    (2, 1, 3, 16, (33, 32), (7, 7), (2, 2), (3, 3), (1, 1)),
    (2, 3, 5, 7, (9, 17), (3, 3), (2, 1), (1, 2), (1, 1)),
    (2, 9, 1, 1, (30, 31), (3, 3), (1, 1), (1, 1), (1, 1)),
    (3, 5, 1, 1, (15, 14), (5, 3), (2, 3), (2, 0), (1, 2)),
    (2, 3, 4, 1, (9, 8), (3, 3), (1, 1), (1, 1), (1, 1)),
    (2, 4, 1, 2, (9, 17), (3, 3), (1, 1), (1, 1), (1, 1)),
    (3, 6, 1, 1, (7, 7), (3, 3), (1, 1), (1, 1), (1, 1)),
    (2, 6, 1, 1, (9, 40), (5, 5), (2, 2), (2, 2), (1, 1)),
    (2, 4, 1, 1, (3, 35), (5, 3), (1, 1), (4, 0), (1, 1)),
    (2, 4, 1, 1, (2, 2), (3, 3), (2, 2), (2, 2), (1, 1)),
    (2, 5, 1, 1, (21, 18), (3, 3), (1, 1), (2, 2), (2, 2)),
    (3, 1, 64, 48, (16, 16), (4, 4), (2, 2), (1, 1), (1, 1)),
    (2, 1, 48, 40, (13, 15), (3, 3), (2, 2), (1, 1), (1, 1)),
    (2, 1, 4, 6, (50,), (5,), (1,), (2,), (1,)),
    (2, 2, 4, 6, (200,), (3,), (2,), (2,), (3,)),
    (3, 1, 64, 64, (2, 3), (3, 3), (1, 1), (1, 1), (1, 1)),
    (2, 1, 2, 2, (4, 4), (1, 1), (1, 1), (3, 3), (1, 1)),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_convolution_and_its_gradients_equal_numpys(
    dtype: str, case: tuple[Any, ...], turned: bool
) -> None:
    compare(dtype, *case, turned=turned)


@pytest.mark.parametrize("seed", range(40))
def test_convolutions_of_random_shapes_equal_numpys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dims = int(rng.integers(1, 3))

    def drawn(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(v) for v in rng.integers(low, high, dims))

    k, stride, pad, dilation = drawn(1, 5), drawn(1, 4), drawn(0, 4), drawn(1, 3)
    size = tuple(
        max(n, d * (m - 1) + 1 - 2 * p, 1) for n, m, p, d in zip(drawn(1, 40), k, pad, dilation)
    )
    samples, groups, channels, rows = (int(rng.integers(1, n)) for n in (5, 4, 7, 19))
    compare(
        str(rng.choice(DTYPES)), samples, groups, channels, rows, size, k, stride, pad, dilation,
        seed, bool(rng.integers(2)),
    )  # fmt: skip


def test_weights_may_have_any_strides() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 6, 9, 9))
    w = rng.standard_normal((3, 3, 6, 8)).transpose(3, 2, 0, 1)[:, :, ::-1, ::-1]
    rest = ((1, 1), (1, 1), (1, 1))
    found = convolution.correlate(x, w, None, *rest, (9, 9), 1)
    assert close(found, convolve.correlate(x, np.array(w), None, *rest, 1), 60)


def test_nan_and_inf_go_where_the_windows_are() -> None:
    x = np.ones((2, 4, 12, 12), "f4")
    x[0, 1, 3, 11], x[1, 2, 0, 0] = np.nan, np.inf
    w = np.ones((8, 4, 3, 3), "f4")
    rest = ((1, 1), (1, 1), (1, 1))
    found = convolution.correlate(x, w, None, *rest, (12, 12), 1)
    assert np.array_equal(found, convolve.correlate(x, w, None, *rest, 1), equal_nan=True)
    assert np.isnan(found).sum() == 8 * 6 and np.isinf(found).sum() == 8 * 4
    found = convolution.correlate_transposed(x, w.swapaxes(0, 1), (12, 12), *rest, 1)
    assert np.isnan(found).sum() == 8 * 6 and np.isinf(found).sum() == 8 * 4


def test_what_is_not_taken_is_left_to_numpy() -> None:
    rest = ((1, 1), (0, 0), (1, 1))
    x, w = np.ones((2, 3, 9, 9), "f4"), np.ones((8, 3, 3, 3), "f4")
    assert convolution.correlate(x, w.astype("f8"), None, *rest, (7, 7), 1) is None
    assert convolution.weigh(x.astype("i8"), x.astype("i8"), (3, 3), *rest, 1) is None
    cube = np.ones((1, 2, 4, 4, 4), "f4")
    one = (1, 1, 1)
    assert convolution.correlate_transposed(cube, cube, (4, 4, 4), one, (0, 0, 0), one, 1) is None
    assert (convolve.correlate(x, w, None, *rest, 1) == 27).all()


@pytest.mark.parametrize("samples", [1, 3, 20])
def test_the_digits_are_those_of_one_thread(samples: int) -> None:
    rng = np.random.default_rng(6)
    x = rng.standard_normal((samples, 16, 30, 31)).astype("f4")
    w = rng.standard_normal((32, 16, 3, 3)).astype("f4")
    g = rng.standard_normal((samples, 32, 15, 16)).astype("f4")
    rest = ((2, 2), (1, 1), (1, 1))
    before = parallel.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            results.append([
                convolution.correlate(x, w, None, *rest, (15, 16), 1),
                convolution.correlate_transposed(g, w, (30, 31), *rest, 1),
                convolution.weigh(x, g, (3, 3), *rest, 1),
            ])  # fmt: skip
    finally:
        parallel.set_num_threads(before)
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_large_convolutions_take_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "CONVOLUTION", 1)
    calls = watched(monkeypatch, convolution, "correlate", "correlate_transposed", "weigh")
    rest = ((2,), (1,), (1,))
    x, w = np.ones((2, 3, 9), "f4"), np.ones((4, 3, 3), "f4")
    y = convolve.correlate(x, w, None, *rest, 1)
    convolve.correlate_transposed(y, w, (9,), *rest, 1)
    convolve.weigh(x, y, (3,), *rest, 1)
    assert calls == ["correlate", "correlate_transposed", "weigh"]


# samples, channels, rows, size, kernel, stride, padding, dilation
SMALL = [
    (20, 16, 32, (6, 6), (3, 3), (1, 1), (0, 0), (1, 1)),
    (3, 70, 96, (7, 7), (3, 3), (1, 1), (1, 1), (1, 1)),
    (9, 130, 16, (4, 5), (3, 3), (1, 1), (1, 1), (1, 1)),
    (5, 16, 33, (9, 9), (3, 3), (2, 2), (1, 1), (1, 1)),
    (5, 9, 17, (20,), (5,), (1,), (2,), (2,)),
    (2, 8, 20, (1, 1), (1, 1), (2, 2), (0, 0), (1, 1)),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("dtype", DTYPES)
def test_convolutions_of_small_planes_equal_numpys(
    dtype: str, case: tuple[Any, ...], turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_convolution, "suits", lambda *_: True)
    samples, *rest = case
    compare(dtype, samples, 1, *rest, turned=turned)


@pytest.mark.usefixtures("anew")
def test_small_planes_take_tiles_of_places(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = watched(monkeypatch, small_convolution, "correlating", "weighing")
    rest = ((1, 1), (1, 1), (1, 1))
    x, w = np.ones((2, 64, 7, 7), "f4"), np.ones((64, 64, 3, 3), "f4")
    y = convolution.correlate(x, w, None, *rest, (7, 7), 1)
    convolution.correlate_transposed(y, w, (7, 7), *rest, 1)
    convolution.weigh(x, y, (3, 3), *rest, 1)
    assert calls == ["correlating", "correlating", "weighing"]
    large = np.ones((2, 8, 40, 40), "f4")
    convolution.correlate(large, w[:, :8], None, *rest, (40, 40), 1)
    assert len(calls) == 3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 4, 1), (2, 3, 15), (2, 5, 16, 9), (1, 2, 7, 7, 40)])
def test_sums_of_planes_equal_numpys(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(9).standard_normal(shape).astype(dtype)
    axes = tuple(range(2, len(shape)))
    assert close(bias_gradients.by_plane(x), x.sum(axes), 50)
    assert bias_gradients.by_plane(x[:, ::-1]) is None
    x[0, 1, 0] = np.nan
    assert np.isnan(bias_gradients.by_plane(x)).sum() == 1


PROGRAM = """
import numpy as np
from rushlight._array.nn import convolution as convolve
from rushlight._array import kernels
from rushlight._array.kernels import convolution, max_pool
from rushlight._native.llvm import target
assert target.machine().width <= 32
assert not any(part.startswith("+avx512") for part in target.compiler().features.split(","))
x = np.random.default_rng(0).standard_normal((3, 12, 17, 19)).astype("f4")
w = np.random.default_rng(1).standard_normal((20, 12, 3, 3)).astype("f4")
rest = ((2, 1), (1, 1), (1, 1))
y = convolution.correlate(x, w, None, *rest, (9, 19), 1)
back = convolution.correlate_transposed(y, w, (17, 19), *rest, 1)
grads = convolution.weigh(x, y, (3, 3), *rest, 1)
values, where = max_pool.largest(x, (3, 3), (2, 2), (1, 1), (1, 1), (9, 10), True)
kernels.off()
assert np.allclose(y, convolve.correlate(x, w, None, *rest, 1), 1e-4, 1e-4)
assert np.allclose(back, convolve.correlate_transposed(y, w, (17, 19), *rest, 1), 1e-4, 1e-3)
assert np.allclose(grads, convolve.weigh(x, y, (3, 3), *rest, 1), 1e-3, 1e-2)
assert np.array_equal(values.reshape(-1), x.reshape(36, -1)[
    np.arange(36)[:, None], where.reshape(36, -1)].reshape(-1))
print("equal")
"""


def test_code_for_shorter_vectors_runs_too() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "RUSHLIGHT_VECTOR": "32"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.strip() == "equal", found.stderr


# samples, groups, channels, rows, size, kernel, stride, padding, dilation
VOLUMES = [
    (2, 1, 4, 6, (5, 6, 7), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    (2, 1, 3, 5, (7, 9, 8), (3, 3, 2), (2, 2, 2), (1, 1, 0), (1, 1, 1)),
    (1, 1, 8, 4, (4, 5, 5), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1)),
    (2, 2, 3, 4, (6, 5, 9), (2, 3, 3), (3, 1, 2), (1, 1, 1), (1, 2, 1)),
    (2, 3, 1, 1, (6, 8, 8), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    (1, 1, 2, 3, (9, 6, 6), (3, 2, 2), (1, 2, 2), (2, 0, 0), (2, 1, 1)),
    (2, 1, 2, 3, (4, 4, 4), (2, 2, 2), (4, 2, 2), (0, 0, 0), (1, 1, 1)),
    # Small planes, and blocks of planes with some left over.
    (3, 1, 16, 48, (5, 4, 5), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    (2, 1, 32, 16, (6, 6, 6), (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1)),
    (2, 1, 3, 4, (27, 9, 17), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    (1, 2, 2, 3, (41, 7, 9), (4, 2, 3), (2, 1, 1), (3, 0, 1), (3, 1, 1)),
    (9, 1, 3, 4, (6, 9, 9), (3, 3, 3), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    # A kernel deeper than the body, and planes that meet padding alone.
    (2, 1, 3, 4, (2, 6, 7), (5, 3, 3), (1, 1, 1), (2, 1, 1), (1, 1, 1)),
    (2, 1, 3, 4, (3, 6, 7), (2, 3, 3), (2, 1, 1), (4, 1, 1), (1, 1, 1)),
    (1, 1, 3, 4, (9, 6, 7), (1, 3, 3), (3, 1, 1), (0, 1, 1), (1, 1, 1)),
]


@pytest.mark.parametrize("case", VOLUMES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("turned", [False, True])
def test_convolutions_of_volumes_equal_numpys(
    monkeypatch: pytest.MonkeyPatch, dtype: str, turned: bool, case: tuple[Any, ...]
) -> None:
    samples, groups, channels, rows, size, k, stride, pad, dilation = case
    rng = np.random.default_rng(5)
    out = convolve.out_sizes(size, k, stride, pad, dilation)

    def normal(*shape: int) -> Any:
        made = rng.standard_normal(shape).astype(dtype)
        if turned:  # channels last, every second plane of a larger body
            twice = np.repeat(np.ascontiguousarray(made.swapaxes(1, -1)), 2, 2)
            return twice[:, :, ::2].swapaxes(1, -1)
        return made

    x = normal(samples, groups * channels, *size)
    g = normal(samples, groups * rows, *out)
    w = normal(groups * rows, channels, *k)
    bias = rng.standard_normal(groups * rows).astype(dtype)
    rest = (stride, pad, dilation, groups)

    def all_three() -> list[Any]:
        return [
            convolve.correlate(x, w, bias, *rest), convolve.correlate_transposed(g, w, size, *rest),
            convolve.weigh(x, g, k, *rest),
        ]  # fmt: skip

    exact = all_three()
    calls = watched(monkeypatch, convolution_3d, "correlate", "correlate_transposed", "weigh")
    for block in (1 << 23, 1):
        monkeypatch.setattr(kernels, "CONVOLUTION", 0)
        monkeypatch.setattr(convolution_3d, "_BLOCK", block)
        for found, wanted in zip(all_three(), exact, strict=True):
            assert close(found, wanted, int(np.prod(k)) * max(channels, rows) + g.size)
    assert calls == ["correlate", "correlate_transposed", "weigh"] * 2


@pytest.mark.parametrize("case", VOLUMES)
def test_threads_change_no_digit_of_convolutions_of_volumes(
    monkeypatch: pytest.MonkeyPatch, case: tuple[Any, ...]
) -> None:
    samples, groups, channels, rows, size, k, stride, pad, dilation = case
    rng = np.random.default_rng(8)
    out = convolve.out_sizes(size, k, stride, pad, dilation)
    x = rng.standard_normal((samples, groups * channels, *size), np.float32)
    g = rng.standard_normal((samples, groups * rows, *out), np.float32)
    w = rng.standard_normal((groups * rows, channels, *k), np.float32)
    rest = (stride, pad, dilation, groups)
    for module in (convolution, small_convolution):
        monkeypatch.setattr(module, "THREADED", 0)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "_threads", threads)
        y = convolution_3d.correlate(x, w, None, *rest[:3], out, groups)
        d = convolution_3d.correlate_transposed(g, w, size, *rest)
        found.append((y, d, convolution_3d.weigh(x, g, k, *rest)))
    for others in found[1:]:
        assert all((a == b).all() for a, b in zip(found[0], others, strict=True))


def test_a_convolution_of_bodies_without_memory_is_out_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any) -> Any:
        raise np._core._exceptions._ArrayMemoryError((1,), np.dtype("f4"))  # type: ignore[attr-defined]

    x, w = np.ones((2, 8, 6, 9, 9), "f4"), np.ones((8, 8, 3, 3, 3), "f4")
    one = (1, 1, 1)
    monkeypatch.setattr(kernels, "CONVOLUTION", 0)
    monkeypatch.setattr(launches.Launches, "run", refuse)
    with pytest.raises(MemoryError):
        convolve.correlate(x, w, None, one, one, one, 1)
    with pytest.raises(MemoryError):
        convolve.weigh(x, x, (3, 3, 3), one, one, one, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [(4, 4), (3,), (2, 3, 2)])
def test_a_kernel_as_large_as_the_input_is_one_product(size: Any, dtype: str) -> None:
    rng = np.random.default_rng(6)
    x, w = rng.standard_normal((3, 5, *size)), rng.standard_normal((7, 5, *size))
    g = rng.standard_normal((3, 7, *(1,) * len(size)))
    x, w, g = (v.astype(dtype) for v in (x, w, g))
    one, none = (1,) * len(size), (0,) * len(size)
    y = convolve.correlate(x, w, None, one, none, one, 1)
    assert close(y.reshape(3, 7), x.reshape(3, -1) @ w.reshape(7, -1).T, 100)
    d = convolve.correlate_transposed(g, w, size, one, none, one, 1)
    assert close(d.reshape(3, -1), g.reshape(3, 7) @ w.reshape(7, -1), 100)
    d = convolve.weigh(x, g, size, one, none, one, 1)
    assert close(d.reshape(7, -1), g.reshape(3, 7).T @ x.reshape(3, -1), 100)


@pytest.mark.usefixtures("anew")
def test_planes_with_kernels_of_their_own_are_read_as_they_lie(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(7)
    x, w = rng.standard_normal((4, 32, 14, 14)), rng.standard_normal((32, 1, 3, 3))
    one = (1, 1)
    exact = convolve.correlate(x, w, None, one, one, one, 32)
    calls = watched(monkeypatch, depthwise, "correlating", "transposing", "weighing")
    monkeypatch.setattr(kernels, "CONVOLUTION", 1 << 16)
    assert close(convolve.correlate(x, w, None, one, one, one, 32), exact, 9)
    convolve.correlate_transposed(exact, w, (14, 14), one, one, one, 32)
    convolve.weigh(x, exact, (3, 3), one, one, one, 32)
    assert calls == ["correlating", "transposing", "weighing"]
    monkeypatch.setattr(parallel, "_threads", 3)
    assert (convolve.correlate(x, w, None, one, one, one, 32) == convolve.correlate(
        x, w, None, one, one, one, 32)).all()  # fmt: skip


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_lay_in_the_memory_before_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    # Calls share their memory with whatever comes before them in a compiled step.
    rng = np.random.default_rng(8)
    cases: Any = [
        ((3, 16, 9, 11), (24, 16, 3, 3), (1, 1), (1, 1), 1),
        ((2, 8, 7, 7), (16, 8, 3, 3), (2, 2), (1, 1), 1),
        ((2, 64, 7, 7), (64, 64, 3, 3), (1, 1), (1, 1), 1),
        ((2, 6, 9, 9), (6, 1, 3, 3), (1, 1), (1, 1), 6),
        ((2, 6, 9, 8), (9, 2, 3, 2), (2, 1), (0, 1), 3), ((2, 3, 30), (5, 3, 4), (1,), (2,), 1),
        ((1, 3, 40, 40), (6, 3, 5, 5), (1, 1), (2, 2), 1),
        ((2, 4, 8, 8), (4, 1, 3, 3), (2, 2), (1, 1), 4),
    ]  # fmt: skip
    made: list[list[Any]] = []
    for fill in (0, 0xFF):  # as zeros, and as NaNs

        def empty(size: Any, dtype: Any = float, fill: int = fill) -> Any:
            found = np.zeros(size, dtype)
            found.view(np.uint8)[...] = fill
            return found

        monkeypatch.setattr(launches, "empty", empty)
        rng = np.random.default_rng(8)
        here = []
        for size, weights, stride, pad, groups in cases:
            x, w = (rng.standard_normal(s).astype(dtype) for s in (size, weights))
            bias, one = rng.standard_normal(weights[0]).astype(dtype), (1,) * len(stride)
            out = convolve.out_sizes(size[2:], weights[2:], stride, pad, one)
            y = convolution.correlate(x, w, bias, stride, pad, one, out, groups)
            here.append(y)
            here.append(convolution.correlate_transposed(y, w, size[2:], stride, pad, one, groups))
            here.append(convolution.weigh(x, y, weights[2:], stride, pad, one, groups))
        made.append(here)
    for a, b in zip(*made, strict=True):
        assert np.isfinite(a).all() and (a == b).all()
