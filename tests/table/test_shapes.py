"""Which rows give shapes that depend on values: what a row says of itself is tried on its samples.

A compiled step takes the shapes of results as fixed. So every row runs here on other elements in
tensors of the same shapes, types and strides, and what its results look like may change only where
the row says `shaped_by_values`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight._base import dtypes as D
from rushlight._core.storage import new_tensor
from tests.table._samples import CASES, Case, listed
from tests.table.test_vmap import at, filled, places

#: One element type for each sample: the first that the row has samples in.
FIRST = [c for c in CASES if c.dtype not in (D.float32, D.complex64)]
FIRST = [c for k, c in enumerate(FIRST) if c.dtype is not D.complex128 or c.row.dtypes == "complex"]


def other_elements(array: Any) -> Iterator[Any]:
    """Arrays of the same shape and type: all equal, in another order, many zeros, others."""
    rng = np.random.default_rng(0)
    yield np.zeros_like(array)
    yield np.ones_like(array)
    yield rng.permutation(array.ravel()).reshape(array.shape)
    yield np.where(rng.random(array.shape) < 0.5, array, 0).astype(array.dtype)
    yield ~array if array.dtype.kind == "b" else -array
    yield np.arange(array.size).reshape(array.shape).astype(array.dtype)


def geometry(case: Case, chosen: list[Any], values: list[Any]) -> list[Any] | None:
    """Shape, type and strides of each result; None where the row refuses the values."""
    rushlight.manual_seed(0)
    try:
        outs = listed(case.row(*filled(case.args, chosen, [new_tensor(v) for v in values])))
    except (RuntimeError, IndexError, ValueError, NotImplementedError, ZeroDivisionError):
        return None
    return [(o._raw.shape, o._raw.dtype, o._raw.strides) for o in outs]


def geometries(case: Case) -> Iterator[list[Any]]:
    """What the results look like for other elements, in all tensors at once and in each alone."""
    found = places(case.args)
    others = [[np.asarray(v) for v in other_elements(at(case.args, p))] for p in found]
    for chosen in [found, *([p] for p in found if len(found) > 1)]:
        for k in range(6):
            values = [others[found.index(p)][k].copy() for p in chosen]
            made = geometry(case, chosen, values)
            if made is not None:
                yield made


def changes(case: Case) -> bool:
    """Whether what the results look like depends on values."""
    usual = geometry(case, [], [])
    return any(made != usual for made in geometries(case))


@pytest.mark.parametrize("case", FIRST, ids=[c.id for c in FIRST])
def test_shapes_follow_values_only_where_the_row_says_so(case: Case) -> None:
    if not case.row.shaped_by_values(case.args):
        assert not changes(case)


def test_no_row_says_so_for_nothing() -> None:
    samples: dict[str, list[Case]] = {}
    for case in FIRST:
        if case.row.shaped_by_values(filled(case.args, [], [])):
            samples.setdefault(case.row.text, []).append(case)
    assert samples
    idle = [text for text, cases in samples.items() if not any(changes(c) for c in cases)]
    assert not idle
