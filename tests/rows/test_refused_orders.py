"""Orders of norms, sizes and ratios that are refused: which fault is told first."""

from __future__ import annotations

import re

import pytest

import rushlight as torch

CASES: list[tuple[str, type[Exception], str]] = [
    (
        "torch.nn.functional.pdist(torch.ones(3, 2), float('nan'))",
        RuntimeError,
        "pdist only supports non-negative p values",
    ),
    (
        "torch.cdist(torch.ones(3, 2), torch.ones(3, 2), float('nan'))",
        RuntimeError,
        "cdist only supports non-negative p values",
    ),
    ("torch.ones(2, 3).diff(0, 7, torch.ones(2, 3))", IndexError, "Dimension out of range"),
    ("torch.ones(2, 3).diff(1, dim=7)", IndexError, "Dimension out of range"),
    (
        "torch.repeat_interleave(torch.ones(()), 7, 0)",
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    ),
    (
        "torch.repeat_interleave(torch.ones(()), torch.tensor([2]), 0)",
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    (
        "torch.linalg.cond(torch.ones(2, 2), 3)",
        RuntimeError,
        "linalg.cond got an invalid norm type",
    ),
    ("torch.linalg.cond(torch.ones(0, 2), 1.5)", RuntimeError, "linalg.cond got an invalid norm"),
    ("torch.linalg.cond(torch.ones(0, 0), 'a')", RuntimeError, "linalg.cond got an invalid norm"),
    ("torch.linalg.cond(torch.ones(0, 2), 'a')", RuntimeError, "linalg.cond(ord=a): A must be bat"),
    (
        "torch.linalg.cond(torch.ones(2, 2), 1j)",
        RuntimeError,
        "value cannot be converted to type d",
    ),
    (
        "torch.linalg.cond(torch.ones(2, 2).long(), 'nuc')",
        RuntimeError,
        "linalg.svd: Expected a floating point or complex tensor as input. Got Long",
    ),
    (
        "torch.normal(0.0, -1.0, (-2, 3), out=torch.ones(2))",
        RuntimeError,
        "numel: integer multiplication overflow",
    ),
    (
        "torch.nn.functional.fractional_max_pool3d(torch.ones(1, 4, 4, 4), 2, None, "
        "torch.tensor(0.5))",
        TypeError,
        "iteration over a 0-d tensor",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), CASES)
def test_the_fault_that_pytorch_tells_is_told(
    call: str, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}"):
        eval(call, {"torch": torch})
