"""Norms of vectors: the p-th root of the sum of p-th powers, and its limits."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from ..._formula import words
from ..._native import ufunc_loops
from .. import kernels
from ..elementwise import masks
from ..elementwise.chains import take_chains
from ..types import FLOAT32, FLOAT64, convert_array, from_raw, is_half
from .folds import fold
from .reduce import axes_of, axis_of, in_order, lift_half, name_of, sum as add
from .row_sums import row_dot

if TYPE_CHECKING:
    from ..._base.annotations import Scalar
    from ..annotations import Array

_INF = float("inf")
_LARGEST = 3.4028234663852886e38  # in single precision
_LARGE = 4096  # elements from which rows are worth products
_WHOLE = ((0, 1), (1, 0), (-2, -1), (-1, -2))  # all dimensions of a matrix
_quotient = take_chains(np.true_divide, lambda: None, "ff")


def vector_norm(x: Array, ord: Any = 2, dim: Any = None, keepdim: bool = False,
                dtype: D.dtype | None = None) -> Any:  # fmt: skip
    """The norm of order `ord` over `dim`; real, also of complex numbers.

    Raises:
        RuntimeError: for integers, and for an empty dimension where the norm has no identity.
    """
    kind = x.dtype.kind
    if kind in "biu":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{name_of(x.dtype)}"
        )
    if type(ord) is complex:
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    if dtype is not None:
        if not x.size and not 0 <= ord < _INF:
            _refuse_no_identity(x, ord, axes_of(x.ndim, dim))
        x = in_norm_dtype(x, dtype)
    if (
        kind == "f"
        and ord == 2
        and not keepdim
        and x.itemsize != 2
        and x.size != 1
        and (dim is None or (type(dim) is tuple and len(dim) == x.ndim == 2 and dim in _WHOLE))
    ):
        flat = x.reshape(-1)
        return np.sqrt(flat.dot(flat))
    axis = axes_of(x.ndim, dim)
    if not x.size:
        _refuse_no_identity(x, ord, axis)
    half = x.dtype if is_half(x.dtype) else None
    if half is not None:
        x = x.astype(np.float32)
    result = _norm(x, ord, axis, keepdim)
    if result.size == x.size and ord and (x.ndim or dim is None):
        result = np.absolute(x).reshape(result.shape)  # of one element, however large
    return in_order(result if half is None else result.astype(half), x)


def in_norm_dtype(x: Array, dtype: D.dtype, name: str = "linalg.vector_norm") -> Array:
    """The operand of a norm in the type that is asked for.

    Raises:
        RuntimeError: for a type that is whole, or of the other kind, or holds less.
    """
    found = from_raw(x.dtype)
    if dtype.category < D.FLOAT:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {D.scalar_name(dtype)}"
        )
    kind = "complex" if found.category == D.COMPLEX else "real"
    if (dtype.category == D.COMPLEX) != (kind == "complex"):
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {D.scalar_name(dtype)}"
        )
    if D.promote_types(found, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({D.scalar_name(found)}) should be convertible "
            f"without narrowing to the specified dtype ({D.scalar_name(dtype)})"
        )
    return convert_array(x, dtype)


def _refuse_no_identity(x: Array, ord: float, axis: Any) -> None:
    if 0 <= ord < _INF:
        return
    shown = "inf" if ord == _INF else "-inf" if ord == -_INF else f"{ord:g}"
    if axis is None:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {shown} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    for a in (axis,) if isinstance(axis, int) else axis:
        if x.shape[a] == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {shown} norm on the dimension "
                f"{a % x.ndim}because "
                "this dimension is empty and the operation does not have an identity"
            )


def _norm(x: Array, p: float, axis: Any, keepdim: bool) -> Any:
    if p == 2:
        length = x.shape[-1] if x.ndim else 1
        last = x.ndim - 1
        if (
            x.size >= _LARGE
            and axis in (last, -1, (last,), (-1,))
            and x.dtype.kind == "f"
            and x.flags.c_contiguous
        ):
            rows = x.reshape(-1, length)
            squares = row_dot(rows, rows)
            shape = x.shape[:-1] + (1,) if keepdim else x.shape[:-1]
            return np.sqrt(squares, squares).reshape(shape)
        squares = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
        return np.sqrt(add(squares, axis, keepdim))
    if p == 0:
        size = x.dtype if x.dtype.kind != "c" else x.real.dtype
        return add(x != 0, axis, keepdim).astype(size)
    magnitude = np.absolute(x)
    if p == 1:
        return add(magnitude, axis, keepdim)
    if p == _INF:
        return fold(np.maximum, magnitude, axis, keepdim)
    if p == -_INF:
        return fold(np.minimum, magnitude, axis, keepdim)
    beyond = magnitude.dtype.itemsize < 8 and abs(p) > _LARGEST
    return add(magnitude**p, axis, keepdim) ** (0.0 if beyond else 1.0 / p)


@words.with_formula(words.scale_unit)
def scale_unit(g: Array, x: Array, norm: Array) -> Array:
    """g times x / norm, and times zero where the norm is zero: the gradient of a norm of order 2.

    Shapes: the norm and g broadcast to x.
    """
    dtype = x.dtype
    if (
        x.size < _LARGE
        or not (dtype is FLOAT32 or dtype is FLOAT64)
        or type(x) is not np.ndarray
        or type(g) is not np.ndarray
        or type(norm) is not np.ndarray
        or g.dtype is not dtype
        or norm.dtype is not dtype
        or not x.flags.c_contiguous
    ):
        return g * masks.where(np.equal(norm, 0), 0, x / norm)
    norm, g = _without_repetition(norm), _without_repetition(g)
    if x.size >= kernels.LEAST and norm.size > 1:
        found = _scale_rows(g, x, norm)
        if found is not None:
            return found
    out = _quotient(x, norm)
    zero = norm == 0
    if zero.any():
        out = np.where(zero, 0, out)
    return out if g.size == 1 and g.reshape(-1)[0] == 1 else np.multiply(out, g, out)


def _without_repetition(x: Array) -> Array:
    """`x` with one element for each dimension that repeats it."""
    if 0 not in x.strides:
        return x
    return x[tuple([slice(0, 1) if step == 0 else slice(None) for step in x.strides])]


def _scale_rows(g: Array, x: Array, norm: Array) -> Array | None:
    """By a kernel, where each row of the last dimensions has its norm and its g."""
    count = norm.ndim
    while count and norm.shape[count - 1] == 1:
        count -= 1
    if norm.ndim != x.ndim or norm.shape[:count] != x.shape[:count]:
        return None
    if g.shape != norm.shape:
        if g.size != 1:
            return None
        g = np.full(norm.shape, g.reshape(()), g.dtype)
    rows = np.ascontiguousarray(g), x, np.ascontiguousarray(norm)
    return kernels.unit_rows.scale_rows(*rows, prod(x.shape[count:]))


_of_few: Final = ufunc_loops.reduction(vector_norm, "N2dkn")


def dist(x: Array, y: Array, p: float = 2) -> Any:
    """The norm of order `p` of x - y.

    Raises:
        RuntimeError: for integers, and for shapes that don't broadcast.
    """
    if x.shape != y.shape:
        problem = errors.broadcast(x.shape, y.shape)
        if problem:
            raise RuntimeError(problem)
    difference = x - y
    if p == 2 and (difference.dtype is FLOAT32 or difference.dtype is FLOAT64):
        return _of_few(difference, 2, None, False, None)
    if difference.dtype.kind in "biu":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{name_of(difference.dtype)} instead."
        )
    if not difference.size and p in (_INF, -_INF):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    return vector_norm(difference, p)


def renorm(x: Array, p: Scalar, dim: int, maxnorm: float) -> Array:
    """`x` with each slice across `dim` scaled down to the norm `maxnorm` where its norm is larger.

    Raises:
        RuntimeError: for an order that isn't positive, a negative norm, fewer than two dimensions.
    """
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if x.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.ndim} dimensions")
    own = axis_of(x.ndim, dim)
    norm = vector_norm(lift_half(x), p, tuple([d for d in range(x.ndim) if d != own]), True)
    factor = np.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1)
    return np.ascontiguousarray((x * factor).astype(x.dtype, copy=False))
