"""Pooling does what torch does: its own samples, gradients to second order, error messages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import database  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = (
    "nn.functional.avg_pool1d",
    "nn.functional.avg_pool2d",
    "nn.functional.avg_pool3d",
    "nn.functional.max_pool1d",
    "nn.functional.max_pool2d",
    "nn.functional.max_pool3d",
    "nn.functional.adaptive_avg_pool1d",
    "nn.functional.adaptive_avg_pool2d",
    "nn.functional.adaptive_avg_pool3d",
    "nn.functional.adaptive_max_pool1d",
    "nn.functional.adaptive_max_pool2d",
    "nn.functional.adaptive_max_pool3d",
    "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d",
    "nn.functional.max_unpool1d",
    "nn.functional.max_unpool2d",
    "nn.functional.max_unpool3d",
)
OPERATORS = database.operators(*NAMES)
shown = pytest.mark.parametrize("op", OPERATORS, ids=database.title)


def test_the_database_has_these_operators() -> None:
    assert {op.name for op in OPERATORS} == set(NAMES)


@shown
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 2e-5)])
def test_values_are_torchs(op: Any, dtype: str, tolerance: float) -> None:
    assert database.compare_values(op, getattr(torch, dtype), tolerance)


@shown
def test_gradients_of_first_and_second_order_are_torchs(op: Any) -> None:
    assert database.compare_gradients(op, torch.float64)


@shown
def test_wrong_calls_raise_what_torch_raises(op: Any) -> None:
    assert database.compare_errors(op) >= 0
