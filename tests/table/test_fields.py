"""What fields of rows say, against what the rows do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array import types as T
from rushlight._base import dtypes as D
from rushlight._core.storage import new_tensor
from rushlight._table import Row
from tests.table._samples import CASES, Case, all_rows, row_name

pytestmark = pytest.mark.slow  # thousands of cases

ROWS = list(all_rows())
BY_ELEMENT = [case for case in CASES if case.row.by_element]


@pytest.mark.parametrize("case", BY_ELEMENT, ids=lambda case: case.id)
def test_rows_by_element_give_reversed_operands_the_reversed_result(case: Case) -> None:
    arrays = [a for a in case.args if isinstance(a, np.ndarray)]
    if case.random or any(a.shape != arrays[0].shape for a in arrays):
        return
    reversed_ = [
        new_tensor(a[..., ::-1]) if isinstance(a, np.ndarray) and a.ndim else a for a in case.args
    ]
    reversed_ = [new_tensor(a) if isinstance(a, np.ndarray) else a for a in reversed_]
    for out, back in zip(case.value(), case.call(reversed_)):
        turned = out[..., ::-1] if out.ndim else out
        assert np.allclose(turned, back._raw, rtol=1e-6, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("number", [np.nan, -3.5, np.inf, 0.0])
@pytest.mark.parametrize("row", [r for r in ROWS if not r.refuses_values], ids=row_name)
@pytest.mark.filterwarnings("ignore")
def test_a_row_that_refuses_no_values_takes_any(row: Row, number: float) -> None:
    whole = {-3.5: 99, 0.0: 0}.get(number, -99)

    def filled(x: Any) -> Any:
        if isinstance(x, list | tuple):
            return type(x)(map(filled, x))
        if not isinstance(x, np.ndarray):
            return x
        kind = x.dtype.kind
        array = x if kind == "b" else np.full_like(x, whole if kind in "iu" else number)
        return new_tensor(array)

    for case in CASES:
        if case.row is row and case.dtype in (D.float64, D.int64):
            row(*map(filled, case.args))


@pytest.mark.parametrize("row", [r for r in ROWS if r.wide], ids=row_name)
def test_a_wide_row_rounds_what_float32_gives_once(row: Row) -> None:
    x = torch.tensor([1.1, 3.3, 7.7, 0.07], dtype=torch.float16)
    rest = [None] * (len(row.schema.params) - 2)
    if row.schema.params[0].type == "Scalar":
        half, whole = row(0.3, x, *rest), row(0.3, x.float(), *rest)
    else:
        half, whole = row(x, 0.3, *rest), row(x.float(), 0.3, *rest)
    assert half.tolist() == whole.half().tolist()


@pytest.mark.parametrize("row", [r for r in ROWS if r.copies], ids=row_name)
def test_a_copy_of_an_inference_tensor_is_an_ordinary_tensor_written_once(row: Row) -> None:
    with torch.inference_mode():
        t = torch.arange(6.0).reshape(2, 3).t()
    made = row(t, *[torch.float64 for p in row.schema.params[1:]])
    assert made.tolist() == t.tolist()
    assert (made._version, made.is_inference()) == (1, False)
    assert not T.may_share(made._raw, t._raw)


@pytest.mark.parametrize("row", [r for r in ROWS if r.expanded is not None], ids=row_name)
def test_a_write_to_expanded_elements_that_is_allowed_warns(row: Row) -> None:
    assert row.expanded is not None
    texts = row.expanded([torch.ones(2), (torch.tensor([True, False]),), torch.tensor(1.0)])
    name = row.name.lstrip("_")
    assert texts[0].startswith(f"Use of {name}_ on expanded tensors is deprecated.")


def test_expanded_tensors_are_written_with_warnings() -> None:
    def written(key: object, value: object) -> list[str]:
        x = torch.zeros(3, 1).expand(3, 3)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            x[key] = value
        return [str(w.message).partition(" on ")[0] for w in found]

    mask = torch.tensor([True, False, True])
    assert written(torch.tensor([0, 1]), torch.ones(3)) == ["Use of index_put_"]
    assert written(mask, torch.tensor(1.0)) == ["Use of index_put_", "Use of masked_fill_"]


@pytest.mark.parametrize("row", [r for r in ROWS if r.names_c_type], ids=row_name)
def test_a_cast_that_is_refused_names_the_type_as_cpp_does(row: Row) -> None:
    x = torch.tensor([1, 2])
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type long int"):
        getattr(x, f"{row.name}_")(1.5)
