"""Solving and inverting stacks of matrices, their determinants and Cholesky factors.

Results are column-major, as PyTorch's are. See Note [Two ways to LAPACK] in `lapack`.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes as D, errors
from ..reduce.reduce import name_of
from ..types import from_raw, is_half
from . import lapack
from .lapack import Failure, columns
from .triangular import DOUBT, KNOWN, lu_factor, lu_solve, solve_triangular

if TYPE_CHECKING:
    from ..annotations import Array


class _LinAlgError(RuntimeError):
    """A matrix for which a decomposition or a solution doesn't exist, or wasn't found."""


LinAlgError = _LinAlgError


# ---- checks -----------------------------------------------------------------------------------
def check(x: Array, name: str, kernel: str = "", square: bool = True, what: str = "A") -> None:
    """Refuses what isn't a stack of (square) matrices of real or complex floating-point numbers.

    Raises:
        NotImplementedError: for halves, where `kernel` names what doesn't take them.
        RuntimeError: for other element types and shapes.
    """
    shape = x.shape
    if len(shape) < 2:
        raise RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")
    if square and shape[-1] != shape[-2]:
        raise RuntimeError(
            f"{name}: {what} must be batches of square matrices, but they are {shape[-2]} by "
            f"{shape[-1]} matrices"
        )
    if x.dtype.char not in "fdFD":
        _refuse_type(x, name, kernel)


def check_inexact(x: Array, name: str) -> None:
    """Refuses numbers that are neither floating-point nor complex, before shapes are looked at.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if x.dtype.kind not in "fcV":
        _refuse_type(x, name, "")


def _refuse_type(x: Array, name: str, kernel: str) -> None:
    shown = D.scalar_name(from_raw(x.dtype))
    if not is_half(x.dtype):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {shown}"
        )
    if kernel:
        if x.size or kernel in ("geqrf_cpu", "linalg_eig_out_cpu"):
            raise NotImplementedError(errors.not_implemented(kernel, shown))
        return
    raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {shown}")


def check_kernel(x: Array, name: str, kernel: str) -> None:
    """Like `check`, for the operations that leave all element types to their kernel."""
    if x.dtype.kind in "biu" and x.ndim >= 2 and x.shape[-1] == x.shape[-2]:
        raise NotImplementedError(errors.not_implemented(kernel, name_of(x.dtype)))
    check(x, name, kernel)


def at(info: Array) -> tuple[str, int]:
    """Where the first failure is, in words, and its code."""
    if not info.ndim:
        return "", int(info)
    place = int(np.flatnonzero(info)[0])
    return f"(Batch element {place}): ", int(info.flat[place])


def adjoint(x: Array) -> Array:
    """The conjugate transpose of each matrix."""
    return np.conjugate(x.swapaxes(-1, -2)) if x.dtype.kind == "c" else x.swapaxes(-1, -2)


def _no_info(x: Array) -> Array:
    return np.zeros(x.shape[:-2], np.int32)


# ---- inverse ----------------------------------------------------------------------------------
def _invert(x: Array) -> tuple[Any, bool]:
    """The inverses, and whether all of them exist."""
    check(x, "linalg.inv")
    out = columns(x.shape, x.dtype)
    try:
        lapack.run("inv", (x,), (out,))
    except Failure:
        return out, False
    return out, True


def _by_pivots(a: Array, b: Array, x: Array, left: bool = True) -> tuple[Array, Array]:
    """`x` with A X = B (or X A = B), and for each A the number of its first pivot that is zero.

    For what NumPy calls singular, which goes by other roundings than `lu_factor`.
    """
    factors, pivots, info = lu_factor(a)
    vector = is_vector(a, b)
    with np.errstate(all="ignore"):
        found = lu_solve(factors, pivots, b[..., None] if vector else b, left, False)
    x[...] = found[..., 0] if vector else found
    return x, info


def inv(x: Array, name: str = "linalg.inv") -> Array:
    """The inverse of each matrix.

    Raises:
        LinAlgError: where one has none.
    """
    out, found = _invert(x)
    if not found:
        _, info = _by_pivots(x, _identities(x), out)
        if info.any():
            where, code = at(info)
            raise LinAlgError(
                f"{name}: {where}The diagonal element {code} is zero, the inversion could not be "
                "completed because the input matrix is singular."
            )
    return out


def inverse_adjoint(x: Array) -> Array:
    """The conjugate transpose of each inverse: of a singular matrix what its factors give."""
    out, found = _invert(x)
    if found:
        return adjoint(out)
    turned = x.flags.c_contiguous and x.dtype.kind != "c"  # as PyTorch factors it
    factors, pivots, _ = lu_factor(x.swapaxes(-1, -2) if turned else x)
    with np.errstate(all="ignore"):
        return lu_solve(factors, pivots, np.eye(x.shape[-1], dtype=x.dtype), True, not turned)


def inv_ex(x: Array, check_errors: bool = False) -> tuple[Array, Array]:
    """The inverse of each matrix, and for each the number of its first pivot that is zero."""
    if check_errors:
        return inv(x, "linalg.inv_ex"), _no_info(x)
    out, found = _invert(x)
    return (out, _no_info(x)) if found else _by_pivots(x, _identities(x), out)


def _identities(x: Array) -> Array:
    """One for each matrix: a single one could be taken for a stack of vectors."""
    return np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)


# ---- solution ---------------------------------------------------------------------------------
def is_vector(a: Array, b: Array) -> bool:
    """Whether `b` is a stack of vectors, not of matrices, beside `a`."""
    return bool(b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1]))


def check_dtypes(a: Array, b: Array, name: str, first: str = "A") -> None:
    """Refuses matrices of two element types.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected {first} and B to have the same dtype, but found {first} of type "
            f"{name_of(a.dtype)} and B of type {name_of(b.dtype)} instead"
        )


def check_pair(a: Array, b: Array, left: bool, name: str) -> None:
    """Refuses a right hand side that doesn't fit.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if b.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if a.shape[-1] != a.shape[-2]:
        check(a, name)
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'}"
            f" ({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )


def check_batches(a: Array, b: Array) -> None:
    """Refuses stacks that don't broadcast.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if a.shape[:-2] != b.shape[:-2]:
        problem = errors.broadcast(b.shape[:-2], a.shape[:-2])
        if problem is not None:
            raise RuntimeError(problem)


def check_same(b: Array, a: Array) -> None:
    """Refuses what the older functions refuse: other element types, matrices that aren't square.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {name_of(b.dtype)} and "
            f"A of type {name_of(a.dtype)} instead."
        )
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} "
            "matrices"
        )


def _solve(a: Array, b: Array, left: bool) -> tuple[Any, bool]:
    """The solutions, and whether all of them exist."""
    name = "linalg.solve"
    check_inexact(a, name)
    check_dtypes(a, b, name)
    check(a, name, "lu_cpu")
    vector = is_vector(a, b)
    matrix = b[..., None] if vector else b
    check_pair(a, matrix, left, name)
    check_batches(a, matrix)
    batch = a.shape[:-2]
    if batch != matrix.shape[:-2]:
        batch = np.broadcast_shapes(batch, matrix.shape[:-2])
    shape = batch + (b.shape[-1:] if vector else b.shape[-2:])
    x = columns(shape, a.dtype) if left else np.empty(shape, a.dtype)
    try:
        if vector:
            lapack.run("solve1", (a, b), (x,))
        elif left:
            lapack.run("solve", (a, b), (x,))
        else:
            turned = a.swapaxes(-1, -2), b.swapaxes(-1, -2)
            lapack.run("solve", turned, (x.swapaxes(-1, -2),))
    except Failure:
        return x, False
    return x, True


def solve(a: Array, b: Array, left: bool = True, name: str = "solve") -> Array:
    """X with A X = B (`left`) or X A = B, for stacks of matrices that broadcast.

    Raises:
        LinAlgError: where a matrix is singular.
        RuntimeError: where shapes or types don't fit.
    """
    x, found = _solve(a, b, left)
    if not found:
        _, info = _by_pivots(a, b, x, left)
        if info.any():
            raise LinAlgError(
                f"torch.linalg.{name}: {at(info)[0]}The solver failed because the input matrix is "
                "singular."
            )
    return x


def solve_ex(
    a: Array, b: Array, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array]:
    """`solve`, and for each matrix the number of its first pivot that is zero."""
    if check_errors:
        x = solve(a, b, left, "solve_ex")
        return x, _no_info(a)
    x, found = _solve(a, b, left)
    return (x, _no_info(a)) if found else _by_pivots(a, b, x, left)


# ---- determinants -----------------------------------------------------------------------------
def det(x: Array) -> Array:
    """The determinant of each matrix."""
    check(x, "linalg.det", "lu_cpu")
    found = lapack.call("det", x)
    doubtful = _doubtful(x, found)
    if doubtful is None:
        return found
    signs, pivots = _pivots(x, doubtful)
    with np.errstate(all="ignore"):
        products = signs * pivots.prod(-1)
    found = np.asarray(found)
    found[doubtful] = products
    return found


def slogdet(x: Array) -> tuple[Array, Array]:
    """The sign of each determinant and the logarithm of its absolute value."""
    check(x, "linalg.slogdet")
    sign, logs = lapack.call("slogdet", x)
    with np.errstate(all="ignore"):
        sizes = np.exp(logs)
    doubtful = _doubtful(x, sizes)
    if doubtful is None:
        return sign, logs
    signs, pivots = _pivots(x, doubtful)
    sign, logs = np.asarray(sign), np.asarray(logs)
    with np.errstate(all="ignore"):
        sizes = np.abs(pivots)
        logs[doubtful] = np.log(sizes).sum(-1)
        each = np.copysign(1, pivots)
        each[(sizes == 0) | (pivots != pivots)] = 0  # NaN has no sign in PyTorch
        sign[doubtful] = signs * each.prod(-1)
    return sign, logs


def _doubtful(x: Array, found: Array) -> Array | np.bool_ | None:
    """Which determinants of real matrices may be all rounding; None where there are none.

    Those are small beside the product of the rows' lengths, which no determinant is larger than,
    or of one matrix beside the power of their mean, which is quicker to find.
    """
    order = x.shape[-1]
    if not 1 < order <= KNOWN or not x.size or x.dtype.kind == "c":
        return None
    doubt = DOUBT[x.dtype.char]
    if x.ndim == 2:
        size, square = abs(float(found)), float(np.vdot(x, x))
        if size > 0 < square and log(size) > log(doubt) + order / 2 * log(square / order):
            return None
        return np.True_
    with np.errstate(all="ignore"):
        lengths = np.einsum("...ij,...ij->...i", x, x)
        clear = np.abs(found) > doubt * np.sqrt(lengths.prod(-1))
    return None if clear.all() else ~clear


def _pivots(x: Array, which: Array | np.bool_) -> tuple[Array, Array]:
    """The pivots of those matrices as PyTorch finds them, and the signs of their exchanges.

    It takes the rows of matrices in order for columns: the determinant is the same.
    """
    picked = x[which]
    factors, exchanged, _ = lu_factor(picked.swapaxes(-1, -2) if x.flags.c_contiguous else picked)
    odd = (exchanged != np.arange(1, x.shape[-1] + 1)).sum(-1) % 2
    return (1 - 2 * odd).astype(x.dtype), np.einsum("...ii->...i", factors)


def cofactors(x: Array) -> Array:
    """The derivative of the determinant for each element, of singular matrices as well.

    Source: of regular matrices det(A) A⁻ᵀ. Of others, with A = U S V^H, the adjugate is
    det(U) det(V^H) V adj(S) U^H, and adj(S) is diagonal with the product of all other singular
    values.
    """
    if not x.size:
        return np.zeros_like(x)
    if x.dtype.itemsize == 2:
        return cofactors(x.astype(np.float32)).astype(x.dtype)
    inverse, found = _invert(x)
    if found:
        product = np.asarray(lapack.call("det", x))[..., None, None] * inverse.swapaxes(-1, -2)
        if np.isfinite(product).all():
            return product
    u, s, vh = np.linalg.svd(x)
    n = x.shape[-1]
    others = np.where(np.eye(n, dtype=bool), np.ones((), s.dtype), s[..., None, :]).prod(-1)
    phase = np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return phase * np.matmul(np.conjugate(u) * others[..., None, :], np.conjugate(vh))


# ---- Cholesky ---------------------------------------------------------------------------------
def _factor(x: Array, upper: bool) -> tuple[Any, bool]:
    """The factors, and whether all of them exist.

    The upper factor of A is the transpose of the lower one of conj(A), whose lower triangle is the
    transpose of what is given: nothing to conjugate.
    """
    out = np.empty(x.shape, x.dtype) if upper else columns(x.shape, x.dtype)
    try:
        lapack.run("cholesky_lo", (x.swapaxes(-1, -2) if upper else x,), (out,))
    except Failure:
        return (out.swapaxes(-1, -2) if upper else out), False
    return (out.swapaxes(-1, -2) if upper else out), True


def _minors(x: Array, upper: bool) -> Array:
    """The order of the first leading minor of each matrix that isn't positive; 0 where all are."""
    flat = x.reshape((-1, *x.shape[-2:]))
    return np.array([_minor(one, upper) for one in flat], np.int32).reshape(x.shape[:-2])


def _first_nan(x: Array, upper: bool) -> int:
    """The order of the first leading minor that isn't a number; 0 where all are."""
    bad = np.isnan(np.triu(x) if upper else np.tril(x))
    return int(bad.any(-2 if upper else -1).argmax()) + 1 if bad.any() else 0


def _minor(x: Array, upper: bool) -> int:
    found = lapack.routine("potrf", x.dtype)
    if found is not None:
        code = int(found(x, not upper)[1])
        return code or _first_nan(x, upper)
    for k in range(1, len(x) + 1):
        if not _factor(x[:k, :k], upper)[1]:
            return k
    return _first_nan(x, upper)


def cholesky(x: Array, upper: bool = False, name: str = "linalg.cholesky") -> Array:
    """The lower (or upper) triangular L with L L^H = A, read off the triangle of A.

    Raises:
        LinAlgError: where a matrix isn't positive-definite.
    """
    check(x, "linalg.cholesky", "cholesky_cpu")
    return _cholesky(x, upper, name)


def former_cholesky(x: Array, upper: bool) -> Array:
    """What `torch.cholesky` gives: `cholesky` with checks and messages of its own."""
    if not x.size:
        return x.copy()
    check_kernel(x, "cholesky", "cholesky_cpu")
    return _cholesky(x, upper, "cholesky")


def _cholesky(x: Array, upper: bool, name: str) -> Array:
    factor, found = _factor(x, upper)
    if not found or not _is_number(factor):
        info = _minors(x, upper)
        if info.any():
            where, code = at(info)
            raise LinAlgError(
                f"{name}: {where}The factorization could not be completed because the input is not "
                f"positive-definite (the leading minor of order {code} is not positive-definite)."
            )
    return factor


def _is_number(factor: Array) -> bool:
    """Whether no last pivot is NaN, which a NaN anywhere would make it."""
    last = factor[..., -1:, -1:]
    return bool((last == last).all())


def cholesky_ex(x: Array, upper: bool = False, check_errors: bool = False) -> tuple[Array, Array]:
    """`cholesky`, and for each matrix the order of its first minor that isn't positive."""
    if check_errors:
        return cholesky(x, upper, "linalg.cholesky_ex"), _no_info(x)
    check(x, "linalg.cholesky", "cholesky_cpu")
    factor, found = _factor(x, upper)
    if found and _is_number(factor):
        return factor, _no_info(x)
    info = _minors(x, upper)
    if not found:
        lower = (adjoint(x) if upper else x).reshape(-1, *x.shape[-2:])
        parts = [_partial(one, code) for one, code in zip(lower, info.reshape(-1))]
        whole = np.stack(parts).reshape(x.shape)
        factor[...] = adjoint(whole) if upper else whole
    return factor, info


def _partial(x: Array, code: int) -> Array:
    """What is there of the lower factor when the minor of order `code` isn't positive.

    The rows of the columns before are done, the pivot that ends it is not yet a root, and what
    comes after is the triangle of what was given.
    """
    if not code:
        return _factor(x, False)[0]
    out, k = np.tril(x), code - 1
    head = _factor(x[:k, :k], False)[0]
    out[:k, :k] = head
    out[k:, :k] = adjoint(solve_triangular(head, adjoint(x[k:, :k]), False))
    out[k, k] = x[k, k].real - np.vdot(out[k, :k], out[k, :k]).real
    return out


def cholesky_solve(b: Array, factor: Array, upper: bool = False) -> Array:
    """X with A X = B, given the triangular factor of A.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    for x, what in ((b, "b"), (factor, "u")):
        if x.ndim < 2:
            raise RuntimeError(
                f"{what} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    check_batches(factor, b)
    check_same(b, factor)
    if factor.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            "Incompatible matrix sizes for cholesky_solve: each A matrix is "
            f"{factor.shape[-1]} by {factor.shape[-1]} but each b matrix is {b.shape[-2]} by "
            f"{b.shape[-1]}"
        )
    if b.dtype.char not in "fdFD":
        raise NotImplementedError(errors.not_implemented("cholesky_solve_cpu", name_of(b.dtype)))
    lower = adjoint(factor) if upper else factor
    return solve_triangular(adjoint(lower), solve_triangular(lower, b, False), True)


def cholesky_inverse(factor: Array, upper: bool = False) -> Array:
    """The inverse of A, given its triangular factor.

    Raises:
        LinAlgError: where a diagonal element is zero.
    """
    check_kernel(factor, "cholesky_inverse", "cholesky_inverse_out_cpu")
    diagonal = np.diagonal(factor, 0, -2, -1)
    if not diagonal.all():
        zeros = diagonal == 0
        where, code = at(np.where(zeros.any(-1), zeros.argmax(-1) + 1, 0))
        raise LinAlgError(
            f"cholesky_inverse: {where}The diagonal element {code} is zero, the inversion could "
            "not be completed because the input matrix is singular."
        )
    # For complex numbers LAPACK reads the diagonal as real, which the gradient doesn't.
    found = lapack.routine("potri", factor.dtype) if factor.dtype.kind == "f" else None
    if found is None or factor.ndim > 2 or not factor.size:
        eye = np.broadcast_to(np.eye(factor.shape[-1], dtype=factor.dtype), factor.shape)
        return cholesky_solve(eye, factor, upper)
    half = lapack.as_columns(factor)
    half = found(half, not upper, 1)[0]
    n = len(half)
    np.copyto(half, half.T.copy(), where=lapack.under(n, n) if upper else lapack.under(n, n).T)
    return half


# ---- functions of matrices --------------------------------------------------------------------
_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
         10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380,
          182, 1)  # fmt: skip
_THETA = 5.371920351148152


def _size(x: Array) -> Array:
    """The largest sum of magnitudes in a column of each matrix."""
    return np.abs(x).sum(-2).max(-1)


def matrix_exp(x: Array) -> Array:
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
def same_phase(x: Array, text: str) -> Array:
    """`x`, diagonals that are real unless the loss depends on the phase of vectors.

    Raises:
        RuntimeError: with `text`, where an imaginary part isn't small.
    """
    if x.dtype.kind == "c" and not np.allclose(x.imag, 0, rtol=1e-2, atol=1e-2):
        raise RuntimeError(text)
    return x
