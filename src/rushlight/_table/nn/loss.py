"""Losses that compare tensors element by element: squared, absolute, logistic, likelihoods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply2, apply_n
from ..._formula.words import exp, formula, log, log1p, log_sigmoid, maximum, minimum, sigmoid
from ..calls.argument_parser import in_words_of
from ..rows import reduction_argument as R
from ..rows.composite import composite
from ..rows.element_loss import element_loss
from ..rows.warn_once import warn_the_caller

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._array.nn.generated_losses import _Rounded
    from ..._base.annotations import TensorLike
    from ..._formula.ir import Symbol
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.element_losses")


def _shape(x: Tensor) -> tuple[int, ...]:
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


def _require_same(weight: Tensor, input: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _weight(each: Any, weight: Any, reduction: int) -> Tensor:
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
    samples=lambda mk: [(mk(3, 4), mk(3, 4)), (mk(3), mk(3), 0), (mk(3), mk(3), 2)],
    doc="The squared differences, reduced.",
    kernel="mse_cpu",
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
        return _weight((input - target) ** 2, weight, number)
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
) -> Tensor:
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
        return _weight((input - target).abs(), weight, number)
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
    public=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4)), (mk(3), mk(3), 0, 0.5)],
    doc="The differences, squared near zero and absolute far off, reduced.",
    kernel="smooth_l1_cpu",
)


@composite("nn.functional")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
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


def _huber_types(self: Array, target: Array) -> None:
    """Refuses integers, and complex targets of real numbers."""
    kinds = [T.from_raw(x.dtype) for x in (target, self)]
    if kinds[0].category > max(kinds[1].category, D.INT):
        raise RuntimeError(errors.cannot_cast(*map(D.scalar_name, kinds)))
    raw.require_floats(self, "huber_cpu")


_huber = element_loss(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
    formula(lambda self, target, delta: _huber_value(self, target, delta)),
    self=formula(lambda self, target, delta: _between(self - target, delta)),
    target=formula(lambda self, target, delta: -_between(self - target, delta)),
    check=_huber_types,
    same_types=True,
    public=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4)), (mk(3), mk(3), 0, 0.5)],
    doc="The differences, squared near zero and absolute far off, reduced.",
    kernel="huber_cpu",
)


@composite("nn.functional")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences within `delta` of the target, linear with slope `delta` outside, reduced.

    Shapes: both alike; others broadcast, with a warning.
    Raises: RuntimeError for a `delta` that isn't positive, ValueError for a weight of another
    shape.
    """
    if _shape(target) != _shape(input):
        _say_different(input, target)
        input, target = _together(input, target)
    if weight is not None:
        _require_same(weight, input)
        return R.apply(_huber_checked(input, target, R.NONE, delta) * weight, R.number(reduction))
    return _huber_checked(input, target, R.number(reduction), delta)


def _huber_checked(input: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    try:
        positive = delta > 0
    except TypeError as error:
        given = (input, target, reduction, delta)
        raise in_words_of("huber_loss", given, error, "nn") from None
    if not positive:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return apply_n(_huber.op, [input, target, reduction, float(delta)])


_soft_margin = element_loss(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    formula(lambda self, target: log1p(exp(-(self * target)))),
    self=formula(lambda self, target: -target * sigmoid(-(self * target))),
    check=lambda self, target: raw.require_margins(self, target),
    gradient_like=lambda key, given: "target",
    real_only=True,
    in_steps=True,
    public=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4))],
    doc="log(1 + exp(-target input)), reduced.",
    kernel="exp_vml_cpu",
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
        raise RuntimeError(errors.output_shape(input._raw.shape, shape))
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
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4, low=0.1, high=0.9), mk(3, 4, low=0.1, high=0.9))],
    doc="The cross-entropy of probabilities and targets, reduced.",
    kernel="binary_cross_entropy",
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
    public=False,
    out=False,
    samples=lambda mk: [
        (mk(3, 4), mk(3, 4, low=0.1, high=0.9)),
        (mk(3, 4), mk(3, 4, low=0.1, high=0.9), None, mk(4, low=0.5, high=2.0), 2),
    ],
    doc="The cross-entropy of sigmoid(input) and the targets, weighted and reduced.",
    kernel="log_sigmoid_cpu",
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
    """The cross-entropy of logits; `reduction` is 1 (mean), 2 (sum), or another number (none)."""
    reduction = reduction if reduction in (1, 2) else 0
    if weight is not None or pos_weight is not None:
        name = "binary_cross_entropy_with_logits"
        R.refuse_gradient(name, weight=weight, pos_weight=pos_weight)
    return apply_n(_bcel.op, [input, target, weight, pos_weight, reduction])
