"""Products with the transpose of a matrix in order, of which BLAS would make a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.kernels import gemm, openblas
from rushlight._array.linalg import matmul
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

SIZES = [(20, 64, 256), (13, 256, 256), (50, 40, 256), (64, 64, 65), (33, 127, 71), (1000, 20, 16)]


@pytest.fixture(autouse=True)
def faster(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """As where OpenBLAS has kernels for 512 bits; what was made by emitted code."""
    made: list[Any] = []
    plain = gemm._run

    def note(a: Any, b: Any, *rest: Any) -> None:
        made.append((len(a), b.shape[-1], a.shape[1]))
        plain(a, b, *rest)

    monkeypatch.setattr(gemm, "faster", lambda: range(1 << 20, 1 << 32))
    monkeypatch.setattr(gemm, "_run", note)
    monkeypatch.setattr(kernels, "PRODUCT", 1 << 19)
    return made


def draw(rows: int, columns: int, dtype: str) -> Any:
    return np.random.default_rng(rows + columns).standard_normal((rows, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_turned_products_are_emitted(
    size: tuple[int, int, int], dtype: str, faster: list[Any]
) -> None:
    m, k, n = size
    x, w, bias = draw(m, k, dtype), draw(n, k, dtype), draw(1, n, dtype)[0]
    exact = x.astype("float64") @ w.T.astype("float64")
    bound = 2e-5 if dtype == "float32" else 1e-12
    wide = np.repeat(w, 2, 0)
    for a, b in ((x, w), (np.repeat(x, 2, 0)[::2], wide[::2]), (np.asfortranarray(x), w)):
        found = matmul.matrix_product(a, b.T)
        np.testing.assert_allclose(found, exact, rtol=bound, atol=20 * bound)
        into = np.full((m, n), np.nan, dtype)
        assert matmul.matrix_product(a, b.T, into) is into
        assert into.tobytes() == found.tobytes()
    biased = matmul.linear(x, w, bias)
    np.testing.assert_allclose(biased, exact + bias, rtol=bound, atol=20 * bound)
    assert faster == [(m, n, k)] * (7 if m * k * n >= 1 << 18 else 0)


def test_the_others_are_left_alone(faster: list[Any]) -> None:
    x, w = draw(64, 64, "float32"), draw(128, 64, "float32")
    for a, b in (
        (x, w.T.copy()),
        (x[:12], draw(500, 64, "float32").T),  # few rows, which come in pieces
        (draw(16, 512, "float32"), draw(64, 512, "float32").T),  # there is a kernel for it
        (x, w.T.astype("complex64")),
        (x.astype("int32"), w.astype("int32").T),
        (x, np.ones(64, "float32")),
        (x[:0], w.T),
    ):
        np.testing.assert_allclose(matmul.matrix_product(a, b), a @ b, rtol=1e-3, atol=1e-3)
    assert not faster


def test_few_rows_come_in_pieces_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(openblas, "multiply_few_rows", lambda a, b, out=None: asked.append(len(a)))
    matmul.matrix_product(draw(12, 64, "float32"), draw(500, 64, "float32").T)
    assert asked == [12]


def test_special_values_are_blas_own() -> None:
    x, w = draw(64, 64, "float32"), draw(128, 64, "float32")
    x[1, 5], x[2, 0], w[100, 7] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        found, exact = matmul.matrix_product(x, w.T), x @ w.T
    np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(exact))


def test_a_product_into_its_own_operand_is_as_if_it_came_after(faster: list[Any]) -> None:
    x, w = torch.randn(64, 72), torch.randn(72, 72)
    exact = x.clone() @ w.t()
    torch.mm(x, w.t(), out=x)
    assert torch.equal(x, exact) or torch.allclose(x, exact, rtol=1e-5, atol=1e-5)
