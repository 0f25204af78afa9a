"""Functions along rows that are made of formulas: every way of them gives what the text says."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.reduce import generated_rows, row_sums
from rushlight._array.types import ignore_float_errors
from rushlight._core.storage import TensorBase, new_tensor
from rushlight._table import ROWS

NAMES = ["softmax", "log_softmax", "_safe_softmax", "logsumexp"]
FUNCTIONS = [pytest.param(f, id=f"{name}-{key}") for name in NAMES
             for key, f in (("value", ROWS[name][0].op.raw),
                            ("gradient", ROWS[name][0].op.formulas[0]))]  # fmt: skip
CASES = [((6, 9), 1), ((6, 9), 0), ((3, 4, 5), 1), ((3, 4, 5), -1), ((7,), 0), ((1, 1), 1), ((), 0),
         ((40, 30, 5), 1), ((300, 3, 4, 2), 1), ((300, 9, 2), 0), ((90, 3, 17), 1),
         ((70000, 3), 1), ((9000, 16), -1), ((140, 1000, 1), 2)]  # fmt: skip


@pytest.fixture(autouse=True)
def _as_in_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
    ignore_float_errors()


def arguments(function: Any, shape: tuple[int, ...], dim: int, dtype: Any) -> list[Any]:
    """What the function is called with: random arrays, and rows along `dim`."""
    rng = np.random.default_rng(3)
    form = function.rows
    reduced = tuple(n for a, n in enumerate(shape) if a != dim % len(shape or (1,)))
    kinds = dict(zip(form.arrays, form.kinds))
    known = {"dim": dim, "keepdim": False, "dtype": None}
    for p, kind in kinds.items():
        known[p] = rng.standard_normal(shape if kind == "f" else reduced).astype(dtype)
    return [known[p] for p in form.names]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("shape", "dim"), CASES)
@pytest.mark.parametrize(("dtype", "near"), [("f4", 2e-6), ("f8", 1e-14)])
def test_generated_code_computes_the_formula(
    function: Any, shape: tuple[int, ...], dim: int, dtype: str, near: float
) -> None:
    args = arguments(function, shape, dim, dtype)
    found = function(*args)
    exact = [x.astype("f8") if isinstance(x, np.ndarray) else x for x in args]
    wanted = np.asarray(function.rows.on_values(exact)).reshape(found.shape)
    assert found.dtype == dtype and found.flags.c_contiguous
    near *= max(shape[dim] / 3, 1) if shape else 1  # sums of so many
    np.testing.assert_allclose(found, wanted, near, near)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("shape", "dim"), CASES)
def test_tensors_evaluate_the_formula(function: Any, shape: tuple[int, ...], dim: int) -> None:
    args = arguments(function, shape, dim, "f8")
    found = function(*[new_tensor(x) if isinstance(x, np.ndarray) else x for x in args])
    assert isinstance(found, TensorBase)
    wanted = function(*args)
    np.testing.assert_allclose(found._raw.reshape(wanted.shape), wanted, 1e-13, 1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("shape", "dim"), [((60, 90), 1), ((4, 15, 33), 2)])
def test_blocks_give_what_one_matrix_gives(
    function: Any, shape: tuple[int, ...], dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = arguments(function, shape, dim, "f4")
    whole = function(*args)
    monkeypatch.setattr(generated_rows.LIMITS, "rows", 0)
    monkeypatch.setattr(row_sums, "_BLOCK", 1000)  # the last block has fewer rows
    np.testing.assert_allclose(function(*args), whole, 1e-4, 1e-4)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dim", [0, 1])
def test_results_are_in_order_whatever_operands_are(function: Any, dim: int) -> None:
    args = arguments(function, (6, 9), dim, "f4")
    turned = [np.asfortranarray(x) if isinstance(x, np.ndarray) else x for x in args]
    first = [turned[0], *args[1:]]  # of a gradient that of the result alone
    for given in (turned, first):
        found = function(*given)
        by_element = function.rows.reduces and function.rows.result == "f"
        assert found.flags.c_contiguous or by_element  # which lies as its operand does
        np.testing.assert_allclose(found, function(*args), 1e-5, 1e-6)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_half_precision_is_rounded_once(function: Any) -> None:
    args = arguments(function, (6, 9), 1, "f2")
    wide = [x.astype("f4") if isinstance(x, np.ndarray) else x for x in args]
    np.testing.assert_array_equal(function(*args), function(*wide).astype("f2"))


def test_exponentials_out_of_range_are_shifted_by_the_row_maximum() -> None:
    value = ROWS["softmax"][0].op.raw
    for offset in (-500.0, 0.0, 80.0, 500.0):
        x = np.random.default_rng(1).standard_normal((5, 40)).astype("f4") + np.float32(offset)
        kept = x.copy()
        np.testing.assert_allclose(value(x, 1).sum(1), 1, 1e-6)
        np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("dims", [(0, 1), (1,), (0, 2), (2, 0), (1, 0, 2), (-2,)])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8"])
def test_rows_behind_which_little_lies_are_gathered(
    dtype: str, keepdim: bool, dims: tuple[int, ...]
) -> None:
    x = (np.random.default_rng(3).standard_normal((40, 30, 5)) * 3).astype(dtype)
    if dtype[0] == "f":
        x[3, 4, 2], x[5, 6, 1], x[:, :, 3] = np.inf, np.nan, -np.inf
    found = ROWS["logsumexp"][0].op.raw(x, dims, keepdim)
    wide = x.astype("f8")
    top = np.where(np.isfinite(wide.max(dims, keepdims=True)), wide.max(dims, keepdims=True), 0)
    wanted = np.log(np.exp(wide - top).sum(dims, keepdims=True)) + top
    wanted = wanted.reshape(np.sum(wide, dims, keepdims=keepdim).shape)
    assert found.dtype == ("f4" if dtype == "i8" else dtype) and found.flags.c_contiguous
    np.testing.assert_allclose(found, wanted, {"f8": 1e-13, "f2": 2e-3}.get(dtype, 2e-6))


def test_softmax_of_gathered_rows_keeps_nan_and_infinities_apart() -> None:
    x = np.random.default_rng(3).standard_normal((40, 30, 5)).astype("f4")
    x[3, 4, 2], x[5, 6, 1], x[6, :, 3], x[7, 0, 0] = np.inf, np.nan, -np.inf, -np.inf
    for name in ("softmax", "log_softmax"):
        found = ROWS[name][0].op.raw(x, 1)
        wanted = np.stack([ROWS[name][0].op.raw(np.ascontiguousarray(x[..., k]), 1)
                           for k in range(5)], -1)  # fmt: skip
        np.testing.assert_allclose(found, wanted, 2e-6, 2e-6)
