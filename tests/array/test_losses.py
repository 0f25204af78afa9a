"""Losses: against the textbook formula row by row, gradients against central differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.nn import cross_entropy as module
from rushlight._table.reduce.softmax import LOG_SOFTMAX


def normal(*shape: int, scale: float = 1.0, offset: float = 0.0, dtype: type = np.float64) -> Any:
    seed = sum(shape) + len(shape)
    values = np.random.default_rng(seed).standard_normal(shape) * scale + offset
    return np.asarray(values).astype(dtype)


def slope(function: Callable[[Any], Any], g: Any, x: Any, direction: Any) -> float:
    """The derivative of the sum of g * function(x) along a direction, by central differences."""
    h = 1e-6
    return float((g * (function(x + h * direction) - function(x - h * direction))).sum() / (2 * h))


def plain_log_softmax(x: Any, axis: int) -> Any:
    x = x.astype(np.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


# The last ones leave the range in which the row maximum is not needed.
RANGES = [(1.0, 0.0), (10.0, 0.0), (3.0, 55.0), (20.0, -300.0), (1.0, 10_000.0)]

SHAPES = [(9, 5), (3, 5, 4, 2), (5,)]


def plain_loss(
    x: Any, target: Any, weight: Any, ignore: int, reduction: str, smoothing: float
) -> Any:
    """The textbook loss: negative expected log-probabilities, one row at a time."""
    axis = 1 if x.ndim > 1 else 0
    log_p = np.moveaxis(plain_log_softmax(x, axis), axis, -1)
    classes = log_p.shape[-1]
    w = np.ones(classes) if weight is None else weight.astype(np.float64)
    each, shares = np.zeros(log_p.shape[:-1]), np.ones(log_p.shape[:-1])
    for place in np.ndindex(*log_p.shape[:-1]):
        if target.shape == x.shape:
            wanted = np.moveaxis(target, axis, -1)[place].astype(np.float64)
        elif target[place] == ignore:
            shares[place] = 0
            continue
        else:
            wanted = np.eye(classes)[target[place]]
            shares[place] = w[target[place]]
        wanted = wanted * (1 - smoothing) + smoothing / classes
        each[place] = -(w * wanted * log_p[place]).sum()
    if reduction == "none":
        return each
    return each.sum() / (shares.sum() if reduction == "mean" else 1)


CASES = list(
    itertools.product(SHAPES, [False, True], [False, True], ["none", "mean", "sum"], [0.0, 0.3])
)


def case(
    shape: tuple[int, ...], probabilities: bool, weighted: bool, dtype: type
) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    x: Any = (rng.standard_normal(shape) * 4).astype(dtype)
    outer = shape[:1] + shape[2:] if len(shape) > 1 else ()
    target: Any = (
        rng.uniform(0, 1, shape) if probabilities else np.asarray(rng.integers(0, 5, outer))
    )
    if not probabilities and target.ndim:
        target.reshape(-1)[1] = 2
    return x, target, rng.uniform(0.3, 2, 5).astype(dtype) if weighted else None


@pytest.mark.parametrize(("shape", "probabilities", "weighted", "reduction", "smoothing"), CASES)
def test_cross_entropy_and_its_gradients(
    shape: tuple[int, ...], probabilities: bool, weighted: bool, reduction: str, smoothing: float
) -> None:
    x, target, weight = case(shape, probabilities, weighted, np.float64)
    for ignore in (-100,) if probabilities or not target.ndim else (-100, 2):
        options = {
            "weight": weight,
            "ignore": ignore,
            "reduction": reduction,
            "smoothing": smoothing,
        }
        given = torch.from_numpy(x).requires_grad_(True)
        wanted = torch.from_numpy(target).requires_grad_(probabilities)
        loss = torch.nn.functional.cross_entropy(
            given, wanted, None if weight is None else torch.from_numpy(weight),
            ignore_index=ignore, reduction=reduction, label_smoothing=smoothing,
        )  # fmt: skip
        expected = plain_loss(x, target, **options)
        np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=1e-10)
        g, direction = np.asarray(normal(*loss.shape, offset=0.5)), normal(*shape)
        loss.backward(torch.from_numpy(g))
        expected = slope(partial(plain_loss, target=target, **options), g, x, direction)
        assert abs((given.grad.numpy() * direction).sum() - expected) < 1e-6
        if probabilities:
            expected = slope(partial(plain_loss, x, **options), g, target, direction)
            assert abs((wanted.grad.numpy() * direction).sum() - expected) < 1e-6


@pytest.mark.parametrize(("scale", "offset"), RANGES)
def test_float32_cross_entropy_is_accurate_in_every_range(scale: float, offset: float) -> None:
    x: Any = normal(64, 33, scale=scale, offset=offset, dtype=np.float32)
    target = np.arange(64) % 33
    loss = module.cross_entropy(x, target)
    exact = plain_loss(x.astype(np.float64), target, None, -100, "mean", 0.0)
    assert abs(float(loss) - exact) <= 3e-7 * max(float(exact), 1.0)
    gradient = module.cross_entropy_backward(np.float32(1), x, target)
    exact_gradient = module.cross_entropy_backward(1.0, x.astype(np.float64), target)
    np.testing.assert_allclose(gradient, exact_gradient, atol=1e-5 / 64)


def first(log_p: Any, **options: Any) -> Any:
    return module.nll_loss(log_p, **options)[0]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_nll_loss_and_its_gradient(shape: tuple[int, ...], weighted: bool, reduction: str) -> None:
    x, target, weight = case(shape, False, weighted, np.float64)
    for ignore in (-100, 2):
        if not target.ndim and int(target) == ignore:
            continue
        loss, total = module.nll_loss(x, target, weight, ignore, reduction)
        axis = 1 if x.ndim > 1 else 0
        # Of log-probabilities, cross-entropy and the negative log likelihood are the same.
        logs = LOG_SOFTMAX.op.raw(x, axis)
        same = module.nll_loss(logs, target, weight, ignore, reduction)[0]
        if x.ndim == 2 and weight is None:
            found = module.cross_entropy(x, target, ignore, reduction)
            np.testing.assert_allclose(found, same)
        g, direction = np.asarray(normal(*loss.shape, offset=1)), normal(*shape)
        gradient = module.nll_loss_backward(g, x, target, weight, ignore, reduction, total)
        values = partial(
            first, target=target, weight=weight, ignore_index=ignore, reduction=reduction
        )
        expected = slope(values, g, x, direction)
        assert abs((gradient * direction).sum() - expected) < 1e-7


def test_a_target_that_is_no_class_raises() -> None:
    x = np.zeros((3, 4), np.float32)
    for wrong in (4, -1):
        target = np.array([0, wrong, 1])
        with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
            module.cross_entropy(x, target)
        with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
            module.nll_loss(x, target)
    loss = module.cross_entropy(x, np.array([0, -1, 1]), ignore_index=-1)
    np.testing.assert_allclose(loss, np.log(4), rtol=1e-6)


def test_when_every_target_is_ignored_the_mean_is_nan_and_the_gradient_zero() -> None:
    x, target = normal(3, 4, dtype=np.float32), np.full(3, 1)
    loss = module.cross_entropy(x, target, ignore_index=1)
    assert np.isnan(loss)
    gradient = module.cross_entropy_backward(np.float32(1), x, target, ignore_index=1)
    np.testing.assert_array_equal(gradient, np.zeros((3, 4)))


def test_an_ignored_row_may_hold_nan() -> None:
    x, target = normal(3, 4, dtype=np.float32), np.array([0, -100, 3])
    x[1] = np.nan
    loss = module.cross_entropy(x, target)
    clean = module.cross_entropy(x[[0, 2]], target[[0, 2]])
    np.testing.assert_allclose(loss, clean, rtol=1e-6)
    gradient = module.cross_entropy_backward(np.float32(1), x, target)
    assert np.isfinite(gradient).all() and not gradient[1].any()


def test_half_precision_losses_are_computed_in_float32() -> None:
    x, target = normal(6, 5, dtype=np.float16), np.arange(6) % 5
    loss = module.cross_entropy(x, target)
    wide = module.cross_entropy(x.astype(np.float32), target)
    assert loss.dtype == np.float16 and loss == wide.astype(np.float16)
    assert module.cross_entropy_backward(np.float16(1), x, target).dtype == np.float16


def test_losses_of_no_rows() -> None:
    x, target = np.empty((0, 5), np.float32), np.empty(0, np.int64)
    assert np.isnan(module.cross_entropy(x, target))
    assert module.cross_entropy(x, target, reduction="sum") == 0
    loss = module.cross_entropy(x, target, reduction="none")
    assert loss.shape == (0,)
    assert module.cross_entropy_backward(loss, x, target, reduction="none").shape == (0, 5)
