"""Losses for class targets: cross-entropy, the negative log likelihood, margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import new_tensor
from ..._formula.class_losses import GRADIENTS
from ..calls.argument_parser import in_words_of
from ..calls.python_argument_errors import take_as_c
from ..elementwise.activation import logsigmoid
from ..elementwise.number import over, plus, times
from ..reduce.softmax import LOG_SOFTMAX
from ..rows import reduction_argument as R
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.node_decompositions import comes_apart
from ..rows.row import general
from .loss import _shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.class_losses")
composed = later("_table.rows.composed_nodes")

# ---- negative log likelihood ------------------------------------------------------------------


def _by_row(
    formula: Callable[..., Tensor],
    g: Tensor,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
) -> Tensor:
    """A gradient by the formula of each row's, with zeros for rows that are ignored."""
    dim = 1 if x.dim() > 1 else 0
    counted = target != ignore_index
    index = (target * counted).long()
    each = counted.to(x.dtype)
    if weight is not None:
        each = each * weight.gather(0, index.reshape(-1)).reshape(index.shape).to(x.dtype)
    if reduction == R.MEAN:
        total = each.sum()
        each = each / (total + (total == 0))
    each = g * each
    if not dim:
        each, index = each.reshape(()), index.reshape(())
    return formula(each.unsqueeze(dim), x, index, dim)


def _nll_gradient(
    g: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int,
) -> Tensor:  # fmt: skip
    """-w g at each row's class."""
    formula = GRADIENTS["nll_loss_backward"]
    return _by_row(formula, g, self, target, weight, reduction, ignore_index)


_nll = general(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "int ignore_index=-100) -> Tensor",
    raw.nll_loss,
    self=record_gradient(_nll_gradient, override=raw.nll_loss_backward),
    public=False,
    refuses_values="any",
    lowering="nll_loss",
    samples=lambda mk: [(mk(3, 4), mk(3, low=0, high=4, integer=True))],
    doc="Minus the log-probability of each row's class, reduced.",
    kernel="nll_loss_out_frame",
)
_nll2d = general(
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "int ignore_index=-100) -> Tensor",
    raw.nll_loss2d,
    self=record_gradient(_nll_gradient, override=raw.nll_loss_backward),
    node="NllLoss2DBackward0",
    public=False,
    refuses_values="any",
    samples=lambda mk: [(mk(2, 3, 2, 2), mk(2, 2, 2, low=0, high=3, integer=True))],
    doc="Minus the log-probability of each pixel's class, reduced.",
)


def _nll_nd(
    input: Any, target: Any, weight: Tensor | None, reduction: int, ignore_index: int
) -> Tensor:
    shape, wanted = _shape(input), _shape(target)
    ndim = len(shape)
    if ndim < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {ndim})")
    if ndim != 1 and wanted[:1] != shape[:1]:
        size = wanted[0] if wanted else 0
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({size})."
        )
    if ndim == 1 and len(wanted) == 1 and wanted[0] != 1:
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {wanted[0]}"
        )
    if weight is not None:
        R.refuse_gradient("nll_loss_forward" if ndim < 3 else "nll_loss2d_forward", weight=weight)
    if ndim <= 2:
        return apply_n(_nll.op, [input, target, weight, reduction, ignore_index])
    if ndim == 4:
        return apply_n(_nll2d.op, [input, target, weight, reduction, ignore_index])
    rest = shape[:1] + shape[2:]
    if wanted != rest:
        raise RuntimeError(f"Expected target size {list(rest)}, got {list(wanted)}")
    flat = (shape[0], shape[1], 1, -1) if input.numel() else (shape[0], shape[1], 0, 0)
    places = (shape[0], 1, -1) if input.numel() else (shape[0], 0, 0)
    loss = apply_n(
        _nll2d.op,
        [input.reshape(flat), target.reshape(places), weight, reduction, ignore_index],
    )
    return loss.reshape(rest) if reduction == R.NONE else loss


@composite("nn.functional")
def nll_loss(
    input: Tensor,
    target: Tensor | list[int],
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of each target class, weighted by class and reduced.

    "mean" divides by the total of the weights; targets equal to `ignore_index` count nothing.
    Shapes: input (N, C, d1, …) or (C,) of log-probabilities; target the same without C.
    Raises: IndexError for a target that is no class; ValueError, RuntimeError for wrong shapes.
    """
    number = R.number(reduction, size_average, reduce)
    if type(ignore_index) is not int:
        given = input, target, weight, number, ignore_index
        ignore_index = take_as_c("nn", "nll_loss_nd", given)[-1]
    return _nll_nd(input, target, weight, number, ignore_index)


# ---- cross-entropy ----------------------------------------------------------------------------


def _cross_gradient(
    g: Tensor, self: Tensor, target: Tensor, reduction: int, ignore_index: int
) -> Tensor:
    """(softmax(x) - 1 at the class) w g, with w zero for ignored rows."""
    formula = GRADIENTS["cross_entropy_backward"]
    return _by_row(formula, g, self, target, None, reduction, ignore_index)


# Note [Overrides of cross-entropy]
# NumPy's functions are written by hand: `_formula.class_losses` evaluated on blocks of arrays takes
# 1.7 times as long forward for 4x4 and 1.8 times for 512x1000, backward 1.7 and 1.2 times. They
# leave the row maximum out where exponentials are in range.

# Note [Cross-entropy in one operation]
# PyTorch records log_softmax and nll_loss. For plain logits (N, C) and classes (N,) that costs
# twice the time of one operation for small batches (27 µs against 15 for 32x2, forward and
# backward, interpreted), so here the loss has one node: PyTorch's NllLossBackward0, whose next
# function is the logits', not LogSoftmaxBackward0. With weights, smoothing or other shapes there
# are two, as in PyTorch.
_cross_entropy = general(
    "_cross_entropy(Tensor self, Tensor target, int reduction=1, int ignore_index=-100) -> Tensor",
    raw.cross_entropy,
    self=record_gradient(_cross_gradient, override=raw.cross_entropy_backward),
    node="NllLossBackward0",
    public=False,
    out=False,
    refuses_values="any",
    lowering="cross_entropy",
    samples=lambda mk: [(mk(3, 4), mk(3, low=0, high=4, integer=True))],
    doc="The cross-entropy of logits and classes, reduced.",
)
comes_apart(_cross_entropy, composed.classes, composed.logit_shapes)


@composite("nn.functional")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross-entropy between softmax(input) and the targets, weighted by class and reduced.

    Targets are classes, or probabilities where their shape is the input's. `label_smoothing` moves
    that share of the probability evenly to all classes.
    Shapes: input (N, C, d1, …) or (C,) of logits; target the same without C, or alike.
    Raises: IndexError for a target that is no class; ValueError, RuntimeError for wrong shapes.
    """
    number = R.number(reduction, size_average, reduce)
    if type(ignore_index) is not int:
        values = input, target, weight, number, ignore_index, label_smoothing
        ignore_index = take_as_c("nn", "cross_entropy_loss", values)[-2]
    try:
        shape = _shape(input)
        if (
            weight is None and not label_smoothing and len(shape) == 2
            and _shape(target) == shape[:1]
        ):  # fmt: skip
            # See Note [Cross-entropy in one operation]
            return apply_n(_cross_entropy.op, [input, target, number, ignore_index])
        return _general_cross_entropy(input, target, weight, number, ignore_index, label_smoothing)
    except Exception as error:
        values = input, target, weight, 0, ignore_index, label_smoothing
        raise in_words_of("cross_entropy_loss", values, error, "nn") from None


def _general_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    number: int,
    ignore_index: int,
    label_smoothing: float,
) -> Tensor:
    shape = _shape(input)
    dim = 0 if len(shape) == 1 else 1
    if _shape(target) == shape:
        if not shape and target.is_floating_point():
            raise IndexError("Dimension specified as 1 but tensor has no dimensions")
        _check_probabilities(input, target, weight, ignore_index, shape[dim] if shape else 1)
        _check_smoothing(label_smoothing)
        log_p = apply_n(LOG_SOFTMAX.op, [input, dim, None])
        smoothing = label_smoothing if label_smoothing > 0 else 0.0
        return _expected_loss(log_p, target, weight, number, smoothing, dim)
    _check_smoothing(label_smoothing)
    log_p = apply_n(LOG_SOFTMAX.op, [input, dim, None])
    loss = _nll_nd(log_p, target, weight, number, ignore_index)
    if not label_smoothing > 0:
        return loss
    smooth = _smooth_loss(log_p, target, weight, number, ignore_index, dim)
    kept = apply_n(times.op, [loss, 1 - label_smoothing])
    return kept + apply_n(times.op, [smooth, label_smoothing / shape[dim]])


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1.0:  # less than none counts as none
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _check_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, classes: int
) -> None:
    if not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{D.scalar_name(target.dtype)}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if weight is not None and (weight.dim() != 1 or weight.numel() != classes):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or "
            "no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )


def _by_class(weight: Any, ndim: int) -> Tensor:
    """The weights shaped so that they broadcast over everything but the classes."""
    return weight if ndim == 1 else weight.view((1, -1) + (1,) * (ndim - 2))


def _expected_loss(
    log_p: Tensor,
    target: TensorLike,
    weight: Tensor | None,
    reduction: int,
    label_smoothing: float,
    dim: int,
) -> Tensor:
    """-Σ t log p for probabilities t."""
    shape = log_p.shape
    if label_smoothing > 0:
        kept = apply_n(times.op, [target, 1 - label_smoothing])
        target = apply_n(plus.op, [kept, label_smoothing / (shape[dim] or 1)])
    terms = log_p * target
    if weight is not None:
        terms = terms * _by_class(weight, len(shape))
    if reduction == R.NONE:
        return -terms.sum(dim)
    loss = -terms.sum()
    if reduction == R.SUM:
        return loss
    # Without rows this is 0 / 0 = nan, as the mean of nothing is.
    return apply_n(over.op, [loss, log_p.numel() // (shape[dim] or 1)])


def _smooth_loss(
    log_p: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    dim: int,
) -> Tensor:
    """-Σ w log p over all classes, for the targets that count."""
    weighted = log_p if weight is None else log_p * _by_class(weight, log_p.dim())
    loss = -weighted.sum(dim)
    ignored = target.reshape(loss.shape) == ignore_index
    loss = loss.masked_fill(ignored, 0.0)
    if reduction == R.NONE:
        return loss
    if reduction == R.SUM:
        return loss.sum()
    if weight is None and log_p._raw.dtype.itemsize >= 4:  # in tensors, so that it is recorded
        return loss.sum() / (~ignored).to(log_p.dtype).sum()
    weights = raw.nll_weights(
        target._raw, log_p._raw, None if weight is None else weight._raw, ignore_index
    )
    return loss.sum() / new_tensor(T.as_array(weights.sum().astype(log_p._raw.dtype)))


# ---- margins ----------------------------------------------------------------------------------


def _margin_gradient(
    g: Tensor,
    self: Tensor,
    target: Tensor,
    p: int,
    margin: float,
    weight: TensorLike | None,
    reduction: int,
) -> Tensor:
    """w/C (s_j - [j = y] Σ s) with s the slope of max(0, z)^p, z = margin - x_y + x_j."""
    rows = self.reshape(1, -1) if self.dim() < 2 else self
    classes = target.reshape(-1)
    places = classes.unsqueeze(1)
    own = rows.gather(1, places)
    z = margin - own + rows
    is_class = (rows.detach() * 0).scatter(1, places, 1.0)
    active = (z.detach() > 0).to(rows.dtype) * (1 - is_class)
    slope = active if p == 1 else 2 * z * active
    if weight is not None:
        slope = slope * weight.reshape(-1)[classes].unsqueeze(1)
    expanded = (
        g.reshape(-1, 1) if reduction == R.NONE else R.expand_gradient(g, rows.shape[0], reduction)
    )
    slope = slope * (expanded / rows.shape[1])
    return (slope - is_class * slope.sum(1, keepdim=True)).reshape(self.shape)


_multi_margin = general(
    "multi_margin_loss(Tensor self, Tensor target, int p=1, float margin=1.0, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    raw.multi_margin_loss,
    self=record_gradient(_margin_gradient, override=raw.multi_margin_loss_backward),
    public=False,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4), mk(3, low=0, high=4, integer=True))],
    doc="The margins by which other classes come too close to the target, reduced.",
)


@composite("nn.functional")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of max(0, margin - x_y + x_j)^p for the target class y, reduced.

    Shapes: input (N, C) and target (N,), or (C,) and (); weight (C,).
    Raises: RuntimeError for a target that is no class, ValueError for p other than 1 and 2.
    """
    number = R.number(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None:
        if weight.dim() != 1:
            raise ValueError("weight must be one-dimensional")
        R.refuse_gradient("multi_margin_loss", weight=weight)
    return apply_n(_multi_margin.op, [input, target, p, float(margin), weight, number])


def _multilabel_gradient(g: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Piecewise constant in x: the kernel's slopes times `g`."""
    single = self.dim() < 2
    rows = 1 if single else self.shape[0]
    ones = T.ones_like(self._raw[..., 0] if self.dim() else self._raw)
    slopes = new_tensor(raw.multilabel_margin_loss_backward(ones, self._raw, target._raw, R.NONE))
    expanded = R.expand_gradient(g, rows, reduction)
    return slopes * (expanded if reduction != R.NONE or single else expanded.unsqueeze(-1))


_multilabel_margin = general(
    "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    raw.multilabel_margin_loss,
    self=record_gradient(_multilabel_gradient, override=raw.multilabel_margin_loss_backward),
    public=False,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4), mk(3, 4, low=0, high=4, integer=True))],
    doc="The margins by which classes come too close to any of the labels, reduced.",
)


@composite("nn.functional")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of max(0, 1 - x_label + x_i), summed over labels and other classes.

    Shapes: input and target alike, (N, C) or (C,); the labels of a row end at the first -1.
    Raises: RuntimeError for labels out of range, or another shape.
    """
    number = R.number(reduction, size_average, reduce)
    return apply_n(_multilabel_margin.op, [input, target, number])


@composite("nn.functional")
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The binary cross-entropy of sigmoid(input), averaged over the last dimension, then reduced.

    Raises: ValueError for a `reduction` that is none.
    """
    if size_average is not None or reduce is not None:
        reduction = R.word_of_old(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    last = input.dim() - 1
    loss = loss.sum(dim=last) / input.size(last)
    return R.apply(loss, R.number(reduction))
