"""Products of few rows with a turned matrix, whose columns come in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.kernels import openblas

SIZES = [(2, 64, 601), (3, 65, 401), (4, 128, 384), (5, 100, 999), (8, 64, 512), (12, 64, 101)]


@pytest.fixture(autouse=True)
def with_small_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openblas, "has_small_products", lambda: True)


def multiply(a: Any, b: Any, out: Any = None) -> Any:
    return openblas.multiply_few_rows(a, b, out)


def draw(rows: int, columns: int, dtype: str) -> Any:
    return np.random.default_rng(rows + columns).standard_normal((rows, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_the_pieces_make_numpys_product(size: tuple[int, int, int], dtype: str) -> None:
    m, k, n = size
    a, w = draw(m, k, dtype), draw(n, k, dtype)
    bound = 2e-5 if dtype == "float32" else 1e-12
    exact = a.astype("float64") @ w.T.astype("float64")
    out = np.full((m, n), np.nan, dtype)
    for given in (a, np.repeat(a, 2, 0)[::2]):
        found = multiply(given, w.T)
        assert found.dtype == dtype and found.flags.c_contiguous
        np.testing.assert_allclose(found, exact, rtol=bound, atol=20 * bound)
    assert multiply(a, w.T, out) is out
    assert out.tobytes() == found.tobytes()


def test_what_is_not_such_a_product_is_left_alone() -> None:
    a, w = draw(4, 128, "float32"), draw(384, 128, "float32")
    assert multiply(a, w.T) is not None
    whole = np.zeros((4, 384 + 128), "float32")
    refused: list[tuple[Any, ...]] = [
        (a, w.T.copy()),  # in order
        (a, draw(384, 256, "float32")[:, ::2].T),
        (np.asfortranarray(a), w.T),
        (a[:1], w.T),
        (draw(13, 128, "float32"), w.T),
        (a, w[:300].T),  # one piece
        (a[:, :63], w[:, :63].T),
        (a, w.astype("float64").T),
        (a.astype("int32"), w.astype("int32").T),
        (a.astype("complex64"), w.astype("complex64").T),
        (a[:, :-1], w.T),
        (a[None], w.T),
        (a, w.T[None]),
        (a, w.T, np.empty((4, 385), "float32")),
        (a, w.T, np.empty((4, 384), "float64")),
        (whole[:, 384:], w.T, whole[:, :384]),  # shares memory, at least at first sight
        (a, draw(1 << 11, 128, "float32").T),
    ]
    for operands in refused:
        assert multiply(*operands) is None


def test_special_values_go_through_the_pieces() -> None:
    a, w = draw(4, 128, "float32"), draw(384, 128, "float32")
    a[1, 5], a[2, 0], w[300, 7] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isnan(multiply(a, w.T)), np.isnan(a @ w.T))


def test_a_product_into_its_own_operand_is_as_if_it_came_after() -> None:
    a, w = torch.randn(4, 384), torch.randn(384, 384)
    exact = a @ w.t()
    torch.mm(a, w.t(), out=a)
    assert torch.allclose(a, exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(4,), (2, 2), (1, 4, 1), (3, 5), (64, 33), (0, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_layer_on_stacks_is_the_layer_on_rows(shape: tuple[int, ...], dtype: Any) -> None:
    layer = torch.nn.Linear(128, 384, dtype=dtype)
    x = torch.randn(*shape, 128, dtype=dtype)
    found = layer(x)
    rows = layer(x.reshape(-1, 128))
    assert found.shape == (*shape, 384)
    assert torch.equal(found.reshape(rows.shape), rows)
    turned = layer(x.transpose(0, -2).contiguous().transpose(0, -2))
    assert torch.equal(turned, found)


def test_a_layer_on_a_stack_refuses_a_bias_as_before() -> None:
    linear = torch.nn.functional.linear
    x, weight = torch.ones(2, 3, 4), torch.ones(5, 4)
    with pytest.raises(RuntimeError):
        linear(x, weight, torch.ones(4))
    with pytest.raises(RuntimeError):
        linear(x, weight, torch.ones(5, dtype=torch.float64))
    assert linear(x, weight, torch.ones(1)).tolist() == [[[5.0] * 5] * 3] * 2
    assert linear(x, weight, torch.tensor(1.0)).tolist() == [[[5.0] * 5] * 3] * 2
