"""The gradient of norms of order 2: g x / norm, zero where the norm is zero, in every way of it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.reduce import norm as raw
from rushlight._array.types import ignore_float_errors

CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((5000,), ()), ((5000,), (1,)), ((70, 90), ()), ((70, 90), (1, 1)), ((3000, 3), (3000, 1)),
    ((70, 90), (1, 90)), ((40, 30, 5), (40, 1, 5)), ((40, 30, 5), (40, 1, 1)),
    ((40, 30, 5), (40, 30, 1)), ((40, 30, 5), (1, 30, 5)), ((90, 8, 9), (90, 8, 1)),
    ((300, 100), (300, 1)), ((3, 4), (3, 1)), ((), ()),
]  # fmt: skip


@pytest.fixture(autouse=True, params=[1, sys.maxsize], ids=["kernels", "numpy"])
def _least(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ignore_float_errors()
    monkeypatch.setattr(kernels, "LEAST", request.param)


def _operands(shape: tuple[int, ...], kept: tuple[int, ...], dtype: str, expanded: bool) -> Any:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(dtype)
    norm = np.asarray(abs(rng.standard_normal(kept)), dtype)
    g = np.asarray(rng.standard_normal(kept), dtype)
    if norm.size > 9:
        norm.reshape(-1)[:5] = 0, np.nan, np.inf, 1e-40, 1e30
        g.reshape(-1)[2:8] = 0, np.nan, np.inf, -np.inf, -0.0, 0
    if expanded:
        return np.broadcast_to(g, shape), x, np.broadcast_to(norm, shape)
    return g, x, norm


def _told(g: Any, x: Any, norm: Any) -> Any:
    return np.asarray(g * np.where(norm == 0, np.zeros((), x.dtype), x / norm))


@pytest.mark.parametrize(("shape", "kept"), CASES)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "c8"])
@pytest.mark.parametrize("expanded", [False, True])
def test_each_way_has_the_digits_of_the_formula(
    expanded: bool, dtype: str, shape: tuple[int, ...], kept: tuple[int, ...]
) -> None:
    g, x, norm = _operands(shape, kept, dtype, expanded)
    found, wanted = raw.scale_unit(g, x, norm), _told(g, x, norm)
    assert found.shape == shape and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    if dtype != "c8":
        there = ~np.isnan(wanted)
        assert (np.signbit(found) == np.signbit(wanted))[there].all()


@pytest.mark.parametrize("special", [0.0, np.nan, np.inf])
@pytest.mark.parametrize("given", [1.0, -2.0, np.nan, np.inf])
def test_one_norm_of_all(special: float, given: float) -> None:
    x = np.random.default_rng(0).standard_normal((70, 90)).astype("f4")
    g, norm = np.array(given, "f4"), np.array(special, "f4")
    np.testing.assert_array_equal(raw.scale_unit(g, x, norm), _told(g, x, norm))


@pytest.mark.parametrize("other", [lambda x: x[:, ::2], lambda x: x.T, lambda x: x[::-1]])
def test_what_is_not_in_order_is_computed_as_told(other: Any) -> None:
    x = other(np.random.default_rng(0).standard_normal((90, 200)))
    norm = np.abs(x[:, :1]) + 1
    np.testing.assert_array_equal(raw.scale_unit(norm, x, norm), _told(norm, x, norm))


def test_operands_are_left_as_they_are() -> None:
    g, x, norm = _operands((3000, 3), (3000, 1), "f8", False)
    for array in (g, x, norm):
        array.flags.writeable = False
    before = x.copy(), norm.copy(), g.copy()
    raw.scale_unit(g, x, norm)
    for then, now in zip(before, (x, norm, g), strict=True):
        np.testing.assert_array_equal(then, now)


@pytest.mark.parametrize("dim", [None, -1, 0, (0, 2), (1,)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_gradients_of_norms_are_those_of_roots_of_sums(dim: Any, keepdim: bool) -> None:
    x = torch.randn(30, 40, 5, dtype=torch.float64, requires_grad=True)
    given = (dim, keepdim) if dim is not None else ()
    y = torch.linalg.vector_norm(x, 2, *given)
    g = torch.randn_like(y)
    (found,) = torch.autograd.grad(y, x, g, create_graph=True)
    (wanted,) = torch.autograd.grad((x * x).sum(*given).sqrt(), x, g, create_graph=True)
    torch.testing.assert_close(found, wanted)
    (again,) = torch.autograd.grad(found.cos().sum(), x)
    (once_more,) = torch.autograd.grad(wanted.cos().sum(), x)
    torch.testing.assert_close(again, once_more)
