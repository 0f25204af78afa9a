"""Factors of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np


def qr(array: Any) -> tuple[Any, Any]:
    """Q with orthonormal columns and upper triangular R whose product is the matrix."""
    q, r = np.linalg.qr(array)
    return q, r
