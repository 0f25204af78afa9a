"""Softmax and cross-entropy of small matrices, where the number of NumPy calls is the cost.

Each function gives None where its short cut doesn't hold: another layout or dtype, many elements,
or logits whose exponentials would lose digits (see Note [Softmax without the row maximum] in
`rows`). The caller then takes the general way.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp
from typing import Any

import numpy as np

from .rows import ones
from .types import FLOAT32, FLOAT64

__all__ = [
    "fits", "log_softmax", "log_softmax_backward", "row_starts", "softmax", "softmax_backward",
]  # fmt: skip

_SMALL = 16384
# All row totals together stay below e^8: then the float32 logarithm of each is exact enough to
# subtract.
_MOST = exp(8.0)
_LEAST = exp(-8.0)


@lru_cache(maxsize=256)
def row_starts(rows: int, length: int) -> Any:
    """The flat places at which the rows of a matrix begin."""
    starts = np.arange(0, rows * length, length or 1)[:rows]
    starts.flags.writeable = False
    return starts


def fits(x: Any) -> bool:
    """Whether `x` is a small contiguous matrix of float32 or float64, not empty."""
    dtype = x.dtype
    return (
        x.ndim == 2
        and (dtype is FLOAT32 or dtype is FLOAT64)
        and 0 < x.size <= _SMALL
        and x.flags.c_contiguous
    )


def _exponentials(x: Any) -> Any:
    """exp(x) and its row sums; None where digits would be lost."""
    e = np.exp(x)
    total = e.dot(ones(x.shape[1], x.dtype))
    if total.dot(ones(x.shape[0], x.dtype)) < _MOST and np.minimum.reduce(total) > _LEAST:
        return e, total
    return None


def softmax(x: Any) -> Any:
    """The softmax of each row."""
    found = _exponentials(x)
    if found is None:
        return None
    e, total = found
    return np.divide(e, total[:, None], e)


def softmax_backward(g: Any, y: Any) -> Any:
    """y (g - Σ g y)."""
    out = np.multiply(g, y)
    inner = out.dot(ones(y.shape[1], y.dtype))
    np.subtract(g, inner[:, None], out)
    return np.multiply(out, y, out)


def log_softmax(x: Any) -> Any:
    """The logarithm of the softmax of each row."""
    found = _exponentials(x)
    if found is None:
        return None
    e, total = found
    return np.subtract(x, np.log(total, total)[:, None], e)


def log_softmax_backward(g: Any, y: Any) -> Any:
    """g - exp(y) Σ g."""
    out = np.exp(y)
    np.multiply(out, g.dot(ones(y.shape[1], y.dtype))[:, None], out)
    return np.subtract(g, out, out)
