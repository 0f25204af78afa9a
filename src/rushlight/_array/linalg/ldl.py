"""Factorisations L D Lᵀ of symmetric and Hermitian matrices with pivots of one or two columns.

Source: J. R. Bunch, L. Kaufman, Some stable methods for calculating inertia and solving symmetric
linear systems (1977); results are laid out as by LAPACK's lower sytrf and hetrf.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ..annotations import Array

_ALPHA: Final = (1 + 17**0.5) / 8


def _size(x: Array) -> Array:
    return np.abs(x.real) + np.abs(x.imag) if np.iscomplexobj(x) else np.abs(x)


def _swap(a: Array, kk: int, kp: int, k: int, step: int, hermitian: bool) -> None:
    """Exchanges rows and columns `kk` and `kp` of what isn't factored yet (the lower triangle)."""
    a[kp + 1 :, [kk, kp]] = a[kp + 1 :, [kp, kk]]
    column, row = a[kk + 1 : kp, kk].copy(), a[kp, kk + 1 : kp].copy()
    if hermitian:
        column, row = column.conj(), row.conj()
        a[kp, kk] = a[kp, kk].conj()
    a[kk + 1 : kp, kk], a[kp, kk + 1 : kp] = row, column
    a[kk, kk], a[kp, kp] = a[kp, kp], a[kk, kk]
    if step == 2:
        a[k + 1, k], a[kp, k] = a[kp, k], a[k + 1, k]


def _pivot(a: Array, k: int, hermitian: bool) -> tuple[int, int] | None:
    """The row to exchange with, and how many columns are eliminated; None for a zero column."""
    n = a.shape[0]
    first = abs(a[k, k].real) if hermitian else float(_size(a[k, k]))
    if k == n - 1:
        return (k, 1) if first else None
    below = _size(a[k + 1 :, k])
    imax = k + 1 + int(below.argmax())
    largest = float(below[imax - k - 1])
    if max(first, largest) == 0:
        return None
    if first >= _ALPHA * largest:
        return k, 1
    row = float(_size(a[imax, k:imax]).max())
    if imax < n - 1:
        row = max(row, float(_size(a[imax + 1 :, imax]).max()))
    other = abs(a[imax, imax].real) if hermitian else float(_size(a[imax, imax]))
    if first >= _ALPHA * largest * (largest / row):
        return k, 1
    return (imax, 1) if other >= _ALPHA * row else (imax, 2)


def _factor(a: Array, pivots: Array, hermitian: bool) -> int:
    """Factors the lower triangle of `a` in place; returns the first zero pivot."""
    n = a.shape[0]
    info = k = 0
    while k < n:
        found = _pivot(a, k, hermitian)
        if found is None:
            info = info or k + 1
            pivots[k] = k + 1
            k += 1
            continue
        kp, step = found
        kk = k + step - 1
        if kp != kk:
            _swap(a, kk, kp, k, step, hermitian)
        if hermitian:
            a[kk, kk], a[kp, kp], a[k, k] = a[kk, kk].real, a[kp, kp].real, a[k, k].real
        after = slice(k + step, n)
        if step == 1:
            x = a[after, k].copy()
            a[after, after] -= np.tril(np.outer(x, x.conj() if hermitian else x) / a[k, k])
            a[after, k] = x / a[k, k]
            pivots[k] = kp + 1
        else:
            block = a[k : k + 2, k : k + 2].copy()
            block[0, 1] = block[1, 0].conj() if hermitian else block[1, 0]
            x = a[after, k : k + 2].copy()
            # Rows times the inverse of the block; the update is symmetric like what it updates.
            w = np.linalg.solve(block.T, x.T).T
            a[after, after] -= np.tril(w @ (x.conj() if hermitian else x).T)
            a[after, k : k + 2] = w
            pivots[k] = pivots[k + 1] = -(kp + 1)
        k += step
    return info


def ldl_factor(a: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """The factors in one lower triangle, the pivots, and the first zero pivots (0: none)."""
    hermitian = hermitian and np.iscomplexobj(a)
    n = a.shape[-1]
    stack = np.tril(a).reshape(prod(a.shape[:-2]), n, n)
    pivots = np.empty((len(stack), n), np.int32)
    info = np.empty(len(stack), np.int32)
    for i, matrix in enumerate(stack):
        info[i] = _factor(matrix, pivots[i], hermitian)
    batch = a.shape[:-2]
    stack = np.ascontiguousarray(stack.swapaxes(-1, -2)).swapaxes(-1, -2)
    return _columns(stack, a.shape), pivots.reshape(*batch, n), info.reshape(batch)


def _columns(stack: Array, shape: tuple[int, ...]) -> Array:
    """A stack of matrices in column-major order, in the shape of its batch."""
    turned = (*shape[:-2], shape[-1], shape[-2])
    return stack.swapaxes(-1, -2).reshape(turned).swapaxes(-1, -2)


def _solve(a: Array, pivots: Array, b: Array, hermitian: bool) -> None:
    """Solves in place."""
    n = a.shape[0]
    k = 0
    while k < n:  # L D
        p = int(pivots[k])
        step = 1 if p > 0 else 2
        kk, kp = k + step - 1, abs(p) - 1
        if kp != kk:
            b[[kk, kp]] = b[[kp, kk]]
        b[k + step :] -= a[k + step :, k : k + step] @ b[k : k + step]
        if step == 1:
            b[k] /= a[k, k]
        else:
            block = a[k : k + 2, k : k + 2].copy()
            block[0, 1] = block[1, 0].conj() if hermitian else block[1, 0]
            b[k : k + 2] = np.linalg.solve(block, b[k : k + 2])
        k += step
    k = n - 1
    while k >= 0:  # Lᵀ
        p = int(pivots[k])
        step = 1 if p > 0 else 2
        low = k - step + 1
        rest = a[k + 1 :, low : k + 1]
        b[low : k + 1] -= (rest.conj() if hermitian else rest).T @ b[k + 1 :]
        kp = abs(p) - 1
        if kp != k:
            b[[k, kp]] = b[[kp, k]]
        k -= step


def ldl_solve(ld: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    """The solution X of A X = B, given the factors of A."""
    hermitian = hermitian and np.iscomplexobj(ld)
    n, columns = b.shape[-2:]
    batch = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2])
    out = np.empty((*batch, columns, n), b.dtype).swapaxes(-1, -2)
    out[...] = b
    factors = np.broadcast_to(ld, (*batch, n, n))
    places = np.broadcast_to(pivots, (*batch, n))
    for at in np.ndindex(*batch):
        _solve(factors[at], places[at], out[at], hermitian)
    return out
