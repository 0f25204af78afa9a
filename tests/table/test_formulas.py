"""Formulas beside raw functions: both compute the same, and Tensors compute the formula alike."""

import sys
from typing import Any

import numpy as np
import pytest

from rushlight._array import kernels
from rushlight._array.elementwise import generated
from rushlight._array.elementwise.ufuncs import FORMULAS
from rushlight._base import dtypes as D
from rushlight._core.storage import TensorBase
from rushlight._formula import words
from rushlight._table import ROWS as ROWS_BY_NAME
from tests.table._samples import CASES, Case

#: What is computed in another way than the formula's steps, in units in the last place.
UNITS = 8


def formula_of(case: Case) -> Any:
    """The formula of a raw function that is written by hand, or of NumPy's."""
    op = case.row.op
    if hasattr(op.raw, "source"):
        return None  # made of the formula
    return op.formula or FORMULAS.get(op.raw)


def wanted(case: Case) -> bool:
    arrays = [x for x in case.args if isinstance(x, np.ndarray)]
    if case.row.name.startswith("bitwise"):  # formulas of bools, and of whole numbers on arrays
        return case.dtype is D.float64 and all(x.dtype.kind in "bi" for x in arrays)
    return case.dtype in (D.float32, D.float64) and all(
        x.dtype.kind == "b" or x.dtype == np.dtype(case.dtype.name) for x in arrays
    )


ROWS: dict[str, list[Case]] = {}
for _case in CASES:
    if formula_of(_case) is not None and wanted(_case):
        ROWS.setdefault(_case.row.text.partition("(")[0], []).append(_case)


def assert_same(raw: Any, found: Any, dtype: Any) -> None:
    raw, found = np.asarray(raw), np.asarray(found)
    assert found.shape == raw.shape
    if raw.dtype.kind != "f":
        assert np.array_equal(raw, found)
        return
    size = np.maximum(np.abs(raw), 1).astype(dtype)
    with np.errstate(invalid="ignore"):
        near = np.abs(raw - found) <= UNITS * np.spacing(size)
    assert np.all(near | (raw == found) | (np.isnan(raw) & np.isnan(found)))


def result(row: Any, args: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        return row.op.raw(*args)


@pytest.mark.parametrize("name", ROWS)
def test_a_raw_function_computes_its_formula(name: str) -> None:
    for case in ROWS[name]:
        with np.errstate(all="ignore"):
            found = formula_of(case)(*case.args)
        assert_same(result(case.row, case.args), found, case.dtype.name)


@pytest.mark.parametrize("name", ROWS)
def test_a_formula_means_the_same_on_tensors(name: str) -> None:
    for case in ROWS[name]:
        full, _ = case.tensors()
        found = formula_of(case)(*full)
        assert isinstance(found, TensorBase)
        expected = result(case.row, case.args)
        assert found._raw.dtype == np.asarray(expected).dtype
        assert_same(expected, found._raw, case.dtype.name)


def test_rows_of_hand_written_functions_have_formulas() -> None:
    assert {"relu", "clamp", "square", "lerp.Scalar", "logical_and", "mul.Tensor"} <= ROWS.keys()
    assert len(ROWS) > 60


@pytest.mark.parametrize("name", ["tanh", "asin", "logaddexp", "atan2", "sinc", "maximum"])
def test_a_gradient_in_blocks_is_the_gradient_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
    for gradient in ROWS_BY_NAME[name][0].op.formulas:
        rng = np.random.default_rng(0)
        arrays = [rng.uniform(0.2, 0.9, 40_000).astype(np.float32) for _ in gradient.arrays]
        whole = gradient(*arrays)
        monkeypatch.setattr(generated.LIMITS, "large", 0)
        assert np.array_equal(whole, gradient(*arrays))
        monkeypatch.undo()
        monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
        expected = gradient.formula(*[x.astype(np.float64) for x in arrays])
        assert np.allclose(whole, expected, rtol=1e-5)


def test_a_number_decides_a_choice_as_a_whole() -> None:
    x = np.arange(3.0)
    assert words.where(True, x, 0.0) is x
    assert words.where(False, x, 0.0) == 0.0
