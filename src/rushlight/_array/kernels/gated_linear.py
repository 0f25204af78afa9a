"""Gated linear units by kernels on the two halves of rows.

Each function gives None where no kernel applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._formula import words
from .launch import Kernel, address, plain, ready

if TYPE_CHECKING:
    from ..annotations import Array

_GLU = Kernel(words.gate, "f", "f")
_GLU_BACK = Kernel(words.gate_backward, "f", "f", "f")


def _find_halves(x: Array, dim: int) -> tuple[int, int] | None:
    """Rows, and columns of a half, where both halves lie side by side; None where x isn't plain."""
    if not plain(x) or not ready():
        return None
    rows = 1
    for n in x.shape[: dim % x.ndim]:
        rows *= n
    return rows, x.size // (2 * rows)


def glu(x: Array, dim: int) -> Array | None:
    """See `elementwise.gated_linear.glu`."""
    found = _find_halves(x, dim)
    if found is None or not _GLU.prepare(x.dtype):
        return None
    rows, columns = found
    shape = list(x.shape)
    shape[dim] //= 2
    out = np.empty(shape, x.dtype)
    here = x.reshape(-1)
    places = [address(here), address(here[columns:]), address(out)]
    _GLU.at(x.dtype, rows, columns, [*places, 2 * columns, 2 * columns, columns])
    return out


def glu_backward(g: Array, x: Array, dim: int) -> Array | None:
    """See `elementwise.gated_linear.glu_backward`."""
    found = _find_halves(x, dim)
    if found is None or not plain(g, x) or 2 * g.size != x.size:
        return None
    if not _GLU_BACK.prepare(x.dtype):
        return None
    rows, columns = found
    out = np.empty(x.shape, x.dtype)
    halves = [address(y.reshape(-1)[start:]) for y in (x, out) for start in (0, columns)]
    _GLU_BACK.at(x.dtype, rows, columns, [address(g), *halves, columns, *[2 * columns] * 4])
    return out
