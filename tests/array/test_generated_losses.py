"""Losses made of formulas by element: all their ways give the same."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.elementwise import generated
from rushlight._table import ROWS

LOGITS = ROWS["binary_cross_entropy_with_logits"][0]


@pytest.fixture(autouse=True)
def without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)


def values(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("mse_loss", ()), ("smooth_l1_loss", (1.0,)), ("smooth_l1_loss", (0.7,)),
     ("huber_loss", (0.6,)), ("soft_margin_loss", ())],
)  # fmt: skip
def test_sums_in_pieces_are_those_of_the_elements(
    name: str, numbers: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = ROWS[name][0].op.raw
    x, t = values(1, 100, 501), values(2, 100, 501)
    each = loss(x, t, 0, *numbers)
    for few in (0, x.size):
        monkeypatch.setattr(generated.LIMITS, "few", few)
        assert np.isclose(loss(x, t, 2, *numbers), each.sum(), rtol=1e-13)
        assert np.isclose(loss(x.T, t.T, 1, *numbers), each.mean(), rtol=1e-13)
    x, t = x[0], t[0]
    for few in (0, x.size):
        monkeypatch.setattr(generated.LIMITS, "few", few)
        assert np.isclose(loss(x, t, 2, *numbers), each[0].sum(), rtol=1e-13)


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_weights_that_broadcast_are_those_that_were_spread_before(reduction: int) -> None:
    x, t = values(1, 4, 3), abs(values(2, 4, 3))
    weight, heavy = abs(values(3, 4, 1)), abs(values(4, 3))
    spread = [np.broadcast_to(w, x.shape).copy() for w in (weight, heavy)]
    g = values(5, 4, 3) if reduction == 0 else np.array(0.7)
    for w, p in ((weight, heavy), (weight, None), (None, heavy)):
        first = None if w is None else spread[0]
        second = None if p is None else spread[1]
        np.testing.assert_allclose(
            LOGITS.op.raw(x, t, w, p, reduction),
            LOGITS.op.raw(x, t, first, second, reduction), rtol=1e-14,
        )  # fmt: skip
        slope = LOGITS.op.formulas[0]
        np.testing.assert_allclose(
            slope(g, x, t, w, p, reduction), slope(g, x, t, first, second, reduction), rtol=1e-14
        )


def test_a_factor_of_two_costs_no_pass_over_the_elements() -> None:
    slope = ROWS["mse_loss"][0].op.formulas[0].loss.times(("self", "target"), True)
    assert slope.source.count("u_") == 2
