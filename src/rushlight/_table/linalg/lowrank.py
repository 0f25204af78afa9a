"""Decompositions of low rank by random projections, and a few extreme eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..rows.composite import composite
from ..rows.tensor_namespace import table
from .decompose import eigh, linalg_qr, linalg_svd
from .linalg import linalg_cholesky

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor


def _basis(a: Any, q: int, niter: int) -> Tensor:
    """An orthonormal basis near the range of `a`.

    Source: N. Halko, P. G. Martinsson, J. A. Tropp (2009), algorithm 4.4.
    """
    kind = T.dtype_of(a)
    if kind not in (D.float16, D.float32, D.float64) and not kind.is_complex:
        kind = D.float32
    start = table("randn")(a._raw.shape[-1], q, dtype=kind)
    found = _orthonormal(a @ start)
    for _ in range(niter):
        found = _orthonormal(a.mH @ found)
        found = _orthonormal(a @ found)
    return found


def _orthonormal(a: TensorLike) -> Tensor:
    return apply_n(linalg_qr.op, [a, "reduced"])[0]


@composite("")
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) with A - M ≈ U diag(S) Vᴴ of rank `q`, by a random projection.

    Source: N. Halko, P. G. Martinsson, J. A. Tropp, Finding structure with randomness (2009).
    """
    q = 6 if q is None else q
    niter = 2 if niter is None else niter
    if M is not None:
        A = A - M.expand(A._raw.shape)
    rows, columns = A._raw.shape[-2:]
    wide = rows < columns
    if wide:
        A = A.mH
    basis = _basis(A, q, niter)
    u, s, vh = apply_n(linalg_svd.op, [basis.mH @ A, False, None])
    u, v = basis @ u, vh.mH
    return (v, s, u) if wide else (u, s, v)


@composite("")
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) of the principal components of the rows of A, the largest `q` of them.

    Raises: ValueError for a `q` or a `niter` out of range.
    """
    rows, columns = A._raw.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)="
            f"{min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(-2, keepdim=True)
    return svd_lowrank(A, q, niter)


@composite("")
def lobpcg(
    A: Tensor, k: int | None = None, B: Tensor | None = None, X: object = None,
    n: int | None = None,
    iK: object = None, niter: int | None = None, tol: float | None = None,
    largest: bool | None = None, method: str | None = None, tracker: object = None,
    ortho_iparams: object = None, ortho_fparams: object = None, ortho_bparams: object = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The `k` largest (or smallest) eigenvalues of a symmetric matrix, and their vectors.

    Computed by the full decomposition, which the iteration of PyTorch approaches: `niter`, `tol`,
    `iK`, `method` and the rest have no influence. With `B`: of A x = λ B x.
    Raises: ValueError for a matrix too small for `k`.
    """
    size = A._raw.shape[-1]
    count = (1 if not isinstance(X, TensorBase) else X._raw.shape[-1]) if k is None else k
    if size < 3 * count:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={size}) is smaller "
            f"than 3 x the number of requested eigenpairs (={count})"
        )
    a, low = (A + A.mH) / 2, None
    if B is not None:
        low = apply_n(linalg_cholesky.op, [B, False])
        solve = table("solve_triangular")
        a = solve(low, solve(low, a, upper=False).mH, upper=False).mH
    values, vectors = apply_n(eigh.op, [a, "L"])
    down = largest is None or largest
    picked = values[..., -count:].flip(-1) if down else values[..., :count]
    columns = vectors[..., -count:].flip(-1) if down else vectors[..., :count]
    if low is not None:
        columns = table("solve_triangular")(low.mH, columns, upper=True)
    return picked, columns
