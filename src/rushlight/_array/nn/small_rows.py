"""Cross-entropy of small matrices, where each NumPy call counts.

Each function gives None where its short cut doesn't hold: another layout or dtype, many elements,
or logits whose exponentials would lose digits (see Note [Softmax without the row maximum] in
`rows`). The caller then takes the general way.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from ..reduce.row_sums import CONFIDENT, ones, row_starts
from ..types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from ..annotations import Array

__all__ = [
    "BOUNDS", "cross_entropy", "cross_entropy_backward", "fits",
    "names_classes", "row_starts",
]  # fmt: skip

# Where there are kernels, they take what is larger.
_SMALL = min(131072, kernels.LEAST - 1)
# Beyond these the totals of exponentials near overflow, or lose digits to underflow.
_MOST = 1e30
_LEAST = exp(-16.0)
#: What `ufunc_loops.entropy` has to know of the functions here.
BOUNDS = (_LEAST, _MOST, CONFIDENT)
_INT64 = np.dtype(np.int64)
_UINT64 = np.dtype(np.uint64)


def fits(x: Any, most: int | None = None) -> bool:
    """Whether `x` is a small contiguous matrix of float32 or float64, not empty."""
    dtype = x.dtype
    return (
        x.ndim == 2
        and (dtype is FLOAT32 or dtype is FLOAT64)
        and 0 < x.size <= (_SMALL if most is None else most)
        and x.flags.c_contiguous
    )


def _exponentials(x: Array) -> tuple[Array, ...] | None:
    """exp(x) and its row sums; None where digits would be lost."""
    e = np.exp(x)
    total = e.dot(ones(x.shape[1], x.dtype))
    if total.dot(ones(x.shape[0], x.dtype)) < _MOST and np.minimum.reduce(total) > _LEAST:
        return e, total
    return None


def names_classes(x: Array, target: Array, most: int | None = None) -> bool:
    """Whether `target` has one class of `x` for each of its rows, and `fits(x, most)`."""
    return bool(
        fits(x, most)
        and target.dtype is _INT64
        and target.shape == x.shape[:1]
        # Seen as unsigned, negative targets are huge: one comparison for both bounds.
        and np.maximum.reduce(target.view(_UINT64)) < x.shape[1]
    )


def names_some(x: Array, target: Array, ignored: int) -> bool:
    """The same where some rows, but not all of them, have the ignored class, which is none of x."""
    if not fits(x) or target.dtype is not _INT64 or target.shape != x.shape[:1]:
        return False
    if 0 <= ignored < x.shape[1]:
        return False
    kept = target[target != ignored]
    return bool(kept.size) and bool(np.maximum.reduce(kept.view(_UINT64)) < x.shape[1])


def cross_entropy_of_some(x: Array, target: Array, reduction: int, ignored: int) -> Array | None:
    """`cross_entropy` of the rows that aren't ignored, reduced."""
    found = _exponentials(x)
    if found is None or reduction == 0:
        return None
    at = np.flatnonzero(target != ignored)
    each = np.log(found[1].astype(FLOAT64))[at] - x[at, target[at]]
    total = each.dot(ones(at.size, FLOAT64))
    if total < at.size * CONFIDENT:
        return None
    return np.array(total / at.size if reduction == 1 else total, x.dtype)


def cross_entropy(x: Array, target: Array, reduction: int) -> Array | None:
    """-log softmax(x) at the class of each row, reduced, where `names_classes(x, target)`."""
    found = _exponentials(x)
    if found is None:
        return None
    # The logarithm ends in float64: the loss is what is left of it when the logit is subtracted.
    each = np.log(found[1].astype(FLOAT64))
    rows, classes = x.shape
    np.subtract(each, x.reshape(-1).take(target + row_starts(rows, classes)), each)
    if reduction == 0:
        return None if np.minimum.reduce(each) < CONFIDENT else each.astype(x.dtype, copy=False)
    total = each.dot(ones(rows, FLOAT64))
    if total < rows * CONFIDENT:
        return None
    return np.array(total / rows if reduction == 1 else total, x.dtype)


def cross_entropy_backward(g: Array, x: Array, target: Array, reduction: int) -> Array | None:
    """(softmax(x) - 1 at the class) times `g`."""
    found = _exponentials(x)
    if found is None:
        return None
    e, total = found
    rows, classes = x.shape
    each = g / rows if reduction == 1 else g
    np.multiply(e, np.divide(each, total, total)[:, None], e)
    e.reshape(-1)[target + row_starts(rows, classes)] -= each
    return e


def cross_entropy_backward_of_some(
    g: Array, x: Array, target: Array, reduction: int, ignored: int
) -> Array | None:
    """`cross_entropy_backward`, and zero for rows that are ignored."""
    found = _exponentials(x)
    if found is None or reduction == 0:
        return None
    e, total = found
    kept = target != ignored
    at = np.flatnonzero(kept)
    each = g / x.dtype.type(at.size) if reduction == 1 else g
    np.multiply(e, np.divide(each, total, total)[:, None], e)
    e[at, target[at]] -= each
    e[~kept] = 0
    return e
