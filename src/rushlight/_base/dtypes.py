"""The element types of tensors, their categories, and the rules by which they promote.

Names, categories and the promotion lattice are PyTorch's (2.13). This module knows nothing of any
array library: `_array` maps each `dtype` to the type that stores it.
"""

from __future__ import annotations

from typing import Final, NoReturn

from . import errors
from .lazy import lazy

BOOL, INT, FLOAT, COMPLEX = 0, 1, 2, 3


class dtype:
    """An element type, such as `rushlight.float32`. Instances are singletons.

    Parameters:
        name: as it is written after `torch.`.
        itemsize: bytes per element.
        category: bool, integer, real or complex, as a number.
        signed: whether it has negative values.
        real: the name of the type of its parts.
        cplx: the name of the complex type of which it is a part.
    Raises: TypeError: for other parameters; programs take the types that there are.
    Example:
        >>> torch.bfloat16.itemsize, torch.bfloat16.is_floating_point
        (2, True)
        >>> torch.complex64.to_real()
        torch.float32
    """

    __slots__ = ("name", "itemsize", "category", "is_signed", "_real", "_complex")

    name: str
    itemsize: int
    category: int
    is_signed: bool
    _real: str
    _complex: str

    def __init__(
        self, name: str, itemsize: int, category: int, signed: bool | None, real: str, cplx: str
    ) -> None:
        self.name = name
        self.itemsize = itemsize
        self.category = category
        if signed is not None:
            self.is_signed = signed
        self._real = real
        self._complex = cplx

    def __getattr__(self, name: str) -> NoReturn:
        if name == "is_signed":  # a slot that is empty for quantised elements
            raise RuntimeError("isSignedType not supported for quantized types")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    @property
    def is_floating_point(self) -> bool:
        """True for the real floating types."""
        return self.category == FLOAT

    @property
    def is_complex(self) -> bool:
        """True for the complex types."""
        return self.category == COMPLEX

    @property
    def differentiable(self) -> bool:
        """True where a tensor of this type may require a gradient."""
        return self.category >= FLOAT

    def to_real(self) -> dtype:
        """The real type of the parts of a complex type; a real type itself."""
        return BY_NAME[self._real] if self._real else self

    def to_complex(self) -> dtype:
        """The complex type whose parts have this type."""
        if not self._complex:
            raise RuntimeError(f"Unknown Complex ScalarType for {scalar_name(self)}")
        return BY_NAME[self._complex]

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self


bool_: Final = dtype("bool", 1, BOOL, False, "", "")
uint8: Final = dtype("uint8", 1, INT, False, "", "")
uint16: Final = dtype("uint16", 2, INT, False, "", "")
uint32: Final = dtype("uint32", 4, INT, False, "", "")
uint64: Final = dtype("uint64", 8, INT, False, "", "")
int8: Final = dtype("int8", 1, INT, True, "", "")
int16: Final = dtype("int16", 2, INT, True, "", "")
int32: Final = dtype("int32", 4, INT, True, "", "")
int64: Final = dtype("int64", 8, INT, True, "", "")
float16: Final = dtype("float16", 2, FLOAT, True, "", "complex32")
bfloat16: Final = dtype("bfloat16", 2, FLOAT, True, "", "complex64")
float32: Final = dtype("float32", 4, FLOAT, True, "", "complex64")
float64: Final = dtype("float64", 8, FLOAT, True, "", "complex128")
complex32: Final = dtype("complex32", 4, COMPLEX, True, "float16", "complex32")
complex64: Final = dtype("complex64", 8, COMPLEX, True, "float32", "complex64")
complex128: Final = dtype("complex128", 16, COMPLEX, True, "float64", "complex128")

float8_e4m3fn: Final = dtype("float8_e4m3fn", 1, FLOAT, True, "", "")
float8_e4m3fnuz: Final = dtype("float8_e4m3fnuz", 1, FLOAT, True, "", "")
float8_e5m2: Final = dtype("float8_e5m2", 1, FLOAT, True, "", "")
float8_e5m2fnuz: Final = dtype("float8_e5m2fnuz", 1, FLOAT, True, "", "")
float8_e8m0fnu: Final = dtype("float8_e8m0fnu", 1, FLOAT, False, "", "")

BY_NAME: Final[dict[str, dtype]] = {
    d.name: d
    for d in (
        bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64,
        float16, bfloat16, float32, float64, complex32, complex64, complex128,
        float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu,
    )
}  # fmt: skip

# Types that have a name, a size and limits, and that no tensor here can have.
float4_e2m1fn_x2: Final = dtype("float4_e2m1fn_x2", 1, FLOAT, True, "", "")
qint8: Final = dtype("qint8", 1, INT, None, "", "")
quint8: Final = dtype("quint8", 1, INT, None, "", "")
qint32: Final = dtype("qint32", 4, INT, None, "", "")
quint4x2: Final = dtype("quint4x2", 1, INT, None, "", "")
quint2x4: Final = dtype("quint2x4", 1, INT, None, "", "")

ALIASES: Final[dict[str, dtype]] = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "cfloat": complex64,
    "cdouble": complex128,
    "chalf": complex32,
    "bool": bool_,
}

#: Python's number types, where a dtype is asked for, are those of the same size.
OF_PYTHON: Final[dict[type, dtype]] = {
    float: float64, int: int64, bool: bool_, complex: complex128,
}  # fmt: skip

_SCALAR_NAMES: Final[dict[str, str]] = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
    "int64": "Long", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
    "complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "float8_e4m3fn": "Float8_e4m3fn", "float8_e4m3fnuz": "Float8_e4m3fnuz",
    "float8_e5m2": "Float8_e5m2", "float8_e5m2fnuz": "Float8_e5m2fnuz",
    "float8_e8m0fnu": "Float8_e8m0fnu", "float4_e2m1fn_x2": "Float4_e2m1fn_x2",
}  # fmt: skip


# The dtype that a pickle calls by its name: `bool` isn't that of the variable.
__getattr__ = lazy(__name__, find=BY_NAME.__getitem__)


def by_name(name: str) -> dtype:
    """The dtype called `name`, such as "float32"."""
    return BY_NAME[name]


def scalar_name(d: dtype) -> str:
    """The name that error messages use: Float, Long, ComplexDouble…"""
    return _SCALAR_NAMES[d.name]


_C_NAMES: Final[dict[str, str]] = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int",
    "int32": "int", "int64": "long int", "uint16": "short unsigned int", "uint32": "unsigned int",
    "uint64": "long unsigned int", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double", "complex32": "c10::complex<c10::Half>",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
    "float8_e4m3fn": "c10::Float8_e4m3fn", "float8_e4m3fnuz": "c10::Float8_e4m3fnuz",
    "float8_e5m2": "c10::Float8_e5m2", "float8_e5m2fnuz": "c10::Float8_e5m2fnuz",
    "float8_e8m0fnu": "c10::Float8_e8m0fnu",
}  # fmt: skip


def c_name(d: dtype) -> str:
    """The name of an element type in C++, as some error messages have it."""
    return _C_NAMES.get(d.name, d.name)


_FLOAT_RANK: Final[dict[str, int]] = {"float16": 0, "bfloat16": 0, "float32": 1, "float64": 2}


FLOATS_OF_8_BITS: Final = (
    float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu,
)  # fmt: skip
_WIDE_UNSIGNED: Final = (uint16, uint32, uint64)


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest type that holds both: bool < integers < floats < complex.

    Raises:
        RuntimeError: for uint16/32/64 with anything else but floats and for 8-bit floats with any
            other type, as PyTorch does.
    """
    if a is b:
        return a
    if (a.itemsize == 1 and a.category == FLOAT) or (b.itemsize == 1 and b.category == FLOAT):
        raise RuntimeError(
            "Promotion for Float8 Types is not supported, "
            f"attempted to promote {scalar_name(a)} and {scalar_name(b)}"
        )
    if (a in _WIDE_UNSIGNED and b.category != FLOAT) or (
        b in _WIDE_UNSIGNED and a.category != FLOAT
    ):
        _refuse_wide_unsigned(a, b)
    if a.category < b.category:
        a, b = b, a
    if a.category == COMPLEX:
        real = promote_types(a.to_real(), b.to_real() if b.category == COMPLEX else b)
        if b.category < FLOAT:
            real = a.to_real()
        return real.to_complex() if real is not bfloat16 else complex64
    if a.category == FLOAT:
        if b.category < FLOAT:
            return a
        if _FLOAT_RANK[a.name] == _FLOAT_RANK[b.name]:
            return float32  # float16 with bfloat16
        return a if _FLOAT_RANK[a.name] > _FLOAT_RANK[b.name] else b
    if b.category == BOOL:
        return a
    return _promote_integers(a, b)


def _promote_integers(a: dtype, b: dtype) -> dtype:
    if a.is_signed == b.is_signed:
        return a if a.itemsize >= b.itemsize else b
    signed = a if a.is_signed else b
    return signed if signed.itemsize > 1 else int16


def _refuse_wide_unsigned(a: dtype, b: dtype) -> None:
    raise RuntimeError(
        "Promotion for uint16, uint32, uint64 types is not supported, "
        f"attempted to promote {scalar_name(a)} and {scalar_name(b)}"
    )


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of type `from_` may be written into a tensor of type `to`."""
    if from_.category == COMPLEX and to.category != COMPLEX:
        return False
    if from_.category == FLOAT and to.category < FLOAT:
        return False
    return not (from_.category == INT and to.category == BOOL)


# Note [Scalars are weak]
# Python numbers and 0-dim tensors only raise the *category* of a result: float32_tensor * 2.0 and
# float32_tensor * float64_0d stay float32, int64_tensor * 2.0 becomes the default float type.
# Three levels take part, in falling priority: tensors with dimensions, 0-dim tensors, Python
# numbers. A level counts only if its category is above that of the levels before it.


def combine_levels(dims: dtype | None, zero: dtype | None, number: dtype | None) -> dtype:
    """The result type of operands whose promoted types per level are given (None: no operand)."""
    result = dims
    for level in (zero, number):
        if level is None:
            continue
        if result is None:
            result = level
        elif level.category > result.category:
            if level.category == COMPLEX and result.category == FLOAT:
                result = result.to_complex() if result is not bfloat16 else complex64
            elif result is bool_:
                result = promote_types(result, level)
            else:
                result = level
    if result is None:
        raise RuntimeError("at least one operand is needed to find a result type")
    return result


class _Default:
    """The process-wide default floating type."""

    __slots__ = ("float_",)

    def __init__(self) -> None:
        self.float_: dtype = float32


_default: Final = _Default()


def get_default_dtype() -> dtype:
    """The floating type of new tensors made from Python floats (float32 unless set).

    Returns: the type that numbers with a point get.
    Example:
        >>> torch.get_default_dtype()
        torch.float32
    """
    return _default.float_


def set_default_dtype(d: dtype) -> None:
    """Sets the floating type of new tensors made from Python floats.

    Raises:
        TypeError: where `d` isn't a floating type.

    Parameters:
        d: the new default: a floating-point type.
    Example:
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.tensor(1.5).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)
    """
    if not isinstance(d, dtype):
        raise TypeError(
            "invalid dtype object: only floating-point types are supported as the default type"
        )
    if d.category != FLOAT:
        raise TypeError("only floating-point types are supported as the default type")
    if d.itemsize == 1:
        raise TypeError(f"couldn't find storage object {scalar_name(d)}Storage")
    _default.float_ = d


def number_dtype(value: object) -> dtype:
    """The dtype at which a Python number takes part in promotion.

    Raises: OverflowError for an integer of more than 64 bits, TypeError for a tensor of PyTorch.
    """
    if value is True or value is False:
        return bool_
    if isinstance(value, int):
        if -(1 << 63) <= value < 1 << 63:
            return int64
        refuse_beyond(value)
        return uint64
    if isinstance(value, float):
        return _default.float_
    if not isinstance(value, complex) and errors.is_pytorchs(type(value)):
        raise TypeError(f"expected Tensor, but got {errors.type_name(value)}")
    return _default.float_.to_complex() if _default.float_ is not bfloat16 else complex64


def refuse_beyond(value: int) -> None:
    """Refuses an integer that neither 64 bits with a sign nor without one can hold.

    Raises:
        OverflowError: in Python's words.
    """
    if value < -(1 << 63):
        raise OverflowError("can't convert negative int to unsigned")
    if value >= 1 << 64:
        raise OverflowError("int too big to convert")
