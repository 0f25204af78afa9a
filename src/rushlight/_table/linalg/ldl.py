"""Factorisations L D Lᵀ of symmetric matrices, and solving by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import dtypes as D, errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.slow import holds
from ..calls import dtype_checks as _checks
from ..rows import return_type_classes as _return_types
from ..rows.composite import composite
from ..rows.out_argument import run_into
from ..rows.row import general

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._tensor.tensor import Tensor

arrays = later("_array.linalg.linalg")
raw = later("_array.linalg.ldl")


def _factor(x: Array, hermitian: bool, check_errors: bool) -> tuple[Array, ...]:
    name = "torch.linalg.ldl_factor_ex"
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by "
            f"{x.shape[-1]} matrices"
        )
    if x.dtype.kind not in "fc" or x.dtype.itemsize == 2:
        kind = D.scalar_name(T.from_raw(x.dtype))
        if x.dtype.kind in "biu":
            raise RuntimeError(
                f"{name}: Expected a floating point or complex tensor as input. Got {kind}"
            )
        raise NotImplementedError(errors.not_implemented("ldl_factor_kernel_cpu", kind))
    found = raw.ldl_factor(x, hermitian)
    if check_errors and found[2].any():
        raise _explain_failure(int(found[2].ravel()[found[2].ravel() != 0][0]))
    return found


def _explain_failure(code: int) -> RuntimeError:
    return RuntimeError(
        'false INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/native/'
        'BatchLinearAlgebra.cpp":1642, please report a bug to PyTorch. torch.linalg.ldl_factor: '
        f"Unknown error code: {code}."
    )


ldl_factor_ex = general(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> "
    "(Tensor LD, Tensor pivots, Tensor info)",
    _factor,
    self=_checks.no_derivative("linalg_ldl_factor_ex"),
    differentiable_out=(True, False, False),
    node="NotImplemented",
    namespace="linalg",
    refuses_values="any",
    samples=lambda mk: [(mk(3, 3),), (mk(2, 2, 2),)],
    doc="The factors of a symmetric matrix in one triangle, the pivots, the first zero pivot.",
    kernel="ldl_factor_kernel_cpu",
)


@composite("linalg", name="ldl_factor")
def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Tensor | None = None) -> Any:
    """The factors of a symmetric (or Hermitian) matrix in one lower triangle, and the pivots.

    Raises: RuntimeError for a zero pivot.
    """
    if out is not None:
        _return_types.make_result_class("linalg_ldl_factor_out", ("LD", "pivots"))
        return run_into("linalg_ldl_factor", lambda: ldl_factor(A, hermitian=hermitian), [A], out)
    ld, pivots, info = apply_n(ldl_factor_ex.op, [A, hermitian, False])
    if holds(lambda x: (x != 0).any(), info):
        raise _explain_failure(int(info._raw.ravel()[info._raw.ravel() != 0][0]))
    return _return_types.make_result_class("linalg_ldl_factor")((ld, pivots))


def _solve(ld: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    name = "torch.linalg.ldl_solve"
    if ld.ndim < 2 or ld.shape[-1] != ld.shape[-2]:
        arrays.check(ld, name)
    arrays.check_inexact(ld, name)
    if ld.dtype != b.dtype:
        kinds = [D.scalar_name(T.from_raw(x.dtype)) for x in (b, ld)]
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {kinds[0]} and A of "
            f"type {kinds[1]} instead."
        )
    if b.ndim < 2:
        raise IndexError(errors.no_dimension(-2, b.ndim))
    if ld.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {ld.shape[-1]} by "
            f"{ld.shape[-1]} but each b matrix is {b.shape[-2]} by {b.shape[-1]}"
        )
    if ld.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    if pivots.dtype.kind not in "iu":
        raise RuntimeError(
            f"{name}: Expected pivots to be integers. Got {D.scalar_name(T.from_raw(pivots.dtype))}"
        )
    if ld.dtype.itemsize == 2:
        kind = D.scalar_name(T.from_raw(ld.dtype))
        raise NotImplementedError(errors.not_implemented("ldl_solve_kernel_cpu", kind))
    return raw.ldl_solve(ld, pivots, b, hermitian)


_no_derivative = _checks.no_derivative("linalg_ldl_solve")
ldl_solve = general(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    _solve,
    LD=_no_derivative,
    B=_no_derivative,
    node="NotImplemented",
    namespace="linalg",
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, 3, low=1, high=2), mk(3, low=3, high=4, dtype="int32"), mk(3, 2)),
    ],
    doc="The solution X of A X = B, given the factors of the symmetric matrix A.",
)
