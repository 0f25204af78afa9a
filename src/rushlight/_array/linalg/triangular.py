"""Triangular matrices: solving with them, and factoring others into them."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base import dtypes as D
from ..._native.ufunc_loops import factor
from .. import kernels
from ..types import to_raw
from . import lapack

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..annotations import Array, RawType

_BLOCK = 24  # below this size rows are solved one by one
_SOLVED = 64  # below this size a matrix by itself is solved by LAPACK,
_WORTH = 6  # rows from which LAPACK solves them quicker
_FEW = 16  # matrices up to which they are inverted one by one
KNOWN = 16  # order up to which PyTorch's pivots are known to the last digit
# The part of the first pivot up to which the last may be all rounding.
DOUBT = {"f": 1e-5, "F": 1e-5, "d": 1e-14, "D": 1e-14}
_MANY = 24  # from so many small matrices on, rows of all of them at once are quicker than LAPACK


def _in_step(count: int, n: int) -> bool:
    """Whether `count` matrices of order `n` are quicker row by row, all at once: a row takes half
    of the time of a call."""
    return 2 * count > n and n <= _BLOCK // 2


# ---- solving ----------------------------------------------------------------------------------
def solve_triangular(
    a: Array, b: Array, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    """X with A X = B (`left`) or X A = B, reading one triangle of A; a zero pivot gives inf."""
    solution: Array = _solved(a, b, upper, left, unitriangular)
    return solution


def _solve(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    batch = a.shape[:-2]
    if batch != b.shape[:-2]:
        batch = np.broadcast_shapes(batch, b.shape[:-2])
    x = lapack.columns(batch + b.shape[-2:], b.dtype)
    x[...] = b
    n = a.shape[-1]
    if not x.size:
        return x
    count = math.prod(batch)
    solver = None if _in_step(count, n) else _find_solver(b.dtype)
    if solver is None:
        _in_rows(a, x if left else x.swapaxes(-1, -2), upper, left, unitriangular)
        return x
    if len(batch) == a.ndim - 2 == 0:
        solver(a, x, upper, left, unitriangular)
        return x
    if a.shape[:-2] != batch:
        a = np.broadcast_to(a, batch + a.shape[-2:])
    flat = a.reshape((count, n, n)) if batch else [a]
    for matrix, target in zip(flat, lapack.each(x)):
        solver(matrix, target, upper, left, unitriangular)
    return x


_solved: Final = factor(_solve, "Tbulu")


def copy_by_columns(a: Array, batch: tuple[int, ...]) -> Array:
    """A column-major copy for every place of a batch that the matrices broadcast to."""
    out = lapack.columns(batch + a.shape[-2:], a.dtype)
    out[...] = a
    return out


@cache
def _find_solver(dtype: RawType) -> AnyCallable | None:
    """What solves one system in place: see `openblas.triangular_solver`, and Note [Two ways to
    LAPACK] in `lapack`."""
    found: AnyCallable | None = kernels.openblas.triangular_solver(dtype)
    if found is not None:
        return found
    solver = lapack.routine("trsm", dtype)
    return None if solver is None else partial(_solve_by_scipy, solver)


def _solve_by_scipy(
    solver: AnyCallable, a: Array, x: Array, upper: bool, left: bool, unit: bool
) -> None:
    """A C-ordered matrix is the transpose of a column-major one."""
    if left and x.shape[1] == 1:
        one = lapack.routine("trsv", x.dtype)
        turned = a.flags.c_contiguous
        lower = upper if turned else not upper
        column = x[:, 0]
        found = one(a.T if turned else a, column, 1, 0, lower, turned, unit, 1)
        if found is not column:
            x[:, 0] = found
        return
    if a.flags.c_contiguous:
        found = solver(1.0, a.T, x, not left, upper, 1, unit, 1)
    else:
        found = solver(1.0, a, x, not left, not upper, 0, unit, 1)
    if found is not x:
        x[...] = found


def _in_rows(a: Array, x: Array, upper: bool, left: bool, unit: bool) -> None:
    """Solves A X = B in place for all matrices of a stack at once, or Aᵀ X = B."""
    if not left:
        a, upper = a.swapaxes(-1, -2), not upper
    if upper:
        _substitute(a[..., ::-1, ::-1], x[..., ::-1, :], unit)
    else:
        _substitute(a, x, unit)


def _solve_block(a: Array, x: Array, unit: bool) -> bool:
    """Solves a small lower triangular system in place by LAPACK; whether that is the same.

    Turned around, the matrix is an upper triangle, which elimination leaves as it is. What is zero
    or not finite is left to substitution, which tells the columns apart.
    """
    upper = np.where(lapack.over(*a.shape), a[::-1, ::-1], a.dtype.type(0))
    pivots = upper.reshape(-1)[:: len(upper) + 1]
    if unit:
        pivots[...] = 1
    if (
        not lapack.has("solve")
        or not np.isfinite(x).all()
        or not (np.isfinite(upper).all() and pivots.all())
    ):
        return False
    lapack.run("solve", (upper, x[::-1]), (x[::-1],))
    return True


def _substitute(a: Array, x: Array, unit: bool) -> None:
    """Solves a lower triangular system in place, halves first where it is large."""
    n = a.shape[-1]
    if n > (_BLOCK if x.ndim > 2 else _SOLVED):
        half = n // 2
        _substitute(a[..., :half, :half], x[..., :half, :], unit)
        x[..., half:, :] -= np.matmul(a[..., half:, :half], x[..., :half, :])
        _substitute(a[..., half:, half:], x[..., half:, :], unit)
        return
    if x.ndim == 2 and n >= _WORTH and _solve_block(a, x, unit):
        return
    for i in range(n):
        row = x[..., i, :]
        if i:
            row -= np.matmul(a[..., i : i + 1, :i], x[..., :i, :])[..., 0, :]
        if not unit:
            row /= a[..., i, i, None]


# ---- LU ---------------------------------------------------------------------------------------
def lu_factor(x: Array) -> tuple[Array, Array, Array]:
    """L and U in one matrix, the rows exchanged and the first pivot that is zero (from 1)."""
    found: tuple[Array, Array, Array] = _factored(x)
    return found


def _factor(x: Array) -> tuple[Array, Array, Array]:
    rows, columns = x.shape[-2:]
    batch = x.shape[:-2]
    count = min(rows, columns)
    factors = lapack.as_columns(x)
    if not x.size:
        return factors, np.zeros((*batch, count), np.int32), np.zeros(batch, np.int32)
    number = math.prod(batch)
    stepwise = number >= 8 * _MANY and max(rows, columns) <= _BLOCK // 2
    getrf = None if stepwise else lapack.routine("getrf", x.dtype)
    if getrf is None:
        pivots, info = _eliminate(lapack.each(factors), number)
        return factors, pivots.reshape((*batch, count)), info.reshape(batch)
    doubt = DOUBT[x.dtype.char] if rows <= KNOWN >= columns else -1.0
    last = count - 1
    if not batch:
        found, pivots, code = getrf(factors, 1)
        if abs(found.item(last, last)) <= doubt * abs(found.item(0, 0)):
            return factor_again(x)
        pivots += 1
        return found, pivots, np.array(code, np.int32)
    found = []
    for one in lapack.each(factors):
        result = getrf(one, 1)
        if result[0] is not one:
            one[...] = result[0]  # SciPy copies what isn't aligned to 8 bytes
        found.append(result)
    if (np.abs(factors[..., last, last]) <= doubt * np.abs(factors[..., 0, 0])).any():
        return factor_again(x)
    pivots = np.array([f[1] for f in found], np.int32)
    pivots += 1
    info = np.array([f[2] for f in found], np.int32)
    return factors, pivots.reshape((*batch, count)), info.reshape(batch)


_factored: Final = factor(_factor, "L")


def factor_again(x: Array) -> tuple[Array, Array, Array]:
    """Factors small matrices in PyTorch's order, one of which may be singular.

    Where the last pivot is all rounding, it depends on the order of the sums whether it is zero.
    """
    factors = lapack.as_columns(x)
    batch = x.shape[:-2]
    pivots, info = _eliminate(lapack.each(factors), math.prod(batch))
    return factors, pivots.reshape((*batch, pivots.shape[-1])), info.reshape(batch)


def _eliminate(a: Any, number: int) -> tuple[Any, Any]:
    """Factors matrices in place, one column of all of them at a time.

    To PyTorch's digits up to the order `KNOWN`: it multiplies by the reciprocal of a pivot, and
    divides by the last one but one of a square matrix of order four at most.
    """
    if len(a) != number or isinstance(a, tuple):
        a = a[0][None]
    rows, columns = a.shape[-2:]
    index = np.arange(number)
    count = min(rows, columns)
    pivots = np.empty((number, count), np.int32)
    info = np.zeros(number, np.int32)
    for j in range(count):
        column = a[:, j:, j]
        size = np.abs(column.real) + np.abs(column.imag) if a.dtype.kind == "c" else np.abs(column)
        best = np.argmax(size, 1)
        best += j
        pivots[:, j] = best
        kept = a[index, best]
        a[index, best] = a[:, j]
        a[:, j] = kept
        top = kept[:, j]
        zero = top == 0
        if zero.any():
            info[(info == 0) & zero] = j + 1
            top = np.where(zero, 1, top)
        if j + 1 < rows:
            under = a[:, j + 1 :, j]
            if j + 2 == rows == columns <= 4:
                under /= top[:, None]
            else:
                under *= (1 / top)[:, None]
            if j + 1 < columns:
                a[:, j + 1 :, j + 1 :] -= under[:, :, None] * kept[:, None, j + 1 :]
    pivots += 1
    return pivots, info


def row_order(pivots: Array, rows: int) -> Array:
    """Where each row of P^T A comes from, for rows exchanged one after another."""
    flat = pivots.reshape((math.prod(pivots.shape[:-1]), pivots.shape[-1]))
    if len(flat) <= _FEW:
        orders = []
        for exchanged in flat.tolist():
            order = list(range(rows))
            for j, other in enumerate(exchanged):
                order[j], order[other - 1] = order[other - 1], order[j]
            orders.append(order)
        found = np.array(orders, np.intp).reshape((len(flat), rows))
    else:
        found = np.tile(np.arange(rows), (len(flat), 1))
        index = np.arange(len(flat))
        for j in range(flat.shape[-1]):
            other = flat[:, j] - 1
            kept = found[:, j].copy()
            found[:, j] = found[index, other]
            found[index, other] = kept
    return found.reshape((*pivots.shape[:-1], rows))


def permutation_matrix(pivots: Array, rows: int, dtype: RawType | D.dtype) -> Array:
    """P with P L U = A, from the rows exchanged."""
    order = row_order(pivots, rows)
    raw = to_raw(dtype) if isinstance(dtype, D.dtype) else dtype
    p = np.zeros((*order.shape[:-1], rows, rows), raw)
    if order.ndim == 1:
        p[order, np.arange(rows)] = 1
    else:
        np.put_along_axis(p, order[..., None, :], 1, -2)
    return p


def nothing(dtype: RawType) -> Array:
    """An array without elements."""
    return np.zeros(0, dtype)


def triangles(factors: Array) -> tuple[Array, Array]:
    """L, with a unit diagonal, and U, from one matrix that holds both; C-ordered."""
    rows, columns = factors.shape[-2:]
    count = min(rows, columns)
    lower = np.zeros((*factors.shape[:-2], rows, count), factors.dtype)
    np.copyto(lower, factors[..., :count], where=lapack.under(rows, count))
    np.einsum("...ii->...i", lower[..., :count, :])[...] = 1
    upper = np.zeros((*factors.shape[:-2], count, columns), factors.dtype)
    np.copyto(upper, factors[..., :count, :], where=lapack.over(count, columns))
    return lower, upper


def lu(x: Array) -> tuple[Array, Array, Array]:
    """P, L and U with A = P L U."""
    found: tuple[Array, Array, Array] = _split(x)
    return found


def _lu(x: Array) -> tuple[Array, Array, Array]:
    factors, pivots, _ = lu_factor(x)
    lower, upper = triangles(factors)
    return permutation_matrix(pivots, x.shape[-2], x.dtype), lower, upper


_split: Final = factor(_lu, "P")


def lu_solve(factors: Array, pivots: Array, b: Array, left: bool, adjoint: bool) -> Array:
    """X with A X = B, X A = B, A^H X = B or X A^H = B, given A's factors."""
    if not left:
        return _adjoint(lu_solve(factors, pivots, _adjoint(b), True, not adjoint))
    rows = factors.shape[-1]
    if factors.ndim == 2 == b.ndim:
        return _solve_two(factors, row_order(pivots, rows), b, adjoint)
    batch = np.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    order = np.broadcast_to(row_order(pivots, rows), (*batch, rows))[..., None]
    if adjoint:
        turned = _adjoint(factors)
        x = solve_triangular(turned, b, False)
        x = solve_triangular(turned, x, True, True, True)
        found = lapack.columns(x.shape, x.dtype)
        np.put_along_axis(found, np.broadcast_to(order, x.shape), x, -2)
        return found
    if b.shape[:-2] != batch:
        b = np.broadcast_to(b, batch + b.shape[-2:])
    x = solve_triangular(factors, np.take_along_axis(b, order, -2), False, True, True)
    return solve_triangular(factors, x, True)


def _solve_two(factors: Array, order: Array, b: Array, adjoint: bool) -> Array:
    if not adjoint:
        x = solve_triangular(factors, b[order], False, True, True)
        return solve_triangular(factors, x, True)
    turned = _adjoint(factors)
    x = solve_triangular(turned, solve_triangular(turned, b, False), True, True, True)
    found = lapack.columns(x.shape, x.dtype)
    found[order] = x
    return found


def _adjoint(x: Array) -> Array:
    return np.conjugate(x.swapaxes(-1, -2)) if x.dtype.kind == "c" else x.swapaxes(-1, -2)
