"""Cross-entropy by kernels; each function gives None where none applies."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._formula.class_losses import GRADIENTS, LOSSES
from ..types import FLOAT64
from .launch import Kernel, floating, ready
from .rows import RowEnds

if TYPE_CHECKING:
    from ..._formula.ir import Symbol
    from ..annotations import Array


def _losses(x: Symbol, target: Symbol) -> Symbol:
    return LOSSES["cross_entropy"](x, target, None)


def _gradients(scale: Symbol, x: Symbol, target: Symbol) -> Symbol:
    return GRADIENTS["cross_entropy_backward"](scale, x, target, None)


_EACH = RowEnds(_losses, "f", "r i64")
_BACK = Kernel(_gradients, "r", "f", "r i64")
_EVEN = Kernel(_gradients, "s", "f", "r i64")

# Rows shorter than this leave most lanes empty.
_SHORT = 8
_INT64 = np.dtype(np.int64)
_UINT64 = np.dtype(np.uint64)


def _classes(x: Array, target: Array, ignore_index: int) -> Any:
    """The class of each row, and which rows count (None: all); None for what isn't plain."""
    if (
        x.ndim != 2
        or x.shape[1] < _SHORT
        or target.dtype is not _INT64
        or target.shape != x.shape[:1]
        or not target.flags.c_contiguous
        or not floating(x.dtype)
        or not ready()
    ):
        return None
    counted = None
    # Seen as unsigned, negative classes are huge: one comparison for both bounds.
    inside = int(np.maximum.reduce(target.view(_UINT64))) < x.shape[1]
    if not inside or 0 <= ignore_index < x.shape[1]:
        counted = target != ignore_index
        target = np.where(counted, target, 0)
        if int(np.maximum.reduce(target.view(_UINT64))) >= x.shape[1]:
            return None
    return target, counted


def cross_entropy(x: Array, target: Array, reduction: int, ignore_index: int) -> Array | None:
    """See `class_losses.cross_entropy`."""
    found = _classes(x, target, ignore_index)
    if found is None:
        return None
    classes, counted = found
    rows, columns = x.shape
    dtype = x.dtype
    each = np.empty(rows, dtype)
    if not _EACH.rows(dtype, rows, columns, (x, classes), each):
        return None
    if counted is not None:
        each = np.where(counted, each, x.dtype.type(0))
    if reduction == 0:
        return each
    total = float(np.add.reduce(each, dtype=FLOAT64))
    if reduction == 1:
        count = rows if counted is None else int(np.count_nonzero(counted))
        total = total / count if count else nan
    return np.array(total, dtype)


def cross_entropy_backward(
    g: Array, x: Array, target: Array, reduction: int, ignore_index: int
) -> Array | None:
    """See `class_losses.cross_entropy_backward`."""
    found = _classes(x, target, ignore_index)
    if found is None:
        return None
    classes, counted = found
    rows, columns = x.shape
    dtype = x.dtype
    out = np.empty(x.shape, dtype)
    if counted is None and g.size == 1:
        # In float64 and rounded once more, a quotient of float32 is the same.
        even = g.item() / rows if reduction == 1 else g.item()
        given = (even, x, classes)
        return out if _EVEN.rows(dtype, rows, columns, given, (out,)) else None
    scale = np.empty(rows, dtype)
    if reduction == 1:
        with np.errstate(all="ignore"):
            scale[...] = np.divide(g, rows if counted is None else np.count_nonzero(counted))
    else:
        scale[...] = g
    if counted is not None:
        scale[~counted] = 0
    given = (scale, x, classes)
    return out if _BACK.rows(dtype, rows, columns, given, (out,)) else None
