"""Matrix products of arrays, with PyTorch's checks."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D, errors
from .. import kernels
from ..number import number_like
from ..types import FLOAT32, FLOAT64, broadcast_shape, from_raw, internal_type_name
from . import tiny_matmul as tiny

if TYPE_CHECKING:
    from ..._base.annotations import Scalar, TensorLike
    from ..annotations import Array, RawType

TINY = tiny.LIMIT
# Multiplications from which products of so few rows may come in pieces: see Note [Few rows times a
# turned matrix] in `kernels.openblas`.
_PIECEWISE: Final = 1 << 16
_FEW_ROWS: Final = 12

_C_NAMES = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int",
            "float16": "c10::Half", "bfloat16": "c10::BFloat16", "complex64": "c10::complex<float>",
            "complex128": "c10::complex<double>", "bool": "bool", "uint8": "unsigned char",
            "int8": "signed char", "int16": "short int"}  # fmt: skip


def matrix_product(a: Array, b: Array, out: Array | None = None) -> Array:
    """`numpy.matmul` of arrays; large ones by emitted code where that is faster."""
    work = a.size * b.shape[-1]
    if work >= kernels.PRODUCT or (
        # One matrix may meet a stack of them.
        b.ndim > 2 and a.ndim > 1 and b.size * a.shape[-2] >= kernels.PRODUCT
    ):
        return kernels.gemm.matrix_product(a, b, out)
    if 2 * work >= kernels.PRODUCT and len(a) > _FEW_ROWS and b.strides[0] == b.itemsize:
        return kernels.gemm.matrix_product(a, b, out)
    if work >= _PIECEWISE and len(a) <= _FEW_ROWS:
        found = kernels.openblas.multiply_few_rows(a, b, out)
        if found is not None:
            return found
    return np.matmul(a, b) if out is None else np.matmul(a, b, out=out)


def biased_product(a: Array, b: Array, bias: Array) -> Array | None:
    """a b + bias of large matrices and a row, added in one go; None where the plain way is left."""
    if 2 * a.size * b.shape[1] < kernels.PRODUCT:
        return None
    found: Array | None = kernels.gemm.product(a, b, None, bias)
    return found


def _product(a: Array, b: Array) -> Any:
    """NumPy's product; halves are multiplied in float32, as PyTorch accumulates them."""
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        return matrix_product(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return matrix_product(a, b)


def product(a: Array, b: Array) -> Any:
    """The product of arrays whose shapes are known to fit."""
    if a.ndim == 2 == b.ndim:
        dtype = a.dtype
        if dtype is b.dtype and (dtype is FLOAT32 or dtype is FLOAT64):
            return _small_or_not(a, b)
    elif a.ndim > 2 and a.shape[-1] == 1 and b.ndim > 2:
        return np.multiply(a, b)  # a stack of columns times rows: `matmul` takes 3 times as long
    return _product(a, b)


def _small_or_not(a: Array, b: Array) -> Any:
    """The product of two matrices of one float type. See Note [Tiny products] in `tiny`."""
    if (
        b.size <= TINY
        and a.size * b.shape[1] <= TINY
        and a.dtype is FLOAT32
        and b.shape[1] <= tiny.WIDTH
    ):
        return tiny.product(a, b)
    if a.size * b.shape[1] >= _PIECEWISE:
        return matrix_product(a, b)
    return a.dot(b)  # a quarter of a microsecond less than `matmul`


def type_word(dtype: Any) -> str:
    """What C++ calls an element type."""
    return _C_NAMES[dtype.name]


def _same_dtype(a: Array, b: Array) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {_C_NAMES[a.dtype.name]} != "
            f"{_C_NAMES[b.dtype.name]}"
        )


def mm(a: Array, b: Array) -> Any:
    """The product of two matrices.

    Raises:
        NotImplementedError: for bools.
        RuntimeError: where they aren't matrices or their shapes or types don't fit.
    """
    dtype = a.dtype
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or dtype != b.dtype:
        _explain_mm(a, b)
    if dtype is FLOAT32:
        if a.size * b.shape[1] <= TINY and b.shape[1] <= tiny.WIDTH:
            return tiny.product(a, b)
    elif dtype.itemsize <= 2:
        if a.size and b.size:
            refuse_bool(dtype, "addmm_impl_cpu_")
        return _product(a, b)
    return matrix_product(a, b)


def refuse_bool(dtype: RawType, kernel: str) -> None:
    """Refuses bools, which have no products.

    Raises:
        NotImplementedError: in PyTorch's words.
    """
    if dtype.kind == "b":
        raise NotImplementedError(errors.not_implemented(kernel, "Bool"))


def _explain_mm(a: Array, b: Array) -> None:
    if a.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if b.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(_cannot_multiply(a.shape, b.shape))
    _same_dtype(a, b)


def _cannot_multiply(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    return f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"


def mv(a: Array, v: Array) -> TensorLike:
    """A matrix times a vector.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    if a.ndim != 2 or v.ndim != 1:
        if not a.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {a.ndim}, {v.ndim}")
    if a.shape[1] != v.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({a.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), vec "
            f"({v.shape[0]})"
        )
    if a.dtype != v.dtype:
        names = D.scalar_name(from_raw(v.dtype)), D.scalar_name(from_raw(a.dtype))
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {names[0]}, {names[1]}, and "
            f"{names[0]}"
        )
    refuse_bool(a.dtype, "addmv_impl_cpu")
    return _product(a, v)


def dot(a: Array, b: Array) -> Array:
    """The inner product of two vectors, without conjugation.

    Raises:
        RuntimeError: where they aren't vectors of one size and type.
    """
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{D.scalar_name(from_raw(a.dtype))} and {D.scalar_name(from_raw(b.dtype))}"
        )
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.shape[0]}] and src [{b.shape[0]}] "
            "to have "
            f"the same number of elements, but got {a.shape[0]} and {b.shape[0]} "
            "elements respectively"
        )
    if a.dtype.kind == "b":
        refuse_bool(a.dtype, "dot")
    return _product(a, b)


def vdot(a: Array, b: Array) -> Array:
    """The inner product of two vectors, the first one conjugated.

    Raises:
        RuntimeError: where they aren't vectors of one size and type.
    """
    return dot(a.conj() if a.dtype.kind == "c" else a, b)


def _check_stacks_meet(a: Array, b: Array) -> None:
    """Refuses stacks of matrices of which there are no products."""
    if a.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if b.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, "
            f"{a.shape[2]}] but got: [{b.shape[0]}, {b.shape[1]}]."
        )


def bmm(a: Array, b: Array) -> Array:
    """A stack of matrix products.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    _check_stacks_meet(a, b)
    if a.dtype != b.dtype or a.dtype.kind == "b":
        if not (a.size and b.size):
            return np.zeros((*a.shape[:2], b.shape[2]), b.dtype)
        refuse_bool(a.dtype, "bmm")
        raise RuntimeError(
            f"expected scalar type {D.scalar_name(from_raw(a.dtype))} but found "
            f"{D.scalar_name(from_raw(b.dtype))}"
        )
    return _product(a, b)


def matmul(a: Array, b: Array) -> Array:
    """The product of stacks of matrices, broadcast over their leading dimensions; and of vectors.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner or a.dtype != b.dtype or a.dtype.kind == "b":
        return _of_parts(a, b)
    if a.ndim > 2 and b.ndim > 2:
        problem = errors.broadcast(a.shape[:-2], b.shape[:-2])
        if problem is not None:
            raise RuntimeError(problem)
    if b.ndim <= 2 < a.ndim and a.dtype.itemsize > 2 and a.size:
        return matrix_product(a.reshape(-1, a.shape[-1]), b).reshape(a.shape[:-1] + b.shape[1:])
    return _product(a, b)


def _of_parts(a: Array, b: Array) -> Array:
    """Refuses operands in the words of the product that they are brought to.

    The product itself where it has no elements: of it PyTorch asks no types.
    """
    if a.ndim == 1 and b.ndim <= 2:
        return mm(_of_shape((1, a.shape[0]), a), b)[0]
    if b.ndim <= 2:
        flat = _of_shape((prod(a.shape[:-1]), a.shape[-1]), a)
        found = mv(flat, b) if b.ndim == 1 else mm(flat, b)
        return found.reshape(a.shape[:-1] + b.shape[1:])
    if a.ndim == 1 and _is_foldable(np.swapaxes(b, -1, -2)):
        lead = b.shape[:-2] + b.shape[-1:]
        return mv(_of_shape((prod(lead), b.shape[-2]), b), a).reshape(lead)
    rows = a.shape[-2:] if a.ndim > 1 else (1, a.shape[0])
    problem = errors.broadcast(a.shape[:-2], b.shape[:-2])
    if problem is not None:
        raise RuntimeError(problem)
    lead = broadcast_shape(a.shape[:-2], b.shape[:-2])
    found = bmm(_of_shape((prod(lead), *rows), a), _of_shape((prod(lead), *b.shape[-2:]), b))
    return found.reshape(lead + (rows[:1] if a.ndim > 1 else ()) + b.shape[-1:])


def _of_shape(shape: tuple[int, ...], like: Array) -> Array:
    return np.broadcast_to(np.zeros((), like.dtype), shape)


def _is_foldable(x: Array) -> bool:
    """Whether the leading dimensions of a stack of matrices can be seen as one of rows."""
    steps, sizes = x.strides, x.shape
    return all(steps[i] == steps[i + 1] * sizes[i + 1] for i in range(x.ndim - 2))


def linear(x: Array, weight: Array, bias: Array | None) -> Any:
    """x Wᵀ + b over the last dimension of `x`.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    dtype = x.dtype
    if (x.ndim == 2 == weight.ndim and bias is not None and bias.ndim == 1 and dtype is weight.dtype
            and dtype is bias.dtype and (dtype is FLOAT32 or dtype is FLOAT64)):  # fmt: skip
        try:
            if weight.size > TINY and weight.shape == (bias.size, x.shape[1]):
                found = biased_product(x, weight.T, bias)
                if found is not None:
                    return found
            out = _small_or_not(x, weight.T)
            if bias.size == out.shape[1]:
                return np.add(out, bias, out)
        except ValueError:
            pass  # explained below
    elif (x.ndim > 2 == weight.ndim and bias is not None and dtype is bias.dtype and x.size
            and bias.shape == weight.shape[:1] and x.shape[-1] == weight.shape[1]
            and (dtype is FLOAT32 or dtype is FLOAT64) and dtype is weight.dtype):  # fmt: skip
        return linear(x.reshape(-1, x.shape[-1]), weight, bias).reshape(*x.shape[:-1], bias.size)
    if (weight.ndim != 2 or x.ndim < 1 or x.shape[-1] != weight.shape[1] or x.dtype != weight.dtype
            or x.dtype.itemsize == 2):  # fmt: skip
        return _other_linear(x, weight, bias)
    if x.ndim == 2:
        out = product(x, weight.T)
    else:
        refuse_bool(dtype, "addmm_impl_cpu_")
        rows = -1 if x.size else int(np.prod(x.shape[:-1]))
        flat = matrix_product(x.reshape(rows, x.shape[-1]), weight.T)
        out = flat.reshape(x.shape[:-1] + (weight.shape[0],))
    if bias is not None:
        if bias.ndim != 1 or bias.shape[0] != weight.shape[0] or bias.dtype is not out.dtype:
            _check_bias(x, weight, bias)
        np.add(out, bias, out, casting="same_kind")
    return out


def _check_bias(x: Array, weight: Array, bias: Array) -> None:
    """Refuses a bias as the product that it belongs to does, or as the sum behind one.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    rows, width = int(np.prod(x.shape[:-1])), weight.shape[0]
    if x.ndim == 2 or (bias.ndim == 1 and x.flags.c_contiguous):  # one product of matrices
        if bias.dtype != weight.dtype:
            raise RuntimeError(
                f"self and mat2 must have the same dtype, but got "
                f"{D.scalar_name(from_raw(bias.dtype))} and {D.scalar_name(from_raw(weight.dtype))}"
            )
        _check_expands(bias, (rows, width))
        return
    shape = (*x.shape[:-1], width)
    problem = errors.broadcast(shape, bias.shape)
    if problem is not None:
        raise RuntimeError(problem)
    grown = broadcast_shape(shape, bias.shape)
    if grown != shape:
        raise RuntimeError(errors.output_shape(shape, grown))
    kind, wanted = from_raw(bias.dtype), from_raw(x.dtype)
    if kind.category > wanted.category:
        raise RuntimeError(errors.cannot_cast(D.scalar_name(kind), D.scalar_name(wanted)))


def _other_linear(x: Array, weight: Array, bias: Any) -> TensorLike:
    if x.ndim < 1:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{x.ndim}D and {weight.ndim}D"
        )
    if weight.ndim == 1:
        out = matmul(x, weight)
        return out if bias is None else out + bias
    rows = int(np.prod(x.shape[:-1])) if x.ndim > 1 else 1
    if x.shape[-1] != weight.shape[1]:
        raise RuntimeError(_cannot_multiply((rows, x.shape[-1]), weight.T.shape))
    if x.dtype != weight.dtype:
        if bias is None:
            _same_dtype(x, weight)
        raise RuntimeError(
            "mat1 and mat2 must have the same dtype, but got "
            f"{D.scalar_name(from_raw(x.dtype))} and {D.scalar_name(from_raw(weight.dtype))}"
        )
    out = matrix_product(_wide(x), _wide(weight).T)
    if bias is not None:
        _check_bias(x, weight, bias)
        out = out + _wide(bias)
    return out.astype(x.dtype)


# ---- products that are added to something -----------------------------------------------------
def _wide(x: Array) -> Array:
    """`x` in float32 where it is a half: sums are rounded once, at their end."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def _number(value: Scalar, dtype: RawType) -> Any:
    """A factor as a number of the operands' type; integers lose their fraction."""
    if type(value) is float and dtype.kind in "fc":
        return value
    return number_like(value, dtype)


def _add_scaled(c: Array, out: Array, beta: float, alpha: Scalar) -> Array:
    """beta c + alpha out, rounded to the type of `c`; nothing of `c` is read where beta is 0."""
    if beta != 1 or alpha != 1:
        beta, alpha = _number(beta, c.dtype), _number(alpha, c.dtype)
        if alpha != 1:
            out = np.multiply(out, alpha)
        if beta == 0:
            return out.astype(c.dtype, copy=False)
    c_wide = _wide(c)
    result = np.add(c_wide if beta == 1 else np.multiply(c_wide, beta), out)
    return result if c_wide is c else result.astype(c.dtype)


def _check_expands(c: Array, shape: tuple[int, ...]) -> None:
    """Refuses what doesn't broadcast to `shape`.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if c.ndim > len(shape):
        raise RuntimeError(
            f"expand({internal_type_name(c.dtype)}{{{errors.shape_text(c.shape)}}}, size="
            f"{errors.shape_text(shape)}): the number of sizes provided ({len(shape)}) must be "
            f"greater or equal to the number of dimensions in the tensor ({c.ndim})"
        )
    for k in range(1, c.ndim + 1):
        if c.shape[-k] not in (1, shape[-k]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[-k]}) must match the existing size "
                f"({c.shape[-k]}) at non-singleton dimension {len(shape) - k}.  Target sizes: "
                f"{errors.shape_text(shape)}.  Tensor sizes: {errors.shape_text(c.shape)}"
            )


def addmm(c: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Any:
    """beta c + alpha (a b).

    Raises:
        NotImplementedError: for bools.
        RuntimeError: where shapes or types don't fit.
    """
    dtype = c.dtype
    if a.ndim != 2 or b.ndim != 2 or dtype != a.dtype or dtype != b.dtype:
        _explain_addmm(c, a, b)
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(_cannot_multiply(a.shape, b.shape))
    shape = (a.shape[0], b.shape[1])
    if c.shape != shape:
        _check_expands(c, shape)
    if dtype is FLOAT32 or dtype is FLOAT64:
        out = _small_or_not(a, b)
        if beta == 1 and alpha == 1:
            return np.add(c, out, out)
        return _add_scaled(c, out, beta, alpha)
    refuse_bool(dtype, "addmm_impl_cpu_")
    return _add_scaled(c, matrix_product(_wide(a), _wide(b)), beta, alpha)


def _explain_addmm(c: Array, a: Array, b: Array) -> None:
    if c.dtype == a.dtype == b.dtype:
        name, x = ("mat1", a) if a.ndim != 2 else ("mat2", b)
        raise RuntimeError(f"{name} must be a matrix, got {x.ndim}-D tensor")
    first, (one, two) = ("self", (c, b)) if c.dtype != b.dtype else ("mat1", (a, b))
    raise RuntimeError(
        f"{first} and mat2 must have the same dtype, but got {D.scalar_name(from_raw(one.dtype))} "
        f"and {D.scalar_name(from_raw(two.dtype))}"
    )


def addmv(c: Array, a: Array, v: Array, beta: float = 1, alpha: Scalar = 1) -> Array:
    """beta c + alpha (a v).

    Raises:
        NotImplementedError: for bools.
        RuntimeError: where shapes or types don't fit.
    """
    if a.ndim != 2 or v.ndim != 1 or c.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {c.ndim}, {a.ndim}, {v.ndim}")
    if a.shape[1] != v.shape[0] or c.shape not in ((), (1,), (a.shape[0],)):
        raise RuntimeError(
            f"size mismatch, got input ({c.shape[0] if c.ndim else 1}), mat "
            f"({a.shape[0]}x{a.shape[1]}), vec ({v.shape[0]})"
        )
    if c.dtype != a.dtype or a.dtype != v.dtype:
        names = ", ".join(D.scalar_name(from_raw(x.dtype)) for x in (c, a))
        last = D.scalar_name(from_raw(v.dtype))
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {names}, and {last}"
        )
    refuse_bool(a.dtype, "addmv_impl_cpu")
    return _add_scaled(c, np.matmul(_wide(a), _wide(v)), beta, alpha)


def _size(x: Array, dim: int) -> int:
    """One size of an array that may have too few dimensions."""
    if not x.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if dim >= x.ndim:
        raise IndexError(errors.dimension(dim, x.ndim))
    return int(x.shape[dim])


def _check_stacks(c: Array, a: Array, b: Array, summed: bool) -> None:
    """Refuses stacks of matrices that don't fit each other, or what they are added to."""
    shape = () if summed else (_size(a, 0),)
    shape = (*shape, _size(a, 1), _size(b, 2))
    if c.shape != shape:
        _check_expands(c, shape)


def baddbmm(c: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
    """beta c + alpha (a b), for stacks of matrices.

    Raises:
        NotImplementedError: for bools.
        RuntimeError: where shapes or types don't fit.
    """
    _check_stacks(c, a, b, False)
    if c.dtype != a.dtype:
        raise RuntimeError("Input dtypes must be the same, got: input "
                           f"{_C_NAMES[c.dtype.name]}, batch1: {_C_NAMES[a.dtype.name]}, "
                           f"batch2: {_C_NAMES[b.dtype.name]}")  # fmt: skip
    _check_stacks_meet(a, b)
    if a.shape[0] and a.shape[1] and b.shape[2]:
        refuse_bool(a.dtype, "baddbmm")
    if a.dtype.itemsize > 2 or a.dtype != b.dtype:  # which is refused
        return _add_scaled(c, bmm(a, b), beta, alpha)
    return _add_scaled(c, bmm(_wide(a), _wide(b)), beta, alpha)


def addbmm(c: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
    """beta c + alpha Σ (a b) over a stack of matrices; halves are rounded after each term.

    Raises:
        NotImplementedError: for bools.
        RuntimeError: where shapes or types don't fit.
    """
    _check_stacks(c, a, b, True)
    if a.ndim != 3 or b.ndim != 3:
        _check_stacks_meet(a, b)
    if a.shape[0] != b.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {a.shape[0]} and {b.shape[0]}"
        )
    if a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({a.shape[1]}x{a.shape[2]} and "
            f"{b.shape[1]}x{b.shape[2]})"
        )
    refuse_bool(a.dtype, "addmm_impl_cpu_")
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        out = np.broadcast_to(c, (a.shape[1], b.shape[2]))
        for one, two in zip(a, b):
            out = addmm(out, one, two, beta, alpha)
            beta = 1
        return out
    left = np.moveaxis(a, 0, 1).reshape(a.shape[1], a.shape[0] * a.shape[2])
    return addmm(c, left, b.reshape(b.shape[0] * b.shape[1], b.shape[2]), beta, alpha)


def addr(c: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
    """beta c + (alpha a) bᵀ.

    Raises:
        RuntimeError: where they aren't vectors or shapes don't fit.
    """
    for name, v in (("vec1", a), ("vec2", b)):
        if v.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {v.ndim}-D")
    _check_expands(c, (a.shape[0], b.shape[0]))
    dtype = np.result_type(c.dtype, a.dtype, b.dtype)
    beta, alpha = _number(beta, dtype), _number(alpha, dtype)
    if alpha != 1:
        a = np.multiply(a, dtype.type(alpha))
    if c.ndim == 2 and 0 < c.strides[0] < c.strides[1]:  # the result is laid out as `c` is
        out = np.multiply.outer(b, a).T
    else:
        out = np.multiply.outer(a, b)
    if beta == 0:
        return out
    return np.add(c if beta == 1 else np.multiply(c, dtype.type(beta)), out)


def outer(a: Array, b: Array) -> Array:
    """The outer product of two vectors.

    Raises:
        RuntimeError: where they aren't vectors.
    """
    for name, v in (("self", a), ("vec2", b)):
        if v.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v.ndim}-D")
    return np.multiply.outer(a, b)
