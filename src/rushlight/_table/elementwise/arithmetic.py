"""Arithmetic: sums, products, quotients, powers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._array import numpy_namespace as raw, types as T
from ..._array.number import number_like
from ..._base import dtypes as D
from ..._base.lazy import later
from ..._core.storage import TensorBase
from ..._formula.words import formula, power, where
from ..calls import dtype_checks as _checks
from ..calls.call_errors import combination
from ..calls.operand_fit import explain_reversed
from ..rows.composite import composite
from ..rows.node_classes import first_edge
from ..rows.out_rules import OutRules
from ..rows.overload import overload
from ..rows.row import Row, elementwise, set_write_node, when_settled
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._base.annotations import Arguments, Namespace, TensorLike
    from ..._tensor.tensor import Tensor

quotients = later("_array.elementwise.division")
convert = later("_table.elementwise.convert")

add = elementwise(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    raw.add_scaled,
    formula=lambda self, other, alpha: self + other * alpha,
    self=lambda g: g,
    other=lambda g, alpha: g * alpha,
    at_defaults={"raw": raw.add, "other": lambda g: g},
    promote_at=("self", "other"),
    check=_checks.check_alpha,
    vmap_write="shape",
    numbers="first",
    given_numbers=True,
    doc="Adds `alpha` times `other` to `input`, elementwise, with broadcasting.",
    narrow="complex32",
    kernel="add_stub",
)
sub = elementwise(
    "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    raw.subtract_scaled,
    formula=lambda self, other, alpha: self - other * alpha,
    self=lambda g: g,
    other=lambda g, alpha: -g * alpha,
    at_defaults={"raw": raw.subtract, "other": lambda g: -g},
    promote_at=("self", "other"),
    check=_checks.subtraction,
    vmap_write="inplace arithmetic",
    numbers="first",
    given_numbers=True,
    doc="Subtracts `alpha` times `other` from `input`, elementwise, with broadcasting.",
    narrow="complex32",
    kernel="add_stub",
)
sub_number = elementwise(
    "_sub(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    raw.subtract_scaled,
    formula=lambda self, other, alpha: self - other * alpha,
    self=lambda g: g,
    promote_at=("self", "other"),
    check=_checks.subtraction,
    public=False,
    out=False,
    given_numbers=True,
    samples=lambda mk: [(mk(3, 4), 2, 1), (mk(3, 4), 0.5, 3)],
    doc="Subtracts `alpha` times a number from `input`.",
)
rsub = elementwise(
    "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    quotients.subtract_from_scaled,
    formula=lambda self, other, alpha: other - self * alpha,
    self=lambda g, alpha: -g * alpha,
    other=lambda g: g,
    at_defaults={"raw": quotients.subtract_from, "self": lambda g: -g},
    ordered="last",
    promote_at=("self", "other"),
    check=_checks.subtraction,
    method=False,
    inplace=False,
    numbers=False,
    explain=explain_reversed,
    doc="Subtracts `alpha` times `input` from `other`, elementwise, with broadcasting.",
    narrow="complex32",
    kernel="add_stub",
)
rsub_scalar = overload(
    rsub, "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    promote_at=("self", "other"),
    given_numbers=True,
    samples=lambda mk: [(mk(3, 4), 2, 1), (mk(3, 4), 0.5, 3)],
    doc="Subtracts `alpha` times `input` from a number.",
)  # fmt: skip
rsub_number = elementwise(
    "_rsub(Tensor self, Tensor other) -> Tensor",
    quotients.subtract_from,
    formula=lambda self, other: other - self,
    self=lambda g: -g,
    other=lambda g: g,
    ordered="last",
    check=_checks.subtraction,
    node="RsubBackward1",
    node_shows=first_edge,
    public=False,
    inplace=False,
    given_numbers=True,
    doc="`other` less `input`, where `other` is a number: what `2 - x` calls.",
)


def _holds_elements(operand: object) -> bool:
    """Whether an operand isn't a number, nor an array that stands for one."""
    return type(operand) is T.ndarray and operand.ndim > 0


mul = elementwise(
    "mul.Tensor(Tensor self, Tensor other) -> Tensor",
    raw.multiply,
    self=lambda g, other: g * other,
    other=lambda g, self: g * self,
    wide=True,
    narrow=lambda raws: "all" if _holds_elements(raws[1]) else "complex32",
    kernel="mul_cpu_reduced_float",
    vmap_write="inplace arithmetic",
    unit="both",
    numbers="first",
    given_numbers=True,
    doc="Multiplies `input` by `other`, elementwise, with broadcasting.",
)
div = elementwise(
    "div.Tensor(Tensor self, Tensor other) -> Tensor",
    raw.divide,
    self=lambda g, other: g / other,
    other=lambda g, self, other: -g * ((self / other) / other),
    promote="float",
    wide=True,
    kernel=lambda raws: (
        "div_cpu_reduced_float" if raws[0].itemsize == 1 and not _holds_elements(raws[1]) else ""
    ),
    vmap_write="inplace arithmetic",
    refuses_values="whole",
    unit="right",
    numbers="first",
    given_numbers=True,
    doc="Divides `input` by `other`, elementwise, with broadcasting; integers divide to floats.",
)


def _dividend_gradient(
    xp: Namespace, g: TensorLike, other: TensorLike, rounding_mode: str | None
) -> TensorLike:
    return g / other if rounding_mode is None else xp.zeros_like(g)


def _divisor_gradient(
    xp: Namespace, g: TensorLike, self: TensorLike, other: TensorLike, rounding_mode: str | None
) -> TensorLike:
    return -g * ((self / other) / other) if rounding_mode is None else xp.zeros_like(g)


def _check_rounding(args: Arguments, raws: Arguments) -> None:
    if args[2] in ("floor", "trunc"):
        place = 0 if isinstance(args[0], TensorBase) else 1  # a number may come first
        _checks.takes(f"div_{args[2]}_cpu", "fi")(args[place:], raws[place:])


div_mode = elementwise(
    "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    quotients.divide_rounded,
    self=_dividend_gradient,
    other=_divisor_gradient,
    promote_at=("self", "other"),
    node="DivBackward2",
    refuses_values="whole",
    numbers="first",
    given_numbers=True,
    samples=lambda mk: [(mk(3, 4), mk(3, 4, low=1, high=2), None), (mk(3), mk(3), "floor"),
                        (mk(3), mk(3), "trunc")],
    check=_check_rounding,
    wide=True,
    vmap_write="inplace arithmetic",
    doc='Divides and rounds: "trunc" towards zero, "floor" down, None not at all.',
)  # fmt: skip
floor_divide = elementwise(
    "floor_divide(Tensor self, Tensor other) -> Tensor",
    quotients.floor_divide,
    self=_checks.no_derivative("floor_divide"),
    other=_checks.no_derivative("floor_divide"),
    node="NotImplemented",
    check=_checks.takes("div_floor_cpu", "fi"),
    wide=True,
    refuses_values="whole",
    doc="The quotient of `input` and `other`, rounded down.",
    kernel="div_floor_cpu",
)
set_write_node(
    floor_divide,
    elementwise(
        "_floor_divide_(Tensor self, Tensor other) -> Tensor",
        quotients.floor_divide,
        self=_checks.no_derivative("floor_divide_"),
        other=_checks.no_derivative("floor_divide_"),
        node="NotImplemented",
        public=False,
        inplace=False,
        dtypes="none",
        refuses_values="whole",
        doc="`floor_divide`, written in place.",
    ),
)
floor_divide_number = overload(
    floor_divide, "floor_divide.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
    quotients.floor_divide_from,
    node="NotImplemented",
    samples=lambda mk: [(3.5, mk(3, 4))],
    doc="A number divided by `other`, rounded down.",
)  # fmt: skip


def _remainder_other(
    xp: Namespace, g: TensorLike, self: TensorLike, other: TensorLike
) -> TensorLike:
    return -g * xp.floor(self / other)


def _fmod_other(xp: Namespace, g: TensorLike, self: TensorLike, other: TensorLike) -> TensorLike:
    return -g * xp.trunc(self / other)


remainder = elementwise(
    "remainder.Tensor(Tensor self, Tensor other) -> Tensor",
    quotients.remainder,
    self=lambda g: g,
    other=_remainder_other,
    refuses_values="whole",
    samples=lambda mk: [(mk(3, 4), mk(3, 4, low=1, high=2))],
    node="RemainderBackward1",
    numbers=False,
    check=_checks.takes("remainder_cpu", "fi"),
    doc="The remainder of the division of `input` by `other`; it has the sign of `other`.",
)
remainder_scalar = overload(
    remainder, "remainder.Scalar(Tensor self, Scalar other) -> Tensor",
    samples=lambda mk: [(mk(3, 4), 0.7)],
)  # fmt: skip
remainder_number = overload(
    remainder, "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
    quotients.remainder_from,
    other=_checks.no_derivative("remainder"),
    node="NotImplemented",
    samples=lambda mk: [(3.5, mk(3, 4, low=1, high=2))],
    doc="The remainder of the division of a number by `other`; it has the sign of `other`.",
)  # fmt: skip
fmod = elementwise(
    "fmod.Tensor(Tensor self, Tensor other) -> Tensor",
    quotients.fmod,
    self=lambda g: g,
    other=_fmod_other,
    refuses_values="whole",
    samples=lambda mk: [(mk(3, 4), mk(3, 4, low=1, high=2))],
    node="FmodBackward1",
    numbers=False,
    check=_checks.takes("fmod_cpu", "fi"),
    doc="The remainder of the division of `input` by `other`; it has the sign of `input`.",
)
fmod_scalar = overload(
    fmod, "fmod.Scalar(Tensor self, Scalar other) -> Tensor",
    samples=lambda mk: [(mk(3, 4), 0.7)],
)  # fmt: skip
neg = elementwise(
    "neg(Tensor self) -> Tensor",
    raw.negative,
    self=lambda g: -g,
    check=_checks.negation,
    doc="The negative of each element.",
    narrow="complex32",
)
reciprocal = elementwise(
    "reciprocal(Tensor self) -> Tensor",
    quotients.reciprocal,
    formula=lambda self: 1 / self,
    self=lambda g, out: -g * (out * out),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
    doc="1 / x of each element.",
)
sqrt = elementwise(
    "sqrt(Tensor self) -> Tensor",
    raw.sqrt,
    self=lambda g, out: g / (2 * out),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
    doc="The square root of each element; nan below zero.",
    kernel="sqrt_vml_cpu",
)
rsqrt = elementwise(
    "rsqrt(Tensor self) -> Tensor",
    quotients.rsqrt,
    self=formula(lambda g, out: g * (-0.5 * (out * out * out))),
    promote="float",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
    doc="1 / √x of each element.",
)


# ---- powers -----------------------------------------------------------------------------------
def _power_base(xp: Namespace, g: TensorLike, self: TensorLike, exponent: float) -> TensorLike:
    if exponent == 0:
        return xp.zeros_like(g)
    return g * (exponent * xp.pow(self, exponent - 1))


def _power_base_tensor(
    xp: Namespace, g: TensorLike, self: TensorLike, exponent: Any, out: object
) -> Any:
    """g y x^(y - 1), and 0 where y is 0; keeps the result, as PyTorch does."""
    return xp.where(exponent == 0, 0, g * (exponent * xp.pow(self, exponent - 1)))


def _power_exponent(
    xp: Namespace, g: TensorLike, self: object, exponent: TensorLike, out: TensorLike
) -> TensorLike:
    """g x^y log x, and 0 where x is 0 and y isn't negative."""
    flat = (self == 0) & (xp.real(exponent) >= 0)
    return g * xp.where(flat, 0, out * xp.log(self))


def _log(number: float) -> Any:
    if not isinstance(number, complex):
        return math.log(number) if number > 0 else math.nan
    import cmath  # a library of its own, which few need

    return cmath.log(number)


def _power_exponent_of_number(
    xp: Namespace, g: TensorLike, self: float, exponent: TensorLike, out: TensorLike
) -> TensorLike:
    if self == 0:
        return xp.where(xp.real(exponent) >= 0, xp.zeros_like(g), g * (out * -float("inf")))
    return g * (out * _log(self))


def _whole_power(args: Arguments, raws: Arguments) -> None:
    exponent = args[1]
    if T.is_discrete(raws[0].dtype) and not isinstance(exponent, complex):
        if exponent < 0:
            raise RuntimeError(quotients.INTEGER_POWER)
        if exponent > 127:
            D.refuse_beyond(exponent)
            wanted = T.INT64 if exponent >= 2**63 else raws[0].dtype
            number_like(exponent, wanted)  # refuses what the type can't hold
    elif T.is_half(raws[0].dtype):
        number_like(exponent, raws[0].dtype)


def _power_is_known(base: object, exponent: object) -> bool:
    """Whether nothing has to be computed: a power of 1, or the exponent is 0 or 1."""
    if isinstance(base, T.ndarray):
        return not isinstance(exponent, T.ndarray) and exponent in (0, 1)
    return type(base) is not bool and base == 1


def _power_kernel(base: Any, exponent: object = 0.5) -> str:
    """What PyTorch computes a power by; complex halves have no fixed exponents, either."""
    if not isinstance(exponent, (int, float, complex)) or T.from_raw(base.dtype) is not D.complex32:
        return "pow"
    kernels: dict[complex, str] = {0.5: "sqrt_vml_cpu", -0.5: "rsqrt_cpu", -1: "reciprocal_cpu"}
    return kernels.get(exponent, "pow")


pow = elementwise(
    "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    quotients.power,
    formula=lambda self, exponent: power(self, exponent),
    self=_power_base_tensor,
    exponent=_power_exponent,
    refuses_values="whole",
    given_numbers=True,
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2), mk(3, 4)), (mk(3, 1, low=0.5, high=2), mk(4))],
    node="PowBackward1",
    numbers=False,
    check=_checks.takes("pow", "fic"),
    doc="Each element of `input` to the power of that of `exponent`.",
    narrow=lambda raws: "all" if _power_is_known(*raws) else "",
    kernel=lambda raws: _power_kernel(*raws),
)
pow_scalar = elementwise(
    "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    quotients.power_scalar,
    formula=quotients.power_formula,
    self=_power_base,
    refuses_values="whole",
    given_numbers=True,
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2), p) for p in (2, 3, 0.5, -1, 1.7, 0)],
    check=_whole_power,
    vmap_write="inplace arithmetic",
    doc="Each element of `input` to the power `exponent`.",
)
pow_number = overload(
    pow, "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    quotients.power_from,
    exponent=_power_exponent_of_number,
    samples=lambda mk: [(2, mk(3, 4)), (0.5, mk(3))],
    node="PowBackward2", formula=None,
    doc="A number to the power of each element of `exponent`.",
)  # fmt: skip


def _square_slope(g: TensorLike, self: TensorLike) -> TensorLike:
    return g * (pow_scalar(self, 1) * 2 if isinstance(self, TensorBase) else self * 2)


square = elementwise(
    "square(Tensor self) -> Tensor",
    quotients.square,
    formula=lambda self: self * self,
    # Recorded as a power, so that it depends on x as often as PyTorch's does.
    self=_square_slope,
    node="PowBackward0",
    out_rules=OutRules("pow"),
    doc="x² of each element.",
    kernel="pow",
)
cube = elementwise(
    "_cube(Tensor self) -> Tensor",
    quotients.cube,
    formula=lambda self: self * self * self,
    self=lambda g, self: (
        g * (pow_scalar(self, 2) * 3 if isinstance(self, TensorBase) else self * self * 3)
    ),
    node="PowBackward0",
    public=False,
    inplace=False,
    doc="x³ of each element: what `x ** 3` calls.",
    kernel="pow",
)
root = elementwise(
    "_root(Tensor self) -> Tensor",
    raw.sqrt,
    self=lambda xp, g, self: g * (xp.rsqrt(self) * 0.5),
    promote="float",
    node="PowBackward0",
    public=False,
    inplace=False,
    refuses_values="whole",
    samples=lambda mk: [(mk(3, 4, low=0.5, high=2),)],
    doc="√x of each element: what `x ** 0.5` calls.",
    kernel=lambda raws: _power_kernel(*raws),
)


def _show_exponent(power: Row, exponent: float) -> None:
    """Has the nodes of a fixed power say what their exponent is."""

    def show(row: Row) -> None:
        row.op.node_class._saved_exponent = property(lambda node: exponent)

    when_settled(power, show)


_show_exponent(square, 2)
_show_exponent(cube, 3)
_show_exponent(root, 0.5)


@composite("", method=True, out=OutRules("pow", types_before_gradients=True))
def float_power(input: Tensor, exponent: Any) -> Tensor:
    """`input` to the power `exponent`, computed in float64 (complex128 for complex numbers)."""
    sides = [input, exponent]
    if (
        isinstance(input, TensorBase)
        and isinstance(exponent, TensorBase)
        and input._raw.dtype is exponent._raw.dtype is T.FLOAT32
    ):
        wide_input = convert.convert_tensor(input, D.float64)
        return table("pow")(wide_input, convert.convert_tensor(exponent, D.float64))
    if not any(isinstance(x, TensorBase) for x in sides):
        raise combination("float_power", (input, exponent), {})
    wide = any(
        T.dtype_of(x).is_complex if isinstance(x, TensorBase) else isinstance(x, complex)
        for x in sides
    )
    kind = D.complex128 if wide else D.float64
    sides = [
        table("to")(x, kind) if isinstance(x, TensorBase) else (complex(x) if wide else float(x))
        for x in sides
    ]
    return table("pow")(*sides)


@composite("private", method=True)
def float_power_(input: Tensor, exponent: object) -> Tensor:
    """In-place version of `float_power`, for tensors of its type.

    Raises:
        RuntimeError: for a tensor that isn't float64 or complex128.
    """
    kind = T.dtype_of(input)
    other = (
        T.dtype_of(exponent).is_complex
        if isinstance(exponent, TensorBase)
        else (isinstance(exponent, complex))
    )
    wanted = D.complex128 if kind.is_complex or other else D.float64
    if kind is not wanted:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {D.scalar_name(kind)} but the operation's "
            f"result "
            f"requires dtype {D.scalar_name(wanted)}"
        )
    return table("pow_")(input, exponent)


# ---- several operands -------------------------------------------------------------------------
addcmul = elementwise(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    quotients.add_product,
    formula=lambda self, tensor1, tensor2, value: self + tensor1 * value * tensor2,
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (tensor2 * value),
    tensor2=lambda g, tensor1, value: g * (tensor1 * value),
    promote_at=("self", "tensor1", "tensor2"),
    check=_checks.takes("addcmul_cpu_out", "fic"),
    given_numbers=True,
    doc="Adds `value` times the product of two tensors to `input`.",
    narrow="complex32",
    kernel="addcmul_cpu_out",
)
addcdiv = elementwise(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    quotients.add_quotient,
    formula=lambda self, tensor1, tensor2, value: self + tensor1 * value / tensor2,
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (value / tensor2),
    tensor2=lambda g, tensor1, tensor2, value: -g * (value * tensor1 / (tensor2 * tensor2)),
    promote_at=("self", "tensor1", "tensor2"),
    check=_checks.whole_quotient,
    given_numbers=True,
    samples=lambda mk: [(mk(3, 4), mk(3, 4), mk(3, 4, low=0.5, high=2))],
    doc="Adds `value` times the quotient of two tensors to `input`.",
    kernel="addcdiv_cpu_out",
)


def _between_ends(self: Tensor, end: TensorLike, weight: TensorLike | float) -> Any:
    gap = end - self
    return where(abs(weight) < 0.5, self + gap * weight, end - gap * (1 - weight))


lerp = elementwise(
    "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    quotients.lerp,
    formula=_between_ends,
    self=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, self, end: g * (end - self),
    given_numbers=True,
    samples=lambda mk: [(mk(3, 4), mk(3, 4), mk(3, 4))],
    node="LerpBackward1",
    numbers=False,
    check=_checks.both(_checks.same_type, _checks.takes("lerp_kernel_tensor", "fc")),
    doc="Interpolates: input + weight (end - input).",
    kernel="lerp_kernel_scalar",
)
lerp_scalar = overload(
    lerp, "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    promote="none",
    samples=lambda mk: [(mk(3, 4), mk(3, 4), 0.3), (mk(3, 4), mk(4), 0.8)],
    check=_checks.both(_checks.same_type, _checks.takes("lerp_kernel_scalar", "fc")),
)  # fmt: skip
hypot = elementwise(
    "hypot(Tensor self, Tensor other) -> Tensor",
    quotients.hypot,
    self=lambda g, self, out: g * (self / out),
    other=lambda g, other, out: g * (other / out),
    numbers=False,
    check=_checks.takes("hypot_cpu", "f"),
    doc="√(input² + other²), without overflow.",
)


@composite("", method=True)
def positive(input: Tensor) -> Tensor:
    """`input` itself.

    Raises:
        RuntimeError: for bools.
    """
    if input._raw.dtype is T.BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input
