"""Losses that compare two arrays element by element, reduced, and their gradients.

`reduction` is 0 (none), 1 (mean) or 2 (sum), as in PyTorch's operators. Float16 and bfloat16 are
computed in float32 and rounded once. A gradient kernel takes `g`, the gradient of the reduced loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base import dtypes as D, errors
from .. import kernels
from ..elementwise.blocked import clip, fits, products, summed
from ..reduce.softmax import lifted, ones
from ..types import from_raw

__all__ = [
    "any_negative", "binary_cross_entropy", "binary_cross_entropy_backward",
    "binary_cross_entropy_logits", "binary_cross_entropy_logits_backward",
    "binary_cross_entropy_logits_target", "binary_cross_entropy_target", "broadcast_shape",
    "filled", "floor_at", "huber_loss", "huber_loss_backward", "mse_loss", "mse_loss_backward",
    "mse_mean", "pairs", "reduced", "require_dtype", "require_floats", "smooth_l1_loss",
    "smooth_l1_loss_backward", "soft_margin_loss", "soft_margin_loss_backward", "total",
]  # fmt: skip

_PIECE = 4096
_LOG_FLOOR = -100.0  # logarithms in binary_cross_entropy are cut off here
_PRODUCT_FLOOR = 1e-12  # and so is p (1 - p) in its gradient


def require_floats(x: Any, kernel: str, half: bool = True) -> None:
    """Refuses integers, bools and complex numbers in PyTorch's words.

    Raises: NotImplementedError naming the kernel.
    """
    if x.dtype.kind not in "fV" or (not half and x.dtype.itemsize == 2):
        name = D.scalar_name(from_raw(x.dtype))
        raise NotImplementedError(errors.not_implemented(kernel, name))


def require_dtype(target: Any, x: Any) -> None:
    """Refuses a target of another dtype.

    Raises: RuntimeError in PyTorch's words.
    """
    if target.dtype != x.dtype:
        found, wanted = (D.scalar_name(from_raw(a.dtype)) for a in (target, x))
        raise RuntimeError(f"Found dtype {found} but expected {wanted}")


def broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which two shapes broadcast.

    Raises: RuntimeError in PyTorch's words where they don't.
    """
    problem = errors.broadcast(a, b)
    if problem is not None:
        raise RuntimeError(problem)
    return np.broadcast_shapes(a, b)


def any_negative(x: Any) -> bool:
    """Whether an element is below zero."""
    return bool(np.less(x, 0).any())


def pairs(count: int) -> tuple[Any, Any]:
    """The two sides of all pairs i < j of `count` things."""
    return np.triu_indices(count, 1)


def filled(value: float, dtype: Any) -> Any:
    """A number as an array without dimensions."""
    return np.full((), value, dtype)


def floor_at(x: Any, low: float) -> None:
    """Raises the elements of `x` below `low` to it, in place."""
    np.maximum(x, low, out=x)


# ---- reductions -------------------------------------------------------------------------------


def total(x: Any) -> Any:
    """The sum of all elements; short arrays by BLAS, whose call is the cheapest."""
    if 0 < x.size <= 2 * _PIECE:
        return np.dot(x.reshape(-1), ones(x.size, x.dtype))
    return np.add.reduce(x, axis=None)


def reduced(each: Any, reduction: int, dtype: Any) -> Any:
    """Losses by element, reduced, in `dtype`."""
    if reduction == 0:
        result = each
    else:
        result = total(each)
        if reduction == 1:
            result = np.true_divide(result, each.size)
    return result if result.dtype == dtype else result.astype(dtype)


def _by_kernel(name: str, x: Any, target: Any, reduction: int, *numbers: float) -> Any:
    """The reduced loss of large arrays by a kernel, or None."""
    if not reduction or x.size < kernels.LEAST:
        return None
    found = kernels.elements.loss(name, x, target, *numbers)
    if found is None:
        return None
    return np.array(found / x.size if reduction == 1 else found, x.dtype)


def _slope_by_kernel(
    name: str, g: Any, x: Any, target: Any, reduction: int, *numbers: float, factor: float = 1.0
) -> Any:
    """The gradient of a reduced loss of large arrays by a kernel, times `factor`; or None."""
    if not reduction or x.size < kernels.LEAST or target.dtype is not x.dtype or g.size != 1:
        return None
    scale = factor * float(g) / (x.size if reduction == 1 else 1)
    return kernels.elements.slope(name, x, target, scale, *numbers)


def _spread(slope: Any, g: Any, reduction: int, dtype: Any) -> Any:
    """The slopes by element times the gradient of the reduced loss, written over `slope`."""
    if reduction == 1 and slope.size > 1:
        g = np.true_divide(lifted(g), slope.size)
    out = np.multiply(slope, g, slope)
    return out if out.dtype == dtype else out.astype(dtype)


def _gap(x: Any, target: Any) -> Any:
    """x - target as an array, halves in float32; integers among the targets become floats."""
    wide = lifted(x)
    target = target.astype(wide.dtype) if target.dtype.kind in "biu" else lifted(target)
    return np.asarray(np.subtract(wide, target))


# ---- mean squared error -----------------------------------------------------------------------


def _square_sum(d: Any) -> Any:
    flat = d.reshape(-1)
    if flat.size <= 2 * _PIECE:
        return np.dot(flat, flat)
    # One long float32 dot product would gather rounding errors: pieces end in float64.
    whole = flat.size // _PIECE * _PIECE
    pieces = flat[:whole].reshape(-1, _PIECE)
    rest = flat[whole:]
    sums = np.vecdot(pieces, pieces)
    return np.add.reduce(sums, dtype=np.float64) + float(np.dot(rest, rest))


def mse_mean(x: Any, target: Any) -> Any:
    """The mean of (x - target)²."""
    if x.dtype.itemsize == 2 or x.dtype.kind != "f" or x.shape != target.shape:
        return mse_loss(x, target, 1)
    if (found := _by_kernel("squares", x, target, 1)) is not None:
        return found
    d = np.subtract(x, target)
    result = np.true_divide(_square_sum(d), d.size)
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def mse_loss(x: Any, target: Any, reduction: int = 1) -> Any:
    """(x - target)², reduced."""
    require_floats(x, "mse_cpu")
    if (found := _by_kernel("squares", x, target, reduction)) is not None:
        return found
    d = _gap(x, target)
    if reduction == 0:
        return np.multiply(d, d, d).astype(x.dtype, copy=False)
    result = _square_sum(d)
    if reduction == 1:
        result = np.true_divide(result, d.size)
    return result.astype(x.dtype)


def mse_loss_backward(g: Any, x: Any, target: Any, reduction: int) -> Any:
    """2 (x - target), times `g`."""
    found = _slope_by_kernel("squares_slope", g, x, target, reduction, factor=2.0)
    if found is not None:
        return found
    if x.ndim == 0 or x.dtype.itemsize == 2:
        d = _gap(x, target)
        return _spread(np.multiply(d, 2, d), g, reduction, x.dtype)
    d = np.subtract(x, target)
    if reduction == 1:
        g = g * (2.0 / (d.size or 1))
    else:
        g = g * 2.0
    return np.multiply(d, g, d)


# ---- smooth L1 and Huber ----------------------------------------------------------------------


def _bounded_squares(bound: float) -> Any:
    """Sums of d²/2 within the bound of zero and bound (|d| - bound/2) outside.

    Both are c (d - c/2) for d cut off at the bound on either side, c.
    """

    def body(d: Any, x: Any, target: Any) -> Any:
        np.subtract(x, target, d)
        cut = clip(d, -bound, bound)
        np.subtract(d, np.multiply(cut, 0.5), d)
        return products(cut, d)

    return body


def smooth_l1_loss(x: Any, target: Any, reduction: int = 1, beta: float = 1.0) -> Any:
    """d²/2β within β of the target, |d| - β/2 outside, reduced."""
    require_floats(x, "smooth_l1_cpu")
    if beta > 0 and reduction and x.size >= kernels.LEAST:
        total_ = kernels.elements.loss("bounded_squares", x, target, beta)
        if total_ is not None:
            return np.array(total_ / beta / (x.size if reduction == 1 else 1), x.dtype)
    if reduction and beta > 0 and fits(x, target):
        result = summed(_bounded_squares(beta), x, target) / beta
        return np.asarray(result / x.size if reduction == 1 else result, x.dtype)
    z = np.asarray(np.abs(np.subtract(lifted(x), lifted(target))))
    each = np.where(z < beta, 0.5 * z * z / beta if beta else z, z - 0.5 * beta)
    return reduced(each, reduction, x.dtype)


def smooth_l1_loss_backward(g: Any, x: Any, target: Any, reduction: int, beta: float) -> Any:
    """d/β cut off at ±1, times `g`."""
    if beta > 0:
        found = _slope_by_kernel(
            "bounded_slope", g, x, target, reduction, float(beta), factor=1 / beta
        )
        if found is not None:
            return found
    d = _gap(x, target)
    slope = _clipped(np.true_divide(d, beta, d), 1.0)
    return _spread(slope, g, reduction, x.dtype)


def huber_loss(x: Any, target: Any, reduction: int = 1, delta: float = 1.0) -> Any:
    """d²/2 within δ of the target, δ (|d| - δ/2) outside, reduced."""
    require_floats(x, "huber_cpu")
    if (
        delta > 0
        and (found := _by_kernel("bounded_squares", x, target, reduction, delta)) is not None
    ):
        return found
    if reduction and delta > 0 and fits(x, target):
        result = summed(_bounded_squares(delta), x, target)
        return np.asarray(result / x.size if reduction == 1 else result, x.dtype)
    wanted = lifted(target) if target.dtype.kind in "fV" else target.astype(x.dtype)
    z = np.asarray(np.abs(np.subtract(lifted(x), wanted)))
    each = np.where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta))
    return reduced(each, reduction, x.dtype)


def huber_loss_backward(g: Any, x: Any, target: Any, reduction: int, delta: float) -> Any:
    """d cut off at ±δ, times `g`."""
    require_dtype(target, x)
    found = _slope_by_kernel("bounded_slope", g, x, target, reduction, float(delta))
    if found is not None:
        return found
    d = _gap(x, target)
    return _spread(_clipped(d, delta), g, reduction, x.dtype)


def _clipped(d: Any, limit: float) -> Any:
    np.minimum(d, limit, out=d)
    return np.maximum(d, -limit, out=d)


# ---- soft margin ------------------------------------------------------------------------------


def soft_margin_loss(x: Any, target: Any, reduction: int = 1) -> Any:
    """log(1 + exp(-target x)), reduced. Special: where the exponential overflows -> inf."""
    if x.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    if x.dtype.kind in "iu":
        raise RuntimeError(
            "result type Float can't be cast to the desired output type "
            f"{D.scalar_name(from_raw(x.dtype))}"
        )
    kind, wanted = from_raw(target.dtype), from_raw(x.dtype)
    if kind.category > wanted.category:
        raise RuntimeError(errors.cannot_cast(D.scalar_name(kind), D.scalar_name(wanted)))
    raw = lifted(x)
    grown = broadcast_shape(x.shape, target.shape)
    if grown != x.shape:
        raise RuntimeError(errors.output_shape(x.shape, grown))
    each = np.asarray(np.multiply(raw, target)).astype(raw.dtype, copy=False)
    np.exp(np.negative(each, each), each)
    if x.dtype == np.float16:
        each = each.astype(x.dtype).astype(each.dtype)  # overflows above 65504
    np.log1p(each, each)
    return reduced(each, reduction, x.dtype)


def soft_margin_loss_backward(g: Any, x: Any, target: Any, reduction: int) -> Any:
    """-target σ(-target x), times `g`."""
    raw = lifted(x)
    wanted = target if target.dtype == raw.dtype else target.astype(raw.dtype)
    z = np.asarray(np.exp(np.multiply(raw, wanted)))
    slope = np.asarray(np.true_divide(np.negative(wanted), 1 + z))
    return _spread(slope, g, reduction, x.dtype)


# ---- binary cross-entropy ---------------------------------------------------------------------


def binary_cross_entropy(p: Any, target: Any, weight: Any = None, reduction: int = 1) -> Any:
    """-(t log p + (1 - t) log(1 - p)), weighted and reduced; the logarithms are at least -100.

    Raises: RuntimeError for a probability or a target outside [0, 1], or of another dtype.
    """
    require_dtype(target, p)
    require_floats(p, "binary_cross_entropy")
    _require_probabilities(p, "input")
    _require_probabilities(target, "target")
    p32, t32 = lifted(p), lifted(target)
    yes = np.asarray(np.log(p32))
    np.maximum(yes, _LOG_FLOOR, out=yes)
    no = np.asarray(np.log1p(np.negative(p32)))
    np.maximum(no, _LOG_FLOOR, out=no)
    np.multiply(yes, t32, yes)
    np.multiply(no, t32 - 1, no)
    each = np.subtract(no, yes, no)
    if weight is not None:
        np.multiply(each, lifted(weight), each, casting="same_kind")
    return reduced(each, reduction, p.dtype)


def _require_probabilities(x: Any, name: str) -> None:
    if x.size and not (
        np.minimum.reduce(x, axis=None) >= 0 and np.maximum.reduce(x, axis=None) <= 1
    ):
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def binary_cross_entropy_backward(g: Any, p: Any, target: Any, weight: Any, reduction: int) -> Any:
    """(p - t) / (p (1 - p)), weighted, times `g`."""
    if weight is None:
        found = _slope_by_kernel("probabilities_slope", g, p, target, reduction)
        if found is not None:
            return found
    p32 = lifted(p)
    spread = np.asarray(np.subtract(1.0, p32))
    np.multiply(spread, p32, spread)
    np.maximum(spread, _PRODUCT_FLOOR, out=spread)
    slope = np.true_divide(np.subtract(p32, lifted(target)), spread, spread)
    if weight is not None:
        np.multiply(slope, lifted(weight), slope, casting="same_kind")
    return _spread(slope, g, reduction, p.dtype)


def binary_cross_entropy_target(g: Any, p: Any, weight: Any, reduction: int) -> Any:
    """log(1 - p) - log p, weighted, times `g`: the gradient for the target."""
    p32 = lifted(p)
    slope = np.asarray(np.log1p(np.negative(p32)))
    np.subtract(slope, np.log(p32), slope)
    if weight is not None:
        np.multiply(slope, lifted(weight), slope, casting="same_kind")
    return _spread(slope, g, reduction, p.dtype)


def _softplus_of_minus_abs(x: Any) -> Any:
    """log(1 + exp(-|x|)), which neither overflows nor loses digits."""
    z = np.asarray(np.abs(x))
    np.negative(z, z)
    np.exp(z, z)
    return np.log1p(z, z)


def _logits_and_targets(x: Any, target: Any) -> tuple[Any, Any]:
    """Both in the type of their result.

    Raises: NotImplementedError for logits, RuntimeError for targets that aren't floating point.
    """
    require_floats(x, "log_sigmoid_cpu")
    if target.dtype.kind in "biu":
        raise RuntimeError(
            "result type Float can't be cast to the desired output type "
            f"{D.scalar_name(from_raw(target.dtype))}"
        )
    return lifted(x), lifted(target)


def binary_cross_entropy_logits(
    x: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Any:
    """-(p t log σ(x) + (1 - t) log σ(-x)) for the positive weight p, weighted and reduced."""
    raw, wanted = _logits_and_targets(x, target)
    dtype = target.dtype  # 1 - t is what PyTorch writes to
    if dtype.itemsize == 2:
        each = _half_logits(raw, wanted, pos_weight, dtype)
        if weight is not None:
            each = _weighted(each, lifted(weight)).astype(dtype).astype(raw.dtype)
        return reduced(each, reduction, dtype)
    if weight is None and pos_weight is None:
        found = _by_kernel("logits", x, target, reduction)
        if found is not None:
            return found
    soft = _softplus_of_minus_abs(raw)
    if pos_weight is None:
        # (1 - t) x - log σ(x), where infinite logits give what they give in PyTorch
        np.subtract(np.minimum(raw, 0), soft, soft)
        each = np.asarray(np.multiply(np.subtract(1, wanted), raw))
        each = np.subtract(each, soft, each)
    else:
        # (1 - t) x + (1 + (p - 1) t) (max(-x, 0) + log(1 + exp(-|x|)))
        broadcast_shape(pos_weight.shape, x.shape)
        np.add(soft, np.maximum(np.negative(raw), 0), soft)
        scale = np.asarray(np.add(np.multiply(lifted(pos_weight) - 1, wanted), 1))
        each = np.asarray(np.add(np.multiply(1 - wanted, raw), np.multiply(scale, soft)))
    if weight is not None:
        each = _weighted(each, lifted(weight))
    return reduced(each, reduction, dtype)


def _half_logits(x: Any, target: Any, pos_weight: Any, dtype: Any) -> Any:
    """(1 - t) x - (1 + (p - 1) t) log σ(x), rounded to a half after every step as PyTorch does."""

    def rounded(value: Any) -> Any:
        return np.asarray(value).astype(dtype).astype(x.dtype)

    log_sigmoid = rounded(np.minimum(x, 0) - _softplus_of_minus_abs(x))
    if pos_weight is not None:
        broadcast_shape(pos_weight.shape, x.shape)
        scale = rounded(rounded(rounded(lifted(pos_weight) - 1) * target) + 1)
        log_sigmoid = rounded(scale * log_sigmoid)
    return rounded(rounded(rounded(1 - target) * x) - log_sigmoid)


def _weighted(each: Any, weight: Any) -> Any:
    grown = each.shape if weight.shape == each.shape else broadcast_shape(each.shape, weight.shape)
    if grown != each.shape:
        raise RuntimeError(errors.output_shape(each.shape, grown))
    return np.multiply(each, weight).astype(each.dtype, copy=False)


def _sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    z = np.asarray(np.negative(x))
    np.exp(z, z)
    np.add(z, 1, z)
    return np.reciprocal(z, z)


def binary_cross_entropy_logits_backward(
    g: Any, x: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    """(p t + 1 - t) σ(x) - p t, weighted, times `g`."""
    if weight is None and pos_weight is None:
        found = _slope_by_kernel("logits_slope", g, x, target, reduction)
        if found is not None:
            return found
    raw, wanted = lifted(x), lifted(target)
    slope = _sigmoid(raw)
    if pos_weight is None:
        slope = np.asarray(np.subtract(slope, wanted))
    else:
        heavy = np.multiply(lifted(pos_weight), wanted)
        slope = np.asarray(np.subtract(np.multiply(np.add(heavy, 1 - wanted), slope), heavy))
    if weight is not None:
        slope = np.multiply(slope, lifted(weight))
    return _spread(slope, g, reduction, x.dtype)


def binary_cross_entropy_logits_target(
    g: Any, x: Any, weight: Any, pos_weight: Any, reduction: int, dtype: Any
) -> Any:
    """log σ(-x) - p log σ(x), weighted, times `g`: the gradient for the target."""
    raw = lifted(x)
    if pos_weight is None:
        slope = np.asarray(np.negative(raw))
    else:
        soft = _softplus_of_minus_abs(raw)
        no = np.negative(np.maximum(raw, 0)) - soft
        yes = np.minimum(raw, 0) - soft
        slope = np.asarray(np.subtract(no, np.multiply(lifted(pos_weight), yes)))
    if weight is not None:
        slope = np.multiply(slope, lifted(weight))
    return _spread(slope, g, reduction, dtype)
