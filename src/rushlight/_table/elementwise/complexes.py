"""Complex numbers: size, angle, parts, conjugates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array import numpy_namespace as numpy_ns, types as T
from ..._base.lazy import later
from ..._core.inplace import apply_inplace
from ..calls import dtype_checks as _checks
from ..random.fill import refuse_leaf
from ..rows.composite import composite
from ..rows.out_rules import OutRules
from ..rows.row import elementwise, set_write_node
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor

raw = later("_array.elementwise.complexes")

abs = elementwise(
    "abs(Tensor self) -> Tensor",
    numpy_ns.abs,
    self=lambda xp, g, self: g * xp.sgn(self),
    holomorphic=False,
    check=_checks.takes("abs_cpu", "fic"),
    inplace=False,
    out_rules=OutRules(of_operand=True),
    narrow="complex32 float8",
    doc="The size of each element.",
)


@composite("private", method=True)
def abs_(self: Tensor) -> Tensor:
    """In-place version of `abs`.

    Raises:
        RuntimeError: for complex numbers, whose size is of another type.
    """
    if T.dtype_of(self).is_complex:
        refuse_leaf(self)
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return apply_inplace(abs.op, [self])


angle = elementwise(
    "angle(Tensor self) -> Tensor",
    raw.angle,
    self=lambda xp, g, self: g * xp.angle_gradient(self),
    holomorphic=False,
    promote="none",
    inplace=False,
    doc="The argument of each element in radians; for reals 0 or π.",
)
polar = elementwise(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    raw.polar,
    abs=lambda xp, g, out: xp.real(xp.conj(g) * xp.sgn(out)),
    angle=lambda xp, g, out: xp.real(xp.conj(g) * (out * 1j)),
    holomorphic=False,
    promote="none",
    numbers=False,
    inplace=False,
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2), mk(3, 4))],
    doc="The complex numbers of a size and an angle.",
)
complex = elementwise(
    "complex(Tensor real, Tensor imag) -> Tensor",
    raw.compose,
    real=lambda xp, g: xp.real(g),
    imag=lambda xp, g: xp.imag(g),
    holomorphic=False,
    promote="none",
    numbers=False,
    inplace=False,
    doc="The complex numbers of a real and an imaginary part.",
)
conj_row = elementwise(
    "_conj(Tensor self) -> Tensor",
    raw.conjugate,
    self=lambda xp, g: xp.conj(g),
    holomorphic=False,
    public=False,
    inplace=False,
    doc="The complex conjugate of each element.",
)
conj_physical_row = elementwise(
    "_conj_physical(Tensor self) -> Tensor",
    raw.conjugate,
    self=lambda xp, g: xp.conj(g),
    holomorphic=False,
    public=False,
    doc="The complex conjugate of each element.",
)


set_write_node(
    conj_physical_row,
    elementwise(
        "_conj_physical_(Tensor self) -> Tensor",
        raw.conjugate,
        self=lambda xp, g: xp.conj(g),
        holomorphic=False,
        node="ConjPhysicalBackward1",
        public=False,
        inplace=False,
        dtypes="none",
        doc="The complex conjugate of each element, written in place.",
    ),
)


@composite("", method=True)
def conj(input: Tensor) -> Tensor:
    """The complex conjugate of each element; `input` itself where it is real."""
    return conj_row(input) if T.dtype_of(input).is_complex else input


@composite("", method=True, out=True)
def conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate of each element; `input` itself where it is real."""
    return conj_physical_row(input) if T.dtype_of(input).is_complex else input


@composite("private", method=True)
def conj_physical_(input: Tensor) -> Tensor:
    """Conjugates every element in place."""
    return table("_conj_physical_")(input)


@composite("", method=True)
def is_conj(input: Tensor) -> bool:
    """False: conjugates are computed at once here."""
    return False


@composite("", method=True)
def is_neg(input: Tensor) -> bool:
    """False: negatives are computed at once here."""
    return False


@composite("")
def real(input: Tensor) -> Tensor:
    """The real part, as a view; `input` itself where it is real."""
    if not T.dtype_of(input).is_complex:
        return input
    return table("select")(table("view_as_real")(input), -1, 0)


@composite("")
def imag(input: Tensor) -> Tensor:
    """The imaginary part, as a view.

    Raises:
        RuntimeError: for real tensors.
    """
    if not T.dtype_of(input).is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return table("select")(table("view_as_real")(input), -1, 1)


@composite("", method=True)
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers."""
    return T.dtype_of(input).is_complex


@composite("", method=True)
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return T.dtype_of(input).is_floating_point
