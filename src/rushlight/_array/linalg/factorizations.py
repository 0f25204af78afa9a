"""Factors of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array


def qr(array: Array) -> tuple[Array, Array]:
    """Q with orthonormal columns and upper triangular R whose product is the matrix."""
    q, r = np.linalg.qr(array)
    return q, r
