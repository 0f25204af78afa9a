"""The cross-entropy of a linear map, a part of the batch at a time: logits are never kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array, RawType

NONE, MEAN, SUM = 0, 1, 2


def _weights(y: Array, ignored: int, reduction: int, dtype: RawType) -> Array:
    """What each sample's loss counts."""
    kept = (y != ignored).astype(dtype)
    if reduction == MEAN:
        with np.errstate(all="ignore"):
            kept = kept / kept.sum()
    return kept


def _parts(
    x: Array, w: Array, bias: Array | None, y: Array, ignored: int, size: int
) -> Iterator[tuple[slice, Any, Any, Any]]:
    """Part, shifted logits, their exponentials' sums, and the classes."""
    classes = w.shape[0]
    used = np.where(y == ignored, 0, y)
    if used.size and not (used.min() >= 0 and used.max() < classes):
        bad = used[(used < 0) | (used >= classes)][0]
        raise IndexError(f"Target {bad} is out of bounds.")
    for start in range(0, x.shape[0], size):
        part = slice(start, start + size)
        logits = x[part] @ w.T
        if bias is not None:
            logits += bias
        logits -= logits.max(1, keepdims=True)
        yield part, logits, np.exp(logits).sum(1), used[part]


def _single(*arrays: Array | None) -> list[Any]:
    """Half precision is computed in single."""
    return [a.astype(np.float32) if a is not None and a.dtype.itemsize == 2 else a for a in arrays]


def linear_cross_entropy(
    x: Array, w: Array, bias: Array | None, y: Array, reduction: int, ignored: int, size: int
) -> Array:
    """The loss of each sample, or their mean or sum."""
    dtype = x.dtype
    x, w, bias = _single(x, w, bias)
    loss = np.empty(x.shape[0], x.dtype)
    for part, logits, total, used in _parts(x, w, bias, y, ignored, size):
        loss[part] = np.log(total) - logits[np.arange(len(used)), used]
    counts = _weights(y, ignored, reduction, x.dtype)
    loss = np.where(counts == 0, 0, loss * counts)
    return (loss if reduction == NONE else loss.sum()).astype(dtype)


def linear_cross_entropy_backward(
    g: Array,
    x: Array,
    w: Array,
    bias: Array | None,
    y: Array,
    reduction: int,
    ignored: int,
    size: int,
) -> tuple[Any, Any, Any]:
    """The gradients for the samples, the matrix and the bias."""
    kinds = x.dtype
    g, x, w, bias = _single(g, x, w, bias)
    scale = _weights(y, ignored, reduction, x.dtype) * g
    dx, dw = np.empty_like(x), np.zeros_like(w)
    db = None if bias is None else np.zeros_like(bias)
    for part, logits, total, used in _parts(x, w, bias, y, ignored, size):
        p = np.exp(logits, logits)
        p *= (scale[part] / total)[:, None]
        p[np.arange(len(used)), used] -= scale[part]
        dx[part] = p @ w
        dw += p.T @ x[part]
        if db is not None:
            db += p.sum(0)
    return (
        dx.astype(kinds, copy=False),
        dw.astype(kinds, copy=False),
        None if db is None else db.astype(kinds, copy=False),
    )
