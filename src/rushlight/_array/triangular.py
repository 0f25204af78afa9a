"""Triangular matrices: solving with them, and factoring others into them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes as D
from .types import to_raw

_BLOCK = 24  # below this size rows are solved one by one


def solve_triangular(
    a: Any, b: Any, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """X with A X = B (`left`) or X A = B, reading one triangle of A; a zero pivot gives inf."""
    if not left:
        x = solve_triangular(a.swapaxes(-1, -2), b.swapaxes(-1, -2), not upper, True, unitriangular)
        return np.ascontiguousarray(x.swapaxes(-1, -2))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.empty(batch + b.shape[-2:], np.result_type(a, b))
    x[...] = b
    if upper:
        _substitute(a[..., ::-1, ::-1], x[..., ::-1, :], unitriangular)
    else:
        _substitute(a, x, unitriangular)
    return x


def _substitute(a: Any, x: Any, unit: bool) -> None:
    """Solves a lower triangular system in place, halves first where it is large."""
    n = a.shape[-1]
    if n > _BLOCK:
        half = n // 2
        _substitute(a[..., :half, :half], x[..., :half, :], unit)
        x[..., half:, :] -= np.matmul(a[..., half:, :half], x[..., :half, :])
        _substitute(a[..., half:, half:], x[..., half:, :], unit)
        return
    for i in range(n):
        row = x[..., i, :]
        if i:
            row -= np.matmul(a[..., i : i + 1, :i], x[..., :i, :])[..., 0, :]
        if not unit:
            row /= a[..., i, i, None]


def lu_factor(x: Any, pivot: bool = True) -> tuple[Any, Any, Any]:
    """L and U in one matrix, the rows exchanged and the first pivot that is zero (from 1).

    Raises:
        RuntimeError: without pivoting.
    """
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    rows, columns = x.shape[-2:]
    batch = x.shape[:-2]
    a = x.reshape((math.prod(x.shape[:-2]), rows, columns)).copy()
    each = np.arange(len(a))
    count = min(rows, columns)
    pivots = np.empty((len(a), count), np.int32)
    info = np.zeros(len(a), np.int32)
    for j in range(count):
        column = a[:, j:, j]
        size = np.abs(column.real) + np.abs(column.imag) if a.dtype.kind == "c" else np.abs(column)
        best = np.argmax(size, 1) + j
        pivots[:, j] = best + 1
        kept = a[:, j].copy()
        a[:, j] = a[each, best]
        a[each, best] = kept
        top = a[:, j, j]
        zero = top == 0
        info = np.where((info == 0) & zero, j + 1, info)
        a[:, j + 1 :, j] /= np.where(zero, 1, top)[:, None]
        a[:, j + 1 :, j + 1 :] -= a[:, j + 1 :, j, None] * a[:, j, None, j + 1 :]
    return (
        a.reshape(x.shape),
        pivots.reshape(batch + (count,)),
        np.asarray(info, np.int32).reshape(batch),
    )


def permutation_matrix(pivots: Any, rows: int, dtype: Any) -> Any:
    """P with P L U = A, from the rows exchanged."""
    flat = pivots.reshape((math.prod(pivots.shape[:-1]), pivots.shape[-1]))
    order = np.tile(np.arange(rows), (len(flat), 1))
    each = np.arange(len(flat))
    for j in range(flat.shape[-1]):
        other = flat[:, j] - 1
        kept = order[:, j].copy()
        order[:, j] = order[each, other]
        order[each, other] = kept
    p = np.zeros((len(flat), rows, rows), to_raw(dtype) if isinstance(dtype, D.dtype) else dtype)
    p[each[:, None], order, np.arange(rows)] = 1
    return p.reshape(pivots.shape[:-1] + (rows, rows))


def lu(x: Any, pivot: bool = True) -> tuple[Any, Any, Any]:
    """P, L and U with A = P L U."""
    factors, pivots, _ = lu_factor(x, pivot)
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    lower = np.tril(factors[..., :, :count], -1)
    lower[..., np.arange(count), np.arange(count)] = 1
    return permutation_matrix(pivots, rows, x.dtype), lower, np.triu(factors[..., :count, :])
