"""Root-mean-square norm of rows by kernels; None where none applies."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from . import row_formulas as formulas
from .launch import Kernel, chunks_of, plain, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Array

__all__ = ["rms_norm", "rms_norm_backward"]

_RMS = Kernel(formulas.rms_norm, "f", "s", "s")
_RMS_SCALED = Kernel(formulas.rms_norm_scaled, "f", "c", "s", "s")
_RMS_BACK = Kernel(formulas.rms_norm_backward, "f", "f", "r", "s")
_RMS_SCALED_BACK = Kernel(formulas.rms_norm_scaled_backward, "f", "f", "r", "c", "s")


def rms_norm(
    x: Array, normalized: int, weight: Array | None, eps: float
) -> tuple[Array, ...] | None:
    """x over the root mean square of its last dimensions, scaled; and one over that, by row."""
    if not plain(x, weight) or not x.size or not ready():
        return None
    dtype = x.dtype
    columns = prod(x.shape[x.ndim - normalized :])
    rows = x.size // columns
    out, inverse = np.empty(x.shape, dtype), np.empty(rows, dtype)
    if weight is None:
        done = _RMS.rows(dtype, rows, columns, (x, 1 / columns, eps), (out, inverse))
    else:
        done = _RMS_SCALED.rows(dtype, rows, columns, (x, weight, 1 / columns, eps), (out, inverse))
    return (out, inverse) if done else None


def rms_norm_backward(
    g: Array, x: Array, inverse: Array, weight: Array | None, need: Sequence[bool]
) -> tuple[Array, Array | None] | None:
    """The gradients of `rms_norm` for x and weight, from one over the root mean squares."""
    if not plain(x, g, inverse, weight) or not x.size or not ready():
        return None
    dtype = x.dtype
    rows = inverse.size
    columns = x.size // rows
    out = np.empty(x.shape, dtype)
    if weight is None:
        done = _RMS_BACK.rows(dtype, rows, columns, (g, x, inverse, 1 / columns), (out,))
        return (out, None) if done else None
    parts = np.empty((chunks_of(rows, columns), columns), dtype)
    given = (g, x, inverse, weight, 1 / columns)
    if not _RMS_SCALED_BACK.rows(dtype, rows, columns, given, (out, parts)):
        return None
    return out, np.add.reduce(parts, 0).reshape(weight.shape) if need[1] else None
