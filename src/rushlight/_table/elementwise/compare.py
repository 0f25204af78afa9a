"""Comparisons, predicates, logic and bits, and choices by a condition."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, Final

from ..._array import numpy_namespace as raw, types as T
from ..._array.elementwise import masks
from ..._array.number import filling
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.interposers import NOT_HANDLED
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, count_writes
from ..._formula.words import where as choose
from ..calls import dtype_checks as _checks
from ..calls.operand_fit import explain_mask
from ..rows import meta as _meta
from ..rows.composite import ENTRIES, composite
from ..rows.expanded_writes import warn_as
from ..rows.out_rules import OutRules, before_others
from ..rows.overload import overload
from ..rows.row import Row, elementwise, general, set_write_node, when_settled
from ..rows.tensor_namespace import table
from ..rows.warn_once import say_once

if TYPE_CHECKING:
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Arguments, Scalar
    from ..._tensor.tensor import Tensor

relations = later("_array.elementwise.comparison")


def _nothing(xp: ModuleType, g: Array) -> Array:
    return xp.zeros_like(g)


def _comparison(name: str, forward: AnyCallable, doc: str, ordered: bool = True) -> Row:
    """A comparison. Written in place it has history: a node that passes zeros on."""
    check = _checks.takes(f"{name}_cpu", "fib") if ordered else None
    row = elementwise(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        forward,
        check=check,
        doc=doc,
        gives_bool=True,
        out_rules=OutRules(result=D.bool_),
        narrow="" if ordered else "all",
    )
    stem, doc = name.capitalize(), f"{doc} Written in place."
    shown: dict[str, Any] = {"public": False, "method": False, "inplace": False, "dtypes": "none"}
    by_number = elementwise(
        f"_{name}_.Scalar(Tensor self, Scalar other) -> Tensor",
        forward, self=_nothing, node=f"{stem}Backward0", doc=doc, **shown,
    )  # fmt: skip
    by_tensor = elementwise(
        f"_{name}_.Tensor(Tensor self, Tensor other) -> Tensor",
        forward, self=_nothing, other=_nothing, node=f"{stem}Backward1", doc=doc, **shown,
    )  # fmt: skip
    set_write_node(row, by_tensor, by_number)
    return row


eq = _comparison("eq", raw.equal, "Whether two elements are equal.", ordered=False)
ne = _comparison("ne", raw.not_equal, "Whether two elements differ.", ordered=False)
lt = _comparison("lt", raw.less, "Whether the first element is smaller.")
le = _comparison("le", raw.less_equal, "Whether the first element is smaller, or they are equal.")
gt = _comparison("gt", raw.greater, "Whether the first element is larger.")
ge = _comparison("ge", raw.greater_equal, "Whether the first element is larger, or they are equal.")


def _predicate(name: str, forward: AnyCallable, doc: str, **declared: object) -> Row:
    return elementwise(
        f"{name}(Tensor self) -> Tensor", forward,
        promote="none", inplace=False, doc=doc, **declared,
    )  # fmt: skip


isnan = _predicate("isnan", raw.isnan, "Whether each element is nan.", narrow="all")
isinf = _predicate(
    "isinf", relations.isinf, "Whether each element is infinite.",
    narrow="complex32 float8_e5m2", kernel="isinf",
)  # fmt: skip
isfinite = _predicate(
    "isfinite", raw.isfinite, "Whether each element is neither infinite nor nan.",
    narrow="complex32 float8_e5m2 float8_e8m0fnu", kernel="isfinite",
)  # fmt: skip
isposinf = _predicate("isposinf", relations.isposinf, "Whether each element is inf.")
isneginf = _predicate("isneginf", relations.isneginf, "Whether each element is -inf.")
isreal = _predicate(
    "isreal", relations.isreal, "Whether each element has no imaginary part.", narrow="all"
)


@composite("", method=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08,
            equal_nan: bool = False) -> Tensor:  # fmt: skip
    """Whether |input - other| <= atol + rtol |other|, elementwise."""
    for name, value, place in (("input", input, 1), ("other", other, 2)):
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"isclose(): argument '{name}' (position {place}) must be Tensor, not "
                f"{errors.type_name(value)}"
            )
    close: Tensor = isclose_row(input, other, rtol, atol, equal_nan)
    kind = input._raw.dtype.kind
    count_writes(close, bool(rtol or atol) + (equal_nan and kind in "fcV"))
    return close


isclose_row = elementwise(
    "_isclose(Tensor self, Tensor other, float rtol, float atol, bool equal_nan) -> Tensor",
    relations.isclose,
    promote="none",
    public=False,
    inplace=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4), 1e-5, 1e-8, False)],
    doc="Whether |input - other| <= atol + rtol |other|, elementwise.",
    narrow="complex32",
    kernel="mul_cpu_reduced_float",
)


@composite("", method=True)
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08,
             equal_nan: bool = False) -> bool:  # fmt: skip
    """Whether `isclose` holds for all elements."""
    answer = _meta.ask_classes("allclose", input, other)
    if answer is not NOT_HANDLED:
        return bool(answer)
    close = isclose_row(input, other, rtol, atol, equal_nan)
    return bool(read_by_python(close, "allclose()").all())


def _refuse_equal(array: Array, other: Array) -> None:
    """Refuses types that are only stored, as far as PyTorch does: one with itself, complex ones."""
    dtype = T.from_raw(array.dtype)
    kernel = "equal_notnan_cpu" if other is array else "equal_cpu"
    if other is array or (dtype.is_complex and array.size):
        raise NotImplementedError(errors.not_implemented(kernel, D.scalar_name(dtype)))


@composite("", method=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    answer = _meta.ask_classes("equal", input, other)
    if answer is not NOT_HANDLED:
        return bool(answer)
    if T.is_narrow(input._raw.dtype):
        _refuse_equal(input._raw, other._raw)
    return relations.equal_arrays(read_by_python(input, "equal()"), other._raw)


# ---- logic and bits ---------------------------------------------------------------------------
def _logic(name: str, forward: AnyCallable, doc: str, formula: AnyCallable) -> Row:
    return elementwise(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        forward,
        formula=formula,
        promote="none",
        numbers=False,
        vmap_write="inplace arithmetic",
        doc=doc,
    )


logical_and = _logic(
    "logical_and", relations.logical_and, "Whether both elements are nonzero.",
    lambda self, other: (self != 0) & (other != 0),
)  # fmt: skip
logical_or = _logic(
    "logical_or", relations.logical_or, "Whether an element is nonzero.",
    lambda self, other: (self != 0) | (other != 0),
)  # fmt: skip
logical_xor = _logic(
    "logical_xor", relations.logical_xor, "Whether exactly one element is nonzero.",
    lambda self, other: (self != 0) ^ (other != 0),
)  # fmt: skip
logical_not = elementwise(
    "logical_not(Tensor self) -> Tensor",
    relations.logical_not,
    formula=lambda self: self == 0,
    promote="none",
    doc="Whether each element is zero.",
)


for _row in (logical_and, logical_or, logical_xor, logical_not):
    set_write_node(_row, None)


def _bitwise(name: str, forward: AnyCallable, doc: str, formula: AnyCallable | None = None) -> Row:
    return elementwise(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        forward,
        formula=formula,
        samples=lambda mk: [
            (mk(3, 4, integer=True, low=0, high=9), mk(4, integer=True, low=0, high=9))
        ],
        vmap_write="shape",
        out_rules=OutRules(f"aten::{name}"),
        doc=doc,
    )


bitwise_and = _bitwise(
    "bitwise_and", relations.bitwise_and, "The bits that both elements have.",
    lambda self, other: self & other,
)  # fmt: skip
bitwise_or = _bitwise(
    "bitwise_or", relations.bitwise_or, "The bits that an element has.",
    lambda self, other: self | other,
)  # fmt: skip
bitwise_xor = _bitwise(
    "bitwise_xor", relations.bitwise_xor, "The bits that one element alone has.",
    lambda self, other: self ^ other,
)  # fmt: skip
bitwise_not = elementwise(
    "bitwise_not(Tensor self) -> Tensor",
    relations.bitwise_not,
    formula=lambda self: ~self,
    samples=lambda mk: [(mk(3, 4, integer=True, low=0, high=9),)],
    out_rules=OutRules("aten::bitwise_not"),
    doc="Every bit turned.",
)
bitwise_left_shift = _bitwise(
    "bitwise_left_shift", relations.shift_left, "The bits of `input` moved up by `other` places."
)
bitwise_right_shift = _bitwise(
    "bitwise_right_shift",
    relations.shift_right,
    "The bits of `input` moved down by `other` places.",
)


def _of_number(name: str, forward: AnyCallable, doc: str) -> Row:
    return elementwise(
        f"{name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        forward,
        inplace=False,
        samples=lambda mk: [(5, mk(3, 4, integer=True, low=0, high=9))],
        out_rules=OutRules(f"aten::{name}"),
        doc=doc,
    )


_MOVED = "A number's bits moved by `other` places."
shift_number_left = _of_number("bitwise_left_shift", relations.shift_number_left, _MOVED)
shift_number_right = _of_number("bitwise_right_shift", relations.shift_number_right, _MOVED)
and_number = _of_number(
    "bitwise_and", relations.number_and, "The bits that a number and an element have."
)
or_number = _of_number(
    "bitwise_or", relations.number_or, "The bits that a number or an element has."
)
xor_number = _of_number(
    "bitwise_xor", relations.number_xor, "The bits that a number or an element alone has."
)


def _euclidean(name: str, forward: AnyCallable, doc: str) -> Row:
    return elementwise(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        forward,
        numbers=False,
        samples=lambda mk: [
            (mk(3, 4, integer=True, low=1, high=9), mk(4, integer=True, low=1, high=9))
        ],
        doc=doc,
    )


gcd = _euclidean("gcd", relations.gcd, "The greatest common divisor.")
lcm = _euclidean("lcm", relations.lcm, "The least common multiple.")


# ---- parts of floating-point numbers ----------------------------------------------------------
def _ldexp_types(args: list[Tensor], raws: list[Array]) -> None:
    first, second = _checks.of_argument(args[0]), _checks.of_argument(args[1])
    if second is D.bool_ and first is not None and first.is_floating_point:
        _checks.takes("ldexp_cpu_exp", "fi")(args, raws[1:])


nextafter = elementwise(
    "nextafter(Tensor self, Tensor other) -> Tensor",
    relations.nextafter,
    numbers=False,
    check=_checks.takes("nextafter_cpu", "f"),
    self=lambda xp, g, self, other: xp.keep(g, self != other),
    other=lambda xp, g: xp.zeros_like(g),  # where both are equal, too
    doc="The next number after `input` in the direction of `other`.",
)


LN2 = log(2.0)

ldexp = elementwise(
    "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    relations.ldexp,
    self=lambda xp, g, other, out: xp.ldexp(g, other),  # keeps the result, as PyTorch does
    other=lambda g, out: g * (out * LN2),
    promote_at=("self",),  # the rest is the raw function's
    numbers=False,
    check=_ldexp_types,
    doc="`input` times 2 to the power of `other`.",
)


def _takes_floats(raws: Arguments) -> None:
    """Refuses, in place, numbers that the result can't be."""
    if raws[0].dtype.kind in "biu":
        name = D.scalar_name(T.from_raw(raws[0].dtype))
        raise RuntimeError(f"ldexp can't be cast to the desired output type {name}")


def _note_floats(row: Row) -> None:
    row.op.fits = _takes_floats


when_settled(ldexp, _note_floats)
frexp = general(
    "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    relations.frexp,
    self=lambda xp, g0, exponent: xp.ldexp(g0, -exponent),
    differentiable_out=(True, False),
    doc="Mantissas in [0.5, 1) and exponents: x = mantissa 2^exponent.",
)


# ---- choices ----------------------------------------------------------------------------------
_BYTES: Final = (
    "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
    "future version of PyTorch. Use a boolean condition instead."
)


def _choices(args: Arguments, raws: Arguments) -> None:
    """Refuses numbers that an element of the result can't be."""
    dtype = raws[0].dtype
    if dtype is not T.BOOL and dtype.kind == "u" and dtype.itemsize == 1:
        say_once("condition of bytes", _BYTES)
    number, other = args[2], raws[1]
    if not isinstance(args[1], TensorBase):
        number, other = args[1], raws[2]
    elif isinstance(number, TensorBase):
        return
    if type(other) is T.ndarray:
        if type(number) is not float or not -1.0 <= number <= 1.0:
            filling(number, other.dtype, 1)
    elif not isinstance(args[2], TensorBase):  # two numbers
        common = T.to_raw(D.promote_types(D.number_dtype(args[1]), D.number_dtype(args[2])))
        for each in args[1:]:
            filling(each, common, 1)


where_row = elementwise(
    "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    masks.where,
    self=lambda xp, g, condition: xp.keep(g, condition),
    other=lambda xp, g, condition: xp.keep(g, ~condition),
    promote_at=("self", "other"),
    check=_choices,
    inplace=False,
    method=False,
    samples=lambda mk: [(mk(3, 4) > 0, mk(3, 4), mk(4)), (mk(3, 4) > 0, mk(3, 4), 0.5)],
    out_rules=OutRules(types_first=before_others, operands_from=1),
    doc="`input` where `condition` is True, else `other`.",
    narrow="all",
)


@composite("private", method=True, name="where")
def where_method(self: Tensor, condition: object, other: Tensor | Scalar) -> Tensor:
    """This tensor where `condition` is True, else `other`."""
    return table("where")(condition, self, other)


@composite("", name="where")
def where(condition: Tensor, *args: object, **kwargs: object) -> Tensor | tuple[Tensor, ...]:
    """`input` where `condition` is True, else `other`; alone, the indices where it is True."""
    if not args and not kwargs:
        return table("nonzero")(condition, as_tuple=True)
    if _chooser is None:
        _find_chooser()
    if kwargs or len(args) != 2:
        return _chooser(condition, *args, **kwargs)  # type: ignore[misc]
    return _chooser(condition, args[0], args[1])  # type: ignore[misc]


_chooser: AnyCallable | None = None


def _find_chooser() -> None:
    """Finds what takes calls of the row, which is made when it is first asked for."""
    global _chooser
    function = where_row.op.function
    _chooser = ENTRIES.get(function, function)


masked_fill = elementwise(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    masks.masked_fill,
    formula=lambda self, mask, value: choose(mask, value, self),
    self=lambda xp, g, mask: xp.keep(g, ~mask),
    value=lambda xp, g, mask: xp.keep(g, mask),
    promote="none",
    ordered="",
    numbers=False,
    samples=lambda mk: [(mk(3, 4), mk(3, 4) > 0, mk())],
    node="MaskedFillBackward1",
    shared="never",
    expanded=warn_as("masked_fill", 2450),
    explain=explain_mask,
    doc="`input` with `value` where `mask` is True.",
    narrow="complex32",
    kernel="masked_fill",
)
masked_fill_number = overload(
    masked_fill, "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    numbers=False,
    ordered="",
    samples=lambda mk: [(mk(3, 4), mk(3, 4) > 0, 0.5)],
    expanded=warn_as("masked_fill", 2450),
    explain=explain_mask,
    vmap_write="inplace arithmetic",
)  # fmt: skip
