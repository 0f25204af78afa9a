"""Arithmetic: sums, products, quotients, powers."""

from __future__ import annotations

from .._array import numpy_ns as raw
from ._row import elementwise

add = elementwise(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    raw.add_scaled,
    self=lambda g: g,
    other=lambda g, alpha: g * alpha,
    at_defaults={"raw": raw.add, "other": lambda g: g},
    promote_at=("self", "other"),
    doc="Adds `alpha` times `other` to `input`, elementwise, with broadcasting.",
)
sub = elementwise(
    "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    raw.subtract_scaled,
    self=lambda g: g,
    other=lambda g, alpha: -g * alpha,
    at_defaults={"raw": raw.subtract, "other": lambda g: -g},
    promote_at=("self", "other"),
    doc="Subtracts `alpha` times `other` from `input`, elementwise, with broadcasting.",
)
mul = elementwise(
    "mul.Tensor(Tensor self, Tensor other) -> Tensor",
    raw.multiply,
    self=lambda g, other: g * other,
    other=lambda g, self: g * self,
    doc="Multiplies `input` by `other`, elementwise, with broadcasting.",
)
div = elementwise(
    "div.Tensor(Tensor self, Tensor other) -> Tensor",
    raw.divide,
    self=lambda g, other: g / other,
    other=lambda g, self, other: -g * ((self / other) / other),
    promote="float",
    doc="Divides `input` by `other`, elementwise, with broadcasting; integers divide to floats.",
)
neg = elementwise(
    "neg(Tensor self) -> Tensor", raw.negative, self=lambda g: -g, doc="The negative of each element."
)
exp = elementwise(
    "exp(Tensor self) -> Tensor",
    raw.exp,
    self=lambda g, out: g * out,
    promote="float",
    doc="e to the power of each element.",
)


