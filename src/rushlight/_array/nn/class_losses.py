"""Losses for class targets: the negative log likelihood and margins, with their gradients.

`reduction` is 0 (none), 1 (mean) or 2 (sum), as in PyTorch's operators.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D
from .. import kernels
from ..reduce.row_sums import lift, ones
from ..types import from_raw
from . import cross_entropy as losses, small_rows as small
from .element_losses import require_floats
from .small_rows import names_classes, row_starts

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..annotations import Array, RawType

_WORDS = ("none", "mean", "sum")


def _name(x: TensorLike) -> str:
    return D.scalar_name(from_raw(x.dtype))


# ---- negative log likelihood ------------------------------------------------------------------


def _plain(log_p: Array, target: Array, weight: Array | None) -> bool:
    """Whether each target is a class of its row, and nothing is weighted or out of order."""
    return weight is None and target.size <= _ROWS and names_classes(log_p, target, sys.maxsize)


_ROWS: Final = 4096  # as in `places.c`


def _check(log_p: Any, target: Array, weight: Array | None) -> None:
    classes = log_p.shape[1] if log_p.ndim > 1 else log_p.shape[0]
    if target.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {_name(target)}")
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            "got "
            f"weight tensor of shape: {list(weight.shape)}"
        )
    kernel = "nll_loss_out_frame" if log_p.ndim < 3 else "nll_loss2d_forward_out_frame"
    require_floats(log_p, kernel)
    if weight is not None and weight.dtype != log_p.dtype:
        raise RuntimeError(f"expected scalar type {_name(log_p)} but found {_name(weight)}")


def nll_loss(
    log_p: Array,
    target: Array,
    weight: Array | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
) -> Array:
    """Minus the log-probability of each row's class, weighted and reduced.

    Shapes: log_p (N, C) and target (N,), or (C,) and () or (1,).
    Raises: IndexError for a target that is no class, RuntimeError for wrong shapes and dtypes.
    """
    if _plain(log_p, target, weight) and not 0 <= ignore_index < log_p.shape[1]:
        rows, classes = log_p.shape
        picked = log_p.reshape(-1).take(target + row_starts(rows, classes))
        if reduction == 0:
            return np.negative(picked, picked)
        result = -picked.dot(ones(rows, log_p.dtype))
        return result / rows if reduction == 1 else result
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    _check(log_p, target, weight)
    if log_p.ndim == 2 and log_p.shape[0] != target.size:
        raise RuntimeError(
            f"size mismatch (got input: {list(log_p.shape)}, target: {list(target.shape)})"
        )
    loss = losses.nll_loss(log_p, target.astype(np.int64), weight, ignore_index, _WORDS[reduction])[
        0
    ]
    return loss.reshape(()) if log_p.ndim == 1 else loss


def nll_loss2d(
    log_p: Array, target: Array, weight: Any = None, reduction: int = 1, ignore_index: int = -100
) -> Array:
    """`nll_loss` for images: log_p (N, C, H, W) and target (N, H, W)."""
    if target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{target.ndim}"
        )
    if log_p.shape[:1] + log_p.shape[2:] != target.shape:
        raise RuntimeError(
            f"size mismatch (got input: {list(log_p.shape)} , target: {list(target.shape)}"
        )
    _check(log_p, target, weight)
    target = target.astype(np.int64, copy=False)
    return losses.nll_loss(log_p, target, weight, ignore_index, _WORDS[reduction])[0]


def nll_loss_backward(
    g: Array, log_p: Array, target: Array, weight: Any, reduction: int, ignore_index: int
) -> Array:
    """-`g` at each row's class, zero elsewhere; only shape and dtype of `log_p` are used."""
    if _plain(log_p, target, weight) and not 0 <= ignore_index < log_p.shape[1]:
        rows, classes = log_p.shape
        out = np.zeros((rows, classes), log_p.dtype)
        value = -g / rows if reduction == 1 else -g
        out.reshape(-1)[target + row_starts(rows, classes)] = value
        return out
    target = target.astype(np.int64, copy=False)
    divisor: Any = None
    if reduction == 1:
        if weight is None:
            divisor = float(np.count_nonzero(target != ignore_index))
        else:
            chosen = nll_weights(target, log_p, weight, ignore_index)
            divisor = np.add.reduce(chosen, axis=None, dtype=np.float64)
    if weight is not None:
        weight = lift(weight)
    return losses.nll_loss_backward(
        lift(g), log_p, target, weight, ignore_index, _WORDS[reduction], divisor
    )


def nll_weights(target: Array, like: Array, weight: object, ignore_index: int) -> Array:
    """The weight of each target: of its class, or one; zero where it is ignored."""
    dtype = lift(like).dtype
    counted = target != ignore_index
    if weight is None:
        return counted.astype(dtype)
    return np.where(counted, lift(weight).take(np.where(counted, target, 0)), 0).astype(dtype)


# ---- cross-entropy ----------------------------------------------------------------------------


def cross_entropy(x: Array, target: Array, reduction: int = 1, ignore_index: int = -100) -> Array:
    """The negative log likelihood of log softmax(x), without weights, in one go.

    Shapes: x (N, C), target (N,). Raises: IndexError for a target that is no class.
    """
    if x.size >= kernels.LEAST:
        found = kernels.cross_entropy.cross_entropy(x, target, reduction, ignore_index)
        if found is not None:
            return found
    if names_classes(x, target) and not 0 <= ignore_index < x.shape[1]:
        loss = small.cross_entropy(x, target, reduction)
        if loss is not None:
            return loss
    elif small.names_some(x, target, ignore_index):
        loss = small.cross_entropy_of_some(x, target, reduction, ignore_index)
        if loss is not None:
            return loss
    if x.dtype.kind not in "fV":
        require_floats(x, "log_softmax_lastdim_kernel_impl")
    _check(x, target, None)
    return losses.cross_entropy(x, target.astype(np.int64), ignore_index, _WORDS[reduction])


def cross_entropy_backward(
    g: Array, x: Array, target: Array, reduction: int, ignore_index: int
) -> Array:
    """softmax(x) less one at each row's class, times `g`; zero for ignored rows."""
    if x.size >= kernels.LEAST:
        found = kernels.cross_entropy.cross_entropy_backward(g, x, target, reduction, ignore_index)
        if found is not None:
            return found
    if names_classes(x, target) and not 0 <= ignore_index < x.shape[1]:
        found = small.cross_entropy_backward(g, x, target, reduction)
        if found is not None:
            return found
    elif small.names_some(x, target, ignore_index):
        found = small.cross_entropy_backward_of_some(g, x, target, reduction, ignore_index)
        if found is not None:
            return found
    return losses.cross_entropy_backward(
        lift(g), x, target.astype(np.int64), ignore_index, _WORDS[reduction]
    )


# ---- margins ----------------------------------------------------------------------------------


def _as_rows(x: Array) -> Array:
    """The input as a matrix of rows.

    Raises: RuntimeError for more dimensions.
    """
    if x.ndim > 2 or (x.ndim == 2 and x.shape[1] == 0) or (x.ndim == 1 and x.size == 0):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(x.shape)}"
        )
    return x.reshape(1, -1) if x.ndim < 2 else x


def _require_long(target: Array) -> None:
    if target.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {_name(target)}")


def _reduce_rows(each: Array, reduction: int, dtype: RawType, shape: tuple[int, ...]) -> Array:
    if reduction == 0:
        return each.reshape(shape).astype(dtype, copy=False)
    result = np.add.reduce(each)
    if reduction == 1:
        result = np.true_divide(result, each.size)
    return result.astype(dtype)


def _row_gradients(g: Array, reduction: int, rows: int) -> Array:
    """The gradient of each row's loss, as a column, or one number."""
    if reduction == 0:
        return lift(g).reshape(-1, 1)
    return lift(g) / rows if reduction == 1 else lift(g)


def _check_margin(x: Array, target: Array, weight: Any) -> Array:
    rows = _as_rows(x)
    if target.ndim > 1 or target.size != rows.shape[0]:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{rows.shape[0]}], but got "
            f"{list(target.shape)}. Input has shape {list(x.shape)}."
        )
    if weight is not None and (weight.ndim > 1 or weight.size != rows.shape[1]):
        raise RuntimeError(
            f"inconsistent weight size, expected {rows.shape[1]} but got {list(weight.shape)}"
        )
    require_floats(x, "multi_margin_loss_cpu_kernel", half=False)
    _require_long(target)
    if weight is not None and weight.dtype != x.dtype:
        raise RuntimeError(f"expected scalar type {_name(x)} but found {_name(weight)}")
    if target.size and not (target.min() >= 0 and target.max() < rows.shape[1]):
        raise RuntimeError("target out of range")
    return lift(rows)


def _violations(rows: Array, classes: Array, margin: float) -> Array:
    """max(0, margin - x_y + x_j) for each class j of each row, zero at its class y."""
    places = classes[:, None]
    z = margin - np.take_along_axis(rows, places, 1) + rows
    np.maximum(z, 0, out=z)
    np.put_along_axis(z, places, 0, 1)
    return z


def multi_margin_loss(
    x: Array,
    target: Array,
    p: int = 1,
    margin: float = 1.0,
    weight: object = None,
    reduction: int = 1,
) -> Array:
    """The mean over classes of max(0, margin - x_y + x_j)^p, weighted by the class y, reduced.

    Shapes: x (N, C) and target (N,), or (C,) and () or (1,).
    Raises: RuntimeError where they don't fit.
    """
    rows = _check_margin(x, target, weight)
    classes = target.reshape(-1)
    z = _violations(rows, classes, margin)
    each = np.add.reduce(z if p == 1 else z * z, axis=1)
    if weight is not None:
        each = each * lift(weight).reshape(-1)[classes]
    each /= rows.shape[1]
    return _reduce_rows(each, reduction, x.dtype, target.shape)


def multi_margin_loss_backward(
    g: Array, x: Array, target: Array, p: int, margin: float, weight: object, reduction: int
) -> Array:
    """The gradient of `multi_margin_loss` for its input."""
    rows = lift(_as_rows(x))
    classes = target.reshape(-1)
    z = _violations(rows, classes, margin)
    slope = (z > 0).astype(rows.dtype) if p == 1 else 2 * z
    if weight is not None:
        slope *= lift(weight).reshape(-1)[classes][:, None]
    slope *= _row_gradients(g, reduction, rows.shape[0]) / rows.shape[1]
    np.put_along_axis(slope, classes[:, None], -np.add.reduce(slope, axis=1, keepdims=True), 1)
    return slope.reshape(x.shape).astype(x.dtype, copy=False)


def _labels(x: Array, target: Array) -> tuple[Array, Array, Array]:
    """Rows; whether each place of the target list counts; whether each class is meant.

    A list ends at its first -1. Raises: RuntimeError for wrong shapes, dtypes, labels.
    """
    rows = _as_rows(x)
    if target.shape != x.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(x.shape)}"
        )
    lists = target.reshape(rows.shape)
    # PyTorch looks at whole numbers, which it makes of others by cutting off their fractions.
    if lists.size and not (np.trunc(lists.min()) >= -1 and np.trunc(lists.max()) < rows.shape[1]):
        raise RuntimeError("argument #2 'target' is out of range")
    require_floats(x, "multilabel_margin_loss_forward_out_frame", half=False)
    _require_long(target)
    counts = np.logical_and.accumulate(lists >= 0, axis=1)
    meant = np.zeros(rows.shape, bool)
    row, place = np.nonzero(counts)
    meant[row, lists[row, place]] = True
    return lift(rows), counts, meant


def _label_violations(rows: Array, lists: Array, counts: Array, meant: Array) -> Array:
    """max(0, 1 - x_label + x_i) for each row, place of its list and class i that isn't meant."""
    own = np.take_along_axis(rows, np.where(counts, lists, 0), 1)
    z = 1 - own[:, :, None] + rows[:, None, :]
    np.maximum(z, 0, out=z)
    z *= counts[:, :, None] & ~meant[:, None, :]
    return z


def multilabel_margin_loss(x: Array, target: Array, reduction: int = 1) -> Array:
    """The mean over classes of max(0, 1 - x_label + x_i), over labels and classes that are none.

    Shapes: x and target alike, (N, C) or (C,); a row's labels end at the first -1.
    """
    rows, counts, meant = _labels(x, target)
    z = _label_violations(rows, target.reshape(rows.shape), counts, meant)
    each = np.add.reduce(z, axis=(1, 2)) / rows.shape[1]
    return _reduce_rows(each, reduction, x.dtype, x.shape[:1] if x.ndim == 2 else ())


def multilabel_margin_loss_backward(
    g: Array, x: Array, target: Array, reduction: int
) -> TensorLike:
    """The gradient of `multilabel_margin_loss` for its input."""
    rows, counts, meant = _labels(x, target)
    lists = target.reshape(rows.shape)
    active = (_label_violations(rows, lists, counts, meant) > 0).astype(rows.dtype)
    slope = np.add.reduce(active, axis=1)
    row, place = np.nonzero(counts)
    np.subtract.at(slope, (row, lists[row, place]), np.add.reduce(active, axis=2)[row, place])
    slope *= _row_gradients(g, reduction, rows.shape[0]) / rows.shape[1]
    return slope.reshape(x.shape).astype(x.dtype, copy=False)
