"""LU decompositions with row exchanges, and solving by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..calls.argument_parser import misuse
from ..calls.deprecated_orders import say_better
from ..rows import return_type_classes as _return_types, tensor_namespace as _traced
from ..rows.composite import composite
from ..rows.out_argument import apply_out, run_into
from ..rows.reduction_argument import refuse_gradient
from ..rows.row import general
from ..rows.tensor_namespace import some, table
from .linalg import adjoint as conj_transpose
from .sample_matrices import regular

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Shape, TensorLike
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor

sums = later("_array.reduce.reduce")
arrays = later("_array.linalg.linalg")
raw = later("_array.linalg.triangular")

_SAMPLES = lambda mk: [  # noqa: E731
    (regular(mk, 3, 3),),
    (mk(4, 3),),
    (mk(2, 4),),
    (mk(2, 3, 3),),
    (mk(0, 0),),
]


def _add_check(forward: AnyCallable, name: str) -> AnyCallable:
    def run(x: Array, pivot: bool = True, *rest: bool) -> Any:
        if x.ndim < 2:
            raise RuntimeError(
                f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(x.shape)} "
                "instead"
            )
        if x.size and (x.dtype.kind not in "fc" or x.dtype.itemsize == 2):
            raise NotImplementedError(errors.not_implemented("lu_cpu", sums.name_of(x.dtype)))
        if not pivot and x.size:
            raise RuntimeError(
                "linalg.lu_factor: LU without pivoting is not implemented on the CPU"
            )
        if not pivot and name == "linalg.lu":
            _, low, up = raw.lu(x)
            return raw.nothing(x.dtype), low, up
        return forward(x, *rest)

    return run


def _plu_gradient(
    xp: ModuleType,
    p: TensorLike,
    low: TensorLike,
    up: TensorLike,
    of_low: TensorLike,
    of_up: TensorLike,
) -> TensorLike:
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


def _lu_gradient(
    xp: ModuleType, gs: Sequence[TensorLike | None], P: TensorLike, L: TensorLike, U: TensorLike
) -> TensorLike:
    of_low = xp.zeros_like(L) if gs[1] is None else gs[1]
    of_up = xp.zeros_like(U) if gs[2] is None else gs[2]
    return _plu_gradient(xp, P, L, U, of_low, of_up)


lu = general(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    _add_check(raw.lu, "linalg.lu"),
    A=_lu_gradient,
    differentiable_out=(False, True, True),
    namespace="linalg",
    refuses_values="any",
    samples=_SAMPLES,
    doc="P, L and U with A = P L U: a permutation, and unit lower and upper triangular matrices.",
    kernel="lu_cpu",
)


def _refuse_zero_pivot(info: Array, name: str) -> None:
    if info.any():
        where, code = arrays.at(info)
        raise RuntimeError(
            f"torch.linalg.{name}: {where}U[{code},{code}] is zero and using it on lu_solve would "
            "result in a division by zero. If you still want to perform the factorization, "
            "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )


def _factor(x: Array, check_errors: bool = False) -> tuple[Array, Array, Array]:
    found: tuple[Any, Any, Any] = raw.lu_factor(x)
    if check_errors:
        _refuse_zero_pivot(found[2], "lu_factor_ex")
    return found


def _factor_gradient(
    xp: ModuleType, g0: TensorLike, LU: TensorLike, pivots: TensorLike, A_dtype: dtype
) -> TensorLike:
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
    _add_check(_factor, "torch.lu_factor"),
    A=_factor_gradient,
    differentiable_out=(True, False, False),
    namespace="linalg",
    refuses_values="any",
    samples=_SAMPLES,
    doc="L and U in one matrix, the rows that were exchanged, and the first zero pivot.",
    kernel="lu_cpu",
)
permutation_matrix = general(
    "permutation_matrix(Tensor pivots, int rows, ScalarType dtype) -> Tensor",
    raw.permutation_matrix,
    namespace="private",
    out=False,
    refuses_values="any",
    samples=lambda mk: [(mk(3, low=3, high=4, dtype="int32"), 3, mk(1).dtype)],
    doc="The permutation that row exchanges make.",
)


@composite("linalg")
def lu_factor(A: Tensor, *, pivot: bool = True, out: Tensor | None = None) -> Any:
    """L and U in one matrix, and the rows exchanged.

    Raises:
        RuntimeError: where a pivot is zero.
    """
    made = _return_types.make_result_class("linalg_lu_factor")
    if out is not None:
        _return_types.make_result_class("linalg_lu_factor_out", ("LU", "pivots"))
        return run_into("linalg_lu_factor", lambda: lu_factor(A, pivot=pivot), [A], out)
    found, pivots, info = apply_n(lu_factor_ex.op, [A, pivot, False])
    if some(lambda code: code != 0, info):
        _refuse_zero_pivot(info._raw, "lu_factor")
    return made((found, pivots))


@composite("", name="lu")
def packed_lu(
    A: Tensor | list[int],
    pivot: bool = True,
    get_infos: bool = False,
    out: Tensor | tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, ...]:
    """L and U in one matrix, and the rows exchanged; with the first zero pivots if asked."""
    infos = bool(get_infos)
    if not isinstance(A, TensorBase) or not isinstance(pivot, bool):
        raise misuse("torch", "_lu_with_info", (A,), {"pivot": pivot, "check_errors": not infos})
    say_better("lu")
    found = apply_n(lu_factor_ex.op, [A, pivot, False])
    made = _return_types.make_result_class("_lu_with_info", ("LU", "pivots", "info"))
    result = made(found) if infos else tuple(found[:2])
    if out is None:
        return result
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) != len(result):
        raise TypeError(f"expected tuple of {len(result)} elements but got {len(out)}")
    for target, value in zip(out, result):
        target.resize_as_(value).copy_(value)
    return out


@composite("private", name="lu", method=True)
def lu_of(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """L and U in one matrix, and the rows exchanged; with the first zero pivots if asked."""
    return tuple(packed_lu(self, pivot, get_infos))


# ---- what the factors are for -----------------------------------------------------------------
def _unpack(
    factors: Array, pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:
    if factors.ndim < 2:
        raise RuntimeError(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(factors.shape)} instead"
        )
    if unpack_pivots and pivots.dtype.name != "int32":
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    p, low, up = (raw.nothing(factors.dtype) for _ in range(3))
    if unpack_pivots:
        if pivots.size and (pivots.min() < 1 or pivots.max() > factors.shape[-2]):
            raise RuntimeError(
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you "
                "properly pass the result of lu_factor?"
            )
        p = raw.permutation_matrix(pivots, factors.shape[-2], factors.dtype)
    if unpack_data:
        low, up = raw.triangles(factors)
    return p, low, up


def _unpacked_gradient(
    xp: ModuleType, gs: Sequence[TensorLike | None], LU_data: TensorLike, unpack_data: bool
) -> TensorLike:
    """The strictly lower part of that of L, the upper part of that of U."""
    of_low, of_up = gs[1], gs[2]
    rows, columns = LU_data.shape[-2:]
    count = min(rows, columns)
    result = xp.zeros_like(LU_data)
    if not unpack_data:
        return result
    if of_low is not None:
        low = xp.tril(of_low, -1)
        if columns > count:
            low = xp.cat([low, xp.zeros_like(LU_data[..., :, count:])], -1)
        result = result + low
    if of_up is not None:
        up = xp.triu(of_up)
        if rows > count:
            up = xp.cat([up, xp.zeros_like(LU_data[..., count:, :])], -2)
        result = result + up
    return result


lu_unpack = general(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
    "-> (Tensor P, Tensor L, Tensor U)",
    _unpack,
    LU_data=_unpacked_gradient,
    LU_pivots=None,
    differentiable_out=(False, True, True),
    out=True,
    refuses_values="any",
    samples=lambda mk: [
        (regular(mk, 3, 3), mk(3, low=3, high=4, dtype="int32")),
        (mk(4, 3), mk(3, low=4, high=5, dtype="int32")),
        (mk(2, 2, 3), mk(2, 2, low=2, high=3, dtype="int32")),
    ],
    doc="P, L and U from what `linalg.lu_factor` returns; empty ones for what isn't asked for.",
)


def _lu_solved(
    LU: Array, pivots: Array, B: Array, left: bool = True, adjoint: bool = False
) -> Array:
    name = "linalg.lu_solve"
    arrays.check_inexact(LU, "torch." + name)
    arrays.check_dtypes(LU, B, name, "LU")
    if pivots.dtype.name != "int32":
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    if LU.ndim < 2 or LU.shape[-1] != LU.shape[-2]:
        arrays.check(LU, "torch." + name)
    arrays.check_pair(LU, B, left, name)
    if LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if LU.shape[:-2] != pivots.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    arrays.check_batches(LU, B)
    if LU.dtype.itemsize == 2:
        raise NotImplementedError(
            errors.not_implemented("linalg.lu_solve_cpu", sums.name_of(LU.dtype))
        )
    return raw.lu_solve(LU, pivots, B, left, adjoint)


def _lu_solved_gradients(
    xp: ModuleType,
    g: TensorLike,
    LU: TensorLike,
    pivots: TensorLike,
    B_shape: Shape | None,
    out: TensorLike,
    left: bool,
    adjoint: bool,
    dtype: dtype,
) -> tuple[TensorLike, TensorLike]:
    """With P L U X = B: of U minus the upper part of U^-H g X^H, of L the like with U X.

    With A^H X = B, where U^H Y = B and L^H V = Y and X = P V, they are -Y S^H and -V (L⁻¹ Pᵀ g)^H.
    """
    if not left:
        of_lu, of_b = _lu_solved_gradients(
            xp,
            conj_transpose(xp, g),
            LU,
            pivots,
            None,
            conj_transpose(xp, out),
            True,
            not adjoint,
            dtype,
        )
        return xp.sum_to(of_lu, LU.shape), xp.sum_to(conj_transpose(xp, of_b), B_shape)
    turned = conj_transpose(xp, LU)
    if adjoint:
        p = xp.matrix_transpose(xp.permutation_matrix(pivots, LU.shape[-2], dtype))
        v = p @ out
        s = xp.solve_triangular(LU, p @ g, upper=False, unitriangular=True)
        of_low = -(v @ conj_transpose(xp, s))
        y = conj_transpose(xp, xp.tril(LU, -1)) @ v + v
        of_b = xp.solve_triangular(LU, s, upper=True)
        of_up = -(y @ conj_transpose(xp, of_b))
    else:
        w = xp.solve_triangular(turned, g, upper=False)
        of_up = -(w @ conj_transpose(xp, out))
        s = xp.solve_triangular(turned, w, upper=True, unitriangular=True)
        of_low = -(s @ conj_transpose(xp, xp.triu(LU) @ out))
        of_b = xp.permutation_matrix(pivots, LU.shape[-2], dtype) @ s
    of_lu = xp.tril(of_low, -1) + xp.triu(of_up)
    if B_shape is None:
        return of_lu, of_b
    return xp.sum_to(of_lu, LU.shape), xp.sum_to(of_b, B_shape)


_lu_solve_row = general(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) "
    "-> Tensor",
    _lu_solved,
    joint=lambda xp, g, LU, pivots, B_shape, out, left, adjoint, LU_dtype: _with_none(
        _lu_solved_gradients(xp, g, LU, pivots, B_shape, out, left, adjoint, LU_dtype)
    ),
    check=lambda args, raws: refuse_gradient("linalg_lu_solve", pivots=args[1]),
    holomorphic=False,
    namespace="linalg",
    refuses_values="any",
    samples=lambda mk: [
        (regular(mk, 3, 3), mk(3, low=3, high=4, dtype="int32"), mk(3, 2)),
        (regular(mk, 2, 3, 3), mk(2, 3, low=3, high=4, dtype="int32"), mk(3, 2)),
        (regular(mk, 3, 3), mk(3, low=3, high=4, dtype="int32"), mk(2, 3), False, True),
    ],
    doc="X with A X = B (or X A = B, or A^H X = B), given the LU decomposition of A.",
)


def _with_none(pair: tuple[TensorLike, TensorLike]) -> tuple[Any, None, Any]:
    return pair[0], None, pair[1]


@composite(method=True)
def lu_solve(
    input: Tensor, LU_data: object, LU_pivots: object, *, out: Tensor | None = None
) -> Tensor:
    """X with A X = B, given the LU decomposition of A."""
    say_better("lu_solve")
    if out is not None:
        return apply_out(_lu_solve_row, [LU_data, LU_pivots, input, True, False], out)
    return apply_n(_lu_solve_row.op, [LU_data, LU_pivots, input, True, False])


@composite("private")
def inverse_adjoint(x: Tensor) -> Tensor:
    """What formulas call the conjugate transpose of the inverse."""
    identity = table("eye")(x.shape[-1], dtype=x.dtype).expand(x.shape)
    return _traced.solve(conj_transpose(_traced, x), identity)
