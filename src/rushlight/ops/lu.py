"""LU decompositions with row exchanges, and solving by them."""

from __future__ import annotations

from typing import Any

from .. import errors
from .._array import linalg as arrays
from .._array import triangular as raw
from .._array.types import from_raw
from .._core.apply import apply_n
from . import _return_types
from ._composite import composite
from ._row import general
from ._traced import table
from .linalg import regular

_SAMPLES = lambda mk: [  # noqa: E731
    (regular(mk, 3, 3),),
    (mk(4, 3),),
    (mk(2, 4),),
    (mk(2, 3, 3),),
    (mk(0, 0),),
]


def _checked(forward: Any, name: str) -> Any:
    def run(x: Any, pivot: bool = True, *rest: Any) -> Any:
        if x.ndim < 2:
            raise RuntimeError(
                f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(x.shape)} "
                "instead"
            )
        if x.dtype.kind not in "fc" or x.dtype.itemsize == 2:
            shown = {"int64": "Long", "float16": "Half", "int32": "Int", "bool": "Bool"}
            kind = shown.get(x.dtype.name, from_raw(x.dtype).name)
            raise NotImplementedError(errors.not_implemented("lu_cpu", kind))
        return forward(x, pivot, *rest)

    return run


def _plu_gradient(xp: Any, p: Any, low: Any, up: Any, of_low: Any, of_up: Any) -> Any:
    """P L⁻ᵀ (strictly lower part of Lᵀ gL + upper part of gU Uᵀ) U⁻ᵀ, for the leading square.

    Rows below it, and columns right of it, are linear in the rest of L and of U.
    """
    rows, columns = low.shape[-2], up.shape[-1]
    count = min(rows, columns)
    l1, u1 = low[..., :count, :], up[..., :, :count]
    l1t, u1t = xp.matrix_transpose(l1), xp.matrix_transpose(u1)
    below = xp.matrix_transpose(l1) @ of_low[..., :count, :]
    above = of_up[..., :, :count] @ u1t
    if columns > count:
        rest = of_up[..., :, count:]
        below = below - rest @ xp.matrix_transpose(up[..., :, count:])
    if rows > count:
        rest = of_low[..., count:, :]
        above = above - xp.matrix_transpose(low[..., count:, :]) @ rest
    inner = xp.tril(below, -1) + xp.triu(above)
    inner = xp.solve_triangular(u1t, inner, upper=False, left=False)
    of_a = xp.solve_triangular(l1t, inner, upper=True, unitriangular=True)
    if columns > count:
        more = xp.solve_triangular(l1t, of_up[..., :, count:], upper=True, unitriangular=True)
        of_a = xp.cat([of_a, more], -1)
    if rows > count:
        more = xp.solve_triangular(u1t, rest, upper=False, left=False)
        of_a = xp.cat([of_a, more], -2)
    return p @ of_a


def _lu_gradient(xp: Any, gs: Any, P: Any, L: Any, U: Any) -> Any:
    of_low = xp.zeros_like(L) if gs[1] is None else gs[1]
    of_up = xp.zeros_like(U) if gs[2] is None else gs[2]
    return _plu_gradient(xp, P, L, U, of_low, of_up)


lu = general(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    _checked(raw.lu, "linalg.lu"),
    A=_lu_gradient,
    differentiable_out=(False, True, True),
    node="LinalgLuBackward0",
    namespace="linalg",
    method=False,
    samples=_SAMPLES,
    doc="P, L and U with A = P L U: a permutation, and unit lower and upper triangular matrices.",
)


def _factor_gradient(xp: Any, g0: Any, LU: Any, pivots: Any, A_dtype: Any) -> Any:
    """That of `linalg.lu`, for both triangles in one matrix."""
    rows, columns = LU.shape[-2:]
    count = min(rows, columns)
    low, of_low = LU[..., :, :count], xp.tril(g0[..., :, :count], -1)
    up, of_up = xp.triu(LU[..., :count, :]), g0[..., :count, :]
    unit = xp.zeros_like(xp.diagonal(low, 0, -2, -1)) + 1
    eye = xp.diag_embed(unit)
    if rows > count:
        eye = xp.cat([eye, xp.zeros_like(low[..., count:, :])], -2)
    p = xp.permutation_matrix(pivots, rows, A_dtype)
    return _plu_gradient(xp, p, xp.tril(low, -1) + eye, up, of_low, of_up)


lu_factor_ex = general(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> "
    "(Tensor LU, Tensor pivots, Tensor info)",
    _checked(lambda x, pivot, errors: raw.lu_factor(x, pivot), "torch.lu_factor_ex"),
    A=_factor_gradient,
    differentiable_out=(True, False, False),
    node="LinalgLuFactorExBackward0",
    namespace="linalg",
    method=False,
    samples=_SAMPLES,
    doc="L and U in one matrix, the rows that were exchanged, and the first zero pivot.",
)
permutation_matrix = general(
    "permutation_matrix(Tensor pivots, int rows, ScalarType dtype) -> Tensor",
    raw.permutation_matrix,
    namespace="private",
    method=False,
    out=False,
    samples=lambda mk: [(mk(3, low=3, high=4, dtype="int32"), 3, mk(1).dtype)],
    doc="The permutation that row exchanges make.",
)


@composite("linalg")
def lu_factor(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """L and U in one matrix, and the rows exchanged.

    Raises:
        RuntimeError: where a pivot is zero.
    """
    if A._raw.ndim < 2:
        raise RuntimeError(
            "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(A._raw.shape)} instead"
        )
    found, pivots, info = apply_n(lu_factor_ex.op, [A, pivot, False])
    where, code = arrays._at(info._raw) if info._raw.any() else ("", 0)
    if code:
        raise RuntimeError(
            f"torch.linalg.lu_factor: {where}U[{code},{code}] is zero and using it on "
            "lu_solve would "
            "result in a division by zero. If you still want to perform the factorization, "
            "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
    return _return_types.named_results("linalg_lu_factor", ("LU", "pivots"))((found, pivots))


@composite("", name="lu", method=True)
def packed_lu(A: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    """L and U in one matrix, and the rows exchanged; with the first zero pivots if asked."""
    found, pivots, info = apply_n(lu_factor_ex.op, [A, pivot, False])
    return (found, pivots, info) if get_infos else (found, pivots)


@composite()
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True,
              unpack_pivots: bool = True) -> Any:  # fmt: skip
    """P, L and U from what `linalg.lu_factor` returns; empty ones for what isn't asked for."""
    rows, columns = LU_data.shape[-2:]
    count = min(rows, columns)
    zeros, tril, triu = table("zeros"), table("tril"), table("triu")
    p = low = up = zeros(0, dtype=LU_data.dtype)
    if unpack_pivots:
        if LU_pivots.dtype.name != "int32":
            raise RuntimeError(
                "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
                "dtype.\nNote: this function is intended to be used with the output produced by "
                "torch.linalg.lu_factor"
            )
        p = table("permutation_matrix")(LU_pivots, rows, LU_data.dtype)
    if unpack_data:
        eye = table("eye")(rows, count, dtype=LU_data.dtype)
        low = tril(LU_data[..., :, :count], -1) + eye
        up = triu(LU_data[..., :count, :])
    return _return_types.named_results("lu_unpack", ("P", "L", "U"))((p, low, up))


def _lu_solved(LU: Any, pivots: Any, B: Any, left: bool, adjoint: bool) -> Any:
    if pivots.dtype.name != "int32":
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if not left:
        return _lu_solved(LU, pivots, B.mH, True, not adjoint).mH
    p = table("permutation_matrix")(pivots, LU.shape[-2], LU.dtype)
    solved = table("solve_triangular")
    if adjoint:
        y = solved(LU.mH, B, upper=False)
        return p @ solved(LU.mH, y, upper=True, unitriangular=True)
    y = solved(LU, p.mT @ B, upper=False, unitriangular=True)
    return solved(LU, y, upper=True)


@composite("linalg", name="lu_solve")
def linalg_lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False,
                    out: Any = None) -> Any:  # fmt: skip
    """X with A X = B (or X A = B, or A^H X = B), given the LU decomposition of A."""
    result = _lu_solved(LU, pivots, B, left, adjoint)
    return result if out is None else out.copy_(result)


@composite(method=True)
def lu_solve(input: Any, LU_data: Any, LU_pivots: Any, *, out: Any = None) -> Any:
    """X with A X = B, given the LU decomposition of A."""
    return linalg_lu_solve(LU_data, LU_pivots, input, out=out)
