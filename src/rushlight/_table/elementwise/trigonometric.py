"""Trigonometric and hyperbolic functions, their inverses, and angles in degrees."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from ..._array import numpy_namespace as raw
from ..._base.lazy import later
from ..._formula import words
from ..._formula.words import formula, rsqrt, where
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.row import elementwise, set_write_node

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor

logistic = later("_array.elementwise.activations")
trigonometry = later("_array.elementwise.trigonometry")

sin = elementwise(
    "sin(Tensor self) -> Tensor",
    raw.sin,
    self=lambda xp, g, self: g * xp.cos(self),
    promote="float",
    doc="The sine of each element.",
    kernel="sin_vml_cpu",
)
cos = elementwise(
    "cos(Tensor self) -> Tensor",
    raw.cos,
    self=lambda xp, g, self: g * -xp.sin(self),
    promote="float",
    doc="The cosine of each element.",
    kernel="cos_vml_cpu",
)
tan = elementwise(
    "tan(Tensor self) -> Tensor",
    raw.tan,
    self=formula(lambda g, out: g * (1 + out * out)),
    promote="float",
    doc="The tangent of each element.",
    kernel="tan_vml_cpu",
)
sinh = elementwise(
    "sinh(Tensor self) -> Tensor",
    raw.sinh,
    self=lambda xp, g, self: g * xp.cosh(self),
    promote="float",
    doc="The hyperbolic sine of each element.",
)
cosh = elementwise(
    "cosh(Tensor self) -> Tensor",
    raw.cosh,
    self=lambda xp, g, self: g * xp.sinh(self),
    promote="float",
    doc="The hyperbolic cosine of each element.",
)
tanh = elementwise(
    "tanh(Tensor self) -> Tensor",
    raw.tanh,
    self=formula(lambda g, out: g * (1 - out * out)),
    promote="float",
    namespace=("", "nn.functional"),
    doc="The hyperbolic tangent of each element.",
    kernel="tanh_vml_cpu",
)
asin = elementwise(
    "asin(Tensor self) -> Tensor",
    raw.arcsin,
    self=formula(lambda g, self: g * rsqrt(1 - self * self)),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=-0.8, high=0.8),)],
    doc="The angle whose sine each element is; nan outside [-1, 1].",
    kernel="asin_vml_cpu",
)
acos = elementwise(
    "acos(Tensor self) -> Tensor",
    raw.arccos,
    self=formula(lambda g, self: g * -rsqrt(1 - self * self)),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=-0.8, high=0.8),)],
    doc="The angle whose cosine each element is; nan outside [-1, 1].",
    kernel="acos_vml_cpu",
)
atan = elementwise(
    "atan(Tensor self) -> Tensor",
    raw.arctan,
    self=formula(lambda g, self: g / (self * self + 1)),
    promote="float",
    doc="The angle whose tangent each element is.",
    kernel="atan_vml_cpu",
)
asinh = elementwise(
    "asinh(Tensor self) -> Tensor",
    raw.arcsinh,
    self=formula(lambda g, self: g * rsqrt(self * self + 1)),
    promote="float",
    doc="The number whose hyperbolic sine each element is.",
)
acosh = elementwise(
    "acosh(Tensor self) -> Tensor",
    raw.arccosh,
    self=formula(lambda g, self: g * (rsqrt(self - 1) * rsqrt(self + 1))),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=1.2, high=3),)],
    doc="The number whose hyperbolic cosine each element is; nan below 1.",
)
atanh = elementwise(
    "atanh(Tensor self) -> Tensor",
    raw.arctanh,
    self=formula(lambda g, self: g / (1 - self * self)),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=-0.8, high=0.8),)],
    doc="The number whose hyperbolic tangent each element is; nan outside [-1, 1].",
)

# PyTorch has no derivatives of these where they are written in place.
for _row in (asinh, acosh, atanh):
    set_write_node(
        _row,
        elementwise(
            f"_{_row.name}_(Tensor self) -> Tensor",
            _row.raw,
            self=_checks.unavailable(f"inplace version of {_row.name}"),
            node=f"{_row.name.capitalize()}Backward1",
            public=False,
            inplace=False,
            dtypes="none",
            doc=f"`{_row.name}`, written in place.",
        ),
    )


def _atan2_self(g: TensorLike, self: TensorLike, other: TensorLike) -> TensorLike:
    square = self * self + other * other
    return where(square == 0, 0, g * other / square)


def _atan2_other(g: TensorLike, self: TensorLike, other: TensorLike) -> TensorLike:
    square = self * self + other * other
    return where(square == 0, 0, g * -self / square)


atan2 = elementwise(
    "atan2(Tensor self, Tensor other) -> Tensor",
    trigonometry.arctan2,
    self=formula(_atan2_self),
    other=formula(_atan2_other),
    promote="float",
    numbers=False,
    vmap_write="shape",
    doc="The angle of the point (other, input).",
)


def _sinc_gradient(g: TensorLike, self: TensorLike) -> TensorLike:
    """(πx cos πx - sin πx) / (π x²), 0 at 0."""
    angle = self * pi
    square = self * self * pi
    return where(square == 0, 0, g * ((angle * words.cos(angle) - words.sin(angle)) / square))


sinc = elementwise(
    "sinc(Tensor self) -> Tensor",
    logistic.sinc,
    self=formula(_sinc_gradient),
    promote="float",
    namespace=("", "special"),
    samples=lambda mk: [(mk(3, 4, low=0.2, high=1.5),)],
    doc="sin(πx) / (πx) of each element, 1 at 0.",
)
deg2rad = elementwise(
    "deg2rad(Tensor self) -> Tensor",
    trigonometry.radians,
    self=lambda g: g * (pi / 180),
    node="Deg2RadBackward0",
    promote="float",
    doc="Degrees as radians.",
)
rad2deg = elementwise(
    "rad2deg(Tensor self) -> Tensor",
    trigonometry.degrees,
    self=lambda g: g * (180 / pi),
    node="Rad2DegBackward0",
    promote="float",
    doc="Radians as degrees.",
)


@composite("nn.functional")
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()
