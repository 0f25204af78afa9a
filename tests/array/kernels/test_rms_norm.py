"""Root-mean-square norm, logsumexp and batch norm down columns: kernels against NumPy's ways."""

from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.nn import batch_norm as channels
from rushlight._native.llvm import target
from rushlight._table.reduce.reduce import logsumexp as row
from tests.array import _norms as moments
from tests.array.kernels.test_kernels import both, normal

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 8), (5, 65), (2, 3, 384), (70, 130), (2, 9000)])
@pytest.mark.parametrize("scaled", [False, True])
def test_root_mean_square_norm(
    monkeypatch: pytest.MonkeyPatch, scaled: bool, shape: tuple[int, ...], dtype: Any
) -> None:
    x, g = normal(1, dtype, *shape), normal(2, dtype, *shape)
    weight = normal(3, dtype, shape[-1]) if scaled else None
    inverse = moments.rms_norm(x, shape[-1:], weight, 1e-5)[1]
    both(monkeypatch, lambda: moments.rms_norm(x, shape[-1:], weight, 1e-5))
    both(
        monkeypatch,
        lambda: moments.rms_norm_backward(g, x, shape[-1:], inverse, weight, (True, scaled)),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [(1,), (-1,), (0, 1), (1, 0), (0,)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_logsumexp(monkeypatch: pytest.MonkeyPatch, dim: Any, keepdim: bool, dtype: Any) -> None:
    x = 5 * normal(1, dtype, 40, 70)
    out = row.op.raw(x, dim, keepdim)
    g = normal(2, dtype, *out.shape)
    both(monkeypatch, lambda: row.op.raw(x, dim, keepdim))
    both(monkeypatch, lambda: row.op.formulas[0](g, x, out, dim, keepdim))


@pytest.mark.parametrize("dtype", DTYPES)
def test_logsumexp_of_special_values(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    x = normal(1, dtype, 8, 33)
    x[0], x[1, 3], x[2, 5], x[3, :20] = -np.inf, np.inf, np.nan, -np.inf
    x[4], x[5, 7], x[6, 1], x[6, 2] = 1e4, -1e30, np.inf, -np.inf
    monkeypatch.setattr(kernels, "LEAST", 0)
    found = row.op.raw(x, (1,))
    assert found[0] == -np.inf and found[1] == np.inf and np.isnan(found[2])
    assert found[6] == np.inf
    with np.errstate(all="ignore"):
        both(monkeypatch, lambda: row.op.raw(x, (1,)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(300, 64), (33, 20, 7), (9, 40, 3, 3), (4, 16, 1)])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_down_columns(
    monkeypatch: pytest.MonkeyPatch, affine: bool, shape: tuple[int, ...], training: bool,
    dtype: Any,
) -> None:  # fmt: skip
    count = shape[1]
    x, g = normal(1, dtype, *shape) + 3, normal(2, dtype, *shape)
    weight, bias = (normal(k, dtype, count) for k in (3, 4)) if affine else (None, None)
    mean, var = normal(5, dtype, count), abs(normal(6, dtype, count)) + 1
    _, centre, inverse = channels.batch_norm(x, weight, bias, mean, var, training, 1e-5)
    both(monkeypatch, lambda: channels.batch_norm(x, weight, bias, mean, var, training, 1e-5))
    for need in [(True, affine, affine), (True, False, False), (False, True, True)]:
        both(
            monkeypatch,
            lambda need=need: channels.batch_norm_backward(  # type: ignore[misc]
                g, x, weight, mean, var, centre, inverse, training, 1e-5, need
            ),
        )


def test_the_variance_of_columns_far_from_zero_keeps_its_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 0)
    x = (normal(1, np.float64, 5000, 32) + 3000).astype(np.float32)
    _, mean, inverse = channels.batch_norm(x, None, None, None, None, True, 0.0)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(mean, exact.mean(0), rtol=1e-6)
    np.testing.assert_allclose(inverse, 1 / exact.std(0), rtol=2e-4)
