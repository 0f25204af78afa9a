"""Solving, inverting and decomposing stacks of matrices, with PyTorch's checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes as D
from .. import errors
from .reduce import is_half, name_of
from .triangular import lu_factor, solve_triangular
from .types import from_raw, to_raw

_Failed = np.linalg.LinAlgError


class _LinAlgError(RuntimeError):
    """A matrix for which a decomposition or a solution doesn't exist, or wasn't found."""


LinAlgError = _LinAlgError


# ---- checks -----------------------------------------------------------------------------------
def check(x: Any, name: str, kernel: str = "", square: bool = True, what: str = "A") -> None:
    """Refuses what isn't a stack of (square) matrices of real or complex floating-point numbers.

    Raises:
        NotImplementedError: for halves, where `kernel` names what doesn't take them.
        RuntimeError: for other element types and shapes.
    """
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")
    if square and x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: {what} must be batches of square matrices, but they are {x.shape[-2]} by "
            f"{x.shape[-1]} matrices"
        )
    if x.dtype.kind in "biu":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {name_of(x.dtype)}"
        )
    if is_half(x.dtype):
        shown = D.scalar_name(from_raw(x.dtype))
        if kernel:
            raise NotImplementedError(errors.not_implemented(kernel, shown))
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {shown}")


def _check_kernel(x: Any, name: str, kernel: str) -> None:
    """Like `check`, for the operations that leave integers to their kernel."""
    if x.dtype.kind in "biu" and x.ndim >= 2 and x.shape[-1] == x.shape[-2]:
        raise NotImplementedError(errors.not_implemented(kernel, name_of(x.dtype)))
    check(x, name, kernel)


def _at(info: Any) -> tuple[str, int]:
    """Where the first failure is, in words, and its code."""
    if not info.ndim:
        return "", int(info)
    place = int(np.flatnonzero(info)[0])
    return f"(Batch element {place}): ", int(info.flat[place])


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    return np.conjugate(x.swapaxes(-1, -2)) if x.dtype.kind == "c" else x.swapaxes(-1, -2)


def _no_info(x: Any) -> Any:
    return np.zeros(x.shape[:-2], np.int32)


# ---- inverse and solution ---------------------------------------------------------------------
def inv(x: Any) -> Any:
    """The inverse of each matrix.

    Raises:
        LinAlgError: where one has none.
    """
    check(x, "linalg.inv")
    try:
        return np.linalg.inv(x)
    except _Failed:
        where, code = _at(lu_factor(x)[2])
        raise LinAlgError(
            f"linalg.inv: {where}The diagonal element {code} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        ) from None


def inv_ex(x: Any, check_errors: bool = False) -> tuple[Any, Any]:
    """The inverse of each matrix, and for each the number of its first pivot that is zero."""
    if check_errors:
        return inv(x), _no_info(x)
    check(x, "linalg.inv")
    try:
        return np.linalg.inv(x), _no_info(x)
    except _Failed:
        info = lu_factor(x)[2]
        bad = np.asarray(info != 0)[..., None, None]
        good = np.linalg.inv(np.where(bad, np.eye(x.shape[-1], dtype=x.dtype), x))
        return np.where(bad, np.full_like(x, np.nan), good), info


def _is_vector(a: Any, b: Any) -> bool:
    return bool(b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1]))


def _check_pair(a: Any, b: Any, left: bool, name: str) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type "
            f"{name_of(a.dtype)} and B of type {name_of(b.dtype)} instead"
        )
    if b.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'}"
            f" ({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    problem = errors.broadcast(a.shape[:-2], b.shape[:-2])
    if problem is not None:
        raise RuntimeError(problem)


def _solved(a: Any, b: Any, left: bool, name: str) -> Any:
    check(a, name)
    vector = _is_vector(a, b)
    if vector:
        b = b[..., None]
    _check_pair(a, b, left, name)
    if left:
        x = np.linalg.solve(a, b)
    else:
        x = np.linalg.solve(a.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
        x = np.ascontiguousarray(x)
    return x[..., 0] if vector else x


def solve(a: Any, b: Any, left: bool = True) -> Any:
    """X with A X = B (`left`) or X A = B, for stacks of matrices that broadcast.

    Raises:
        LinAlgError: where a matrix is singular.
        RuntimeError: where shapes or types don't fit.
    """
    try:
        return _solved(a, b, left, "linalg.solve")
    except _Failed:
        where, _ = _at(lu_factor(a)[2])
        raise LinAlgError(
            f"torch.linalg.solve: {where}The solver failed because the input matrix is singular."
        ) from None


def solve_ex(a: Any, b: Any, left: bool = True, check_errors: bool = False) -> tuple[Any, Any]:
    """`solve`, and for each matrix the number of its first pivot that is zero."""
    if check_errors:
        return solve(a, b, left), _no_info(a)
    try:
        return _solved(a, b, left, "linalg.solve"), _no_info(a)
    except _Failed:
        info = lu_factor(a)[2]
        bad = np.asarray(info != 0)[..., None, None]
        x = _solved(np.where(bad, np.eye(a.shape[-1], dtype=a.dtype), a), b, left, "linalg.solve")
        return np.where(bad[..., 0] if _is_vector(a, b) else bad, np.full_like(x, np.nan), x), info


# ---- determinants -----------------------------------------------------------------------------
def det(x: Any) -> Any:
    """The determinant of each matrix."""
    check(x, "linalg.det", "lu_cpu")
    return np.linalg.det(x)


def slogdet(x: Any) -> tuple[Any, Any]:
    """The sign of each determinant and the logarithm of its absolute value."""
    check(x, "linalg.slogdet")
    sign, log = np.linalg.slogdet(x)
    return sign, log


def cofactors(x: Any) -> Any:
    """The derivative of the determinant for each element, of singular matrices as well.

    Source: with A = U S V^H the adjugate is det(U) det(V^H) V adj(S) U^H, and adj(S) is diagonal
    with the product of all other singular values.
    """
    if not x.size:
        return np.zeros_like(x)
    if x.dtype.itemsize == 2:
        return cofactors(x.astype(np.float32)).astype(x.dtype)
    u, s, vh = np.linalg.svd(x)
    n = x.shape[-1]
    others = np.where(np.eye(n, dtype=bool), np.ones((), s.dtype), s[..., None, :]).prod(-1)
    phase = np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return phase * np.matmul(np.conjugate(u) * others[..., None, :], np.conjugate(vh))


# ---- Cholesky ---------------------------------------------------------------------------------
def _minor(x: Any) -> int:
    """The order of the first leading minor that isn't positive; 0 where all are."""
    for k in range(1, len(x) + 1):
        try:
            np.linalg.cholesky(x[:k, :k])
        except _Failed:
            return k
    return 0


def _minors(x: Any) -> Any:
    flat = x.reshape((-1, *x.shape[-2:]))
    return np.array([_minor(one) for one in flat], np.int32).reshape(x.shape[:-2])


def cholesky(x: Any, upper: bool = False, name: str = "linalg.cholesky") -> Any:
    """The lower (or upper) triangular L with L L^H = A, read off the triangle of A.

    Raises:
        LinAlgError: where a matrix isn't positive-definite.
    """
    check(x, name, "cholesky_cpu")
    lower = adjoint(x) if upper else x
    try:
        found = np.linalg.cholesky(lower)
    except _Failed:
        where, code = _at(_minors(lower))
        raise LinAlgError(
            f"{name}: {where}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {code} is not positive-definite)."
        ) from None
    return np.ascontiguousarray(adjoint(found)) if upper else found


def cholesky_ex(x: Any, upper: bool = False, check_errors: bool = False) -> tuple[Any, Any]:
    """`cholesky`, and for each matrix the order of its first minor that isn't positive."""
    if check_errors:
        return cholesky(x, upper), _no_info(x)
    check(x, "linalg.cholesky", "cholesky_cpu")
    lower = adjoint(x) if upper else x
    try:
        found, info = np.linalg.cholesky(lower), _no_info(x)
    except _Failed:
        info = _minors(lower)
        bad = np.asarray(info != 0)[..., None, None]
        found = np.linalg.cholesky(np.where(bad, np.eye(x.shape[-1], dtype=x.dtype), lower))
        found = np.where(bad, np.full_like(found, np.nan), found)
    return (np.ascontiguousarray(adjoint(found)) if upper else found), info


def cholesky_solve(b: Any, factor: Any, upper: bool = False) -> Any:
    """X with A X = B, given the triangular factor of A.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    for x, what in ((b, "b"), (factor, "u")):
        if x.ndim < 2:
            raise RuntimeError(
                f"{what} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    if factor.shape[-1] != factor.shape[-2] or factor.shape[-1] != b.shape[-2]:
        check(factor, "cholesky_solve")
        raise RuntimeError(
            "Incompatible matrix sizes for cholesky_solve: each A matrix is "
            f"{factor.shape[-1]} by {factor.shape[-1]} but each b matrix is {b.shape[-2]} by "
            f"{b.shape[-1]}"
        )
    lower = adjoint(factor) if upper else factor
    return solve_triangular(adjoint(lower), solve_triangular(lower, b, False), True)


def cholesky_inverse(factor: Any, upper: bool = False) -> Any:
    """The inverse of A, given its triangular factor."""
    check(factor, "cholesky_inverse", "cholesky_inverse_out_cpu")
    eye = np.broadcast_to(np.eye(factor.shape[-1], dtype=factor.dtype), factor.shape)
    return cholesky_solve(eye, factor, upper)


# ---- spectra ----------------------------------------------------------------------------------
def _check_triangle(uplo: str) -> None:
    if uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")


def _not_converged(name: str, x: Any, reason: str) -> LinAlgError:
    finite = np.isfinite(x).all((-2, -1))
    where = ""
    if finite.ndim and not finite.all():
        where = f"(Batch element {int(np.flatnonzero(~finite)[0])}): "
    return LinAlgError(f"{name}: {where}The algorithm failed to converge because {reason}.")


def eigh(x: Any, uplo: str = "L") -> tuple[Any, Any]:
    """The eigenvalues (ascending) and eigenvectors of each Hermitian matrix, read off one triangle.

    Raises:
        LinAlgError: where they weren't found.
    """
    _check_kernel(x, "linalg.eigh", "linalg_eigh_cpu")
    _check_triangle(uplo)
    try:
        values, vectors = np.linalg.eigh(x, uplo)  # type: ignore[call-overload]
    except _Failed:
        raise _not_converged(
            "linalg.eigh", x,
            "the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: "
            f"{x.shape[-1] - 1})",
        ) from None  # fmt: skip
    return values, vectors


def eigvalsh(x: Any, uplo: str = "L") -> Any:
    """The eigenvalues (ascending) of each Hermitian matrix, read off one triangle."""
    _check_kernel(x, "linalg.eigh", "linalg_eigh_cpu")
    _check_triangle(uplo)
    try:
        return np.linalg.eigvalsh(x, uplo)  # type: ignore[call-overload]
    except _Failed:
        return eigh(x, uplo)[0]


def _check_eig(x: Any, name: str) -> Any:
    if x.dtype.kind in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {name_of(x.dtype)}")
    check(x, name, "linalg_eig_out_cpu")
    if not np.isfinite(x).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return to_raw(from_raw(x.dtype).to_complex())


def eig(x: Any) -> tuple[Any, Any]:
    """The eigenvalues and eigenvectors of each matrix, complex."""
    kind = _check_eig(x, "linalg.eig")
    values, vectors = np.linalg.eig(x)
    return values.astype(kind, copy=False), vectors.astype(kind, copy=False)


def eigvals(x: Any) -> Any:
    """The eigenvalues of each matrix, complex."""
    kind = _check_eig(x, "linalg.eigvals")
    return np.linalg.eigvals(x).astype(kind, copy=False)


def svd(x: Any, full_matrices: bool = True, driver: str | None = None) -> tuple[Any, Any, Any]:
    """U, S (descending) and V^H with A = U S V^H, for each matrix.

    Raises:
        LinAlgError: where they weren't found.
    """
    check(x, "linalg.svd", "linalg_svd_cpu", square=False)
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
    try:
        u, s, vh = np.linalg.svd(x, full_matrices)
    except _Failed:
        raise _not_converged(
            "linalg.svd", x, "the input matrix contained non-finite values"
        ) from None
    return u, s, vh


def thin_svd(x: Any) -> tuple[Any, Any, Any]:
    """`svd` without what is outside the matrix's own spaces."""
    return svd(x, False)


def svdvals(x: Any, driver: str | None = None) -> Any:
    """The singular values of each matrix, descending."""
    check(x, "linalg.svd", "linalg_svd_cpu", square=False)
    try:
        return np.linalg.svd(x, compute_uv=False)
    except _Failed:
        return svd(x, False, driver)[1]


def qr(x: Any, mode: str = "reduced") -> tuple[Any, Any]:
    """Q with orthonormal columns and R upper triangular with A = Q R, for each matrix."""
    check(x, "linalg.qr", "geqrf_cpu", square=False)
    if mode == "r":
        return np.zeros(0, x.dtype), np.linalg.qr(x, "r")
    if mode not in ("reduced", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    q, r = np.linalg.qr(x, mode)  # type: ignore[call-overload]
    return q, r


def geqrf(x: Any) -> tuple[Any, Any]:
    """The Householder reflectors of `qr`, below the diagonal of R, and their factors."""
    if x.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check(x, "geqrf", "geqrf_cpu", square=False)
    h, tau = np.linalg.qr(x, "raw")
    return np.ascontiguousarray(h.swapaxes(-1, -2)), tau


# ---- pseudo-inverse and least squares ---------------------------------------------------------
def _tolerance(x: Any, largest: Any, atol: Any, rtol: Any) -> Any:
    """max(atol, rtol σ₁) for each matrix; by default rtol is the larger side times epsilon."""
    absolute = 0.0 if atol is None else atol
    if rtol is None:
        eps = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
        rtol = eps if atol is None else np.where(np.greater(absolute, 0), 0.0, eps)
    return np.maximum(absolute, rtol * largest)


def _largest(s: Any) -> Any:
    return np.max(s, -1, initial=0)


def pinv(x: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The pseudo-inverse of each matrix, singular values up to the tolerance taken as zero."""
    if x.ndim < 2 or x.dtype.kind in "biu" or is_half(x.dtype):
        raise RuntimeError(
            f"linalg.pinv({name_of(x.dtype)}{{{errors.shape_text(x.shape)}}}): "
            "expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    if not x.size:
        return np.zeros(x.shape[:-2] + (x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        check(x, "linalg.pinv")
        values, u = eigh(x)
        s, vh = np.abs(values), adjoint(u)
    else:
        u, s, vh = svd(x, False)
        values = s
    keep = s > np.asarray(_tolerance(x, _largest(s), atol, rtol))[..., None]
    inverse = np.where(keep, 1 / np.where(keep, values, 1), 0).astype(s.dtype)
    return np.matmul(adjoint(vh) * inverse[..., None, :], adjoint(u))


def matrix_rank(x: Any, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """How many singular values of each matrix are above the tolerance."""
    if x.dtype.kind in "biu" or is_half(x.dtype):
        raise RuntimeError("This function doesn't handle types other than float and double")
    check(x, "torch.linalg.matrix_rank", square=False, what="input")
    if not x.size:
        return np.zeros(x.shape[:-2], np.int64)
    s = np.abs(eigvalsh(x)) if hermitian else svdvals(x)
    limit = np.asarray(_tolerance(x, _largest(s), atol, rtol))[..., None]
    return np.sum(s > limit, -1, dtype=np.int64)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(
    a: Any, b: Any, rcond: Any = None, driver: str | None = None
) -> tuple[Any, Any, Any, Any]:
    """The X of least norm that makes each |A X - B| least; residuals, ranks, singular values.

    Raises:
        RuntimeError: where shapes or types don't fit, and for an unknown driver.
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
    check(a, "torch.linalg.lstsq", "linalg_lstsq_cpu", square=False)
    vector = _is_vector(a, b)
    if vector:
        b = b[..., None]
    if a.shape[-2] != b.shape[-2]:
        raise RuntimeError(
            f"{name}: input.size(-{2}) should match other.size(-{1 if vector else 2})"
        )
    if driver is not None and driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    driver = driver or "gelsy"
    u, s, vh = svd(a, False)
    if rcond is None:
        rcond = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    keep = s > (0.0 if driver == "gels" else rcond) * _largest(s)[..., None]
    inverse = np.where(keep, 1 / np.where(keep, s, 1), 0).astype(s.dtype)
    x = np.matmul(adjoint(vh), inverse[..., None] * np.matmul(adjoint(u), b))
    rank = np.sum(keep, -1, dtype=np.int64)
    residuals = np.zeros(0, s.dtype)
    full = a.shape[-2] > a.shape[-1] and driver != "gelsy"
    if full and bool(np.all(rank == a.shape[-1])):
        off = np.matmul(a, x) - b
        residuals = np.sum((off * np.conjugate(off)).real, -2)
    if driver == "gels":
        rank = np.zeros(0, np.int64)
    values = s if driver in ("gelsd", "gelss") else np.zeros(0, s.dtype)
    return (x[..., 0] if vector else x), residuals, rank, values


# ---- functions of matrices --------------------------------------------------------------------
_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
         10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380,
          182, 1)  # fmt: skip
_THETA = 5.371920351148152


def _size(x: Any) -> Any:
    """The largest sum of magnitudes in a column of each matrix."""
    return np.abs(x).sum(-2).max(-1)


def matrix_exp(x: Any) -> Any:
    """The exponential of each matrix, by scaling, a rational approximation and squaring.

    How far it is scaled is read off its powers, so that large elements that no power keeps (those
    of a gradient beside a small matrix, say) don't cost squarings.

    Source: A. H. Al-Mohy, N. J. Higham, A new scaling and squaring algorithm for the matrix
    exponential (2009).
    """
    if x.ndim < 2 or x.dtype.kind in "biu" or not is_half(x.dtype):
        check(x, "linalg.matrix_exp")
    if is_half(x.dtype):
        return matrix_exp(x.astype(np.float32)).astype(x.dtype)
    if not x.size:
        return np.zeros_like(x)
    norm = _size(x)
    finite = np.where(np.isfinite(norm) & (norm > 0), norm, 1)
    unit = x / finite[..., None, None]
    u2 = np.matmul(unit, unit)
    u4 = np.matmul(u2, u2)
    u6 = np.matmul(u4, u2)
    root = np.maximum(_size(u6) ** (1 / 6), _size(np.matmul(u4, u4)) ** (1 / 8))
    reach = np.where(np.isfinite(root) & (root > 0), finite * root, 1)
    halvings = np.maximum(0, np.ceil(np.log2(reach / _THETA))).astype(int)
    scale = (finite / np.exp2(halvings)).astype(norm.dtype)[..., None, None]
    a, a2, a4, a6 = unit * scale, u2 * scale**2, u4 * scale**4, u6 * scale**6
    eye = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    b = [float(c) / _PADE[0] for c in _PADE]
    odd = np.matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2)
    odd = np.matmul(a, odd + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye)
    even = np.matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2)
    even = even + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    result = np.linalg.solve(even - odd, even + odd)
    for k in range(int(halvings.max(initial=0))):
        more = np.asarray(halvings > k)[..., None, None]
        result = np.where(more, np.matmul(result, result), result)
    return result


# ---- checks inside gradients ------------------------------------------------------------------
def same_phase(x: Any, text: str) -> Any:
    """`x`, diagonals that are real unless the loss depends on the phase of vectors.

    Raises:
        RuntimeError: with `text`, where an imaginary part isn't small.
    """
    if x.dtype.kind == "c" and not np.allclose(x.imag, 0, rtol=1e-2, atol=1e-2):
        raise RuntimeError(text)
    return x
