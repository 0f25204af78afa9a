"""Choosing elements by a mask: `where`, also on Python numbers, and products with a mask.

Note [Products with masks]
`numpy.where` takes a branch per element: 3 ns each on random masks, against 0.2 ns for a product.
But `g * mask` is nan where g is infinite and the mask False. The bits of g times the mask as an
integer are exact: a True keeps every bit, a False gives +0. In the same way b + mask (a - b) in
the wrapping arithmetic of integers is exactly `a` where the mask is True and `b` elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D
from ..._formula import words
from ..._formula.words import with_formula
from .. import kernels
from ..memory.dense_layout import copy_laid_out_like
from ..number import type_number
from ..types import to_raw

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Scalar
    from ..._base.lazy import Function
    from ..annotations import Array, RawType

_BITS: Final[dict[Any, Any]] = {
    np.dtype(kind): np.dtype(f"i{np.dtype(kind).itemsize}") for kind in ("f2", "f4", "f8", "c8")
}
_SHORT: Final = np.dtype(np.int16)
_choose: Final[Any] = getattr(np.where, "__wrapped__", np.where)
_LARGE: Final = 2048  # elements from which three passes are cheaper than the branches
_LARGE_INTO: Final = 1024  # and where the result has its place already
_NUMBERS: Final = (bool, int, float, complex)


_BOOL: Final = np.dtype(np.bool_)
_FEW: Final = 4096  # bytes that are searched faster than a reduction begins


def anywhere(mask: Array) -> bool:
    """Whether any element of a mask is True: on small ones several times faster than `any`."""
    return 1 in mask.tobytes() if mask.size < _FEW else bool(mask.any())


def _bits_of_narrow(dtype: RawType) -> RawType | None:
    """The whole numbers that bfloat16's bits are."""
    return _SHORT if dtype.kind == "V" and dtype.itemsize == 2 else None


@with_formula(words.keep)
def keep(g: Array, mask: Array) -> Array:
    """`g` where `mask` is True, zero elsewhere."""
    dtype = g.dtype
    bits = _BITS.get(dtype) or _bits_of_narrow(dtype)
    if g.size >= kernels.LEAST and type(mask) is np.ndarray:
        found = kernels.elementwise.keep(g, mask)
        if found is not None:
            return found
    if bits is None:  # See Note [Products with masks].
        return np.where(mask, g, np.zeros((), dtype))
    return np.multiply(g.view(bits), mask).view(dtype)


@with_formula(words.where)
def where(condition: Array, a: Array | float, b: Array | Scalar) -> Any:
    """`a` where `condition` is True, else `b`; two Python numbers give an array of their type.

    Raises:
        RuntimeError: for a condition that isn't bool.
    """
    if condition.dtype is not _BOOL:
        if condition.dtype != np.uint8:
            from ..types import from_raw

            name = D.scalar_name(from_raw(condition.dtype))
            raise RuntimeError(
                f"where expected condition to be a boolean tensor, but got a tensor with dtype "
                f"{name}"
            )
        condition = condition.astype(np.bool_)
    if type(a) is np.ndarray or type(b) is np.ndarray:
        pass
    elif type(a) in _NUMBERS and type(b) in _NUMBERS:
        common = D.promote_types(D.number_dtype(a), D.number_dtype(b))
        a = np.asarray(a, to_raw(common))
    if condition.size >= _LARGE and condition.ndim:
        return _select(condition, a, b)
    result = _choose(condition, a, b)
    return (
        result
        if condition.flags.c_contiguous or result.shape != condition.shape
        else copy_laid_out_like(result, condition)
    )


def order_results(raw: Function) -> AnyCallable:
    """`raw`, whose result is C-ordered, with results laid out like its first operand."""

    def give_in_order(x: Array, *rest: str) -> Array:
        result = raw(x, *rest)
        return result if x.flags.c_contiguous else copy_laid_out_like(result, x)

    give_in_order.plain = raw  # type: ignore[attr-defined]
    return give_in_order


def _select(condition: Array, a: Array | float, b: Any) -> Array:
    """`where` on large arrays, by arithmetic on the bits of the two sides. See the Note."""
    if condition.size >= kernels.LEAST and (found := _by_kernel(condition, a, b)) is not None:
        return found
    if isinstance(a, np.ndarray | np.generic):
        if not isinstance(b, np.ndarray):
            b = np.array(b, a.dtype) if _is_weak(b, a.dtype) else np.asarray(b)
    elif isinstance(b, np.ndarray | np.generic):
        a = np.array(a, b.dtype) if _is_weak(a, b.dtype) else np.asarray(a)
    else:
        return np.where(condition, a, b)
    bits = _BITS.get(a.dtype) or _bits_of_narrow(a.dtype)
    if bits is None or b.dtype != a.dtype:
        return np.where(condition, a, b)
    return _by_bits(condition, a.view(bits), b.view(bits), None).view(a.dtype)


def _by_bits(condition: Array, a: Array, b: Array, out: Array | None) -> Array:
    """b + condition (a - b): the integers wrap, so every bit comes back."""
    found = np.subtract(a, b, out)
    found = np.multiply(found, condition, out)
    return np.add(found, b, out)


def choose_into(out: Array, condition: Array, a: Array, b: Array) -> None:
    """Writes `a` where the condition is True and `b` elsewhere to `out`, which may be one of them.

    All are floats of one type; each of the two sides is an array or a number.
    """
    if out.size < _LARGE_INTO:
        if out is a:
            np.copyto(out, b, "same_kind", np.logical_not(condition))
            return
        if out is not b:
            np.copyto(out, b)
        np.copyto(out, a, "same_kind", condition)
        return
    bits = _BITS[out.dtype]
    left = (a if type(a) is np.ndarray else np.array(a, out.dtype)).view(bits)
    right = (b if type(b) is np.ndarray else np.array(b, out.dtype)).view(bits)
    if out is b:
        _by_bits(np.logical_not(condition), right, left, out.view(bits))
    else:
        _by_bits(condition, left, right, out.view(bits))


def _by_kernel(condition: Array, a: Any, b: Any) -> Array | None:
    """`where` of arrays of one shape and type, or of one and a number; else None."""
    left, right = type(a) is np.ndarray, type(b) is np.ndarray
    if left and not right:
        right_number = _number(b, a.dtype)
        return (
            None if right_number is None else kernels.elementwise.choose(condition, a, right_number)
        )
    if right and not left:
        number = _number(a, b.dtype)
        return None if number is None else kernels.elementwise.choose(condition, number, b)
    if not left or a.dtype is not b.dtype:
        return None
    if not a.ndim and b.ndim:
        a = _number(a, b.dtype)
    elif not b.ndim:
        b = _number(b, a.dtype)
    return None if a is None or b is None else kernels.elementwise.choose(condition, a, b)


def _number(x: Array | float, dtype: RawType) -> float | None:
    """A number, or an array or scalar of a dtype that holds one, as a float; else None."""
    if type(x) in (bool, int, float):
        return float(x)
    if isinstance(x, np.generic | np.ndarray) and x.dtype == dtype and dtype.kind == "f":
        return float(x)
    return None


def _is_weak(value: float, dtype: RawType) -> bool:
    return type(value) in (bool, int, float) or (type(value) is complex and dtype.kind == "c")


def masked_fill(x: Array, mask: Array, value: Array | Scalar) -> Array:
    """`x` with `value` where `mask` is True, in the type of `x`.

    Raises:
        RuntimeError: for a mask that isn't bool, a value with dimensions, or one that `x` can't
        hold.
    """
    from ..types import from_raw

    if isinstance(value, np.ndarray) and value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if mask.dtype.kind != "b":
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{D.c_name(from_raw(mask.dtype))}"
        )
    if isinstance(value, np.ndarray):
        value = (
            value.astype(x.dtype) if value.dtype == x.dtype else type_number(value.item(), x.dtype)
        )
    else:
        value = type_number(value, x.dtype)
    result = where(mask, value, x)
    return result if result.flags.c_contiguous else np.ascontiguousarray(result)
