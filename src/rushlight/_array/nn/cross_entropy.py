"""Cross-entropy and the negative log likelihood, each with its backward pass.

Float32 and float64 are computed in their own precision, float16 and bfloat16 in float32; the losses
of the rows and what they add up to in float64, rounded once. Results are new ndarrays of the
logits' dtype.
"""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reduce.row_sums import (
    CONFIDENT,
    FLOOR,
    TOP,
    from_top,
    lift,
    logsumexp_rows,
    row_blocks,
)
from ..shape.gather import gather, write_along

if TYPE_CHECKING:
    from ..annotations import Array, RawType

Reduction = str


def _checked_classes(target: Array, classes: int, ignore_index: int) -> tuple[Array, Array | None]:
    """The flat targets with 0 for ignored ones, and which count (None: all of them).

    Raises: IndexError for a target that is no class.
    """
    flat = np.ascontiguousarray(target).reshape(-1)
    if flat.size == 0:
        return flat, None
    # Seen as unsigned, negative classes are huge: one comparison for both bounds.
    known = flat.dtype == np.int64 and not 0 <= ignore_index < classes
    if known and int(np.maximum.reduce(flat.view(np.uint64))) < classes:
        return flat, None
    low, high = int(flat.min()), int(flat.max())
    counted = None
    if low <= ignore_index <= high:
        ignored = flat == ignore_index
        if ignored.any():
            counted = ~ignored
            flat = np.where(ignored, 0, flat)
            low, high = int(flat.min()), int(flat.max())
    if low < 0 or high >= classes:
        wrong = flat[(flat < 0) | (flat >= classes)]
        raise IndexError(f"Target {int(wrong[0])} is out of bounds.")
    return flat, counted


def _row_weights(
    flat: Array, counted: Array | None, weight: Array | None, dtype: type[Any]
) -> Array | None:
    """The weight of each row's class, 0 where it is ignored; None when all are 1."""
    if weight is None:
        return None if counted is None else counted.astype(dtype)
    chosen = np.asarray(weight, dtype).reshape(-1)[flat]
    return chosen if counted is None else np.where(counted, chosen, 0)


def _reduce_loss(
    each: Array, reduction: Reduction, divisor: float, shape: tuple[int, ...], dtype: RawType
) -> Array:
    """The losses of the rows (float64), reduced, as an array of `dtype`."""
    if reduction == "none":
        return each.reshape(shape).astype(dtype)
    total = float(np.add.reduce(each))
    if reduction == "mean":
        total = _quotient(total, divisor)
    elif reduction != "sum":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return np.array(total, dtype)


def _quotient(value: float, divisor: float) -> float:
    """value / divisor as IEEE has it: NaN or an infinity for divisor 0."""
    if divisor:
        return value / divisor
    return value * inf


def _row_gradients(g: Array | float, reduction: Reduction, divisor: float) -> Array | float:
    """The gradient of each row's loss from that of the reduced loss: float64, or one number."""
    if reduction == "none":
        return np.asarray(g, np.float64).reshape(-1)
    return float(g) if reduction == "sum" else _quotient(float(g), divisor)


def nll_loss(
    log_p: Array,
    target: Array,
    weight: Array | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> tuple[Array, Array]:
    """The negative log likelihood of the `target` classes, and the total of their weights.

    Shapes: log_p (N, C, d1 ...) or (C,); target the same without C; weight (C,); the loss 0-d, or
    like the target for reduction "none". Raises: IndexError for a target that is no class.
    """
    classes = log_p.shape[1] if log_p.ndim > 1 else log_p.shape[0]
    flat, counted = _checked_classes(target, classes, ignore_index)
    if log_p.ndim > 2:
        wide = log_p.reshape(log_p.shape[0], classes, prod(log_p.shape[2:]))
        picked = gather(wide, 1, flat.reshape(wide.shape[0], 1, wide.shape[2])).reshape(-1)
    else:
        picked = log_p.reshape(-1, classes)[np.arange(flat.size), flat]
    each = -picked.astype(np.float64)
    weights = _row_weights(flat, counted, weight, np.float64)
    divisor = float(flat.size)
    if weights is not None:
        each = np.where(weights == 0, 0.0, each * weights)
        divisor = float(np.add.reduce(weights))
    loss = _reduce_loss(each, reduction, divisor, np.shape(target), log_p.dtype)
    return loss, np.array(divisor, log_p.dtype)


def nll_loss_backward(
    g: Array,
    log_p: Array,
    target: Array,
    weight: Array | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    total_weight: Array | None = None,
) -> Array:
    """The gradient for `log_p` of `nll_loss`; only the shape and dtype of `log_p` are used.

    `total_weight` is the second result of `nll_loss` and needed for reduction "mean" only.
    """
    classes = log_p.shape[1] if log_p.ndim > 1 else log_p.shape[0]
    flat, counted = _checked_classes(target, classes, ignore_index)
    divisor = 0.0 if total_weight is None else float(total_weight)
    value: Any = -_row_gradients(g, reduction, divisor)
    weights = _row_weights(flat, counted, weight, np.float64)
    if weights is not None:
        value = np.where(weights == 0, 0.0, value * weights)
    out = np.zeros(log_p.shape, log_p.dtype)
    if log_p.ndim > 2:
        wide = out.reshape(log_p.shape[0], classes, prod(log_p.shape[2:]))
        index = flat.reshape(wide.shape[0], 1, wide.shape[2])
        if np.ndim(value):
            value = value.reshape(index.shape).astype(out.dtype)
        write_along(wide, 1, index, value)
    else:
        out.reshape(-1, classes)[np.arange(flat.size), flat] = value
    return out


def cross_entropy(
    logits: Array, target: Array, ignore_index: int = -100, reduction: Reduction = "mean"
) -> Array:
    """The negative log likelihood of softmax(logits), of shape (N, C), for the `target` classes.

    Raises: IndexError for a target that is no class.
    """
    rows = np.ascontiguousarray(lift(logits))
    flat, counted = _checked_classes(target, rows.shape[1], ignore_index)
    places = np.arange(flat.size), flat
    with np.errstate(all="ignore"):
        each = logsumexp_rows(rows) - rows[places]
        if (each < CONFIDENT).any():
            lower, logarithm = from_top(rows)
            each = (logarithm[:, 0] - lower[places]).astype(np.float64)
        if counted is not None:
            each = np.where(counted, each, 0.0)
        divisor = float(flat.size if counted is None else np.count_nonzero(counted))
        return _reduce_loss(each, reduction, divisor, np.shape(target), logits.dtype)


def cross_entropy_backward(
    g: Array | float, logits: Array, target: Array, ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> Array:  # fmt: skip
    """The gradient for the logits of `cross_entropy`."""
    rows = np.ascontiguousarray(lift(logits))
    flat, counted = _checked_classes(target, rows.shape[1], ignore_index)
    divisor = float(flat.size if counted is None else np.count_nonzero(counted))
    each = _row_gradients(g, reduction, divisor)
    if counted is not None:
        each = np.where(counted, each, 0.0)
    out = np.empty_like(rows)
    with np.errstate(all="ignore"):
        _scaled_softmax(rows, logsumexp_rows(rows), each, out)
        out[np.arange(flat.size), flat] -= each
        if counted is not None:
            # An ignored row may hold infinities or NaN: its gradient is zero all the same.
            out[~counted] = 0
    return out.astype(logits.dtype, copy=False)


def _scaled_softmax(rows: Array, lse: Array, scale: Array | float, out: Array) -> None:
    """Writes softmax(rows) times a column to `out`, given the log-sum-exp of each row."""
    if rows.size == 0:
        return
    size, dtype = rows.dtype.itemsize, rows.dtype
    top, bottom = np.maximum.reduce(lse), np.minimum.reduce(lse)
    # No logit exceeds its row's lse: see Note [Softmax without the row maximum].
    plain = top < TOP[size] and bottom > np.log(FLOOR[size])
    if plain:
        column = (scale * np.exp(-lse)).astype(dtype)[:, None]
        shift = None
    else:
        shift = lse.astype(dtype)[:, None]
        column = (scale * np.exp(shift[:, 0].astype(np.float64) - lse)).astype(dtype)[:, None]
    starts = row_blocks(*rows.shape)
    for start in starts:
        part = slice(start, start + starts.step)
        piece = out[part]
        if shift is None:
            np.exp(rows[part], piece)
        else:
            np.subtract(rows[part], shift[part], piece)
            np.exp(piece, piece)
        np.multiply(piece, column[part], piece)
