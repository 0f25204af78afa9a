"""Rounding, signs and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.number import number_like
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._formula.words import formula, maximum as larger, minimum as smaller, sign as sign_of, where
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.out_rules import OutRules
from ..rows.overload import overload
from ..rows.row import Row, elementwise, set_write_node
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import AnyCallable, Arguments, Namespace, TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.elementwise.rounding")


def _flat(name: str, forward: AnyCallable, doc: str, **declared: object) -> Row:
    """A step function of one tensor: its gradient is 0."""
    zero = lambda xp, g: xp.zeros_like(g)  # noqa: E731
    return elementwise(f"{name}(Tensor self) -> Tensor", forward, self=zero, doc=doc, **declared)


ceil = _flat(
    "ceil", raw.ceil, "The smallest integer not below each element.", kernel="ceil_vml_cpu"
)
floor = _flat(
    "floor", raw.floor, "The largest integer not above each element.", kernel="floor_vml_cpu"
)
trunc = _flat("trunc", raw.trunc, "Each element without its fraction.", kernel="trunc_vml_cpu")
round = _flat(
    "round", raw.round, "The nearest integer, the even one of two.", kernel="round_vml_cpu"
)
round_decimals = elementwise(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    raw.round_decimals,
    self=lambda xp, g: xp.zeros_like(g),
    promote="none",
    samples=lambda mk: [(mk(3, 4), 2), (mk(3, 4, low=100, high=1000), -1)],
    doc="Each element rounded to `decimals` digits after the point.",
)


@composite("special", name="round")
def special_round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Each element rounded to `decimals` digits after the point; to integers without it."""
    return table("round")(input, decimals=decimals, out=out)


frac = elementwise(
    "frac(Tensor self) -> Tensor",
    raw.frac,
    self=lambda g: g,
    doc="The fraction of each element, with its sign.",
)
sign = _flat(
    "sign",
    raw.sign,
    "-1, 0 or 1, by the sign of each element; 0 for nan.",
    formula=lambda self: sign_of(self),
)


def _sgn_gradient(xp: ModuleType, g: TensorLike, self: TensorLike, out: TensorLike) -> TensorLike:
    """The part of g across the direction of z, over |z|; for reals nothing is left."""
    size = xp.abs(self)
    along = out * xp.real(g * xp.conj(out))
    return xp.where(size == 0, 0, (g - along) / size)


sgn = elementwise(
    "sgn(Tensor self) -> Tensor",
    raw.sgn,
    self=_sgn_gradient,
    holomorphic=False,
    doc="The sign of each element; for complex numbers z / |z|, 0 for 0.",
    narrow="complex32",
    kernel="sign_cpu",
)
signbit = elementwise(
    "signbit(Tensor self) -> Tensor",
    raw.signbit,
    promote="none",
    inplace=False,
    doc="Whether each element has a minus sign; -0.0 has one.",
)


def _copysign_self(xp: Namespace, g: Any, self: object, out: TensorLike) -> Any:
    return g * xp.where(self == 0, 0, out / self)


copysign = elementwise(
    "copysign.Tensor(Tensor self, Tensor other) -> Tensor",
    raw.copysign,
    self=_copysign_self,
    other=lambda xp, g, out: xp.zeros_like(g),  # keeps the result, as PyTorch does
    promote="float",
    numbers=False,
    check=_checks.takes("copysign_cpu", "f"),
    doc="The size of `input` with the sign of `other`.",
)
copysign_number = overload(
    copysign, "copysign.Scalar(Tensor self, Scalar other) -> Tensor",
    samples=lambda mk: [(mk(3, 4), -2.0)],
)  # fmt: skip
nan_to_num = elementwise(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    raw.nan_to_num,
    self=lambda xp, g, self: xp.keep(g, xp.isfinite(self)),
    promote="none",
    samples=lambda mk: [(mk(3, 4), None, None, None), (mk(3), 1.0, 2.0, 3.0)],
    real_only=True,
    doc="`input` with numbers for nan and the infinities: 0 and the type's limits unless given.",
    kernel="nan_to_num",
)


# ---- bounds -----------------------------------------------------------------------------------
def _clamp_gradient(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    min: TensorLike | float | None,
    max: TensorLike | float | None,
) -> TensorLike:
    if max is None:
        return xp.keep(g, self >= min)
    if min is None:
        return xp.keep(g, self <= max)
    return xp.keep(g, (self >= min) & (self <= max))


def _low_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, min: TensorLike, max: TensorLike | None
) -> TensorLike:
    return xp.keep(g, self < min if max is None else (self < min) & (min < max))


def _high_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, min: TensorLike | None, max: TensorLike
) -> TensorLike:
    return xp.keep(g, self > max if min is None else (self > max) | (max < min))


def _within(
    self: TensorLike, min: TensorLike | float | None, max: TensorLike | float | None
) -> TensorLike:
    if min is not None:
        self = larger(self, min)
    return self if max is None else smaller(self, max)


def _refuse_complex(args: Arguments) -> None:
    if T.dtype_of(args[0]).is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


def _refuse_bounds(args: Arguments, raws: Arguments) -> None:
    """Refuses tensors as bounds, by the kernel that one bound or two would take."""
    low, high = args[1], args[2]
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    _refuse_complex(args)
    if low is None:
        _at_most(args, raws)
    elif high is None:
        _at_least(args, raws)
    else:
        _between(args, raws)


_at_least = _checks.takes("maximum_cpu", "fib")
_at_most = _checks.takes("minimum_cpu", "fib")
_between = _checks.takes("clamp_cpu", "fi")


def _check_number_bounds(args: Arguments, raws: Arguments) -> None:
    """Refuses numbers as bounds that an element of the result can't be."""
    low, high = args[1], args[2]
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    kernel = "clamp_max" if low is None else ("clamp_min" if high is None else "clamp")
    _check_bound(kernel, "double", args, raws)


def _check_lower_bound(args: Arguments, raws: Arguments) -> None:
    _check_bound("clamp_min", "", args, raws)


def _check_upper_bound(args: Arguments, raws: Arguments) -> None:
    _check_bound("clamp_max", "", args, raws)


def _check_bound(kernel: str, read_as: str, args: Arguments, raws: Arguments) -> None:
    dtype = raws[0].dtype
    if dtype is T.FLOAT32 or dtype is T.FLOAT64:
        for bound in args[1:]:
            if bound is not None and not -1e9 < bound < 1e9:
                D.number_dtype(bound)  # refuses an integer of more than 64 bits
                number_like(bound, dtype)
        return
    if dtype.kind == "c":
        if read_as and T.dtype_of(args[0]).is_floating_point:
            raise RuntimeError(errors.no_conversion(read_as))
        raise NotImplementedError("clamp is not supported for complex types")
    if dtype.kind == "b":
        raise NotImplementedError(errors.not_implemented(f"{kernel}_scalar_cpu", "Bool"))
    for bound in args[1:]:
        if bound is not None:
            number_like(bound, dtype)


clamp = elementwise(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    raw.clamp,
    formula=_within,
    self=_clamp_gradient,
    min=_low_gradient,
    max=_high_gradient,
    numbers=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4, low=-2, high=-0.2), mk(3, 4, low=0.2, high=2)),
                        (mk(3, 4), mk(4), None), (mk(3, 4), None, mk(3, 4))],
    check=_refuse_bounds,
    doc="`input` brought between `min` and `max`.",
    kernel="clamp_scalar_cpu",
)  # fmt: skip
clamp_numbers = overload(
    clamp, "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    samples=lambda mk: [(mk(3, 4), -0.3, 0.4), (mk(3, 4), 0, None), (mk(3, 4), None, 0.5)],
    node="ClampBackward1",
    check=_check_number_bounds,
    names_c_type=True,
)  # fmt: skip
clamp_min = elementwise(
    "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
    raw.clamp_min,
    formula=lambda self, min: larger(self, min),
    self=lambda xp, g, self, min: xp.keep(g, self >= min),
    min=lambda xp, g, self, min: xp.keep(g, self < min),
    numbers=False,
    node="ClampMinBackward1",
    check=_at_least,
    doc="`input`, at least `min`.",
    kernel="maximum_cpu",
)
clamp_min_number = overload(
    clamp_min, "clamp_min(Tensor self, Scalar min) -> Tensor",
    samples=lambda mk: [(mk(3, 4), 0.1)],
    check=_check_lower_bound,
    names_c_type=True,
)  # fmt: skip
clamp_max = elementwise(
    "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
    raw.clamp_max,
    formula=lambda self, max: smaller(self, max),
    self=lambda xp, g, self, max: xp.keep(g, self <= max),
    max=lambda xp, g, self, max: xp.keep(g, self > max),
    numbers=False,
    node="ClampMaxBackward1",
    check=_at_most,
    doc="`input`, at most `max`.",
    kernel="minimum_cpu",
)
clamp_max_number = overload(
    clamp_max, "clamp_max(Tensor self, Scalar max) -> Tensor",
    samples=lambda mk: [(mk(3, 4), 0.1)],
    check=_check_upper_bound,
    names_c_type=True,
)  # fmt: skip


def _larger(g: TensorLike, self: TensorLike, other: TensorLike) -> TensorLike:
    """All of g where `self` wins, half at a tie; nan counts as a win of both."""
    return where(self == other, g / 2, where(self < other, 0.0, g))


def _smaller(g: TensorLike, self: TensorLike, other: TensorLike) -> TensorLike:
    return where(self == other, g / 2, where(self > other, 0.0, g))


def declare_extremum(schema: str, largest: bool, **more: Any) -> Row:
    """A row of the larger or smaller of two elements: `maximum`, and `max` of two tensors, too."""
    winning = _larger if largest else _smaller
    return elementwise(
        schema,
        raw.maximum if largest else raw.minimum,
        self=formula(winning),
        other=formula(lambda g, self, other: winning(g, other, self)),
        inplace=False,
        numbers=False,
        doc=f"The {'larger' if largest else 'smaller'} of two elements, nan where one is nan; a "
        "tie halves the gradient.",
        **more,
    )


maximum = declare_extremum("maximum(Tensor self, Tensor other) -> Tensor", True)
minimum = declare_extremum("minimum(Tensor self, Tensor other) -> Tensor", False)
fmax = elementwise(
    "fmax(Tensor self, Tensor other) -> Tensor",
    raw.fmax,
    self=lambda xp, g, self, other: xp.keep(g, (self >= other) | xp.isnan(other)),
    other=lambda xp, g, self, other: xp.keep(g, ~((self >= other) | xp.isnan(other))),
    inplace=False,
    numbers=False,
    doc="The larger of two elements; the other one where one is nan.",
)
fmin = elementwise(
    "fmin(Tensor self, Tensor other) -> Tensor",
    raw.fmin,
    self=lambda xp, g, self, other: xp.keep(g, (self <= other) | xp.isnan(other)),
    other=lambda xp, g, self, other: xp.keep(g, ~((self <= other) | xp.isnan(other))),
    inplace=False,
    numbers=False,
    doc="The smaller of two elements; the other one where one is nan.",
)
heaviside = elementwise(
    "heaviside(Tensor self, Tensor values) -> Tensor",
    raw.heaviside,
    self=_checks.no_derivative("heaviside"),
    values=_checks.no_derivative("heaviside"),
    node="NotImplemented",
    promote="none",
    numbers=False,
    out_rules=OutRules("aten::heaviside", types_before_gradients=True),
    doc="0 below zero, 1 above, `values` at zero.",
)
set_write_node(
    heaviside,
    elementwise(
        "_heaviside_(Tensor self, Tensor values) -> Tensor",
        raw.heaviside,
        self=_checks.no_derivative("heaviside_"),
        values=_checks.no_derivative("heaviside_"),
        node="NotImplemented",
        promote="none",
        public=False,
        inplace=False,
        dtypes="none",
        doc="`heaviside`, written in place.",
    ),
)
