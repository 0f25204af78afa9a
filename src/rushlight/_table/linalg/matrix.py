"""Norms, ranks and products of matrices; covariances; distances between rows."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._array.axes import axis_of
from ..._base import dtypes as D, errors
from ..._base.dtypes import promote_types
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, count_writes
from ..calls.argument_parser import is_number_tensor
from ..calls.deprecated_orders import say_better
from ..reduce.norm import _norm_gradient
from ..rows.composite import composite
from ..rows.out_argument import as_given, give, give_copied
from ..rows.row import general, multilinear
from ..rows.tensor_namespace import table
from ..rows.warn_once import warn_the_caller
from ..shape.shape import unsafe_view
from .linalg import inv, solve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import TensorLike
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor

sums = later("_array.reduce.reduce")
products = later("_array.linalg.matmul")
checks = later("_array.linalg.linalg")
norms = later("_array.reduce.norm")
raw = later("_array.linalg.vector_products")

_INF = float("inf")


# ---- norms ------------------------------------------------------------------------------------
def _format_ord(ord: object) -> str:
    return ord if isinstance(ord, str) else f"{ord:g}"


#: The orders of norms of matrices.
_ORDERS: Final = ("fro", "nuc", 2, -2, 1, -1, _INF, -_INF)


@composite("linalg", numpy_words=True)
def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *,
                dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:  # fmt: skip
    """The norm of each matrix: "fro", "nuc", or what a vector norm of order ±1, ±2, ±inf induces.

    Raises:
        RuntimeError: for other orders, and for dimensions that aren't two different ones.
    """
    name = "linalg.matrix_norm"
    if isinstance(ord, complex):
        raise RuntimeError(f"{name}: Expected a non-complex scalar as the order of norm.")
    if ord not in _ORDERS:
        raise RuntimeError(f"{name}: Order {_format_ord(ord)} not supported.")
    kind = A._raw.dtype
    if A._raw.ndim < 2 or kind.kind in "biu" or (kind.itemsize == 2 and ord in ("nuc", 2, -2)):
        checks.check(A._raw, name, square=False)
    if isinstance(dim, int) or len(dim) != 2:
        shown = dim if isinstance(dim, int) else " ".join(map(str, dim))
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {shown}")
    row, column = (axis_of(d, A._raw.ndim) for d in dim)
    if row == column:
        raise RuntimeError(f"{name}: dims must be different. Got ({row}, {column})")
    if dtype is not None:
        norms.in_norm_dtype(A._raw[:0], dtype, name)
        A = A.to(dtype)
    if ord == "fro":
        result = table("vector_norm")(A, 2, (row, column), keepdim)
    elif ord == "nuc" or ord in (2, -2):
        s = table("svdvals")(A.movedim((row, column), (-2, -1)))
        if ord == "nuc":
            result = s.sum(-1, keepdim)
        else:
            result = _extreme(s, -1, keepdim, ord > 0)
        if keepdim:
            order = list(range(A._raw.ndim - 2))
            for d in sorted(((row, A._raw.ndim - 2), (column, A._raw.ndim - 1))):
                order.insert(*d)
            result = result.unsqueeze(-1).permute(order)
    else:
        added, kept = (row, column) if ord in (1, -1) else (column, row)
        sums = table("vector_norm")(A, 1, (added,), keepdim)
        if not keepdim and added < kept:
            kept -= 1
        result = _extreme(sums, kept, keepdim, ord > 0)
    return give_copied("matrix_norm", result, out)


def _extreme(x: Tensor, dim: int, keepdim: bool, largest: bool) -> Tensor:
    """The largest or smallest along `dim`; the largest of none is 0."""
    if largest and not x._raw.shape[dim]:
        shape = [*x._raw.shape]
        shape[dim : dim + 1 or None] = [1] if keepdim else []
        return x.new_empty(shape).zero_()
    return x.amax(dim, keepdim) if largest else x.amin(dim, keepdim)


@composite("linalg", name="norm", numpy_words=True)
def linalg_norm(A: Tensor, ord: object = None, dim: Any = None, keepdim: bool = False, *,
                dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:  # fmt: skip
    """The norm of a vector or of a matrix, as `dim` and the number of dimensions say."""
    if isinstance(dim, int):
        dim = (dim,)
    if dim is None and ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.ndim}D."
        )
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {[*map(int, dim)]}"
        )
    matrix = ord is not None and (len(dim) == 2 if dim is not None else A.ndim == 2)
    if matrix or isinstance(ord, str):
        result = matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    else:
        result = table("vector_norm")(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return give_copied("linalg_norm", result, out)


@composite("linalg")
def cond(A: Tensor, p: object = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number of each matrix: the product of its norm and that of its inverse."""
    if A._raw.ndim < 2:
        if isinstance(p, str):
            checks.check(A._raw, f"linalg.cond(ord={p})", square=False)
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, complex) and p.imag:
        raise RuntimeError("value cannot be converted to type double without overflow")
    square = A._raw.shape[-1] == A._raw.shape[-2]
    if isinstance(p, str) and not square:
        checks.check(A._raw, f"linalg.cond(ord={p})")
    if p is not None and p not in _ORDERS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {_format_ord(p)}")
    if not A._raw.size:
        zeros = table("zeros")(A.shape[:-2], dtype=A.real.dtype if A.is_complex() else A.dtype)
        return give_copied("cond", count_writes(zeros, 1), out)
    if p is None or p in (2, -2):
        s = table("svdvals")(A)
        high, low = s.narrow(-1, 0, 1), s.narrow(-1, -1, 1)
        return give_copied("cond", (low / high if p == -2 else high / low).squeeze(-1), out)
    if not square:
        checks.check(A._raw, f"linalg.cond(ord={_format_ord(p)})")
    if p == "nuc":
        s = table("svdvals")(A)
        return give_copied("cond", s.sum(-1) * (1 / s).sum(-1), out)
    inverse, info = table("inv_ex")(A)
    inverse = inverse.masked_fill((info > 0)[..., None, None], _INF)
    result = matrix_norm(A, p) * matrix_norm(inverse, p)
    return give_copied("cond", result.nan_to_num_(_INF, _INF, -_INF), out)


# ---- products ---------------------------------------------------------------------------------
@composite("linalg")
def multi_dot(tensors: Any, *, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications.

    Raises:
        RuntimeError: for fewer than two, and where shapes don't fit.
    """
    mode = current()
    if out is not None and mode.autocast is not None:
        return as_given(lambda: multi_dot(tensors, out=out), mode)
    several = list(tensors)
    if len(several) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(several)}")
    first, last = several[0], several[-1]
    for what, t in (("first", first), ("last", last)):
        if t.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {what} tensor must be 1D or 2D but got {t.ndim}D")
    if first.ndim == 1:
        several[0] = first.unsqueeze(0)
    if last.ndim == 1:
        several[-1] = last.unsqueeze(-1)
    for k, t in enumerate(several):
        if t.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {k} must be 2D but got {t.ndim}D")
    for k, t in enumerate(several):
        if t._raw.dtype != several[0]._raw.dtype:
            names = (products.type_word(x._raw.dtype) for x in (several[0], t))
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{next(names)} and tensor {k} {next(names)}"
            )
    for k, (a, b) in enumerate(pairwise(several)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {k} and {k + 1} with shapes {list(tensors[k].shape)} and "
                f"{list(tensors[k + 1].shape)} cannot be multiplied"
            )
    sizes = [several[0].shape[0], *[t.shape[1] for t in several]]
    result = _multiply_chain(several, raw.chain_order(tuple(sizes)), 0, len(several) - 1)
    shape = result.shape[first.ndim == 1 : 1 if last.ndim == 1 else None]
    return give("multi_dot", result.view(shape), out, named="mm", types_first=True)


def _multiply_chain(several: Sequence[object], splits: list[list[int]], i: int, j: int) -> Any:
    if i == j:
        return several[i]
    k = splits[i][j]
    right = _multiply_chain(several, splits, k + 1, j)  # first, as in PyTorch: the older node
    return _multiply_chain(several, splits, i, k) @ right


linalg_cross = multilinear(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    raw.cross,
    self=lambda xp, g, other, self_shape, dim: xp.sum_to(xp.cross3(other, g, dim), self_shape),
    other=lambda xp, g, self, other_shape, dim: xp.sum_to(xp.cross3(g, self, dim), other_shape),
    namespace="linalg",
    saved_as={"self_shape": None, "other_shape": None},
    refuses_values="any",
    samples=lambda mk: [(mk(2, 3), mk(2, 3)), (mk(3, 2), mk(3, 1), 0), (mk(3), mk(3))],
    doc="The vector product along a dimension of size three.",
    kernel="cross",
)


@composite("private")
def cross3(a: Tensor, b: Tensor, dim: int) -> Tensor:
    """What formulas call the vector product, of shapes that broadcast."""
    return apply_n(linalg_cross.op, [a, b, dim])


@composite(method=True, numpy_words=True)
def cross(
    input: Tensor,
    other: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The vector product along `dim`: by default the first dimension of size three."""
    if dim is None:
        if out is None:
            say_better("cross")
        for k, n in enumerate(input.shape):
            if n == 3:
                dim = k
                break
        else:
            raise RuntimeError("no dimension of size 3 in input")
    return give("linalg_cross", apply_n(linalg_cross.op, [input, other, dim]), out)


@composite("linalg", numpy_words=True)
def vecdot(x: Any, y: Any, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The inner product along `dim`, the first vector conjugated."""
    if x._raw.dtype.kind in "biu":
        checks.check(x._raw, "linalg.vecdot", square=False) if x._raw.ndim > 1 else _no_vecdot(x)
    if x._raw.dtype != y._raw.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{sums.name_of(x._raw.dtype)} and y of type {sums.name_of(y._raw.dtype)} instead"
        )
    if x._raw.ndim == 1 and y._raw.ndim == 1:
        return give("vecdot", table("vdot")(x, y), out, named="vdot", types_first=True)
    return give("vecdot", (table("conj")(x) * y).sum(dim), out, named="sum", types_first=True)


def _no_vecdot(x: Any) -> None:
    raise RuntimeError(
        "linalg.vecdot: Expected a floating point or complex tensor as input. Got "
        f"{sums.name_of(x._raw.dtype)}"
    )


@composite(method=True)
def kron(input: Tensor, other: Any, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product, over dimensions aligned at the last one."""
    ndim = max(input.ndim, other.ndim)
    a, b = ((1,) * (ndim - t.ndim) + tuple(t.shape) for t in (input, other))
    left = unsafe_view(input, tuple([n for s in a for n in (s, 1)]))
    right = unsafe_view(other, tuple([n for s in b for n in (1, s)]))
    result = unsafe_view(left * right, tuple([m * n for m, n in zip(a, b)]))
    return give("kron", result, out, named="mul")


@composite("", method=True)
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Any:
    """The outer product of two vectors (deprecated in favour of `outer`)."""
    if out is not None:
        warn_the_caller(errors.GER)
    return table("outer")(input, vec2, out=out)


@composite("linalg", name="vander")
def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0, 1, … N - 1 of each element, along a new last dimension."""
    kind = x._raw.dtype
    if kind.kind in "bV" or (kind.itemsize == 2 and kind.kind == "f"):
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{sums.name_of(kind)}"
        )
    if not x._raw.ndim:
        x = x.unsqueeze(-1)
    count = x._raw.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _powers(x, count)


def _powers(x: Tensor, count: int) -> Tensor:
    """The powers 0, 1, … count - 1 of each element, along a new last dimension."""
    ones = table("ones_like")(x).unsqueeze(-1)
    powers = x.unsqueeze(-1).expand(tuple(x._raw.shape) + (count - 1,)).cumprod(-1)
    return table("cat")([ones.to(powers.dtype), powers], -1)


@composite()
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each element of a vector, the highest first unless `increasing`."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    if x._raw.dtype.kind in "biu":
        x = x.to(promote_types(T.dtype_of(x), D.int64))  # of wide unsigned ones there is none
    if N is None:
        N = x.shape[0]
    if N == 0 or N == 1:
        return count_writes(x.new_ones((x.shape[0], N)), N if increasing else 0)
    result = count_writes(_powers(x, N), 3)
    return result if increasing else table("flip")(result, (1,))


@composite("linalg")
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of a tensor as a map of its last dimensions (from `ind` on) to its first."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > A.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {A.ndim}")
    first, rest = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    rows, columns = raw.count(first), raw.count(rest)
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {columns} != {rows}"
        )
    return give_copied(
        "tensorinv", apply_n(inv.op, [A.reshape(rows, columns)]).reshape(rest + first), out
    )


@composite("linalg")
def tensorsolve(A: Tensor, B: Any, dims: Any = None, *, out: Tensor | None = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = tuple(A.shape[B.ndim :])
    size, have = raw.count(shape), B.numel()
    if size != have:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {size} != {have}"
        )
    square = A.reshape(size, size)
    return give_copied(
        "tensorsolve", apply_n(solve.op, [square, B.reshape(-1), True]).reshape(shape), out
    )


@composite("linalg", name="diagonal")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of each matrix."""
    return A.diagonal(offset, dim1, dim2)


# ---- statistics -------------------------------------------------------------------------------
@composite(method=True)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Any = None
) -> Tensor:
    """The covariances of variables, one a row, over observations, one a column."""
    if input.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    if input.dtype.name == "bool":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape(1, -1) if input.ndim < 2 else input
    count = x.shape[1]
    for what, w, floating in (("fweights", fweights, False), ("aweights", aweights, True)):
        if w is not None:
            _check_weights(what, w._raw, floating, count)
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(table("ones")(1).dtype)
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        mean = (x.sum(1) / x.shape[1]).unsqueeze(1)
        degrees: Any = max(count - correction, 0)
    else:
        total = weights.sum()
        if total.item() == 0:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
        mean = (x * weights).sum(1, True) / total
        lost: Any = correction
        if aweights is not None and correction:
            lost = correction * ((weights * aweights).sum() / total)
        degrees = table("clamp")(total - lost, min=0)
    if (degrees if type(degrees) is int else degrees.item()) <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "number of observations.",
            UserWarning,
            stacklevel=4,
        )
    centred = x - mean
    other = centred if weights is None else centred * weights
    turned = other.t()
    result = (centred @ (turned.conj() if turned.is_complex() else turned)) / degrees
    return result.squeeze()


def _check_weights(what: str, w: Array, floating: bool, count: int) -> None:
    """Refuses weights that aren't one for each observation.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if w.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {what} to have one or fewer dimensions but got {what} with "
            f"{w.ndim} dimensions"
        )
    if (w.dtype.kind not in "iu") if not floating else (w.dtype.kind not in "fV"):
        raise RuntimeError(
            f"cov(): expected {what} to have {'floating point' if floating else 'integral'} dtype "
            f"but got {what} with {sums.name_of(w.dtype)} dtype"
        )
    if w.size != count:
        raise RuntimeError(
            f"cov(): expected {what} to have the same numel as there are observations in the "
            f"input but got {w.size} != {count}"
        )
    if w.size and (w < 0).any():
        raise RuntimeError(f"cov(): {what} cannot be negative")


@composite(method=True)
def corrcoef(input: Tensor) -> Tensor:
    """The correlations of variables, one a row."""
    if input.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    c = cov(input)
    if c.ndim == 0:
        return c / c
    d = c.diagonal()
    scale = (d.real if c.is_complex() else d).sqrt()
    c = c / scale.view(-1, 1) / scale.view(1, -1)
    if not c.is_complex():
        return c.clamp(-1, 1)
    return table("complex")(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))


# ---- distances --------------------------------------------------------------------------------
def _cdist_gradients(
    xp: ModuleType,
    g: TensorLike,
    x1: TensorLike,
    x2: TensorLike,
    p: float,
    out: TensorLike,
    x1_dtype: dtype,
) -> tuple[TensorLike, TensorLike]:
    """That of each norm of x1[i] - x2[j], summed; of p = 2 by matrix products."""
    if 0 in out.shape or not x1.shape[-1]:
        return xp.zeros(x1.shape, x1.dtype), xp.zeros(x2.shape, x2.dtype)
    if p == 2:
        weight = g * xp.where(xp.equal(out, 0), 0, 1 / out)
        turned = xp.matrix_transpose(weight)
        first = x1 * xp.expand_dims(xp.sum(weight, -1), -1) - xp.matmul(weight, x2)
        second = x2 * xp.expand_dims(xp.sum(turned, -1), -1) - xp.matmul(turned, x1)
        return xp.sum_to(first, x1.shape), xp.sum_to(second, x2.shape)
    difference = xp.expand_dims(x1, -2) - xp.expand_dims(x2, -3)
    each = _norm_gradient(xp, g, difference, out, p, -1, False, x1_dtype)
    return xp.sum_to(xp.sum(each, -2), x1.shape), xp.sum_to(-xp.sum(each, -3), x2.shape)


_cdist = general(
    "_cdist(Tensor x1, Tensor x2, float p=2) -> Tensor",
    raw.cdist,
    joint=_cdist_gradients,
    public=False,
    out=False,
    dtypes="float",
    samples=lambda mk: [
        (mk(4, 3), mk(2, 3)), (mk(2, 4, 3), mk(2, 3), 1.0), (mk(4, 3), mk(2, 3), 3.0),
        (mk(4, 3), mk(2, 3), _INF), (mk(30, 3), mk(26, 3)), (mk(0, 3), mk(2, 3)),
    ],
    doc="The distances between the rows of two stacks of matrices.",
)  # fmt: skip


_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
          "donot_use_mm_for_euclid_dist")  # fmt: skip


@composite()
def cdist(x1: Any, x2: Any, p: float = 2.0,
          compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:  # fmt: skip
    """The p-norm distance between each row of `x1` and each row of `x2`.

    Raises:
        RuntimeError: where shapes don't fit.
    """
    if not isinstance(compute_mode, str) or compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for place, t in enumerate((x1, x2), 1):
        if not isinstance(t, TensorBase):
            raise TypeError(errors.no_tensor("cdist", f"x{place}", t, place))
    number: Any = p
    if is_number_tensor(p):
        number = read_by_python(number, "cdist()").item()
    if not T.is_number(number) or (isinstance(number, complex) and number is p):
        raise TypeError(
            f"cdist(): argument 'p' (position 3) must be float, not {errors.type_name(p)}"
        )
    for what, t in (("X1", x1), ("X2", x2)):
        rank = t._raw.ndim
        if rank < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {what} got: {rank}D")
    if x1._raw.shape[-1] != x2._raw.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    for what, t in (("X1", x1), ("X2", x2)):
        if t._raw.dtype.kind not in "fV":
            kind = sums.name_of(t._raw.dtype)
            raise RuntimeError(f"cdist only supports floating-point dtypes, {what} got: {kind}")
    if isinstance(number, complex):
        raise RuntimeError(errors.no_conversion("double"))
    return apply_n(_cdist.op, [x1, x2, float(number)])
