"""Householder reflectors: QR decompositions, and products of reflectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import errors
from ..reduce.reduce import name_of
from ..types import is_half
from . import lapack

if TYPE_CHECKING:
    from ..annotations import Array

_FEW = 8  # with so many small matrices NumPy's loop in double precision is quicker
_SMALL = 1024
_TINY = 64  # elements of one matrix that `factors.c` takes: its digits are those of that loop
_WORK = 64  # columns that LAPACK handles together


def _by_numpy(x: Array) -> bool:
    """Whether NumPy's loop over a stack is quicker than SciPy, matrix by matrix."""
    if x.size <= _TINY and x.dtype.kind == "f":
        return True
    return bool(math.prod(x.shape[:-2]) >= _FEW and math.prod(x.shape[-2:]) <= _SMALL)


def _factor(x: Array) -> tuple[Array, Array]:
    """R above and the reflectors below the diagonal, column-major; the reflectors' factors."""
    count = min(x.shape[-2:])
    tau = np.zeros((*x.shape[:-2], count), x.dtype)
    if not x.size:
        return lapack.as_columns(x), tau
    factor = None if _by_numpy(x) else lapack.routine("geqrf", x.dtype)
    if factor is None:
        if x.dtype.kind == "f" and lapack.has("qr_r_raw"):
            double = lapack.columns(x.shape, np.dtype(np.float64))
            double[...] = x
            factors = np.zeros(tau.shape)
            lapack.run("qr_r_raw", (double,), (factors,))
            a = double if x.dtype == np.float64 else lapack.as_columns(double.astype(x.dtype))
            return a, factors.astype(x.dtype, copy=False)
        turned, tau = np.linalg.qr(x, "raw")
        a = lapack.columns(x.shape, x.dtype)
        a[...] = turned.swapaxes(-1, -2)
        return a, tau.astype(x.dtype, copy=False)
    a = lapack.as_columns(x)
    work = max(1, x.shape[-1]) * _WORK
    for one, place in zip(lapack.each(a), tau.reshape((-1, count))):
        found, factors = factor(one, work, 1)[:2]
        if found is not one:
            one[...] = found  # SciPy copies what isn't aligned to 8 bytes
        place[...] = factors
    return a, tau


def geqrf(x: Array) -> tuple[Array, Array]:
    """The Householder reflectors of `qr`, below the diagonal of R, and their factors.

    Raises:
        NotImplementedError: for integers and halves.
        RuntimeError: for what isn't a stack of matrices.
    """
    if x.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    if x.dtype.kind in "biu" or is_half(x.dtype):
        raise NotImplementedError(errors.not_implemented("geqrf_cpu", name_of(x.dtype)))
    return _factor(x)


def qr(x: Array, mode: str = "reduced") -> tuple[Array, Array]:
    """Q with orthonormal columns and R upper triangular with A = Q R, for each matrix.

    Raises:
        RuntimeError: for an unknown mode.
    """
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    rows, columns = x.shape[-2:]
    factored, tau = _factor(x)
    count = rows if mode == "complete" else min(rows, columns)
    r = lapack.columns((*x.shape[:-2], count, columns), x.dtype)
    r[...] = 0
    np.copyto(r, factored[..., :count, :], where=lapack.over(count, columns))
    if mode == "r":
        return np.zeros(0, x.dtype), r
    return product(factored[..., : min(rows, columns)], tau, count), r


def product(a: Array, tau: Array, columns: int) -> Array:
    """The first columns of H₁ H₂ …, whose vectors are below the diagonal of `a`; column-major."""
    rows, given = a.shape[-2:]
    q = lapack.columns((*a.shape[:-2], rows, columns), a.dtype)
    if not q.size:
        return q
    q[..., :given] = a[..., :columns] if given > columns else a
    q[..., given:] = 0
    by_numpy = _by_numpy(q)
    if by_numpy and lapack.has("qr_reduced"):
        double = np.complex128 if q.dtype.kind == "c" else np.float64
        padded = np.zeros((*q.shape[:-2], columns), double)
        padded[..., : tau.shape[-1]] = tau
        lapack.run("qr_reduced", (q.astype(double), padded), (q,))
        return q
    if not tau.shape[-1]:
        q[...] = np.eye(rows, columns, dtype=q.dtype)
        return q
    maker = None if by_numpy else lapack.routine("orgqr", a.dtype)
    if maker is None:
        eye = np.broadcast_to(np.eye(rows, columns, dtype=a.dtype), q.shape)
        q[...] = reflect(a, tau, eye, True, False)
        return q
    work = columns * _WORK
    flat = tau.reshape((math.prod(tau.shape[:-1]), tau.shape[-1]))
    for one, factors in zip(lapack.each(q), flat):
        found = maker(one, factors, work, 1)[0]
        if found is not one:
            one[...] = found
    return q


def reflect(a: Array, tau: Array, other: Array, backwards: bool, conjugate: bool) -> Array:
    """H₁ H₂ … Hₖ times `other` (`backwards`), or the product in the other order."""
    order = range(tau.shape[-1])
    for k in reversed(order) if backwards else order:
        v = a[..., :, k : k + 1] * (np.arange(a.shape[-2]) > k)[:, None]
        v[..., k, 0] = 1
        t = tau[..., k, None, None]
        vh = np.conjugate(v).swapaxes(-1, -2)
        other = other - np.matmul((np.conjugate(t) if conjugate else t) * v, np.matmul(vh, other))
    return other


# ---- public operations ------------------------------------------------------------------------
def _batch_text(shape: tuple[int, ...]) -> str:
    return errors.shape_text(shape)


def householder_product(a: Array, tau: Array) -> Array:
    """The first columns of the product of Householder reflectors.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    name = "torch.linalg.householder_product: "
    if a.ndim < 2:
        raise RuntimeError(name + "input must have at least 2 dimensions.")
    if a.shape[-2] < a.shape[-1]:
        raise RuntimeError(
            name + "input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if not tau.ndim:
        raise IndexError(errors.no_dimension(-1, 0))
    if a.shape[-1] < tau.shape[-1]:
        raise RuntimeError(name + "input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _check_factors(name, a, tau)
    if a.dtype.kind not in "fc" or is_half(a.dtype):
        raise NotImplementedError(errors.not_implemented("orgqr_cpu", name_of(a.dtype)))
    return product(a[..., : tau.shape[-1]], tau, a.shape[-1])


def _check_factors(name: str, a: Array, tau: Array) -> None:
    if a.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{tau.ndim} and input.ndim is equal to {a.ndim}"
        )
    if tau.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(
            f"{name}Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{_batch_text(tau.shape[:-1])}"
        )
    if tau.dtype != a.dtype:
        raise RuntimeError(
            f"{name}tau dtype {name_of(tau.dtype)} does not match input dtype {name_of(a.dtype)}"
        )


def ormqr(a: Array, tau: Array, other: Array, left: bool = True, transpose: bool = False) -> Array:
    """The Q of Householder reflectors (or its adjoint) times `other`, or `other` times it.

    Raises:
        RuntimeError: where shapes or types don't fit.
    """
    name = "torch.ormqr: "
    if a.ndim < 2:
        raise RuntimeError(name + "input must have at least 2 dimensions.")
    if other.ndim < 2:
        raise RuntimeError(name + "other must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] != a.shape[-2]:
        raise RuntimeError(f"{name}other.shape[{side}] must be equal to input.shape[-2]")
    if not tau.ndim:
        raise IndexError(errors.no_dimension(-1, 0))
    if tau.shape[-1:] != (min(other.shape[side], a.shape[-1]),):
        raise RuntimeError(
            f"{name}tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    _check_factors(name, a, tau)
    if a.ndim != other.ndim:
        raise RuntimeError(
            f"{name}Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {other.ndim} and input.ndim is equal to {a.ndim}"
        )
    if other.shape[:-2] != a.shape[:-2]:
        raise RuntimeError(
            f"{name}Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{_batch_text(other.shape[:-2])}"
        )
    if other.dtype != a.dtype:
        raise RuntimeError(
            f"{name}Expected input and other to have the same dtype, but input has dtype"
            f"{name_of(a.dtype)} and other has dtype {name_of(other.dtype)}"
        )
    if a.dtype.kind not in "fc" or is_half(a.dtype):
        raise NotImplementedError(errors.not_implemented("ormqr_cpu", name_of(a.dtype)))
    out = lapack.columns(other.shape, other.dtype)
    out[...] = other
    if not out.size or not tau.shape[-1]:
        return out
    worker = None if _by_numpy(out) else lapack.routine("ormqr", a.dtype)
    if worker is None:
        if left:
            out[...] = reflect(a, tau, other, not transpose, transpose)
        else:
            turned = reflect(a, tau, _adjoint(other), transpose, not transpose)
            out[...] = _adjoint(turned)
        return out
    work = max(out.shape[-2:]) * _WORK
    flag = "N" if not transpose else ("C" if a.dtype.kind == "c" else "T")
    k = tau.shape[-1]
    flat = a[..., :k].reshape((-1, a.shape[-2], k))
    for vectors, factors, one in zip(flat, tau.reshape((-1, k)), lapack.each(out)):
        found = worker("L" if left else "R", flag, vectors, factors, one, work, 1)[0]
        if found is not one:
            one[...] = found
    return out


def _adjoint(x: Any) -> Array:
    return np.conjugate(x).swapaxes(-1, -2)
