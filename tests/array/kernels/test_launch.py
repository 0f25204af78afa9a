"""How kernels are called: what they refuse, how rows are cut, and what happens without LLVM."""

import warnings
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.elementwise import erf, gated_linear
from rushlight._array.nn import class_losses
from rushlight._array.optimizers.rule import Rule, constants

pytest.importorskip("llvmlite")
from rushlight._array.kernels import launch
from rushlight._formula import gelu as gelu_of, words
from rushlight._native.llvm import target
from rushlight._table.nn.normalization import LAYER_NORM
from rushlight._table.reduce.softmax import SOFTMAX

pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

FLOAT32 = np.dtype(np.float32)


def numbers(*shape: int) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def softmax_of(x: Any) -> Any:
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def norm_kernel(variant: Any) -> launch.Kernel:
    return launch.Kernel(variant.of_symbols, *variant.asked)


@pytest.fixture
def kernel() -> launch.Kernel:
    return launch.Kernel(SOFTMAX.op.raw.rows.by_symbols, "f")


def test_a_kernel_says_no_to_arrays_that_it_can_not_read(kernel: launch.Kernel) -> None:
    x, out = numbers(6, 20), np.zeros((6, 20), np.float32)
    refused = [
        (x.T.copy().T, out),  # not in C order
        (x.astype(np.float64), out),
        (x, np.zeros((6, 20))),
        (x.view(np.matrix), out),
        (x.tolist(), out),
        (2.0, out),
    ]
    assert launch._direct()
    for given, room in refused:
        assert not kernel.rows(FLOAT32, 6, 20, (given,), (room,))
        assert not room.any()
    out.flags.writeable = False
    assert not kernel.rows(FLOAT32, 6, 20, (x,), (out,))


def test_a_number_must_be_a_float() -> None:
    doubled = launch.Kernel(launch.double, "f", "s")
    x, out = numbers(100), np.zeros(100, np.float32)
    assert doubled.flat(FLOAT32, (x, 3.0), (out,), 100)
    np.testing.assert_array_equal(out, 3 * x)
    out[:] = 0
    for wrong in (3, np.float64(3), None, x):
        assert not doubled.flat(FLOAT32, (x, wrong), (out,), 100)
    assert not out.any()


def test_other_dtypes_and_nothing_at_all_are_left_alone(kernel: launch.Kernel) -> None:
    x = numbers(4, 8).astype(np.float16)
    assert not kernel.rows(x.dtype, 4, 8, (x,), (x,))
    empty = np.empty((0, 8), np.float32)
    assert not kernel.rows(FLOAT32, 0, 8, (empty,), (empty,))


@pytest.mark.parametrize("shape", [(1, 9), (2, 65), (3, 1000), (700, 65), (5, 9000)])
def test_the_way_through_ctypes_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]
) -> None:
    x = numbers(*shape)
    scales = numbers(shape[1])
    found = []
    for direct in (True, False):
        monkeypatch.setattr(launch, "_direct", lambda direct=direct: direct)
        norm = norm_kernel(LAYER_NORM.op.raw.norm.variant((True, True, False), ()))
        out, mean, inverse = np.empty_like(x), np.empty(len(x), "f4"), np.empty(len(x), "f4")
        given = (x, scales, 1 / shape[1], 1e-5)
        assert norm.rows(FLOAT32, *shape, given, (out, mean, inverse))
        gelu = launch.Kernel(gelu_of.gelu, "f")
        flat = np.empty_like(x)
        assert gelu.flat(FLOAT32, (x,), (flat,), x.size)
        back = norm_kernel(LAYER_NORM.op.joint.norm.variant((True,) * 5, (True,) * 3))
        d = np.empty_like(x)
        parts = np.empty((2, launch.chunks_of(*shape), shape[1]), np.float32)
        given = (x, x, mean, inverse, scales, 1 / shape[1])
        assert back.rows(FLOAT32, *shape, given, (d, *parts))
        found.append((out, mean, inverse, flat, d, parts.sum(1)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_after_a_failure_of_the_compiler_numpy_goes_on_and_one_warning_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LEAST", "PRODUCT", "CONVOLUTION"):
        monkeypatch.setattr(kernels, name, getattr(kernels, name))

    def refuse(*asked: object) -> Any:
        raise RuntimeError("no such register")

    assert launch.ready()
    for way in ("load", "load_made"):
        monkeypatch.setattr(launch.engine, way, refuse)
    x = numbers(300, 100)
    kernels.rows.kernel_of.cache_clear()
    with pytest.warns(RuntimeWarning, match="no such register"):
        found = SOFTMAX.op.raw(x, -1)
    np.testing.assert_allclose(found, softmax_of(x), rtol=1e-5)
    assert x.size < kernels.LEAST
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(SOFTMAX.op.raw(x, -1), softmax_of(x), rtol=1e-5)


def test_an_update_that_could_not_be_compiled_is_done_once_by_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LEAST", "PRODUCT", "CONVOLUTION"):
        monkeypatch.setattr(kernels, name, getattr(kernels, name))

    def refuse(*asked: object) -> Any:
        raise OSError("no memory for code")

    def halve(p: Any, g: Any, rate: Any) -> Any:
        return (p - g * rate,)

    assert launch.ready()
    for way in ("load", "load_made"):
        monkeypatch.setattr(launch.engine, way, refuse)
    p, g = numbers(40_000), numbers(40_000)
    with pytest.warns(RuntimeWarning):
        Rule(halve, ())(()).run([p], [g], constants(p.dtype, [0.5]))
    np.testing.assert_array_equal(p, g - g * np.float32(0.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ignored", [-100, 3])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_cross_entropy_of_rows_by_their_sums(dtype: Any, ignored: int, reduction: int) -> None:
    x = (5 * numbers(400, 65)).astype(dtype)
    x[0, 1:] = -np.inf
    target = np.random.default_rng(1).integers(0, 65, 400)
    target[0] = 0
    p = softmax_of(x.astype(np.float64))
    each = np.where(target == ignored, 0, -np.log(p[np.arange(400), target]))
    counted = int((target != ignored).sum())
    wanted = each if reduction == 0 else each.sum() / (counted if reduction == 1 else 1)
    found = class_losses.cross_entropy(x, target, reduction, ignored)
    assert found.dtype == dtype and found.shape == np.shape(wanted)
    limit = 3e-6 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(found, wanted, rtol=limit, atol=limit)
    g = numbers(400).astype(dtype) if reduction == 0 else np.array(0.7, dtype)
    scale = np.broadcast_to(g / (counted if reduction == 1 else 1), (400,))
    scale = np.where(target == ignored, 0, scale)[:, None]
    d = (p - (np.arange(65) == target[:, None])) * scale
    back = class_losses.cross_entropy_backward(g, x, target, reduction, ignored)
    assert back.dtype == dtype
    np.testing.assert_allclose(back, d, rtol=10 * limit, atol=limit)


def test_the_mean_over_no_row_is_nan() -> None:
    x, target = numbers(400, 65), np.full(400, 9)
    assert np.isnan(class_losses.cross_entropy(x, target, 1, 9))


def test_a_large_gelu_of_a_slice_is_that_of_its_copy() -> None:
    x = numbers(400, 200)[:, ::2]
    np.testing.assert_allclose(erf.gelu(x), erf.gelu(x.copy()), rtol=1e-5, atol=1e-6)


def test_formulas_that_kernels_share_keep_their_names() -> None:
    """A kernel is looked up by its text, in which the name stands."""
    for name, function in vars(words).items():
        if isinstance(function, FunctionType) and function.__module__ == words.__name__:
            assert function.__name__ in (name, "word") or name.startswith("_"), name
    assert gated_linear._gate.formula is words.gate
