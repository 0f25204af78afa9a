"""Losses that compare tensors element by element: squared, absolute, logistic, likelihoods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.lazy_modules import later
from ..._base import dtypes as D, errors
from ..._core.apply import apply2, apply_n
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase
from ..._formula.words import (
    exp,
    formula,
    log,
    log1p,
    log_sigmoid,
    maximum,
    minimum,
    sigmoid,
)
from ..calls.argument_parser import misuse
from ..elementwise.number import plus
from ..rows import reduction_argument as R
from ..rows.composite import composite
from ..rows.element_loss import element_loss
from ..rows.tensor_namespace import table
from ..rows.warn_once import warn_the_caller

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._array.nn.generated_losses import _Rounded
    from ..._base.annotations import TensorLike
    from ..._formula.ir import Symbol
    from ..._tensor.tensor import Tensor

raw = later("nn.element_losses")


def _shape(x: Any) -> Any:
    try:
        return x._raw.shape
    except AttributeError:
        return x.size()  # what isn't a tensor fails in PyTorch's words


def _say_different(input: Tensor, target: Tensor) -> None:
    """Warns of a target of another shape, as PyTorch does before anything else."""
    warn_the_caller(
        f"Using a target size ({errors.size_text(target.shape)}) that is different to the input "
        "size "
        f"({errors.size_text(input.shape)}). This will likely lead to incorrect results due to "
        "broadcasting. Please ensure they have the same size."
    )


def _together(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Both broadcast to one shape."""
    shape = raw.broadcast_shape(input._raw.shape, target._raw.shape)
    if input._raw.shape != shape:
        input = input.expand(shape)
    return input, target if target._raw.shape == shape else target.expand(shape)


def _require_same(weight: Any, input: Any) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _weighted(each: Any, weight: Any, reduction: int) -> Tensor:
    each = each * weight
    if reduction == R.MEAN:
        return each.sum() / weight.sum()
    return each.sum() if reduction == R.SUM else each


# ---- mean squared error, mean absolute error --------------------------------------------------


_mse = element_loss(
    "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    formula(lambda self, target: (self - target) * (self - target)),
    self=formula(lambda self, target: (self - target) * 2),
    target=formula(lambda self, target: (target - self) * 2),
    check=lambda self, target: raw.require_floats(self, "mse_cpu"),
    fast_defaults=True,
    promote="same",
    promote_at=("self", "target"),
    public=False,
    method=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4)), (mk(3), mk(3), 0), (mk(3), mk(3), 2)],
    doc="The squared differences, reduced.",
)


@composite("nn.functional")
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean (or sum, or each) of the squared differences of input and target.

    Shapes: both alike; others broadcast, with a warning.
    Raises: ValueError for a `reduction` that is none, or a weight of another shape.
    """
    if _shape(target) != _shape(input):
        _say_different(input, target)
        if size_average is not None or reduce is not None:
            reduction, size_average, reduce = R.word_of_old(size_average, reduce), None, None
        input, target = _together(input, target)
    number = R.number(reduction, size_average, reduce)
    if weight is not None:
        _require_same(weight, input)
        return _weighted((input - target) ** 2, weight, number)
    if number == R.MEAN:
        return apply2(_mse.simple_op or _mse.op, input, target)
    return apply_n(_mse.op, [input, target, number])


@composite("nn.functional")
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Any:
    """The mean (or sum, or each) of the absolute differences of input and target.

    Shapes: both alike; others broadcast, with a warning.
    Raises: ValueError for a `reduction` that is none, or a weight of another shape.
    """
    if _shape(target) != _shape(input):
        _say_different(input, target)
        if size_average is not None or reduce is not None:
            reduction, size_average, reduce = R.word_of_old(size_average, reduce), None, None
        input, target = _together(input, target)
    number = R.number(reduction, size_average, reduce)
    if weight is not None:
        _require_same(weight, input)
        return _weighted((input - target).abs(), weight, number)
    return R.apply((input - target).abs(), number)


# ---- smooth L1, Huber, soft margin ------------------------------------------------------------


def _between(x: object, bound: float | Symbol) -> TensorLike:
    return minimum(maximum(x, -bound), bound)


def _smooth(x: Symbol, target: Symbol, beta: float | Symbol) -> Symbol:
    # d²/2β within β, |d| - β/2 outside: see Note [Formulas that end in a product].
    d = x - target
    slope = _between(d / beta, 1)
    return slope * (d - slope * (0.5 * beta))


_smooth_l1 = element_loss(
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
    formula(lambda self, target, beta: _smooth(self, target, beta)),
    self=formula(lambda self, target, beta: _between((self - target) / beta, 1)),
    target=formula(lambda self, target, beta: -_between((self - target) / beta, 1)),
    check=lambda self, target: raw.require_floats(self, "smooth_l1_cpu"),
    promote="same",
    promote_at=("self", "target"),
    node="SmoothL1LossBackward0",
    public=False,
    method=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4)), (mk(3), mk(3), 0, 0.5)],
    doc="The differences, squared near zero and absolute far off, reduced.",
)


@composite("nn.functional")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Squared differences within `beta` of the target, absolute ones outside, reduced.

    Shapes: both alike; others broadcast, with a warning.
    Raises: RuntimeError for a negative `beta`.
    """
    if _shape(target) != _shape(input):
        _say_different(input, target)
        if size_average is not None or reduce is not None:
            reduction, size_average, reduce = R.word_of_old(size_average, reduce), None, None
        input, target = _together(input, target)
    number = R.number(reduction, size_average, reduce)
    if beta == 0.0:
        return R.apply((input - target).abs(), number)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return apply_n(_smooth_l1.op, [input, target, number, float(beta)])


def _huber_value(x: TensorLike, target: TensorLike, delta: float | Symbol) -> TensorLike:
    # d²/2 within δ, δ (|d| - δ/2) outside.
    d = x - target
    slope = _between(d, delta)
    return slope * (d - slope * 0.5)


def _huber_types(self: Any, target: Any) -> None:
    """Refuses integers, and complex targets of real numbers."""
    raw.require_floats(self, "huber_cpu")
    if target.dtype.kind == "c" and self.dtype.kind != "c":
        names = [D.scalar_name(T.from_raw(x.dtype)) for x in (target, self)]
        raise RuntimeError(errors.cannot_cast(*names))


_huber = element_loss(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
    formula(lambda self, target, delta: _huber_value(self, target, delta)),
    self=formula(lambda self, target, delta: _between(self - target, delta)),
    target=formula(lambda self, target, delta: -_between(self - target, delta)),
    check=_huber_types,
    same_types=True,
    public=False,
    method=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4)), (mk(3), mk(3), 0, 0.5)],
    doc="The differences, squared near zero and absolute far off, reduced.",
)


@composite("nn.functional")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Any:
    """Squared differences within `delta` of the target, linear with slope `delta` outside, reduced.

    Shapes: both alike; others broadcast, with a warning.
    Raises: RuntimeError for a `delta` that isn't positive, ValueError for a weight of another
    shape.
    """
    if _shape(target) != _shape(input):
        _say_different(input, target)
        input, target = _together(input, target)
    number = R.number(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        _require_same(weight, input)
        each = apply_n(_huber.op, [input, target, R.NONE, float(delta)])
        return R.apply(each * weight, number)
    return apply_n(_huber.op, [input, target, number, float(delta)])


_soft_margin = element_loss(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    formula(lambda self, target: log1p(exp(-(self * target)))),
    self=formula(lambda self, target: -target * sigmoid(-(self * target))),
    check=lambda self, target: raw.require_margins(self, target),
    gradient_like=lambda key, given: "target",
    real_only=True,
    in_steps=True,
    public=False,
    method=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4))],
    doc="log(1 + exp(-target input)), reduced.",
)


@composite("nn.functional")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The logistic loss for targets of 1 and -1, reduced."""
    number = R.number(reduction, size_average, reduce)
    R.refuse_gradient("soft_margin_loss", target=target)
    shape = raw.broadcast_shape(input._raw.shape, target._raw.shape)
    if shape != input._raw.shape:
        input = input.expand(shape)
    if shape != target._raw.shape:
        target = target.expand(shape)
    return apply_n(_soft_margin.op, [input, target, number])


# ---- binary cross-entropy ---------------------------------------------------------------------


def _bce_types(p: Array, target: Array, weight: Tensor | None) -> None:
    raw.require_dtype(target, p)
    raw.require_floats(p, "binary_cross_entropy")


_bce = element_loss(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> "
    "Tensor",
    # Logarithms are at least -100, and p (1 - p) is at least 1e-12.
    formula(
        lambda self, target: (
            (target - 1) * maximum(log1p(-self), -100) - target * maximum(log(self), -100)
        )
    ),
    self=formula(lambda self, target: (self - target) / maximum((1 - self) * self, 1e-12)),
    target=formula(lambda self: log1p(-self) - log(self)),
    check=_bce_types,
    gradient_like=lambda key, given: "self",
    check_values=raw.require_probabilities,
    public=False,
    method=False,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4, low=0.1, high=0.9), mk(3, 4, low=0.1, high=0.9))],
    doc="The cross-entropy of probabilities and targets, reduced.",
)


@composite("nn.functional")
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross-entropy of the probabilities `input` and the targets, both in [0, 1], reduced.

    Shapes: both alike; the weight broadcasts to them.
    Raises: ValueError for different shapes; RuntimeError for values out of range or of other
    dtypes.
    """
    number = R.number(reduction, size_average, reduce)
    if _shape(target) != _shape(input):
        raise ValueError(
            f"Using a target size ({errors.size_text(target.shape)}) that is different to the "
            "input "
            f"size ({errors.size_text(input.shape)}) is deprecated. Please ensure they have the "
            "same "
            "size."
        )
    if weight is not None:
        R.refuse_gradient("binary_cross_entropy", weight=weight)
        shape = target._raw.shape
        if _shape(weight) != shape:
            problem = _bad_weight(weight._raw.shape, shape)
            if problem is not None:
                raise RuntimeError(problem)
            grown = raw.broadcast_shape(shape, weight._raw.shape)
            if grown != shape:
                raise RuntimeError(errors.output_shape(shape, grown))
            weight = weight.expand(shape)
    return apply_n(_bce.op, [input, target, weight, number])


def _bad_weight(have: tuple[int, ...], want: tuple[int, ...]) -> str | None:
    for back in range(1, len(have) + 1):
        if back <= len(want) and 1 != have[-back] != want[-back] != 1:
            return (
                f"Attempting to broadcast a dimension of length {have[-back]} at {-back}! "
                "Mismatching "
                f"argument at index 1 had {errors.size_text(have)}; but expected shape should be "
                f"broadcastable to {list(want)}"
            )
    return None


def _logits_value(x: Any, target: Any, pos_weight: TensorLike | None) -> TensorLike | _Rounded:
    """-(p t log σ(x) + (1 - t) log σ(-x)), of which log σ(-x) = log σ(x) - x."""
    log_s = log_sigmoid(x)
    if pos_weight is not None:
        log_s = ((pos_weight - 1) * target + 1) * log_s
    return (1 - target) * x - log_s


def _logits_slope(x: TensorLike, target: TensorLike, pos_weight: TensorLike | None) -> TensorLike:
    if pos_weight is None:
        return sigmoid(x) - target
    heavy = pos_weight * target
    return (heavy + (1 - target)) * sigmoid(x) - heavy


def _logits_types(x: Array, target: Array, weight: Tensor | None, pos_weight: Array | None) -> None:
    raw.require_logits(x, target)
    if pos_weight is not None:
        raw.broadcast_shape(pos_weight.shape, x.shape)


def _logits_strides(key: str, given: tuple[str, ...]) -> str:
    if "pos_weight" not in given:
        return "self"
    return "target" if key == "self" else ""


_bcel = element_loss(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, int reduction=1) -> Tensor",
    formula(lambda self, target, pos_weight: _logits_value(self, target, pos_weight)),
    self=formula(lambda self, target, pos_weight: _logits_slope(self, target, pos_weight)),
    target=formula(
        lambda self, pos_weight: (
            -self if pos_weight is None else log_sigmoid(-self) - pos_weight * log_sigmoid(self)
        )
    ),
    check=_logits_types,
    result="target",  # 1 - t is what PyTorch writes to
    gradient_like=_logits_strides,
    in_steps=True,
    real_only=True,
    method=False,
    public=False,
    out=False,
    samples=lambda mk: [
        (mk(3, 4), mk(3, 4, low=0.1, high=0.9)),
        (mk(3, 4), mk(3, 4, low=0.1, high=0.9), None, mk(4, low=0.5, high=2.0), 2),
    ],
    doc="The cross-entropy of sigmoid(input) and the targets, weighted and reduced.",
)


@composite("nn.functional")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross-entropy of sigmoid(input) and the targets, reduced.

    Shapes: input and target alike; weight and pos_weight broadcast to them.
    Raises: ValueError for different shapes.
    """
    number = R.number(reduction, size_average, reduce)
    if _shape(target) != _shape(input):
        raise ValueError(
            f"Target size ({errors.size_text(target.shape)}) must be the same as input size "
            f"({errors.size_text(input.shape)})"
        )
    return logits_loss_operator(input, target, weight, pos_weight, number)


@composite("", name="binary_cross_entropy_with_logits")
def logits_loss_operator(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Tensor:
    """The cross-entropy of logits; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    if weight is not None or pos_weight is not None:
        name = "binary_cross_entropy_with_logits"
        R.refuse_gradient(name, weight=weight, pos_weight=pos_weight)
    return apply_n(_bcel.op, [input, target, weight, pos_weight, reduction])


# ---- likelihoods ------------------------------------------------------------------------------


@composite("nn.functional")
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """The Kullback-Leibler divergence of log-probabilities `input` from the target, reduced.

    "batchmean" divides the sum by the size of the first dimension.
    Raises: ValueError for a `reduction` that is none, RuntimeError for integers.
    """
    batch = reduction == "batchmean"
    if size_average is not None or reduce is not None:
        reduction = R.word_of_old(size_average, reduce)
        batch = False
    elif reduction == "mean":
        warn_the_caller(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release."
        )
    number = R.SUM if batch else R.number(reduction)
    if type(log_target) is not bool:
        raise misuse("torch", "kl_div", (input, target, number), {"log_target": log_target})
    loss = R.apply(_kl_each(input, target, log_target), number)
    return loss / input.size()[0] if batch and input.dim() != 0 else loss


def _kl_each(input: Any, target: Tensor, log_target: bool) -> Tensor:
    if not (input.is_floating_point() and target.is_floating_point()):
        kind = "Complex" if input.is_complex() or target.is_complex() else "Integral"
        raise RuntimeError(f"kl_div: {kind} inputs not supported.")
    if log_target:
        return target.exp() * (target - input)
    return target.xlogy(target) - target * input


@composite("", name="kl_div")
def kl_div_operator(
    input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False
) -> Any:
    """The Kullback-Leibler divergence; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    return R.apply(_kl_each(input, target, log_target), reduction)


@composite("nn.functional")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of counts under Poisson distributions, reduced.

    The rates are exp(input).

    `log_input=False` takes the rates themselves; `full` adds Stirling's approximation of log t!.
    Raises: ValueError for a `reduction` that is none.
    """
    if size_average is not None or reduce is not None:
        reduction = R.word_of_old(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    return table("poisson_nll_loss")(input, target, log_input, full, eps, R.number(reduction))


@composite("", name="poisson_nll_loss")
def poisson_nll_operator(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    """The Poisson negative log-likelihood; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * apply_n(plus.op, [input, eps]).log()
    if full:
        term = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss.add_(term.masked_fill(target <= 1, 0))
    return R.apply(loss, reduction)


def _one_variance_in_a_row(shape: tuple[int, ...], var: tuple[int, ...]) -> bool:
    """Whether `var` is `shape` but for a single 1."""
    if len(shape) != len(var):
        return False
    other = [n for m, n in zip(shape, var, strict=True) if m != n]
    return other == [1]


def _refuse_negative(var: Tensor) -> None:
    if not isinstance(var, TensorBase):
        raise misuse("torch", "any", (var < 0,), {})
    dtype = T.dtype_of(var)
    if dtype.is_complex:
        raise NotImplementedError(errors.not_implemented("lt_cpu", D.scalar_name(dtype)))
    if raw.any_negative(read_by_python(var, "gaussian_nll_loss()")):
        raise ValueError("var has negative entry/entries")


@composite("nn.functional")
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """The negative log-likelihood of the target under normal distributions, reduced.

    The variance is at least `eps`; the gradient passes through as if it weren't cut off.
    Shapes: var as input, or without the last dimension, or with 1 there; or a number.
    Raises: ValueError for a negative variance, or one of the wrong shape.
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * table("ones_like")(input)
    else:
        _refuse_negative(var)
    if var._raw.shape != input._raw.shape:
        if input._raw.shape[:-1] == var._raw.shape:
            var = var.unsqueeze(-1)
        elif not _one_variance_in_a_row(input._raw.shape, var._raw.shape):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    if not (var.is_floating_point() or isinstance(eps, int)):
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {D.c_name(var.dtype)}"
        )
    var = var.clone()
    # The value is cut off, the gradient isn't: it flows to `var` as the clone's.
    raw.floor_at(var._raw, eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return R.apply(loss, R.number(reduction))
