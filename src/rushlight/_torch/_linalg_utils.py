"""`torch._linalg_utils`: products that iterative solvers are written in."""

from __future__ import annotations

from typing import Any

from .._base import dtypes as D
from .._table import namespace

__all__ = ["basis", "bform", "get_floating_dtype", "is_sparse", "matmul", "qform", "symeig"]

_f: Any = namespace("").module("the functions of torch")
_linalg: Any = namespace("linalg").module("the functions of torch.linalg")


def is_sparse(A: Any) -> bool:
    """Whether a matrix is stored without its zeros."""
    return bool(A.is_sparse)


def get_floating_dtype(A: Any) -> D.dtype:
    """The type in which to compute with a matrix: its own, or float32 for integers."""
    kept = (D.float16, D.float32, D.float64)
    return A.dtype if A.dtype in kept else D.float32


def matmul(A: Any, B: Any) -> Any:
    """A B; B where A is None."""
    return B if A is None else _f.matmul(A, B)


def bform(X: Any, A: Any, Y: Any) -> Any:
    """Xᴴ A Y; A may be None for the identity."""
    return matmul(X.mH, matmul(A, Y))


def qform(A: Any, S: Any) -> Any:
    """Sᴴ A S."""
    return bform(S, A, S)


def basis(A: Any) -> Any:
    """Orthonormal columns that span the columns of A."""
    return _linalg.qr(A)[0]


def symeig(A: Any, largest: bool | None = False) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of a symmetric matrix, smallest or largest first."""
    values, vectors = _linalg.eigh(A, UPLO="U")
    if largest:
        values, vectors = _f.flip(values, (-1,)), _f.flip(vectors, (-1,))
    return values, vectors
