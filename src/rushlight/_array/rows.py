"""Operations along rows: softmax and its relatives, cross-entropy, variance, layer normalisation.

Float32 and float64 are computed in their own precision (sums that decide a loss or a mean end in float64),
float16 and bfloat16 in float32. Every result is a new ndarray of the input's dtype unless it says otherwise.

Note [Row sums by BLAS]
`x @ ones` sums rows in 0.05 ns an element where `x.sum(1)` takes 0.15-0.3 (float32, rows of 64-1000), and its
several accumulators are as exact. Rows past `_LONG` are summed in pieces of that length, and the pieces in
float64, so that the error does not grow with the row.

Note [Softmax without the row maximum]
The row maximum costs more than the exponential (0.3-0.9 ns an element on rows of 64-256). It only guards the
range: where every logit of a block is below `_TOP` and every row of exponentials sums to more than a floor,
exp(x) neither overflows nor loses digits, and leaving the subtraction out even saves its rounding error.
Otherwise, NaN and infinities included, the block goes the classical way.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, prod
from typing import Any

import numpy as np

__all__ = [
    "cross_entropy", "cross_entropy_backward", "cross_entropy_target_gradient", "layer_norm",
    "layer_norm_backward", "log_softmax", "log_softmax_backward", "logsumexp", "nll_loss",
    "nll_loss_backward", "softmax", "softmax_backward", "std", "var", "var_mean",
]  # fmt: skip

_LONG = 4096
_BLOCK = 131072  # elements worked on at a time: few enough for the cache, enough to make the calls cheap
# See Note [Softmax without the row maximum]. exp(60) 1e10 < 1e38, and e^-16 keeps 70 more below for float32.
_TOP = {4: 60.0, 8: 600.0}
_FLOOR = {4: exp(-16.0), 8: exp(-100.0)}

Reduction = str


@lru_cache(maxsize=64)
def _ones(length: int, dtype: Any) -> Any:
    ones = np.ones(length, dtype)
    ones.flags.writeable = False
    return ones


def _computed_in(dtype: Any) -> Any:
    """The dtype to compute in for values of `dtype`."""
    if dtype in (np.float32, np.float64):
        return dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return np.dtype(np.float32)
    raise TypeError(f"expected an array of floating point numbers, got dtype {dtype}")


def _lift(x: Any) -> Any:
    dtype = _computed_in(x.dtype)
    return x if x.dtype == dtype else x.astype(dtype)


def _row_sum(rows: Any) -> Any:
    """The sum of each row of a matrix. See Note [Row sums by BLAS]."""
    length = rows.shape[1]
    if length <= 2 * _LONG:
        return rows @ _ones(length, rows.dtype)
    total = np.zeros(rows.shape[0], np.float64)
    for start in range(0, length, _LONG):
        piece = rows[:, start : start + _LONG]
        total += piece @ _ones(piece.shape[1], rows.dtype)
    return total.astype(rows.dtype)


def _row_dot(left: Any, right: Any) -> Any:
    """The inner product of each row of one matrix with the same row of another."""
    length = left.shape[1]
    if length <= 2 * _LONG:
        return np.vecdot(left, right)
    total = np.zeros(left.shape[0], np.float64)
    for start in range(0, length, _LONG):
        stop = start + _LONG
        total += np.vecdot(left[:, start:stop], right[:, start:stop])
    return total.astype(left.dtype)


def _blocks(rows: int, length: int) -> range:
    """The starts of runs of rows that the cache holds; its step is the number of rows in a run."""
    return range(0, rows, max(1, _BLOCK // max(length, 1)))


def _reduced_axes(ndim: int, axis: int | tuple[int, ...] | None) -> tuple[int, ...]:
    if axis is None or axis == ():
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(a % ndim for a in axes)) if ndim else ()


def _gather_rows(x: Any, axes: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """`x` as a C-ordered matrix with `axes` as its columns, and the shape of what remains."""
    kept = tuple(a for a in range(x.ndim) if a not in axes)
    shape = tuple(x.shape[a] for a in kept)
    length = prod(x.shape[a] for a in axes)
    if kept + axes != tuple(range(x.ndim)):
        x = x.transpose(kept + axes)
    return np.ascontiguousarray(x).reshape(prod(shape), length), shape


def _last_is_row(x: Any, axis: int) -> bool:
    return x.ndim == 0 or axis % x.ndim == x.ndim - 1


# --- softmax -----------------------------------------------------------------------------------------------


def _exponentials(rows: Any, out: Any) -> tuple[Any, Any]:
    """Writes exp(x - shift) to `out`; the shift (None: zero) and the row sums as columns."""
    size = rows.dtype.itemsize
    if np.maximum.reduce(rows, axis=None) < _TOP[size]:
        np.exp(rows, out)
        total = _row_sum(out)
        if np.minimum.reduce(total) > _FLOOR[size]:
            return None, total[:, None]
    shift = np.maximum.reduce(rows, axis=1, keepdims=True)
    # A row of -inf, and one with inf: the same NaN as PyTorch, from inf - inf.
    np.subtract(rows, shift, out)
    np.exp(out, out)
    return shift, _row_sum(out)[:, None]


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x) divided by its sum along `axis`.

    Special: a row of -inf, a row with inf or NaN -> nan.
    """
    raw = _lift(x)
    out = np.empty(raw.shape, raw.dtype)
    if raw.size == 0:
        return out.astype(x.dtype, copy=False)
    with np.errstate(all="ignore"):
        if _last_is_row(raw, axis):
            length = raw.shape[-1] if raw.ndim else 1
            rows, result = np.ascontiguousarray(raw).reshape(-1, length), out.reshape(-1, length)
            starts = _blocks(*rows.shape)
            for start in starts:
                piece = result[start : start + starts.step]
                _, total = _exponentials(rows[start : start + starts.step], piece)
                np.divide(piece, total, piece)
        else:
            np.subtract(raw, np.maximum.reduce(raw, axis=axis, keepdims=True), out)
            np.exp(out, out)
            np.divide(out, np.add.reduce(out, axis=axis, keepdims=True), out)
    return out.astype(x.dtype, copy=False)


def softmax_backward(g: Any, y: Any, axis: int = -1) -> Any:
    """The gradient for the input of `softmax`, from its result `y` and the gradient `g` of that."""
    g_raw, y_raw = _lift(g), _lift(y)
    out = np.empty(y_raw.shape, y_raw.dtype)
    if out.size == 0:
        return out.astype(y.dtype, copy=False)
    if _last_is_row(y_raw, axis):
        length = y_raw.shape[-1] if y_raw.ndim else 1
        g_rows = np.ascontiguousarray(g_raw).reshape(-1, length)
        y_rows = np.ascontiguousarray(y_raw).reshape(-1, length)
        result = out.reshape(-1, length)
        starts = _blocks(*y_rows.shape)
        for start in starts:
            part = slice(start, start + starts.step)
            inner = _row_dot(g_rows[part], y_rows[part])
            np.subtract(g_rows[part], inner[:, None], result[part])
            np.multiply(result[part], y_rows[part], result[part])
    else:
        np.multiply(g_raw, y_raw, out)
        inner = np.add.reduce(out, axis=axis, keepdims=True)
        np.subtract(g_raw, inner, out)
        np.multiply(out, y_raw, out)
    return out.astype(y.dtype, copy=False)


def _log_totals(shift: Any, total: Any) -> Any:
    """log of the row sums of exponentials, shift included, in float64."""
    result = np.log(total.astype(np.float64))
    return result if shift is None else result + shift


def log_softmax(x: Any, axis: int = -1) -> Any:
    """x minus the log of the sum of exp(x) along `axis`.

    Special: a row of -inf, a row with inf or NaN -> nan.
    """
    raw = _lift(x)
    out = np.empty(raw.shape, raw.dtype)
    if raw.size == 0:
        return out.astype(x.dtype, copy=False)
    with np.errstate(all="ignore"):
        if _last_is_row(raw, axis):
            length = raw.shape[-1] if raw.ndim else 1
            rows, result = np.ascontiguousarray(raw).reshape(-1, length), out.reshape(-1, length)
            starts = _blocks(*rows.shape)
            for start in starts:
                source, piece = rows[start : start + starts.step], result[start : start + starts.step]
                shift, total = _exponentials(source, piece)
                if shift is None:
                    _subtract_exactly(source, np.log(total.astype(np.float64)), piece)
                else:
                    np.subtract(source, shift, piece)
                    np.subtract(piece, np.log(total), piece)
        else:
            np.subtract(raw, np.maximum.reduce(raw, axis=axis, keepdims=True), out)
            np.subtract(out, np.log(np.add.reduce(np.exp(out), axis=axis, keepdims=True)), out)
    return out.astype(x.dtype, copy=False)


def _subtract_exactly(rows: Any, column: Any, out: Any) -> None:
    """Writes rows - column to `out`, without the error of rounding a float64 column to their dtype."""
    high = column.astype(rows.dtype)
    np.subtract(rows, high, out)
    # Below 8 that error is no larger than the rounding of most results.
    if rows.dtype != np.float64 and np.maximum.reduce(np.abs(high), axis=None) > 8:
        np.subtract(out, (column - high).astype(rows.dtype), out)


def log_softmax_backward(g: Any, y: Any, axis: int = -1) -> Any:
    """The gradient for the input of `log_softmax`, from its result `y` and the gradient `g` of that."""
    g_raw, y_raw = _lift(g), _lift(y)
    out = np.empty(y_raw.shape, y_raw.dtype)
    if out.size == 0:
        return out.astype(y.dtype, copy=False)
    if _last_is_row(y_raw, axis):
        length = y_raw.shape[-1] if y_raw.ndim else 1
        g_rows = np.ascontiguousarray(g_raw).reshape(-1, length)
        y_rows = np.ascontiguousarray(y_raw).reshape(-1, length)
        result = out.reshape(-1, length)
        starts = _blocks(*y_rows.shape)
        for start in starts:
            part = slice(start, start + starts.step)
            piece = result[part]
            np.exp(y_rows[part], piece)
            np.multiply(piece, _row_sum(g_rows[part])[:, None], piece)
            np.subtract(g_rows[part], piece, piece)
    else:
        np.exp(y_raw, out)
        np.multiply(out, np.add.reduce(g_raw, axis=axis, keepdims=True), out)
        np.subtract(g_raw, out, out)
    return out.astype(y.dtype, copy=False)


def logsumexp(x: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """The log of the sum of exp(x) along `axis`.

    Special: a row of -inf, an empty row -> -inf; a row with inf and no NaN -> inf; a row with NaN -> nan.
    """
    raw = _lift(np.asarray(x))
    axes = _reduced_axes(raw.ndim, axis)
    rows, shape = _gather_rows(raw, axes)
    out = np.full(rows.shape[0], -np.inf, raw.dtype)
    if rows.size:
        starts = _blocks(*rows.shape)
        scratch = np.empty((min(starts.step, rows.shape[0]), rows.shape[1]), raw.dtype)
        with np.errstate(all="ignore"):
            for start in starts:
                piece = rows[start : start + starts.step]
                shift, total = _exponentials(piece, scratch[: len(piece)])
                result = _log_totals(shift, total)
                if shift is not None:
                    infinite = np.isinf(shift)
                    result[infinite] = shift[infinite]
                out[start : start + starts.step] = result[:, 0]
    if keepdims:
        shape = tuple(1 if a in axes else n for a, n in enumerate(raw.shape))
    return out.reshape(shape).astype(x.dtype, copy=False)


# --- losses ------------------------------------------------------------------------------------------------


def _class_rows(x: Any) -> Any:
    """`x` of shape (N, C, d1 ...) or (C,) as a C-ordered matrix with the classes as columns."""
    if x.ndim > 2:
        x = np.moveaxis(x, 1, -1)
    return np.ascontiguousarray(x).reshape(-1, x.shape[-1])


def _from_class_rows(rows: Any, shape: tuple[int, ...]) -> Any:
    """The inverse of `_class_rows`, as a C-ordered array."""
    if len(shape) <= 2:
        return rows.reshape(shape)
    return np.ascontiguousarray(np.moveaxis(rows.reshape(shape[0], *shape[2:], shape[1]), -1, 1))


def _checked_classes(target: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """The flat targets with 0 for ignored ones, and which count (None: all of them).

    Raises: IndexError for a target that is no class.
    """
    flat = np.ascontiguousarray(target).reshape(-1)
    if flat.size == 0:
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


def _row_weights(flat: Any, counted: Any, weight: Any, dtype: Any) -> Any:
    """The weight of each row's class, 0 where it is ignored; None when all are 1."""
    if weight is None:
        return None if counted is None else counted.astype(dtype)
    chosen = np.asarray(weight, dtype).reshape(-1)[flat]
    return chosen if counted is None else np.where(counted, chosen, 0)


def _reduce_loss(each: Any, reduction: Reduction, divisor: Any, shape: tuple[int, ...]) -> Any:
    """The loss of each row (float64) reduced, as an array of float64."""
    if reduction == "none":
        return each.reshape(shape)
    total = np.add.reduce(each)
    if reduction == "mean":
        with np.errstate(all="ignore"):
            total = np.divide(total, divisor)
    elif reduction != "sum":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return np.asarray(total)


def _row_gradients(g: Any, reduction: Reduction, divisor: Any, rows: int) -> Any:
    """The gradient of each row's loss, in float64, from that of the reduced loss."""
    flat = np.asarray(g, np.float64).reshape(-1)
    if reduction == "none":
        return flat
    with np.errstate(all="ignore"):
        return np.full(rows, flat[0] if reduction == "sum" else np.divide(flat[0], divisor))


def nll_loss(
    log_p: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: Reduction = "mean"
) -> tuple[Any, Any]:
    """The negative log likelihood of the `target` classes, and the total of their weights.

    Shapes: log_p (N, C, d1 ...) or (C,); target the same without C; weight (C,); the loss 0-d, or like the
    target for reduction "none". Raises: IndexError for a target that is no class.
    """
    classes = log_p.shape[1] if log_p.ndim > 1 else log_p.shape[0]
    flat, counted = _checked_classes(target, classes, ignore_index)
    if log_p.ndim > 2:
        wide = log_p.reshape(log_p.shape[0], classes, -1)
        index = flat.reshape(wide.shape[0], 1, wide.shape[2])
        picked = np.take_along_axis(wide, index, 1).reshape(-1)
    else:
        picked = log_p.reshape(-1, classes)[np.arange(flat.size), flat]
    each = -picked.astype(np.float64)
    weights = _row_weights(flat, counted, weight, np.float64)
    divisor = float(flat.size)
    if weights is not None:
        each = np.where(weights == 0, 0.0, each * weights)
        divisor = float(np.add.reduce(weights))
    loss = _reduce_loss(each, reduction, divisor, np.shape(target))
    return loss.astype(log_p.dtype), np.asarray(divisor, log_p.dtype)


def nll_loss_backward(
    g: Any,
    log_p: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    total_weight: Any = None,
) -> Any:
    """The gradient for `log_p` of `nll_loss`; only the shape and dtype of `log_p` are used.

    `total_weight` is the second result of `nll_loss` and needed for reduction "mean" only.
    """
    classes = log_p.shape[1] if log_p.ndim > 1 else log_p.shape[0]
    flat, counted = _checked_classes(target, classes, ignore_index)
    divisor = None if total_weight is None else np.asarray(total_weight, np.float64)
    value = -_row_gradients(g, reduction, divisor, flat.size)
    weights = _row_weights(flat, counted, weight, np.float64)
    if weights is not None:
        value = np.where(weights == 0, 0.0, value * weights)
    out = np.zeros(log_p.shape, log_p.dtype)
    if log_p.ndim > 2:
        wide = out.reshape(log_p.shape[0], classes, -1)
        index = flat.reshape(wide.shape[0], 1, wide.shape[2])
        np.put_along_axis(wide, index, value.reshape(index.shape).astype(out.dtype), 1)
    else:
        out.reshape(-1, classes)[np.arange(flat.size), flat] = value
    return out


def _logsumexp_rows(rows: Any) -> Any:
    """The log of the sum of exponentials of each row, in float64, and nothing of the matrix's size."""
    out = np.empty(rows.shape[0], np.float64)
    if rows.size == 0:
        out.fill(-np.inf)
        return out
    starts = _blocks(*rows.shape)
    scratch = np.empty((min(starts.step, rows.shape[0]), rows.shape[1]), rows.dtype)
    for start in starts:
        piece = rows[start : start + starts.step]
        shift, total = _exponentials(piece, scratch[: len(piece)])
        out[start : start + starts.step] = _log_totals(shift, total)[:, 0]
    return out


def _is_probabilities(logits: Any, target: Any) -> bool:
    return bool(target.shape == logits.shape and target.dtype.kind not in "iub")


def cross_entropy(
    logits: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> tuple[Any, Any]:
    """The cross-entropy between softmax(logits) and the targets, and the log-sum-exp of each row.

    The second result (float64) is what `cross_entropy_backward` needs besides the inputs: nothing of the size
    of the logits is kept.

    Shapes: logits (N, C, d1 ...) or (C,); target the same without C (classes) or alike (probabilities);
    weight (C,); the loss 0-d, or like the logits without C for reduction "none".
    Raises: IndexError for a target that is no class.
    """
    rows = _class_rows(_lift(logits))
    classes = rows.shape[1]
    with np.errstate(all="ignore"):
        lse = _logsumexp_rows(rows)
        if _is_probabilities(logits, target):
            mass, cross = _expected(rows, target, weight, label_smoothing)
            shape = logits.shape[:1] + logits.shape[2:] if logits.ndim > 1 else ()
            loss = _reduce_loss(lse * mass - cross, reduction, float(rows.shape[0]), shape)
            return loss.astype(logits.dtype), lse
        flat, counted = _checked_classes(target, classes, ignore_index)
        weights = _row_weights(flat, counted, weight, np.float64)
        each = lse - rows[np.arange(flat.size), flat]
        if weights is not None:
            each *= weights
        if label_smoothing:
            if weight is None:
                smooth = classes * lse - _row_sum(rows)
            else:
                vector = np.asarray(weight, rows.dtype)
                smooth = float(np.add.reduce(vector)) * lse - rows @ vector
            each = (1 - label_smoothing) * each + (label_smoothing / classes) * smooth
        if counted is not None:
            each = np.where(counted, each, 0.0)
        divisor = float(flat.size) if weights is None else float(np.add.reduce(weights))
        loss = _reduce_loss(each, reduction, divisor, np.shape(target))
    return loss.astype(logits.dtype), lse


def _smoothed(target: Any, dtype: Any, weight: Any, label_smoothing: float) -> Any:
    """Probability targets as rows, smoothed and weighted by class."""
    wanted = _class_rows(target.astype(dtype, copy=False))
    if label_smoothing:
        wanted = wanted * (1 - label_smoothing) + label_smoothing / wanted.shape[1]
    return wanted if weight is None else wanted * np.asarray(weight, dtype)


def _expected(rows: Any, target: Any, weight: Any, label_smoothing: float) -> tuple[Any, Any]:
    """The total of each row of weighted probabilities, and their inner product with the logits."""
    wanted = _smoothed(target, rows.dtype, weight, label_smoothing)
    return _row_sum(wanted).astype(np.float64), _row_dot(wanted, rows).astype(np.float64)


def cross_entropy_backward(
    g: Any,
    logits: Any,
    target: Any,
    lse: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The gradient for the logits of `cross_entropy`, whose second result is `lse`."""
    rows = _class_rows(_lift(logits))
    count, classes = rows.shape
    dtype = rows.dtype
    taken = smooth = flat = wanted = None
    if _is_probabilities(logits, target):
        wanted = _smoothed(target, dtype, weight, label_smoothing)
        each = _row_gradients(g, reduction, float(count), count)
        scale = each * _row_sum(wanted)
    else:
        flat, counted = _checked_classes(target, classes, ignore_index)
        weights = _row_weights(flat, counted, weight, np.float64)
        divisor = float(count) if weights is None else float(np.add.reduce(weights))
        each = _row_gradients(g, reduction, divisor, count)
        if counted is not None:
            each = np.where(counted, each, 0.0)
        taken = (1 - label_smoothing) * each
        if weights is not None:
            taken = taken * weights
        scale = taken
        if label_smoothing:
            vector = np.ones(classes) if weight is None else np.asarray(weight, np.float64)
            scale = taken + each * (label_smoothing / classes * float(np.add.reduce(vector)))
            smooth = (vector * (label_smoothing / classes)).astype(dtype)
    out = np.empty_like(rows)
    column = each.astype(dtype)[:, None]
    with np.errstate(all="ignore"):
        _scaled_softmax(rows, lse, scale, out)
        if wanted is not None:
            np.subtract(out, wanted * column, out)
        elif flat is not None:
            out[np.arange(count), flat] -= taken
            if smooth is not None:
                np.subtract(out, column * smooth, out)
            if counted is not None:
                # An ignored row may hold infinities or NaN: its gradient is zero all the same.
                out[~counted] = 0
    return _from_class_rows(out, logits.shape).astype(logits.dtype, copy=False)


def _scaled_softmax(rows: Any, lse: Any, scale: Any, out: Any) -> None:
    """Writes softmax(rows) times a column to `out`, given the log-sum-exp of each row."""
    if rows.size == 0:
        return
    size, dtype = rows.dtype.itemsize, rows.dtype
    top, bottom = np.maximum.reduce(lse), np.minimum.reduce(lse)
    # No logit exceeds its row's lse: see Note [Softmax without the row maximum].
    plain = top < _TOP[size] and bottom > np.log(_FLOOR[size])
    if plain:
        column = (scale * np.exp(-lse)).astype(dtype)[:, None]
        shift = None
    else:
        shift = lse.astype(dtype)[:, None]
        column = (scale * np.exp(shift[:, 0].astype(np.float64) - lse)).astype(dtype)[:, None]
    starts = _blocks(*rows.shape)
    for start in starts:
        part = slice(start, start + starts.step)
        piece = out[part]
        if shift is None:
            np.exp(rows[part], piece)
        else:
            np.subtract(rows[part], shift[part], piece)
            np.exp(piece, piece)
        np.multiply(piece, column[part], piece)


def cross_entropy_target_gradient(
    g: Any,
    logits: Any,
    target: Any,
    lse: Any,
    weight: Any = None,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The gradient for probability targets of `cross_entropy`, whose second result is `lse`."""
    rows = _class_rows(_lift(logits))
    each = _row_gradients(g, reduction, float(rows.shape[0]), rows.shape[0]) * (1 - label_smoothing)
    out = np.empty_like(rows)
    with np.errstate(all="ignore"):
        _subtract_exactly(rows, lse[:, None], out)
        np.multiply(out, -each.astype(rows.dtype)[:, None], out)
        if weight is not None:
            np.multiply(out, np.asarray(weight, rows.dtype), out)
    return _from_class_rows(out, logits.shape).astype(target.dtype, copy=False)


# --- moments -----------------------------------------------------------------------------------------------


def var_mean(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 1,
    keepdims: bool = False,
) -> tuple[Any, Any]:
    """The variance and the mean along `axis`, in two passes.

    The variance divides by the number of elements less `correction` (by 0 where that is negative).
    Special: var of one element with correction 1 -> nan; of none -> nan.
    """
    raw = _lift(np.asarray(x))
    axes = _reduced_axes(raw.ndim, axis)
    rows, shape = _gather_rows(raw, axes)
    count = rows.shape[1]
    sums = np.empty(rows.shape[0], np.float64)
    squares = np.empty(rows.shape[0], np.float64)
    with np.errstate(all="ignore"):
        centre = np.divide(_row_sum(rows).astype(np.float64), count)
        starts = _blocks(rows.shape[0], min(count, _LONG))
        for start in starts:
            part = slice(start, start + starts.step)
            sums[part], squares[part] = _spread(rows[part], centre[part, None])
        # The sum of squares about c is that about the mean plus n (mean - c)².
        spread = squares - np.divide(sums * sums, count)
        spread = np.where(spread < 0, 0.0, spread)
        mean = centre + np.divide(sums, count)
        variance = np.divide(spread, max(count - correction, 0.0))
    if keepdims:
        shape = tuple(1 if a in axes else n for a, n in enumerate(raw.shape))
    return variance.reshape(shape).astype(x.dtype), mean.reshape(shape).astype(x.dtype)


def _spread(rows: Any, centre: Any) -> tuple[Any, Any]:
    """The sums over each row of x - centre and of its square, in float64."""
    count = rows.shape[1]
    sums = np.zeros(rows.shape[0], np.float64)
    squares = np.zeros(rows.shape[0], np.float64)
    scratch = np.empty((rows.shape[0], min(count, _LONG)), np.float64)
    for start in range(0, count, _LONG):
        piece = rows[:, start : start + _LONG]
        moved = scratch[:, : piece.shape[1]]
        np.copyto(moved, piece)
        np.subtract(moved, centre, moved)
        sums += moved @ _ones(moved.shape[1], np.dtype(np.float64))
        squares += np.vecdot(moved, moved)
    return sums, squares


def var(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 1,
    keepdims: bool = False,
) -> Any:
    """The variance along `axis`: see `var_mean`."""
    return var_mean(x, axis, correction, keepdims)[0]


def std(
    x: Any,
    axis: int | tuple[int, ...] | None = None,
    correction: float = 1,
    keepdims: bool = False,
) -> Any:
    """The square root of the variance along `axis`: see `var_mean`."""
    raw = _lift(np.asarray(x))
    return np.sqrt(np.asarray(var_mean(raw, axis, correction, keepdims)[0])).astype(x.dtype)


def layer_norm(
    x: Any, normalized: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> tuple[Any, Any, Any]:
    """`x` normalised over its last `normalized` axes, scaled and shifted; the means; 1/deviations.

    Shapes: weight and bias as the normalised axes; means and 1/deviations as `x` with ones for them.
    Dtypes: the means and 1/deviations are float32 for a float16 input.
    """
    raw = _lift(np.asarray(x))
    kept = raw.ndim - normalized
    length = prod(raw.shape[kept:])
    rows = np.ascontiguousarray(raw).reshape(-1 if raw.size else prod(raw.shape[:kept]), length)
    out = np.empty_like(rows)
    mean = np.empty((rows.shape[0], 1), raw.dtype)
    rstd = np.empty((rows.shape[0], 1), raw.dtype)
    scale = None if weight is None else _flat(weight, raw.dtype)
    offset = None if bias is None else _flat(bias, raw.dtype)
    starts = _blocks(*rows.shape)
    with np.errstate(all="ignore"):
        for start in starts:
            part = slice(start, start + starts.step)
            piece = out[part]
            np.divide(_row_sum(rows[part])[:, None], length, mean[part])
            np.subtract(rows[part], mean[part], piece)
            deviation = np.sqrt(_row_dot(piece, piece)[:, None] / length + eps)
            np.divide(1.0, deviation, rstd[part])
            np.multiply(piece, rstd[part], piece)
            if scale is not None:
                np.multiply(piece, scale, piece)
            if offset is not None:
                np.add(piece, offset, piece)
    shape = raw.shape[:kept] + (1,) * normalized
    return (
        out.reshape(raw.shape).astype(x.dtype, copy=False),
        mean.reshape(shape),
        rstd.reshape(shape),
    )


def _flat(x: Any, dtype: Any) -> Any:
    return np.ascontiguousarray(x, dtype).reshape(-1)


def layer_norm_backward(
    g: Any,
    x: Any,
    normalized: int,
    mean: Any,
    rstd: Any,
    weight: Any = None,
    need: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[Any, Any, Any]:
    """The gradients of `layer_norm` for input, weight and bias; None for those not needed."""
    raw = _lift(np.asarray(x))
    dtype = raw.dtype
    kept = raw.ndim - normalized
    length = prod(raw.shape[kept:])
    count = prod(raw.shape[:kept])
    rows = np.ascontiguousarray(raw).reshape(count, length)
    g_rows = np.ascontiguousarray(g, dtype).reshape(count, length)
    means = np.ascontiguousarray(mean, dtype).reshape(count, 1)
    inverse = np.ascontiguousarray(rstd, dtype).reshape(count, 1)
    need_x, need_weight, need_bias = need
    scale = _ones(length, dtype) if weight is None else _flat(weight, dtype)
    out = np.empty_like(rows) if need_x else None
    # Over many blocks the parameters' gradients add up in float64.
    d_weight, d_bias = np.zeros(length), np.zeros(length)
    starts = _blocks(*rows.shape)
    step = min(starts.step, max(count, 1))
    centred, product = np.empty((step, length), dtype), np.empty((step, length), dtype)
    for start in starts:
        part = slice(start, start + starts.step)
        g_part, r = g_rows[part], inverse[part]
        if need_bias:
            d_bias += _ones(len(r), dtype) @ g_part
        if not (need_x or need_weight):
            continue
        d, h = centred[: len(r)], product[: len(r)]
        np.subtract(rows[part], means[part], d)
        np.multiply(g_part, d, h)
        if need_weight:
            d_weight += r[:, 0] @ h
        if out is None:
            continue
        # dx = r (g w - mean(g w) - d r² mean(g w d)); every sum over a row is a product with w.
        along = (h @ scale)[:, None] * (r * r / length)
        level = (g_part @ scale)[:, None] / length
        np.multiply(d, along, d)
        np.add(d, level, d)
        piece = out[part]
        if weight is None:
            np.subtract(g_part, d, piece)
        else:
            np.multiply(g_part, scale, piece)
            np.subtract(piece, d, piece)
        np.multiply(piece, r, piece)
    shape = raw.shape[kept:]
    parameter = dtype if weight is None else weight.dtype
    return (
        None if out is None else out.reshape(raw.shape).astype(x.dtype, copy=False),
        d_weight.reshape(shape).astype(parameter) if need_weight else None,
        d_bias.reshape(shape).astype(parameter) if need_bias else None,
    )
