"""Exponentials, logarithms and the logistic function."""

from __future__ import annotations

from math import log as _log
from typing import TYPE_CHECKING, Any

from ..._array import numpy_namespace as raw
from ..._base.lazy import later
from ..._formula import words
from ..._formula.words import formula
from ..calls import dtype_checks as _checks
from ..rows.overload import overload
from ..rows.row import elementwise

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import Namespace, TensorLike

logistic = later("_array.elementwise.activations")

LN2 = _log(2.0)
LN10 = _log(10.0)

exp = elementwise(
    "exp(Tensor self) -> Tensor",
    raw.exp,
    self=lambda g, out: g * out,
    promote="float",
    doc="e to the power of each element.",
    kernel="exp_vml_cpu",
)
exp2 = elementwise(
    "exp2(Tensor self) -> Tensor",
    raw.exp2,
    self=lambda g, out: g * (out * LN2),
    promote="float",
    namespace=("", "special"),
    doc="2 to the power of each element.",
    kernel="exp2",
)
expm1 = elementwise(
    "expm1(Tensor self) -> Tensor",
    raw.expm1,
    self=lambda g, out: g * (out + 1),
    promote="float",
    namespace=("", "special"),
    doc="exp(x) - 1 of each element, accurate near 0.",
    kernel="expm1_vml_cpu",
)
log = elementwise(
    "log(Tensor self) -> Tensor",
    raw.log,
    self=lambda g, self: g / self,
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
    doc="The natural logarithm of each element. Special: log(0) -> -inf",
    kernel="log_vml_cpu",
)
log2 = elementwise(
    "log2(Tensor self) -> Tensor",
    raw.log2,
    self=lambda g, self: g / (self * LN2),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
    doc="The logarithm to base 2 of each element.",
    kernel="log2_vml_cpu",
)
log10 = elementwise(
    "log10(Tensor self) -> Tensor",
    raw.log10,
    self=lambda g, self: g / (self * LN10),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
    doc="The logarithm to base 10 of each element.",
    kernel="log10_vml_cpu",
)
log1p = elementwise(
    "log1p(Tensor self) -> Tensor",
    logistic.log_of_next,
    self=lambda g, self: g / (self + 1),
    node="Log1PBackward0",
    promote="float",
    namespace=("", "special"),
    samples=lambda mk: [(mk(3, 4, low=-0.5, high=2),)],
    doc="log(1 + x) of each element, accurate near 0.",
    kernel="log1p_vml_cpu",
)
logaddexp = elementwise(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    logistic.logaddexp,
    self=formula(lambda g, self, other: g / (1 + words.exp(other - self))),
    other=formula(lambda g, self, other: g / (1 + words.exp(self - other))),
    numbers=False,
    inplace=False,
    check=_checks.takes("logaddexp_cpu", "fc"),
    doc="log(exp(input) + exp(other)), without overflow.",
)
logaddexp2 = elementwise(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    logistic.logaddexp2,
    self=lambda xp, g, self, other: g / (1 + xp.exp2(other - self)),
    other=lambda xp, g, self, other: g / (1 + xp.exp2(self - other)),
    numbers=False,
    inplace=False,
    check=_checks.takes("logaddexp2_cpu", "f"),
    doc="log2(2^input + 2^other), without overflow.",
)


def _xlogy_self(xp: Namespace, g: Any, self: Any, other: TensorLike) -> TensorLike:
    return xp.where((self == 0) & (other <= 0), 0, xp.xlogy(g, other))


def _xlogy_self_number(xp: Namespace, g: TensorLike, self: object, other: float) -> Any:
    slope = xp.xlogy(g, other)
    return slope if other > 0 else xp.where(self == 0, 0, slope)


xlogy = elementwise(
    "xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
    logistic.xlogy,
    self=_xlogy_self,
    other=lambda g, self, other: g * (self / other),
    promote="float",
    numbers=False,
    namespace=("", "special"),
    samples=lambda mk: [(mk(3, 4), mk(3, 4, low=0.5, high=2))],
    check=_checks.takes("xlogy_cpu", "f"),
    doc="x log(y), 0 where x is 0.",
)
xlogy_from_number = overload(
    xlogy, "xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
    samples=lambda mk: [(0.7, mk(3, 4, low=0.5, high=2))],
)  # fmt: skip
xlogy_number = overload(
    xlogy, "xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
    self=_xlogy_self_number,
    samples=lambda mk: [(mk(3, 4), 1.3)],
)  # fmt: skip
sigmoid = elementwise(
    "sigmoid(Tensor self) -> Tensor",
    logistic.sigmoid,
    self=formula(lambda g, out: g * ((1 - out) * out)),
    promote="float",
    namespace=("", "nn.functional"),
    doc="1 / (1 + exp(-x)) of each element.",
)


def _logit_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, eps: float | None
) -> TensorLike:
    slope = g / (self * (1 - self))
    if eps is None or eps < 0:
        return xp.where((self < 0) | (self > 1), float("nan"), slope)
    low = xp.zeros((), self.dtype) + eps
    return xp.where((self < low) | (self > 1 - low), 0, slope)


logit = elementwise(
    "logit(Tensor self, float? eps=None) -> Tensor",
    logistic.logit,
    self=_logit_gradient,
    promote="float",
    promote_at=("self",),
    namespace=("", "special"),
    samples=lambda mk: [(mk(3, 4, low=0.2, high=0.8), None), (mk(3, low=0.3, high=0.7), 0.1)],
    check=_checks.takes("logit_cpu", "f"),
    doc="log(x / (1 - x)) of each element, brought into [eps, 1 - eps] first where `eps` is given.",
)
