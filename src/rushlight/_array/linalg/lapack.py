"""LAPACK, as NumPy and SciPy bring it: in the operands' own type, on stacks, into any layout.

Note [Two ways to LAPACK]
The generalised ufuncs under `numpy.linalg` compute single precision in single precision, as PyTorch
does and NumPy's public functions don't, and write into arrays of any layout: results are
column-major, as PyTorch's are, at no cost. What NumPy doesn't show (LU factors, products of
reflectors, triangular systems) comes from the OpenBLAS that came with it, if one did, matrix by
matrix at three microseconds a call (`openblas_lapack`); else from SciPy where it is installed,
which is imported when it is first needed. SciPy's OpenBLAS is another one, whose threads and
NumPy's wait on each other's cores. Every caller has a way with neither.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import openblas_lapack

if TYPE_CHECKING:
    from ..._base.annotations import Positional, TensorLike
    from ..annotations import Array, RawType

_gufuncs: Any = getattr(np.linalg, "_umath_linalg", None)
_linalg: Any = np.linalg
_LETTERS: Final = {"f": "s", "d": "d", "F": "c", "D": "z"}
_routines: dict[tuple[str, str], Any] = {}
_modules: list[Any] = []


class Failure(Exception):
    """LAPACK found no result for one of the matrices, whose elements are now NaN."""


# ---- layout -----------------------------------------------------------------------------------
def columns(shape: tuple[int, ...], dtype: RawType) -> Array:
    """Uninitialised matrices whose columns lie together in memory; a vector is a vector."""
    if len(shape) < 2:
        return np.empty(shape, dtype)
    return np.empty((*shape[:-2], shape[-1], shape[-2]), dtype).swapaxes(-1, -2)


def as_columns(x: Array) -> Array:
    """A copy whose columns lie together in memory."""
    out = columns(x.shape, x.dtype)
    out[...] = x
    return out


def each(x: TensorLike) -> TensorLike | tuple[TensorLike, ...]:
    """The matrices of a stack that `columns` made, one after another."""
    if x.ndim == 2:
        return (x,)
    turned = x.swapaxes(-1, -2)
    return turned.reshape((-1, *turned.shape[-2:])).swapaxes(-1, -2)


@functools.lru_cache(64)
def under(rows: int, columns: int, diagonal: bool = False) -> Array:
    """Where the strictly lower triangle is, or that with its diagonal; not to be written."""
    return np.tri(rows, columns, 0 if diagonal else -1, bool)


@functools.lru_cache(64)
def over(rows: int, columns: int) -> Array:
    """Where the upper triangle with its diagonal is; not to be written."""
    return ~np.tri(rows, columns, -1, bool)


# ---- NumPy ------------------------------------------------------------------------------------
#: What the public functions are called with, in a NumPy that has no such generalised ufunc.
_PUBLIC: Final[dict[str, Any]] = {
    "inv": lambda x: (_linalg.inv(x),),
    "solve": lambda a, b: (_linalg.solve(a, b),),
    "solve1": lambda a, b: (_linalg.solve(a, b[..., None])[..., 0],),
    "det": lambda x: (_linalg.det(x),),
    "slogdet": lambda x: tuple(_linalg.slogdet(x)),
    "cholesky_lo": lambda x: (_linalg.cholesky(x),),
    "eig": lambda x: tuple(_linalg.eig(x)),
    "eigvals": lambda x: (_linalg.eigvals(x),),
    "eigh_lo": lambda x: tuple(_linalg.eigh(x, "L")),
    "eigh_up": lambda x: tuple(_linalg.eigh(x, "U")),
    "eigvalsh_lo": lambda x: (_linalg.eigvalsh(x, "L"),),
    "eigvalsh_up": lambda x: (_linalg.eigvalsh(x, "U"),),
    "svd": lambda x: (_linalg.svd(x, compute_uv=False),),
    "svd_f": lambda x: tuple(_linalg.svd(x)),
    "svd_s": lambda x: tuple(_linalg.svd(x, False)),
}


def has(name: str) -> bool:
    """Whether this NumPy has a generalised ufunc `name`."""
    return hasattr(_gufuncs, name)


def run(name: str, operands: tuple[Array, ...], outs: tuple[Array, ...]) -> None:
    """Fills `outs` with what the generalised ufunc `name` makes of the operands.

    Raises:
        Failure: where LAPACK gives up on a matrix.
    """
    found = getattr(_gufuncs, name, None)
    if found is None:
        _run_public(name, operands, outs)
        return
    try:
        with np.errstate(all="ignore", invalid="raise"):
            found(*operands, *outs)
    except FloatingPointError:
        raise Failure from None


def _run_public(name: str, operands: Positional, outs: Positional) -> None:
    try:
        results = _PUBLIC[name](*operands)
    except np.linalg.LinAlgError:
        _run_one_by_one(name, operands, outs)
        raise Failure from None
    for out, result in zip(outs, results):
        out[...] = result


def _run_one_by_one(name: str, operands: Positional, outs: Positional) -> None:
    """Fills each matrix of a stack by itself, with NaN where that fails."""
    batch = outs[0].shape[: operands[0].ndim - 2]
    for at in np.ndindex(batch):
        picked = [np.broadcast_to(x, batch + x.shape[len(batch) :])[at] for x in operands]
        try:
            results = _PUBLIC[name](*picked)
        except np.linalg.LinAlgError:
            results = [np.nan] * len(outs)
        for out, result in zip(outs, results):
            out[at] = result


def call(name: str, *operands: object) -> Any:
    """What the generalised ufunc `name`, which has one scalar result for a matrix, gives.

    Overflow to infinity is no failure.
    """
    found = getattr(_gufuncs, name, None)
    if found is None:
        results = _PUBLIC[name](*operands)
        return results[0] if len(results) == 1 else results
    with np.errstate(all="ignore"):
        return found(*operands)


# ---- single matrices ---------------------------------------------------------------------------
def routine(name: str, dtype: RawType) -> Any:
    """The routine `name` for an element type, called as SciPy's is; None where nobody has it."""
    key = name, dtype.char
    try:
        return _routines[key]
    except KeyError:
        pass
    found = openblas_lapack.routine(name, dtype)
    if found is None and not _modules:
        _modules.extend(_scipy())
    for module in _modules:
        found = found or getattr(module, _LETTERS.get(dtype.char, "?") + name, None)
    if found is None and dtype.kind == "c" and name[:2] == "or":  # what is orthogonal is unitary
        found = routine("un" + name[2:], dtype)
    _routines[key] = found
    return found


def _scipy() -> list[Any]:
    try:
        from scipy.linalg import blas, lapack
    except ImportError:
        return [None]
    return [lapack, blas]
