"""Matrix products of arrays, with PyTorch's checks."""

from __future__ import annotations

from typing import Any

import numpy as np


def mm(a: Any, b: Any) -> Any:
    """The product of two matrices.

    Raises:
        RuntimeError: where they aren't matrices or their shapes don't fit.
    """
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        _explain_mm(a, b)
    return np.matmul(a, b)


def _explain_mm(a: Any, b: Any) -> None:
    if a.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if b.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    raise RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
        f"{b.shape[0]}x{b.shape[1]})"
    )
