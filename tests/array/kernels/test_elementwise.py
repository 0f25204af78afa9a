"""Activations, choices and losses by element: kernels against NumPy's ways."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.elementwise import gated_linear as gating, generated, masks
from rushlight._array.nn import interpolation as resample
from rushlight._array.reduce import reduce
from rushlight._native.llvm import target
from rushlight._table import ROWS
from tests.array.kernels.test_kernels import both, normal

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

DTYPES = [np.float32, np.float64]
SIZES = [(7,), (3, 4096), (5, 1000)]
#: Rows that are formulas, and numbers for them.
FORMULAS: dict[str, tuple[Any, ...]] = {
    "elu": (1.3, 1.1, 0.9), "celu": (0.7,), "leaky_relu": (0.1,), "softplus": (2.5, 4.0),
    "hardtanh": (-0.5, 1.5), "mish": (), "logsigmoid": (), "hardsigmoid": (), "hardswish": (),
    "silu": (),
}  # fmt: skip


def row(name: str) -> Any:
    return ROWS[name][0].op


def special(dtype: Any) -> Any:
    """Zeros, kinks, large numbers, infinities, nan."""
    found = [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 0.1, 19.9, 20.1, 44.0, 60.0, 100.0, -100.0, 1e-30]
    return np.array([*found, np.inf, -np.inf, np.nan] * 2, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FORMULAS)
def test_activations(monkeypatch: pytest.MonkeyPatch, name: str, dtype: Any) -> None:
    monkeypatch.setattr(generated.LIMITS, "large", 0)
    function, numbers = row(name).raw, FORMULAS[name]
    for shape in SIZES:
        x = 4 * normal(1, dtype, *shape)
        both(monkeypatch, lambda x=x: function(x, *numbers))  # type: ignore[misc]
    with np.errstate(all="ignore"):
        both(monkeypatch, lambda: function(special(dtype), *numbers))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_of_activations(monkeypatch: pytest.MonkeyPatch, name: str, dtype: Any) -> None:
    function, numbers = row(name).formulas[0], FORMULAS[name]
    for shape in SIZES:
        g, x = normal(1, dtype, *shape), 4 * normal(2, dtype, *shape)
        both(monkeypatch, lambda g=g, x=x: function(g, x, *numbers))  # type: ignore[misc]
    x = special(dtype)
    with np.errstate(all="ignore"):
        both(monkeypatch, lambda: function(np.ones_like(x), x, *numbers))


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_of_halves_are_rounded_once(name: str) -> None:
    function, numbers = row(name).formulas[0], FORMULAS[name]
    g, x = normal(1, np.float16, 50), 4 * normal(2, np.float16, 50)
    exact = function(g.astype(np.float32), x.astype(np.float32), *numbers)
    found = function(g, x, *numbers)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, exact.astype(np.float16))


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices_by_a_mask(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    x, y = normal(1, dtype, 70, 90), normal(2, dtype, 70, 90)
    x[3, 4], y[5] = np.nan, np.inf
    mask = normal(3, dtype, 70, 90) > 0
    both(monkeypatch, lambda: masks.keep(x, mask))
    both(monkeypatch, lambda: masks.keep(y, mask))
    both(monkeypatch, lambda: masks.where(mask, x, y))
    both(monkeypatch, lambda: masks.where(mask, 2.5, y))
    both(monkeypatch, lambda: masks.where(mask, x, 0))
    both(monkeypatch, lambda: masks.where(mask, np.zeros((), dtype), y))
    both(monkeypatch, lambda: masks.where(mask[:, ::2], x[:, ::2], y[:, 1::2]))
    both(monkeypatch, lambda: masks.masked_fill(x, mask, -np.inf))


def test_a_choice_between_different_types_has_their_common_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 0)
    mask = np.arange(5000) % 3 == 0
    found = masks.where(mask, np.ones(5000, np.float32), np.zeros(5000))
    assert found.dtype == np.float64 and (found == mask).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gated_halves(monkeypatch: pytest.MonkeyPatch, dim: int, dtype: Any) -> None:
    x = 3 * normal(1, dtype, 4, 6, 34)
    half = gating.glu(x, dim)
    g = normal(2, dtype, *half.shape)
    both(monkeypatch, lambda: gating.glu(x, dim))
    both(monkeypatch, lambda: gating.glu_backward(g, x, dim))
    both(monkeypatch, lambda: gating.glu_backward(g.T.copy().T, x, dim))


LOSSES: dict[str, tuple[Any, ...]] = {
    "mse_loss": (), "smooth_l1_loss": (0.7,), "huber_loss": (1.3,), "soft_margin_loss": (),
    "binary_cross_entropy_with_logits": (None, None),
}  # fmt: skip


def loss_functions(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A loss (x, t, reduction), and its gradient (g, x, t, reduction)."""
    row, more = ROWS[name][0], LOSSES[name]
    before, after = (more, ()) if None in more else ((), more)
    return (
        lambda x, t, r: row.op.raw(x, t, *before, r, *after),
        lambda g, x, t, r: row.op.formulas[0](g, x, t, *before, r, *after),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_by_element(
    monkeypatch: pytest.MonkeyPatch, name: str, reduction: int, dtype: Any
) -> None:
    forward, backward = loss_functions(name)
    for shape in [(5,), (3, 4096), (7, 5001)]:
        x, t = 2 * normal(1, dtype, *shape), normal(2, dtype, *shape)
        g = normal(3, dtype, *shape) if reduction == 0 else np.array(0.7, dtype)
        both(monkeypatch, lambda x=x, t=t: forward(x, t, reduction))  # type: ignore[misc]
        both(monkeypatch, lambda g=g, x=x, t=t: backward(g, x, t, reduction))  # type: ignore[misc]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_gradient_of_probabilities(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    p = np.random.default_rng(1).uniform(0, 1, 9000).astype(dtype)
    p[:2] = 0, 1
    t = np.random.default_rng(2).uniform(0, 1, 9000).astype(dtype)
    g = np.array(1.5, dtype)
    slope = ROWS["binary_cross_entropy"][0].op.formulas[0]
    both(monkeypatch, lambda: slope(g, p, t, None, 1))


def test_a_sum_of_many_losses_keeps_its_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", 0)
    x = np.full(3_000_001, 0.1, np.float32)
    found = ROWS["mse_loss"][0].op.raw(x, np.zeros_like(x), 2)
    assert abs(float(found) / (3_000_001 * float(x[0]) ** 2) - 1) < 1e-6


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (40, 500), (3, 4097), (1000, 1000)])
def test_totals(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], dtype: Any) -> None:
    x = normal(1, dtype, *shape) + 1
    found = kernels.elementwise.total(x)
    assert found.dtype == dtype and found.shape == ()
    np.testing.assert_allclose(found, x.sum(dtype=np.float64), rtol=1e-6)
    both(monkeypatch, lambda: reduce.sum(x))
    both(monkeypatch, lambda: reduce.sum(x, None, True))
    x[..., 3] = np.inf
    assert kernels.elementwise.total(x) == np.inf


@pytest.mark.parametrize("dtype", DTYPES)
def test_means_of_whole_planes(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    x = normal(1, dtype, 5, 6, 9, 11)
    both(monkeypatch, lambda: resample.adaptive_avg_pool(x, (1, 1)))
    both(monkeypatch, lambda: resample.adaptive_avg_pool(x[0], (1, 1)))
    both(monkeypatch, lambda: resample.adaptive_avg_pool(x[:, :, ::2], (1, 1)))
