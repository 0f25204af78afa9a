"""Interpolation, sampling, patches, shuffles do what torch does.

Torch's own samples, gradients to second order, error messages.
"""

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
    "nn.functional.interpolate",
    "nn.functional.upsample_nearest",
    "nn.functional.upsample_bilinear",
    "nn.functional.grid_sample",
    "nn.functional.unfold",
    "nn.functional.pixel_shuffle",
    "nn.functional.pixel_unshuffle",
    "nn.functional.channel_shuffle",
    "grid_sampler_2d",
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
