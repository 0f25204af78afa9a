"""Borders of an array's own elements: thin ones by slices, against those by places."""

from typing import Any

import numpy as np
import pytest

from rushlight._array.shape import padding

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3, 7), (1, 2)), ((2, 3, 5, 6), (0, 3, 2, 1)), ((1, 1, 5, 6), (0, 0, 2, 3)),
    ((2, 2, 4, 5, 6), (1, 0, 2, 2, 3, 1)), ((3, 6), (2, 0)), ((1, 4, 5), (3, 3)),
    ((2, 90), (40, 0)), ((2, 3, 90), (0, 41)), ((50, 60), (20, 30, 25, 0)),
    ((4, 8000), (90, 17)), ((2, 3, 60), (59, 59)),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("case", SHAPES)
def test_thin_borders_equal_those_by_places(
    monkeypatch: pytest.MonkeyPatch, case: Any, mode: str
) -> None:
    shape, around = case
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape)
    found = padding.borrow(x, around, mode)
    g = rng.standard_normal(found.shape)
    before = g.copy()
    slope = padding.borrow_backward(g, shape, around, mode)
    np.testing.assert_array_equal(g, before)  # it belongs to somebody else
    monkeypatch.setattr(padding, "_THIN", -1)
    np.testing.assert_array_equal(found, padding.borrow(x, around, mode))
    exact = padding.borrow_backward(g, shape, around, mode)
    np.testing.assert_allclose(slope, exact, rtol=1e-12, atol=1e-12)
    axes = [x.ndim - 1 - k for k in range(len(around) // 2)]
    at = [np.arange(n) for n in shape]
    for axis, low, high in zip(axes, around[::2], around[1::2], strict=True):
        at[axis] = padding.places(shape[axis], low, high, mode)
    np.testing.assert_array_equal(found, x[np.ix_(*at)])
    total = np.zeros(shape)
    np.add.at(total, np.ix_(*at), g)
    np.testing.assert_allclose(slope, total, rtol=1e-12, atol=1e-12)


def test_no_border_at_all_is_a_copy() -> None:
    x = np.arange(6.0).reshape(1, 2, 3)
    found = padding.borrow(x, (0, 0), "reflect")
    assert found is not x and (found == x).all()
    g = np.ones((1, 2, 3))
    assert (padding.borrow_backward(g, (1, 2, 3), (0, 0), "reflect") == g).all()
