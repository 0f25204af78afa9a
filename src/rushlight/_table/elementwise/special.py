"""Special functions: the error function, gamma, zeta, Bessel functions, polynomials."""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING, Any

from ..._array.elementwise.masks import order_results
from ..._base import dtypes as D
from ..._base.lazy import later
from ..._core.inplace import apply_inplace
from ..._formula.words import exp, formula, log
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.out_rules import AS_MOST, OutRules
from ..rows.overload import overload
from ..rows.row import Row, elementwise

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Arguments, Namespace, TensorLike
    from ..._tensor.tensor import Tensor

logistic = later("_array.elementwise.activations")
native = later("_array.elementwise.erf")
raw = later("_array.elementwise.special")

BOTH = ("", "special")

erf = elementwise(
    "erf(Tensor self) -> Tensor",
    order_results(native.erf),
    self=formula(lambda g, self: g * (exp(self * -self) * (2 / sqrt(pi)))),
    promote="float",
    namespace=BOTH,
    check=_checks.takes("erf_vml_cpu", "f"),
    doc="The error function.",
    kernel="erf_vml_cpu",
)
erfc = elementwise(
    "erfc(Tensor self) -> Tensor",
    order_results(native.erfc),
    self=formula(lambda g, self: g * (exp(self * -self) * (-2 / sqrt(pi)))),
    promote="float",
    namespace=BOTH,
    check=_checks.takes("erfc_vml_cpu", "f"),
    doc="1 - erf(x), accurate where it is small.",
    kernel="erfc_vml_cpu",
)
erfinv = elementwise(
    "erfinv(Tensor self) -> Tensor",
    order_results(native.erfinv),
    self=formula(lambda g, out: g * (exp(out * out) * (sqrt(pi) / 2))),
    promote="float",
    namespace=BOTH,
    samples=lambda mk: [(mk(3, 4, low=-0.8, high=0.8),)],
    check=_checks.takes("erfinv_vml_cpu", "f"),
    doc="The number whose error function each element is.",
    kernel="erfinv_vml_cpu",
)
digamma = elementwise(
    "digamma(Tensor self) -> Tensor",
    raw.digamma,
    self=lambda xp, g, self: g * xp.polygamma(1, self),
    promote="float",
    namespace=BOTH,
    samples=lambda mk: [(mk(3, 4, low=0.5, high=3),)],
    check=_checks.takes("digamma", "f"),
    doc="The derivative of `lgamma`.",
    kernel="digamma",
)
lgamma = elementwise(
    "lgamma(Tensor self) -> Tensor",
    raw.lgamma,
    self=lambda xp, g, self: g * xp.digamma(self),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=3),)],
    check=_checks.takes("lgamma_vml_cpu", "f"),
    doc="The logarithm of |Γ(x)|.",
    kernel="lgamma_vml_cpu",
)


def _polygamma_types(args: Arguments, raws: Arguments) -> None:
    n = args[0] if type(args[0]) is int else args[1]
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    kernel = {0: "digamma", 1: "trigamma"}.get(n, "polygamma")
    _checks.takes(kernel, "f")(args, raws)


polygamma = elementwise(
    "polygamma(int n, Tensor self) -> Tensor",
    raw.polygamma,
    self=lambda xp, g, n, self: g * xp.polygamma(n + 1, self),
    promote="float",
    promote_at=("self",),
    namespace=BOTH,
    method=False,
    inplace=False,
    samples=lambda mk: [(n, mk(3, 4, low=0.5, high=3)) for n in (0, 1, 2, 3)],
    check=_polygamma_types,
    doc="The n-th derivative of `digamma`.",
)


polygamma_written = elementwise(
    "_polygamma_(Tensor self, int n) -> Tensor",
    lambda x, n: raw.polygamma(n, x),
    self=lambda xp, g, self, n: g * xp.polygamma(n + 1, self),
    promote="float",
    promote_at=("self",),
    public=False,
    inplace=False,
    samples=lambda mk: [(mk(3, 4, low=0.5, high=3), n) for n in (0, 1, 2, 3)],
    check=_polygamma_types,
    doc="`polygamma`, written in place.",
)


@composite("private", method=True, name="polygamma")
def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of `digamma` at this tensor."""
    return polygamma.op.function(n, self)


@composite("private", method=True)
def polygamma_(self: Tensor, n: int) -> Tensor:
    """In-place version of `polygamma`."""
    return apply_inplace(polygamma_written.op, [self, n])


def _mvlgamma_types(args: Arguments, raws: Arguments) -> None:
    if _checks.of_argument(args[0]) is D.bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    _checks.takes("arange_cpu", "f")(args, raws)


mvlgamma = elementwise(
    "mvlgamma(Tensor self, int p) -> Tensor",
    raw.mvlgamma,
    self=lambda xp, g, self, p: g * xp.digamma_sum(self, p),
    promote="float",
    promote_at=("self",),
    samples=lambda mk: [(mk(3, 4, low=2, high=4), 1), (mk(3, 4, low=2, high=4), 3)],
    out_rules=OutRules(of_operand=True),
    check=_mvlgamma_types,
    doc="The logarithm of the multivariate gamma function of dimension p.",
)


def _incomplete(xp: ModuleType, g: TensorLike, self: TensorLike, other: TensorLike) -> TensorLike:
    """x^(a-1) exp(-x) / Γ(a)."""
    return g * xp.exp((self - 1) * xp.log(other) - other - xp.lgamma(self))


igamma = elementwise(
    "igamma(Tensor self, Tensor other) -> Tensor",
    raw.igamma,
    self=_checks.unavailable("igamma: input"),
    other=_incomplete,
    numbers=False,
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2), mk(3, 4, low=0.5, high=2))],
    check=_checks.takes("igamma_cpu", "f"),
    doc="The lower regularised incomplete gamma function.",
)
igammac = elementwise(
    "igammac(Tensor self, Tensor other) -> Tensor",
    raw.igammac,
    self=_checks.unavailable("igammac: input"),
    other=lambda xp, g, self, other: -_incomplete(xp, g, self, other),
    numbers=False,
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2), mk(3, 4, low=0.5, high=2))],
    check=_checks.takes("igammac_cpu", "f"),
    doc="The upper regularised incomplete gamma function.",
)
i0 = elementwise(
    "i0(Tensor self) -> Tensor",
    raw.i0,
    self=lambda xp, g, self: g * xp.i1(self),
    promote="float",
    namespace=BOTH,
    check=_checks.takes("i0_vml_cpu", "f"),
    doc="The modified Bessel function of the first kind, order 0.",
    kernel="i0_vml_cpu",
)


def _special(name: str, forward: AnyCallable, doc: str, node: str, **declared: object) -> Row:
    """A function of one tensor that is public as `special.<name>` only."""
    kernel = "erf_vml_cpu" if name == "ndtr" else f"{name}_cpu"
    check = _checks.takes(kernel, "f", half=name not in ("log_ndtr", "erfcx", "ndtri"))
    return elementwise(
        f"{name}(Tensor self) -> Tensor", forward, promote="float", namespace="special",
        inplace=False, check=check, doc=doc, node=node,
        out_rules=OutRules(f"special_{name}") if node.startswith("Special") else AS_MOST,
        **declared,
    )  # fmt: skip


i0e = _special(
    "i0e", raw.i0e, "exp(-|x|) i0(x).", "SpecialI0EBackward0",
    self=lambda xp, g, self, out: g * (xp.i1e(self) - xp.sgn(self) * out),
)  # fmt: skip


def _i1_gradient(xp: Namespace, g: TensorLike, self: object, out: object) -> TensorLike:
    safe = xp.where(self == 0, 1, self)
    return g * xp.where(self == 0, 0.5, xp.i0(self) - out / safe)


def _i1e_gradient(xp: Namespace, g: object, self: object, out: TensorLike) -> TensorLike:
    safe = xp.where(self == 0, 1, self)
    return g * xp.where(self == 0, 0.5, xp.i0e(self) - out * (xp.sgn(self) + 1 / safe))


i1 = _special(
    "i1", raw.i1, "The modified Bessel function of the first kind, order 1.", "SpecialI1Backward0",
    self=_i1_gradient,
)  # fmt: skip
i1e = _special("i1e", raw.i1e, "exp(-|x|) i1(x).", "SpecialI1EBackward0", self=_i1e_gradient)
ndtr = _special(
    "ndtr", order_results(raw.ndtr), "The distribution function of the standard normal.",
    "MulBackward1",
    self=formula(lambda g, self: g * (exp(self * self * -0.5) * (1 / sqrt(2 * pi)))),
)  # fmt: skip
ndtri = _special(
    "ndtri", raw.ndtri, "The number at which `ndtr` has each value.", "SpecialNdtriBackward0",
    self=formula(lambda g, out: g * (exp(out * out * 0.5) * sqrt(2 * pi))),
    samples=lambda mk: [(mk(3, 4, low=0.2, high=0.8),)],
)  # fmt: skip
log_ndtr = _special(
    "log_ndtr", raw.log_ndtr, "The logarithm of `ndtr`.", "SpecialLogNdtrBackward0",
    self=lambda xp, g, self: g / xp.erfcx(self * -sqrt(0.5)) * sqrt(2 / pi),
)  # fmt: skip
entr = _special(
    "entr", raw.entr, "-x log(x), 0 at 0 and -inf below.", "SpecialEntrBackward0",
    self=formula(lambda g, self: g * -(1 + log(self))),
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
)  # fmt: skip


erfcx = _special(
    "erfcx", raw.erfcx, "exp(x²) erfc(x).", "SpecialErfcxBackward0",
    self=lambda g, self, out: g * (2 * self * out - 2 / sqrt(pi)),
)  # fmt: skip


# ---- two operands -----------------------------------------------------------------------------
def _xlog1py_self(xp: Namespace, g: Any, self: object, other: TensorLike) -> Any:
    return xp.where((self == 0) & (other <= -1), 0, xp.xlog1py(g, other))


def _zeta_other(
    xp: ModuleType, g: TensorLike, self: TensorLike | float, other: TensorLike
) -> TensorLike:
    return g * (-self * xp.zeta(self + 1, other))


xlog1py = elementwise(
    "xlog1py(Tensor self, Tensor other) -> Tensor",
    logistic.xlog1py,
    self=_xlog1py_self,
    other=lambda g, self, other: g * (self / (other + 1)),
    promote="float",
    inplace=False,
    numbers=False,
    namespace="special",
    node="SpecialXlog1PyBackward0",
    samples=lambda mk: [(mk(3, 4), mk(3, 4, low=0.5, high=2))],
    check=_checks.takes("xlog1py_cpu", "f"),
    out_rules=OutRules("special_xlog1py"),
    doc="x log1p(y), 0 where x is 0.",
)
xlog1py_from_number = overload(
    xlog1py, "xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor",
    node="SpecialXlog1PyBackward1",
    samples=lambda mk: [(0.7, mk(3, 4, low=0.5, high=2))],
)  # fmt: skip
xlog1py_number = overload(
    xlog1py, "xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor",
    self=lambda xp, g, other: xp.xlog1py(g, other),
    node="SpecialXlog1PyBackward2",
    samples=lambda mk: [(mk(3, 4), 1.3)],
)  # fmt: skip
zeta = elementwise(
    "zeta(Tensor self, Tensor other) -> Tensor",
    raw.zeta,
    self=_checks.unavailable("zeta"),
    other=_zeta_other,
    promote="float",
    inplace=False,
    namespace="special",
    node="SpecialZetaBackward0",
    samples=lambda mk: [(mk(3, 4, low=2, high=4), mk(3, 4, low=1, high=3))],
    check=_checks.takes("zeta_cpu", "f", half=False),
    out_rules=OutRules("special_zeta"),
    doc="The Hurwitz zeta function.",
)
zeta_from_number = overload(
    zeta, "zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
    node="SpecialZetaBackward1",
    samples=lambda mk: [(2.5, mk(3, 4, low=1, high=3))],
)  # fmt: skip


# ---- without gradients in PyTorch -------------------------------------------------------------
for _name, _doc in {
    "airy_ai": "The Airy function Ai.",
    "bessel_j0": "The Bessel function of the first kind, order 0.",
    "bessel_j1": "The Bessel function of the first kind, order 1.",
    "bessel_y0": "The Bessel function of the second kind, order 0.",
    "bessel_y1": "The Bessel function of the second kind, order 1.",
    "modified_bessel_i0": "The modified Bessel function of the first kind, order 0.",
    "modified_bessel_i1": "The modified Bessel function of the first kind, order 1.",
    "modified_bessel_k0": "The modified Bessel function of the second kind, order 0.",
    "modified_bessel_k1": "The modified Bessel function of the second kind, order 1.",
    "scaled_modified_bessel_k0": "exp(x) times `modified_bessel_k0`.",
    "scaled_modified_bessel_k1": "exp(x) times `modified_bessel_k1`.",
    "spherical_bessel_j0": "sin(x) / x, 1 at 0.",
}.items():
    elementwise(
        f"{_name}(Tensor self) -> Tensor", getattr(raw, _name), promote="float",
        namespace="special",
        inplace=False, check=_checks.takes(f"{_name}_cpu", "f", half=False),
        samples=lambda mk: [(mk(3, 4, low=0.5, high=3),)], doc=_doc,
    )  # fmt: skip


def _orthogonal(family: str) -> None:
    """The rows of one family of orthogonal polynomials, its degree an array or a number."""

    def forward(x: Array | float, n: Array | float) -> Array:
        return raw.polynomial(family, x, n)

    for form, first, second in (
        ("", "Tensor x", "Tensor n"),
        (".x_scalar", "Scalar x", "Tensor n"),
        (".n_scalar", "Tensor x", "Scalar n"),
    ):
        elementwise(
            f"{family}{form}({first}, {second}) -> Tensor",
            forward,
            promote="float",
            namespace="special",
            inplace=False,
            numbers=False,
            check=_checks.takes(f"{family}_cpu", "f", half=False),
            samples=_DEGREES[form],
            doc="A polynomial of a family and a degree, by its three-term recurrence.",
        )


_DEGREES: dict[str, Any] = {
    "": lambda mk: [(mk(3, 4), mk(3, 4, integer=True, low=0, high=6))],
    ".x_scalar": lambda mk: [(0.3, mk(3, 4, integer=True, low=0, high=6))],
    ".n_scalar": lambda mk: [(mk(3, 4), 5)],
}
for _letter in "tuvw":
    _orthogonal(f"chebyshev_polynomial_{_letter}")
    _orthogonal(f"shifted_chebyshev_polynomial_{_letter}")
for _family in ("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
                "legendre_polynomial_p"):  # fmt: skip
    _orthogonal(_family)
