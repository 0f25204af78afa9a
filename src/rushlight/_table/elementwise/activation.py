"""Activations that work on one element at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._array import numpy_namespace as raw, types as T
from ..._array.elementwise.masks import order_results
from ..._array.number import number_like
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply1, apply2, apply_lone
from ..._core.inplace import apply_inplace
from ..._core.interposers import NOT_HANDLED, call_whole, misfit
from ..._core.mode import ALERTED, is_interposed
from ..._core.storage import TensorBase
from ..._formula import gelu as gelu_of
from ..._formula.words import (
    absolute,
    exp,
    expm1,
    formula,
    log1p,
    log_sigmoid_in_steps,
    maximum,
    minimum,
    sigmoid,
    where,
)
from ..calls import dtype_checks as _checks
from ..calls.conversions import is_bare, numbers_for
from ..rows.composite import composite, make_asking
from ..rows.gradient_kernels import record_gradient
from ..rows.out_rules import OutRules
from ..rows.row import Row, elementwise, general
from ..rows.tensor_namespace import table
from .rrelu import refuse_backward
from .threshold import threshold_row

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Arguments, Shape, TensorLike
    from ..._formula.ir import Symbol
    from ..._tensor.tensor import Tensor

erf = later("_array.elementwise.erf")
gating = later("_array.elementwise.gated_linear")
logistic = later("_array.elementwise.activations")

relu = elementwise(
    "relu(Tensor self) -> Tensor",
    logistic.relu,
    self=lambda xp, g, out: xp.keep(g, out != 0),
    check=_checks.NO_COMPLEX_CLAMP,
    lowering="relu",
    doc="Each element where it is positive, else 0; nan stays.",
    kernel="clamp_min_scalar_cpu",
)


def _leaky_relu(node: str) -> Row:
    return elementwise(
        "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
        formula(
            lambda self, negative_slope: where(self > 0, self, self * negative_slope),
            override=logistic.leaky_relu,
        ),
        self=formula(lambda g, self, negative_slope: where(self > 0, g, g * negative_slope)),
        promote="none",
        public=False,
        inplace=False,
        node=node,
        check=_checks.takes("leaky_relu_cpu", "f"),
        samples=lambda mk: [(mk(3, 4), 0.01), (mk(3, 4), 1.5)],
        doc="Each element where it is positive, else `negative_slope` times it.",
    )


leaky_relu_row = _leaky_relu("LeakyReluBackward0")
_leaky_relu_written = _leaky_relu("LeakyReluBackward1")  # in place


def _elu_value(
    x: TensorLike, alpha: float | Symbol, scale: int | Symbol, input_scale: float | Symbol
) -> TensorLike:
    low = expm1(minimum(x, 0) * input_scale)
    # From 0 on: a zero keeps its sign, which `minimum` may not do.
    return where(x >= 0, x * scale, low * (alpha * scale))


def _elu_gradient(
    g: TensorLike,
    x: TensorLike,
    alpha: float | Symbol,
    scale: float | Symbol,
    input_scale: float | Symbol,
) -> TensorLike:
    low = exp(minimum(x, 0) * input_scale)
    return where(x <= 0, g * (low * (alpha * scale * input_scale)), g * scale)


def _elu(node: str) -> Row:
    return elementwise(
        "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
        formula(
            lambda self, alpha, scale, input_scale: _elu_value(self, alpha, scale, input_scale)
        ),
        self=formula(
            lambda g, self, alpha, scale, input_scale: _elu_gradient(
                g, self, alpha, scale, input_scale
            )
        ),
        promote="none",
        public=False,
        inplace=False,
        node=node,
        check=_checks.takes("elu_cpu", "f"),
        samples=lambda mk: [(mk(3, 4), 1, 1, 1), (mk(3, 4), 1.3, 1.1, 0.9)],
        doc="x where it is positive, else alpha (exp(x) - 1).",
    )


elu_row = _elu("EluBackward0")
_elu_written = _elu("EluBackward1")  # in place
celu_row = elementwise(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    formula(lambda self, alpha: _elu_value(self, alpha, 1, 1 / alpha)),
    self=formula(lambda g, self, alpha: _elu_gradient(g, self, alpha, 1, 1 / alpha)),
    promote="none",
    method=False,
    inplace=False,
    check=_checks.celu_types,
    samples=lambda mk: [(mk(3, 4), 1.0), (mk(3, 4), 1.7)],
    doc="x where it is positive, else alpha (exp(x / alpha) - 1).",
    kernel="elu_cpu",
)
gelu = elementwise(
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    order_results(erf.gelu),
    self=record_gradient(
        lambda g, self, approximate: gelu_of.FORMULAS[approximate][1](g, self),
        override=erf.gelu_backward,
    ),
    at_defaults={
        "raw": order_results(erf.gelu),
        "self": record_gradient(
            lambda g, self: gelu_of.gelu_backward(g, self), override=erf.gelu_backward
        ),
    },
    promote="none",
    inplace=False,
    namespace="nn.functional",
    check=_checks.takes("GeluKernelImpl", "f"),
    lowering="gelu",
    samples=lambda mk: [(mk(3, 4), "none"), (mk(3, 4), "tanh")],
    doc="x Φ(x), or its approximation by a tanh.",
    kernel="GeluKernelImpl",
)


def _silu_gradient(g: TensorLike, x: TensorLike) -> TensorLike:
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


silu_row = elementwise(
    "silu(Tensor self) -> Tensor",
    formula(lambda self: self / (1 + exp(-self))),
    self=formula(lambda g, self: _silu_gradient(g, self)),
    promote="none",
    public=False,
    inplace=False,
    check=_checks.takes("silu_cpu", "fc"),
    real_only=True,
    doc="x sigmoid(x).",
)


def _tanh_of_softplus(e: TensorLike) -> TensorLike:
    """tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2)."""
    n = e * (e + 2)
    return n / (n + 2)


def _mish_gradient(g: TensorLike, x: TensorLike) -> TensorLike:
    e = exp(minimum(x, 20))
    t = _tanh_of_softplus(e)
    return g * (t + x * (e / (1 + e)) * (1 - t * t))


mish_row = elementwise(
    "mish(Tensor self) -> Tensor",
    # From 20 on the factor is 1 in float64, too.
    formula(lambda self: self * _tanh_of_softplus(exp(minimum(self, 20)))),
    self=formula(lambda g, self: _mish_gradient(g, self)),
    promote="none",
    public=False,
    inplace=False,
    check=_checks.takes("mish_cpu", "f"),
    doc="x tanh(softplus(x)).",
)


def _softplus_value(x: TensorLike, beta: float | Symbol, threshold: int | Symbol) -> TensorLike:
    t = x * beta
    return where(t > threshold, x, log1p(exp(minimum(t, threshold))) / beta)


def _softplus_gradient(
    g: TensorLike, x: TensorLike, beta: float | Symbol, threshold: int | Symbol
) -> TensorLike:
    t = x * beta
    return where(t > threshold, g, g * sigmoid(t))


softplus = elementwise(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    formula(lambda self, beta, threshold: _softplus_value(self, beta, threshold)),
    self=formula(lambda g, self, beta, threshold: _softplus_gradient(g, self, beta, threshold)),
    promote="none",
    inplace=False,
    namespace=("nn.functional", "private"),
    check=_checks.takes("softplus_cpu", "f"),
    samples=lambda mk: [(mk(3, 4), 1, 20), (mk(3, 4), 2.5, 1)],
    doc="log(1 + exp(beta x)) / beta; x itself where beta x is above `threshold`.",
)
logsigmoid = elementwise(
    "logsigmoid(Tensor self) -> Tensor",
    formula(lambda self: log_sigmoid_in_steps(self)),
    self=formula(lambda g, self: g * sigmoid(-self)),
    promote="none",
    inplace=False,
    namespace=("nn.functional", "private"),
    node="LogSigmoidBackward0",
    out_rules=OutRules(quiet=True),
    check=_checks.takes("log_sigmoid_cpu", "f"),
    doc="log(sigmoid(x)), which doesn't underflow.",
    kernel="log_sigmoid_cpu",
)


def _hardswish_gradient(g: TensorLike, x: TensorLike) -> TensorLike:
    return where(x < 3, where(x > -3, g * (x / 3 + 0.5), 0.0), g)


def _hardtanh_types(args: Arguments, raws: Arguments) -> None:
    kind = _checks.of(raws[0])
    if kind is D.bool_:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if kind is D.uint8 and (int(args[1]) < 0 or int(args[2]) < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    _checks.NO_COMPLEX_CLAMP(args, raws)


hardtanh_row = elementwise(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    formula(lambda self, min_val, max_val: minimum(maximum(self, min_val), max_val)),
    self=formula(
        lambda g, self, min_val, max_val: where((self <= min_val) | (self >= max_val), 0.0, g)
    ),
    promote="none",
    public=False,
    inplace=False,
    samples=lambda mk: [(mk(3, 4), -0.4, 0.5)],
    check=_hardtanh_types,
    doc="x between two bounds.",
)
hardsigmoid_row = elementwise(
    "hardsigmoid(Tensor self) -> Tensor",
    formula(lambda self: minimum(maximum(self + 3, 0), 6) / 6),
    self=formula(lambda g, self: where((self > -3) & (self < 3), g / 6, 0.0)),
    promote="none",
    public=False,
    inplace=False,
    check=_checks.takes("hardsigmoid_cpu", "f"),
    doc="(x + 3) / 6 between 0 and 1.",
)
hardswish_row = elementwise(
    "hardswish(Tensor self) -> Tensor",
    formula(lambda self: self * minimum(maximum(self + 3, 0), 6) / 6),
    self=formula(lambda g, self: _hardswish_gradient(g, self)),
    promote="none",
    public=False,
    inplace=False,
    check=_checks.takes("hardswish_cpu", "f"),
    doc="x (x + 3) / 6 with the second factor between 0 and 1.",
)
_shrink_gradient = formula(
    lambda g, self, lambd: where((self >= -lambd) & (self <= lambd), 0.0, g), narrow=True
)
hardshrink = elementwise(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    formula(lambda self, lambd: where(absolute(self) <= lambd, 0.0, self), narrow=True),
    self=_shrink_gradient,
    promote="none",
    inplace=False,
    namespace=("", "nn.functional"),
    check=_checks.takes("hardshrink_cpu", "f"),
    samples=lambda mk: [(mk(3, 4), 0.3)],
    doc="x outside [-lambd, lambd], else 0.",
)


softshrink = elementwise(
    "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    logistic.softshrink,
    self=_shrink_gradient,
    promote="none",
    inplace=False,
    namespace="nn.functional",
    check=_checks.takes_with_real("softshrink_check", "f"),
    samples=lambda mk: [(mk(3, 4), 0.3)],
    doc="x moved towards 0 by `lambd`, 0 within it.",
)


def _prelu(x: Array, weight: Array) -> Array:
    if weight.size == 1 and weight.dtype is x.dtype and weight.ndim <= x.ndim:
        return leaky_relu_row.op.small(x, weight.item())
    return raw.where(x > 0, x, x * weight)


prelu_row = elementwise(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    _prelu,
    formula=lambda self, weight: where(self > 0, self, self * weight),
    self=formula(lambda g, self, weight: where(self > 0, g, g * weight)),
    weight=lambda xp, g, self: xp.keep(g * self, ~(self > 0)),
    check=_checks.takes("prelu_cpu", "f"),
    promote="none",
    public=False,
    inplace=False,
    doc="x where it is positive, else `weight` times it.",
)


@composite("", "nn.functional", method=True)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where it is positive, else `weight` times it; one weight, or one for each channel.

    Raises:
        RuntimeError: where the weights don't fit the channels (dimension 1).
    """
    if not isinstance(input, TensorBase):
        kind = errors.type_name(input)
        raise TypeError(f"prelu(): argument 'input' (position 1) must be Tensor, not {kind}")
    shape = weight._raw.shape
    ndim = input._raw.ndim
    if input._raw.dtype != weight._raw.dtype:
        names = [D.scalar_name(T.from_raw(t._raw.dtype)) for t in (input, weight)]
        raise RuntimeError(f"prelu: Type promoting not supported. Got {names[0]} and {names[1]}")
    whole = weight._raw.size
    if whole != 1 and len(shape) > 1 and ndim:
        channels = input._raw.shape[1] if ndim > 1 else 1
        if channels != whole:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{whole} and channel size = {channels}."
            )
    if len(shape) > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(shape)}"
        )
    count = shape[0] if shape else 1
    if count != 1:
        if not ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input._raw.shape[1] if ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers "
                f"= {count} "
                f"and channel size = {channels}."
            )
    wanted = (1, count) + (1,) * (ndim - 2) if ndim >= 2 else (count,) * min(ndim, 1)
    if shape != wanted:
        weight = table("reshape")(weight, wanted)
    return apply2(prelu_row.op, input, weight)


def _glu_types(args: Arguments, raws: Arguments) -> None:
    if raws[0].dtype.kind not in "fV":
        gating.halves(raws[0], raws[1])  # refuses what has none, before the type
    _GLU_TYPES(args, raws)


_GLU_TYPES: Final = _checks.takes("glu_cpu", "f")
glu = general(
    "glu(Tensor self, int dim=-1) -> Tensor",
    gating.glu,
    self=lambda xp, g, self, dim: xp.glu_backward(g, self, dim),
    namespace=("nn.functional", "private"),
    check=_glu_types,
    samples=lambda mk: [(mk(3, 4), -1), (mk(4, 3), 0)],
    doc="The first half along `dim`, times the sigmoid of the second half.",
)


def _gate_gradients(xp: ModuleType, g: Any, grad_output: Any, self: Tensor, dim: int) -> Any:
    (a, b), (first, second) = gating.halves(self, dim), gating.halves(g, dim)
    s = xp.sigmoid(b)
    slope = s * (1 - s)
    along = grad_output * slope
    outer = along * (first + second * a * (1 - 2 * s))
    return first * s + second * a * slope, xp.cat([second * along, outer], dim)


glu_backward = general(
    "glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
    gating.glu_backward,
    joint=_gate_gradients,
    namespace="private",
    samples=lambda mk: [(mk(3, 2), mk(3, 4), -1)],
    doc="The gradient of `glu`.",
)


# ---- functions that may work in place ----------------------------------------------------------
def _run(
    row: Row, inplace: bool, input: TensorLike | Shape, *rest: Tensor | float, name: str = ""
) -> Tensor:
    """A row on `input`, or written into it."""
    for value in rest:
        if not is_bare(value):
            rest = numbers_for(row, rest)
            break
    if (inplace or name) and not isinstance(input, TensorBase):
        name = name or row.schema.name.lstrip("_")
        raise TypeError(errors.no_tensor(f"{name}_" if inplace else name, "input", input))
    if inplace:
        return apply_inplace(row.op, [input, *rest])
    return apply_lone(row.op, [input, *rest]) if rest else apply1(row.op, input)


def _lone(name: str, row: Row, doc: str) -> AnyCallable:
    """The function of an activation that has no parameters."""

    def make(asking: bool) -> AnyCallable:
        def function(input: Tensor, inplace: bool = False) -> Any:
            if asking and ALERTED and is_interposed():
                handled = call_whole(function, (input,), {"inplace": inplace})
                if handled is not NOT_HANDLED:
                    return handled
            if not isinstance(input, TensorBase):
                handled = misfit(function, (input,), {"inplace": inplace})
                if handled is not NOT_HANDLED:
                    return handled
                raise TypeError(errors.no_tensor(f"{name}_" if inplace else name, "input", input))
            return apply_inplace(row.op, [input]) if inplace else apply1(row.op, input)

        function.__doc__ = doc
        return function

    return composite("nn.functional", name=name)(make_asking(make))


relu_function = _lone("relu", relu, "Each element where it is positive, else 0.")
silu = _lone("silu", silu_row, "x sigmoid(x).")
mish = _lone("mish", mish_row, "x tanh(softplus(x)).")
hardsigmoid = _lone("hardsigmoid", hardsigmoid_row, "(x + 3) / 6 between 0 and 1.")
hardswish = _lone("hardswish", hardswish_row, "x hardsigmoid(x).")


@composite("nn.functional")
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x between 0 and 6."""
    return _run(hardtanh_row, inplace, input, 0, 6, name="relu6")


@composite("nn.functional")
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Each element where it is positive, else `negative_slope` times it."""
    out = _run(_leaky_relu_written if inplace else leaky_relu_row, inplace, input, negative_slope)
    return refuse_backward(out, "leakyReLu") if inplace and negative_slope < 0 else out


@composite("nn.functional")
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else alpha (exp(x) - 1)."""
    return elu_(input, alpha, 1, 1) if inplace else _run(elu_row, False, input, alpha, 1, 1)


SELU_ALPHA: Final = 1.6732632423543772848170429916717
SELU_SCALE: Final = 1.0507009873554804934193349852946


@composite("", "nn.functional")
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising exponential unit.

    Source: Klambauer et al., Self-Normalizing Neural Networks (2017), for the two constants.
    """
    return _run(elu_row, inplace, input, SELU_ALPHA, SELU_SCALE, 1, name="selu")


@composite("nn.functional")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else alpha (exp(x / alpha) - 1).

    Raises:
        RuntimeError: where alpha is 0.
    """
    if not isinstance(alpha, TensorBase) and alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    out = _run(celu_row, inplace, input, alpha)
    return refuse_backward(out, "elu") if inplace and alpha < 0 else out


@composite("nn.functional")
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x between two bounds.

    Raises:
        ValueError: where the bounds cross.
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _hardtanh(input, min_val, max_val, inplace)


@composite("nn.functional", name="threshold")
def threshold_function(
    input: Tensor, threshold: float, value: float, inplace: bool = False
) -> Tensor:
    """x where it is above `threshold`, else `value`."""
    return _run(threshold_row, inplace, input, threshold, value)


@composite("nn.functional")
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


@composite("", "nn.functional")
def selu_(input: Tensor) -> Tensor:
    """In-place version of `selu`."""
    return selu(input, True)


@composite("", "nn.functional")
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place version of `celu`."""
    return celu(input, alpha, True)


@composite("nn.functional")
def elu_(input: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    """In-place version of `elu`."""
    out = _run(_elu_written, True, input, alpha, scale, input_scale)
    return refuse_backward(out, "elu") if alpha < 0 else out


@composite("nn.functional")
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place version of `leaky_relu`."""
    return leaky_relu(input, negative_slope, True)


@composite("nn.functional")
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In-place version of `hardtanh`."""
    return _hardtanh(input, min_val, max_val, True)


def _hardtanh(input: Tensor, min_val: float, max_val: float, inplace: bool) -> Tensor:
    for bound in (min_val, max_val):
        if isinstance(bound, int):
            D.refuse_beyond(bound)
        if isinstance(input, TensorBase) and input._raw.dtype.kind == "i":
            number_like(bound, input._raw.dtype)  # refuses what the type doesn't have
    return _run(hardtanh_row, inplace, input, min_val, max_val)


@composite("", "nn.functional")
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """In-place version of `threshold`."""
    return threshold_function(input, threshold, value, True)


@composite("nn.functional")
def relu_(input: Tensor) -> Tensor:
    """In-place version of `relu`."""
    return relu_function(input, True)
