"""Eigenvalues and singular values; what is built on them: pseudo-inverses, ranks, least squares.

Results are column-major, as PyTorch's are. See Note [Two ways to LAPACK] in `lapack`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from ..axes import axis_of
from ..reduce.reduce import name_of
from ..types import from_raw, is_half, to_raw
from . import lapack
from .lapack import Failure, columns
from .linalg import LinAlgError, adjoint, at, check, check_kernel, is_vector

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, TensorLike
    from ..annotations import Array, RawType


def _real(dtype: RawType) -> RawType:
    return np.dtype(dtype.char.lower()) if dtype.kind == "c" else dtype


# ---- eigenvalues ------------------------------------------------------------------------------
def _check_eigh(x: Array, uplo: str) -> None:
    if (x.dtype.kind in "fc" and x.dtype.itemsize > 2) or x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        check(x, "linalg.eigh")
    if uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    check_kernel(x, "linalg.eigh", "linalg_eigh_cpu")


def _not_converged(name: str, x: Any, values: str, code: int) -> LinAlgError:
    """Why no spectrum was found, and of which matrix of a stack."""
    finite = np.isfinite(x).all((-2, -1))
    where = at(np.where(finite, 0, 1))[0] if not finite.all() else ""
    reason = (
        f"the input matrix is ill-conditioned or has too many repeated {values} (error code: "
        f"{code})"
    )
    if values == "singular values" and np.isnan(x).any():
        reason = "the input matrix contained non-finite values"
    return LinAlgError(f"{name}: {where}The algorithm failed to converge because {reason}.")


def eigh(x: Array, uplo: str = "L") -> tuple[Array, Array]:
    """The eigenvalues (ascending) and eigenvectors of each Hermitian matrix, read off one triangle.

    Raises:
        LinAlgError: where they weren't found.
    """
    _check_eigh(x, uplo)
    values = np.empty(x.shape[:-1], _real(x.dtype))
    vectors = columns(x.shape, x.dtype)
    try:
        lapack.run("eigh_up" if uplo in "uU" else "eigh_lo", (x,), (values, vectors))
    except Failure:
        raise _not_converged("linalg.eigh", x, "eigenvalues", x.shape[-1] - 1) from None
    return values, vectors


def eigvalsh(x: Array, uplo: str = "L") -> Array:
    """The eigenvalues (ascending) of each Hermitian matrix, read off one triangle.

    Raises:
        LinAlgError: where they weren't found.
    """
    _check_eigh(x, uplo)
    values = np.empty(x.shape[:-1], _real(x.dtype))
    try:
        lapack.run("eigvalsh_up" if uplo in "uU" else "eigvalsh_lo", (x,), (values,))
    except Failure:
        raise _not_converged("linalg.eigh", x, "eigenvalues", x.shape[-1] - 2) from None
    return values


def _check_eig(x: Array, name: str) -> RawType:
    if x.dtype.kind in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {name_of(x.dtype)}")
    check(x, name, "linalg_eig_out_cpu")
    if not np.isfinite(x).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return to_raw(from_raw(x.dtype).to_complex())


def eig(x: Array) -> tuple[Array, Array]:
    """The eigenvalues and eigenvectors of each matrix, complex.

    Raises:
        LinAlgError: where they weren't found.
    """
    kind = _check_eig(x, "linalg.eig")
    values, vectors = np.empty(x.shape[:-1], kind), columns(x.shape, kind)
    try:
        lapack.run("eig", (x,), (values, vectors))
    except Failure:
        raise _not_converged("linalg.eig", x, "eigenvalues", x.shape[-1] - 1) from None
    return values, vectors


def eigvals(x: Array) -> Array:
    """The eigenvalues of each matrix, complex.

    Raises:
        LinAlgError: where they weren't found.
    """
    kind = _check_eig(x, "linalg.eigvals")
    values = np.empty(x.shape[:-1], kind)
    try:
        lapack.run("eigvals", (x,), (values,))
    except Failure:
        raise _not_converged("linalg.eig", x, "eigenvalues", x.shape[-1] - 1) from None
    return values


# ---- singular values --------------------------------------------------------------------------
def _check_svd(x: Array, driver: str | None) -> None:
    if driver is None or not is_half(x.dtype):
        check(x, "linalg.svd", "linalg_svd_cpu", square=False)
    if driver is not None and x.size:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )


def svd(
    x: Array, full_matrices: bool = True, driver: str | None = None
) -> tuple[Array, Array, Array]:
    """U, S (descending) and V^H with A = U S V^H, for each matrix.

    Raises:
        LinAlgError: where they weren't found.
    """
    _check_svd(x, driver)
    batch, (rows, cols) = x.shape[:-2], x.shape[-2:]
    count = min(rows, cols)
    s = np.empty((*batch, count), _real(x.dtype))
    u = columns((*batch, rows, rows if full_matrices else count), x.dtype)
    vh = columns((*batch, cols if full_matrices else count, cols), x.dtype)
    if not x.size:
        for square in (u, vh):
            square[...] = np.eye(*square.shape[-2:], dtype=x.dtype)
        return u, s, vh
    try:
        lapack.run("svd_f" if full_matrices else "svd_s", (x,), (u, s, vh))
    except Failure:
        raise _not_converged("linalg.svd", x, "singular values", min(rows, cols) - 1) from None
    return u, s, vh


def thin_svd(x: Array) -> tuple[Array, Array, Array]:
    """`svd` without what is outside the matrix's own spaces."""
    return svd(x, False)


def svdvals(x: Array, driver: str | None = None) -> Array:
    """The singular values of each matrix, descending.

    Raises:
        LinAlgError: where they weren't found.
    """
    _check_svd(x, driver)
    s = np.empty((*x.shape[:-2], min(x.shape[-2:])), _real(x.dtype))
    if not x.size:
        return s
    try:
        lapack.run("svd", (x,), (s,))
    except Failure:
        if np.isnan(x).any():
            raise _not_converged("linalg.svd", x, "singular values", 2) from None
        s[...] = np.nan
    return s


# ---- pseudo-inverse and least squares ---------------------------------------------------------
def tolerance(x: Array, largest: Array, atol: Any, rtol: Any) -> TensorLike:
    """max(atol, rtol σ₁) for each matrix; by default rtol is the larger side times epsilon."""
    absolute = 0.0 if atol is None else atol
    if rtol is None:
        eps = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
        rtol = eps if atol is None else np.where(np.greater(absolute, 0), 0.0, eps)
    relative = _together(np.multiply, rtol, largest)
    return _together(np.maximum, absolute, relative)


def _together(function: AnyCallable, a: Any, b: Any) -> Any:
    """A function of two arrays.

    Raises:
        RuntimeError: where their shapes don't broadcast.
    """
    problem = errors.broadcast(np.shape(a), np.shape(b))
    if problem is not None:
        raise RuntimeError(problem)
    return function(a, b)


def _largest(s: Array) -> Array:
    return np.max(s, -1, initial=0)


def check_pinv(x: Array, atol: object = None, rtol: object = None) -> None:
    """Refuses what has no pseudo-inverse.

    Raises:
        RuntimeError: for fewer dimensions than two, whole numbers and half precision.
        IndexError: for fewer dimensions, where the sides are asked for first.
    """
    if x.ndim < 2 or x.dtype.kind in "biu" or is_half(x.dtype):
        if isinstance(atol, (int, float)) and rtol is None:  # that comes of the larger side
            axis_of(-2, x.ndim)
        raise RuntimeError(
            f"linalg.pinv({name_of(x.dtype)}{{{errors.shape_text(x.shape)}}}): "
            "expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )


def pinv(x: Array, atol: object = None, rtol: object = None, hermitian: bool = False) -> Array:
    """The pseudo-inverse of each matrix, singular values up to the tolerance taken as zero."""
    check_pinv(x, atol, rtol)
    if not x.size:
        return np.zeros(x.shape[:-2] + (x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        values, u = eigh(x)
        s, vh = np.abs(values), adjoint(u)
    else:
        u, s, vh = svd(x, False)
        values = s
    keep = s > np.asarray(tolerance(x, _largest(s), atol, rtol))[..., None]
    inverse = np.where(keep, 1 / np.where(keep, values, 1), 0).astype(s.dtype)
    return np.matmul(adjoint(vh) * inverse[..., None, :], adjoint(u))


def matrix_rank(x: Array, atol: object = None, rtol: object = None, hermitian: bool = False) -> Any:
    """How many singular values of each matrix are above the tolerance."""
    if x.ndim >= 2 and not x.size and atol is not None:
        return np.zeros(x.shape[:-2], np.int64)
    check_rank(x, rtol is None)
    if not x.size:
        return np.zeros(x.shape[:-2], np.int64)
    s = np.abs(eigvalsh(x)) if hermitian else svdvals(x)
    limit = np.asarray(tolerance(x, _largest(s), atol, rtol))[..., None]
    return np.sum(s > limit, -1, dtype=np.int64)


def check_rank(x: Array, by_precision: bool = True) -> None:
    """Refuses what has no rank; `by_precision`: the tolerance is that of the type.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if x.ndim < 2:
        check(x, "torch.linalg.matrix_rank", square=False, what="input")
    if by_precision:
        _check_float(x)


def _check_float(x: Array) -> None:
    if x.dtype.char not in "fdFD":
        raise RuntimeError("This function doesn't handle types other than float and double")


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(
    a: Array, b: Array, rcond: float | None = None, driver: str | None = None
) -> tuple[Array, Array, Array, Array]:
    """The X of least norm that makes each |A X - B| least; residuals, ranks, singular values.

    Raises:
        LinAlgError: where the driver "gels" meets a matrix that hasn't full rank.
        RuntimeError: where shapes or types don't fit, and for an unknown driver.
    """
    vector = _check_lstsq(a, b, driver, rcond is not None)
    driver = driver or "gelsy"
    if rcond is None:
        rcond = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    own, (rows, cols) = a.shape[:-2], a.shape[-2:]
    if vector:
        b = b[..., None]
    batch = own
    if own != b.shape[:-2]:
        batch = np.broadcast_shapes(own, b.shape[:-2])
        a = np.broadcast_to(a, batch + a.shape[-2:])
    # PyTorch's results are the upper rows of the work space that LAPACK is given.
    space = columns((*batch, max(rows, cols), b.shape[-1]), a.dtype)
    space[..., :rows, :] = b
    space[..., rows:, :] = 0
    x = space[..., :cols, :]
    if not a.size or not b.size:
        x[...] = 0
        rank, s = np.zeros(batch, np.int64), np.zeros((*batch, min(rows, cols)), _real(a.dtype))
    else:
        rank, s = _least_squares(a, b, space, float(rcond), driver)
    residuals = np.zeros(0, s.dtype)
    if rows > cols and driver != "gelsy" and bool((rank == cols).all()):
        off = np.matmul(a, x) - b
        residuals = np.sum((off * np.conjugate(off)).real, -2)
    if own != batch:  # the ranks are those of the matrices that were given
        rank = rank[tuple(slice(None if n > 1 else 1) for n in own)]
    if driver == "gels":
        rank = np.zeros(0, np.int64)
    values = s if driver in ("gelsd", "gelss") else np.zeros(0, s.dtype)
    return (x[..., 0] if vector else x), residuals, rank, values


def _check_lstsq(a: Array, b: Array, driver: str | None, limited: bool) -> bool:
    """Whether the right hand side is a stack of vectors.

    Where no limit of the rank is given, the type is asked for one.
    """
    name = "torch.linalg.lstsq"
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got "
            f"input's dtype {name_of(a.dtype)} and other's dtype {name_of(b.dtype)}"
        )
    off = a.ndim - b.ndim
    if off not in (0, 1):
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1"
        )
    vector = is_vector(a, b)
    back = 1 if vector else 2
    if a.shape[-2] != b.shape[-back]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-{back})")
    batch = b.shape[: b.ndim - (1 if vector else 2)]
    problem = errors.broadcast(a.shape[:-2], batch) if a.shape[:-2] != batch else None
    if problem is not None:
        raise RuntimeError(problem)
    if driver is not None and driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    if limited and a.dtype.char not in "fdFD":
        raise NotImplementedError(errors.not_implemented("linalg_lstsq_cpu", name_of(a.dtype)))
    _check_float(a)
    return vector


def _no_full_rank(codes: Array) -> None:
    """Raises LinAlgError where a code isn't zero."""
    if codes.any():
        where, code = at(codes)
        raise LinAlgError(
            f"torch.linalg.lstsq: {where}The least squares solution could not be computed because "
            f"the input matrix does not have full rank (error code: {code})."
        )


def _full_rank(solver: Any, a: Array, b: Array, space: Array) -> Array:
    """Fills the upper rows of `space` by a QR decomposition; the ranks, which are full."""
    rows, cols = a.shape[-2:]
    work = (min(rows, cols) + max(rows, cols, b.shape[-1])) * 64
    codes = []
    for one, target in zip(a.reshape((-1, rows, cols)), lapack.each(space)):
        found = solver(one, target, "N", work, 0, 1)  # (factors, x, info)
        if found[1] is not target:
            target[...] = found[1]
        codes.append(found[2])
    _no_full_rank(np.array(codes, np.int64).reshape(a.shape[:-2]))
    return np.full(a.shape[:-2], min(rows, cols), np.int64)


def _least_squares(
    a: Array, b: Array, space: Array, rcond: float, driver: str
) -> tuple[Array, Array]:
    """Fills the upper rows of `space` with the solutions; the ranks and singular values."""
    batch, (rows, cols) = a.shape[:-2], a.shape[-2:]
    solver = lapack.routine("gels", a.dtype) if driver == "gels" else None
    if solver is not None:
        return _full_rank(solver, a, b, space), np.zeros(0, _real(a.dtype))
    by_svd = driver in ("gelsd", "gelss") or math.prod(batch) * 40 > rows * cols
    orthogonal = None if by_svd else lapack.routine("gelsy", a.dtype)
    if orthogonal is not None:
        ranks = []
        pivots = np.zeros((cols, 1), np.int32)
        work = 4 * cols + (max(rows, cols) + b.shape[-1]) * 64
        for one, target in zip(a.reshape((-1, rows, cols)), lapack.each(space)):
            pivots[...] = 0
            # SciPy returns (v, x, pivots, rank, info).
            found = orthogonal(one, target, pivots, rcond, work, 0, 1)
            if found[1] is not target:
                target[...] = found[1]
            ranks.append(found[3])
        rank = np.array(ranks, np.int64).reshape(batch)
        s = np.zeros(0, _real(a.dtype))
    else:
        u, s, vh = svd(a, False)
        keep = s > (0.0 if driver == "gels" else rcond) * _largest(s)[..., None]
        inverse = np.where(keep, 1 / np.where(keep, s, 1), 0).astype(s.dtype)
        turned = inverse[..., None] * np.matmul(adjoint(u), b)
        np.matmul(adjoint(vh), turned, out=space[..., :cols, :])
        rank = np.asarray(np.sum(keep, -1, dtype=np.int64))
    if driver == "gels":
        _no_full_rank(np.where(rank < min(rows, cols), rank + 1, 0))
    return rank, s
