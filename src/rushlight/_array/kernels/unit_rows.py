"""Rows scaled to a length by a fused kernel; None where it doesn't apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..._formula import words
from .launch import Kernel, floating, ready

if TYPE_CHECKING:
    from ..annotations import Array

_UNIT: Final = Kernel(words.scale_unit, "r", "f", "r")


def scale_rows(g: Array, x: Array, norm: Array, columns: int) -> Array | None:
    """The formula of rows of so many elements, of one dtype and in order."""
    if not floating(x.dtype) or not _UNIT.takes(columns) or not ready():
        return None
    out = np.empty(x.shape, x.dtype)
    rows = x.size // columns
    return out if _UNIT.rows(x.dtype, rows, columns, (g, x, norm), (out,)) else None
