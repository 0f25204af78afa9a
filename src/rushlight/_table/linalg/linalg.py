"""Square matrices: inverses, solutions, determinants, Cholesky factors, powers, exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.storage import TensorBase
from ..._native.ufunc_loops import factor
from ..calls.deprecated_orders import say_better, warn_of_better
from ..rows.composite import composite
from ..rows.out_argument import give, give_copied
from ..rows.out_rules import OutRules
from ..rows.row import Row, general
from ..rows.tensor_namespace import table
from .sample_matrices import cholesky_factor, definite, lower, regular

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import Namespace, Shape, TensorLike
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor

name_of = later("_array.reduce.reduce").name_of
raw = later("_array.linalg.linalg")
triangular = later("_array.linalg.triangular")


def adjoint(xp: ModuleType, x: TensorLike) -> TensorLike:
    """The conjugate transpose, in a formula."""
    return xp.matrix_transpose(xp.conj(x))


# ---- inverse and solution ---------------------------------------------------------------------
def _inverse_gradient(xp: ModuleType, g: TensorLike, out: TensorLike) -> TensorLike:
    """-A⁻ᵀ g A⁻ᵀ."""
    turned = xp.matrix_transpose(out)
    return -xp.matmul(turned, xp.matmul(g, turned))


_SQUARES = lambda mk: [(regular(mk, 3, 3),), (regular(mk, 2, 3, 3),), (mk(0, 0),)]  # noqa: E731

inv = general(
    "linalg_inv(Tensor A) -> Tensor",
    lambda A: raw.inv(A),
    A=_inverse_gradient,
    node="LinalgInvExBackward0",
    namespace="linalg",
    saved_as={"result": "inverse"},
    refuses_values="any",
    out_rules=OutRules(named="linalg_inv_ex"),
    samples=_SQUARES,
    doc="The inverse of each square matrix.",
)
inv_ex = general(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    raw.inv_ex,
    A=lambda xp, g0, inverse: _inverse_gradient(xp, g0, inverse),
    differentiable_out=(True, False),
    namespace="linalg",
    refuses_values="any",
    samples=_SQUARES,
    doc="The inverse of each matrix, and where its first zero pivot is instead of an error.",
)


@composite(method=True)
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of each square matrix; see `linalg.inv`."""
    return table("inv")(input) if out is None else table("inv")(input, out=out)


def _solution_gradients(
    xp: ModuleType, g: TensorLike, a: TensorLike, b_shape: Shape, x: TensorLike, left: bool
) -> tuple[TensorLike, TensorLike]:
    """Of A X = B: that for B is A⁻ᵀ g, that for A minus its product with Xᵀ."""
    vector = len(b_shape) == 1 or (a.ndim - 1 == len(b_shape) and b_shape == a.shape[:-1])
    if vector:
        g, x = xp.expand_dims(g, -1), xp.expand_dims(x, -1)
    of_b = xp.solve(xp.matrix_transpose(a), g, left=left)
    xt = xp.matrix_transpose(x)
    product = xp.matmul(of_b, xt) if left else xp.matmul(xt, of_b)
    of_a = xp.sum_to(-product, a.shape)
    if vector:
        of_b = of_b[..., 0]
    return of_a, xp.sum_to(of_b, b_shape)


def _systems(mk: Any) -> list[tuple[Any, ...]]:
    return [
        (regular(mk, 3, 3), mk(3, 2)), (regular(mk, 3, 3), mk(3)), (regular(mk, 2, 3, 3), mk(2, 3)),
        (regular(mk, 2, 3, 3), mk(3, 2)), (regular(mk, 3, 3), mk(2, 3, 1)), (mk(0, 0), mk(0, 2)),
    ]  # fmt: skip


solve = general(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    lambda A, B, left: raw.solve(A, B, left),
    joint=lambda xp, g, A, B_shape, out, left: _solution_gradients(xp, g, A, B_shape, out, left),
    node="LinalgSolveExBackward0",
    namespace="linalg",
    saved_as={"B_shape": None},
    refuses_values="any",
    out_rules=OutRules(named="_linalg_solve_ex"),
    samples=lambda mk: [*_systems(mk), (regular(mk, 3, 3), mk(2, 3), False)],
    doc="X with A X = B, or X A = B where `left` is False.",
    kernel="lu_cpu",
)
solve_ex = general(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
    "(Tensor result, Tensor info)",
    raw.solve_ex,
    joint=lambda xp, g0, A, B_shape, result, left: _solution_gradients(
        xp, g0, A, B_shape, result, left
    ),
    differentiable_out=(True, False),
    namespace="linalg",
    saved_as={"B_shape": None},
    refuses_values="any",
    samples=_systems,
    doc="`linalg.solve`, and where the first zero pivot is instead of an error.",
    kernel="lu_cpu",
)


def _solve_checked(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raw.check(a, "linalg.solve_triangular")
    raw.check_pair(a, b, left, "linalg.solve_triangular")
    raw.check_batches(a, b)
    if a.dtype.char not in "fdFD":
        raise NotImplementedError(errors.not_implemented("triangular_solve_cpu", name_of(a.dtype)))
    if a.dtype != b.dtype:
        b = T.convert_array(b, T.from_raw(a.dtype))
    return triangular.solve_triangular(a, b, upper, left, unitriangular)


def _triangular_gradients(
    xp: ModuleType,
    g: TensorLike,
    A: TensorLike,
    B_shape: Shape,
    out: TensorLike,
    upper: bool,
    left: bool,
    unitriangular: bool,
) -> tuple[TensorLike, TensorLike]:
    """Those of `linalg.solve`, of which that for A keeps to the triangle that was read."""
    of_b = xp.solve_triangular(
        xp.matrix_transpose(A), g, upper=not upper, left=left, unitriangular=unitriangular
    )
    xt = xp.matrix_transpose(out)
    of_a = -(xp.matmul(of_b, xt) if left else xp.matmul(xt, of_b))
    step = 1 if unitriangular else 0
    of_a = xp.triu(of_a, step) if upper else xp.tril(of_a, -step)
    return xp.sum_to(of_a, A.shape), xp.sum_to(of_b, B_shape)


solve_triangular = general(
    "linalg_solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor",
    _solve_checked,
    joint=_triangular_gradients,
    namespace="linalg",
    saved_as={"A": "self", "B_shape": None},
    refuses_values="any",
    samples=lambda mk: [
        (regular(mk, 3, 3), mk(3, 2), True), (regular(mk, 3, 3), mk(2, 3), False, False),
        (regular(mk, 3, 3), mk(3, 2), False, True, True), (regular(mk, 2, 3, 3), mk(3, 2), True),
        (regular(mk, 30, 30) * 0.2 + table("eye")(30), mk(30, 1), False),
    ],
    doc="X with A X = B, or X A = B where `left` is False, for a triangular A.",
    kernel="triangular_solve_cpu",
)  # fmt: skip


def _solve_and_clone(
    b: Array, a: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Array, Array]:
    for x, what in ((b, "b"), (a, "A")):
        if x.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {what} to have at least 2 dimensions, but it "
                f"has {x.ndim} dimensions instead"
            )
    raw.check_same(b, a)
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            "Incompatible matrix sizes for triangular_solve: each A matrix is "
            f"{a.shape[-1]} by {a.shape[-1]} but each b matrix is {b.shape[-2]} by {b.shape[-1]}"
        )
    raw.check_batches(a, b)
    if a.dtype.char not in "fdFD":
        raise NotImplementedError(errors.not_implemented("triangular_solve_cpu", name_of(a.dtype)))
    turned = a.swapaxes(-1, -2) if transpose else a
    x = triangular.solve_triangular(turned, b, upper != transpose, True, unitriangular)
    return x, triangular.copy_by_columns(a, x.shape[:-2])


def _triangular_solve_gradients(
    xp: Namespace, gs: Sequence[TensorLike | None], self_shape: Shape, A: TensorLike,
    solution: TensorLike, upper: bool, transpose: bool,
    unitriangular: bool,
) -> tuple[TensorLike, TensorLike]:  # fmt: skip
    """Those of the solution as in `linalg.solve_triangular`, and the clone's own."""
    of_b, of_a = xp.zeros_like(solution), xp.zeros_like(A)
    if gs[0] is not None:
        turned = A if transpose else xp.matrix_transpose(A)
        of_b = xp.solve_triangular(
            turned, gs[0], upper=upper == transpose, unitriangular=unitriangular
        )
        of_a = -xp.matmul(of_b, xp.matrix_transpose(solution))
        of_a = xp.matrix_transpose(of_a) if transpose else of_a
        step = 1 if unitriangular else 0
        of_a = xp.triu(of_a, step) if upper else xp.tril(of_a, -step)
    if gs[1] is not None:
        of_a = of_a + gs[1]
    return xp.sum_to(of_b, self_shape), xp.sum_to(of_a, A.shape)


def _triangular_solve_tangents(
    xp: Namespace, out: Tensor, A: Tensor, self_t: Tensor, A_t: Tensor, upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """A⁻¹ (dB - dA X); as in PyTorch all of dA, not its triangle alone."""
    turned = xp.matrix_transpose(A) if transpose else A
    change = xp.matrix_transpose(A_t) if transpose else A_t
    tangent = xp.solve_triangular(
        turned, self_t - change @ out, upper=upper != transpose, unitriangular=unitriangular
    )
    return tangent, A_t + xp.zeros_like(A)


triangular_solve = general(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    warn_of_better("triangular_solve", _solve_and_clone),
    joint=_triangular_solve_gradients,
    jvp=_triangular_solve_tangents,
    out=True,
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, 2), regular(mk, 3, 3)), (mk(3, 2), regular(mk, 2, 3, 3), False),
        (mk(3, 2), regular(mk, 3, 3), True, True), (mk(3, 2), regular(mk, 3, 3), True, False, True),
    ],
    doc="The solution of a triangular system, and a copy of its matrix.",
)  # fmt: skip


# ---- determinants -----------------------------------------------------------------------------
_cofactors = general(
    "_cofactors(Tensor self) -> Tensor",
    raw.cofactors,
    public=False, out=False,
    self=lambda xp, g, self: _second_determinant_gradient(xp, g, self),
    refuses_values="any",
    samples=lambda mk: [(regular(mk, 3, 3),)],
    doc="The derivative of the determinant for each element.",
)  # fmt: skip


def _second_determinant_gradient(xp: ModuleType, g: TensorLike, x: TensorLike) -> TensorLike:
    """Of C = det(A) A⁻ᵀ, so only where A is regular."""
    inverse = xp.matrix_transpose(xp.inv(x))
    cofactors = xp.cofactors(x)
    along = xp.sum(g * inverse, (-2, -1), True)
    return along * cofactors - cofactors @ (xp.matrix_transpose(g) @ inverse)


@composite("private")
def cofactors(x: Tensor) -> Tensor:
    """What formulas call the derivative of the determinant."""
    return apply_n(_cofactors.op, [x])


def _add_matrix_dims(xp: ModuleType, g: TensorLike) -> TensorLike:
    return xp.expand_dims(xp.expand_dims(g, -1), -1)


det = general(
    "linalg_det(Tensor A) -> Tensor",
    raw.det,
    A=lambda xp, g, A: _add_matrix_dims(xp, g) * xp.cofactors(A),
    namespace=("linalg", ""),
    method=True,
    refuses_values="any",
    out_rules=OutRules(named="_linalg_det"),
    samples=_SQUARES,
    doc="The determinant of each square matrix.",
    kernel="lu_cpu",
)


def _slogdet_gradient(
    xp: ModuleType, gs: Sequence[TensorLike | None], A: TensorLike, sign: TensorLike, A_dtype: dtype
) -> TensorLike:
    """g A^-H, where g is that of the logarithm and the turn of the sign as an imaginary part."""
    of_sign, of_log = gs
    if not A_dtype.is_complex:
        g = xp.zeros_like(sign) if of_log is None else of_log
    else:
        g = xp.zeros_like(sign) if of_log is None else of_log
        if of_sign is not None:
            g = g - xp.imag(xp.conj(of_sign) * sign) * 1j
    return _add_matrix_dims(xp, g) * xp.inverse_adjoint(A)


def _slogdet(name: str, *namespaces: str) -> Row:
    return general(
        f"{name}(Tensor A) -> (Tensor sign, Tensor logabsdet)",
        raw.slogdet,
        A=_slogdet_gradient,
        holomorphic=False,
        node="LinalgSlogdetBackward0",
        namespace=namespaces,
        method="" in namespaces,
        out_rules=OutRules(named="_linalg_slogdet"),
        samples=lambda mk: [(regular(mk, 3, 3),), (regular(mk, 2, 3, 3),)],
        refuses_values="any",
        kernel="" if namespaces[0] else "lu_cpu",
        doc="The sign of each determinant and the logarithm of its absolute value.",
    )


linalg_slogdet = _slogdet("linalg_slogdet", "linalg")
slogdet = _slogdet("slogdet", "")


@composite(method=True)
def logdet(input: Tensor) -> Tensor:
    """The logarithm of each determinant; nan where a real one is negative."""
    raw.check(input._raw, "logdet")
    sign, log = apply_n(linalg_slogdet.op, [input])
    if input.is_complex():
        return sign.log() + log
    return table("where")(sign == -1, float("nan"), log)


# ---- Cholesky ---------------------------------------------------------------------------------
def _cholesky_gradient(
    xp: ModuleType, g: TensorLike, factor: TensorLike, upper: bool
) -> TensorLike:
    """L^-H Φ(L^H g) L⁻¹, where Φ makes the lower triangle Hermitian and halves it.

    Source: I. Murray, Differentiation of the Cholesky decomposition (2016), eq. 8.
    """
    if upper:
        factor, g = adjoint(xp, factor), adjoint(xp, g)
    inner = xp.matmul(adjoint(xp, factor), g)
    inner = 0.5 * (xp.tril(inner) + adjoint(xp, xp.tril(inner, -1)))
    left = xp.solve_triangular(adjoint(xp, factor), inner, upper=True)
    return xp.solve_triangular(factor, left, upper=False, left=False)


def _cholesky_tangent(xp: ModuleType, A_t: Tensor, factor: TensorLike, upper: bool) -> Tensor:
    """L Φ(L⁻¹ dA L^-H), where Φ keeps the lower triangle and halves its diagonal.

    As in PyTorch all of dA is read, which is meant to be Hermitian.
    """
    if upper:
        inner = xp.solve_triangular(adjoint(xp, factor), A_t, upper=False)
        inner = xp.triu(xp.solve_triangular(factor, inner, upper=True, left=False))
    else:
        inner = xp.solve_triangular(factor, A_t, upper=False)
        inner = xp.tril(xp.solve_triangular(adjoint(xp, factor), inner, upper=True, left=False))
    inner = inner - xp.diag_embed(xp.diagonal(inner, 0, -2, -1)) * 0.5
    return inner @ factor if upper else factor @ inner


def _either_tangent(xp: Any, A_t: Any, factor: TensorLike, upper: bool) -> TensorLike:
    """The tangent of the lower factor, or its adjoint."""
    if upper:
        return adjoint(xp, _cholesky_tangent(xp, A_t, adjoint(xp, factor), False))
    return _cholesky_tangent(xp, A_t, factor, False)


_DEFINITE = lambda mk: [  # noqa: E731
    (definite(mk, 3, 3),), (definite(mk, 2, 3, 3),), (definite(mk, 3, 3), True), (mk(0, 0),)
]  # fmt: skip

_factor = factor(lambda A, upper, check_errors: raw.cholesky_ex(A, upper, check_errors), "Cuc")


def _whole_factor(A: Array, upper: bool) -> Array:
    """The factor of `cholesky_ex`, of which all minors must be positive."""
    found, info = _factor(A, upper, False)
    if info.any() if info.ndim else info.item():
        return raw.cholesky(A, upper)  # which says what is wrong
    return found


linalg_cholesky = general(
    "linalg_cholesky(Tensor A, *, bool upper=False) -> Tensor",
    _whole_factor,
    jvp=lambda xp, A_t, out, upper: _either_tangent(xp, A_t, out, upper),
    A=lambda xp, g, out, upper: _cholesky_gradient(xp, g, out, upper),
    holomorphic=False,
    node="LinalgCholeskyExBackward0",
    namespace="linalg",
    saved_as={"result": "L"},
    refuses_values="any",
    out_rules=OutRules(named="linalg_cholesky_ex"),
    samples=_DEFINITE,
    doc="The lower triangular L with L L^H = A for each positive-definite matrix (or L^H).",
    kernel="cholesky_cpu",
)
cholesky_ex = general(
    "linalg_cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False) -> "
    "(Tensor L, Tensor info)",
    raw.cholesky_ex,
    jvp=lambda xp, A_t, out, upper: (_either_tangent(xp, A_t, out, upper), None),
    A=lambda xp, g0, L, upper: _cholesky_gradient(xp, g0, L, upper),
    holomorphic=False,
    differentiable_out=(True, False),
    namespace="linalg",
    refuses_values="any",
    samples=_DEFINITE,
    doc="`linalg.cholesky`, and the first minor that isn't positive instead of an error.",
    kernel="cholesky_cpu",
)


def _former_cholesky(x: Array, upper: bool) -> Array:
    say_better("cholesky")
    return raw.former_cholesky(x, upper)


cholesky = general(
    "cholesky(Tensor self, bool upper=False) -> Tensor",
    _former_cholesky,
    jvp=lambda xp, self_t, out, upper: _cholesky_tangent(xp, self_t, out, upper),
    self=lambda xp, g, out, upper: _cholesky_gradient(xp, g, out, upper),
    holomorphic=False,
    refuses_values="any",
    samples=_DEFINITE,
    doc="The Cholesky factor of each positive-definite matrix; see `linalg.cholesky`.",
)


def _cholesky_solution_gradients(
    xp: ModuleType,
    g: TensorLike,
    self_shape: Shape,
    input2: TensorLike,
    out: TensorLike,
    upper: bool,
) -> tuple[TensorLike, TensorLike]:
    """G = A⁻¹ g for B, and for the factor of A = L L^H minus (G X^H + X G^H) L."""
    of_b = xp.cholesky_solve(g, input2, upper)
    of_a = xp.matmul(of_b, adjoint(xp, out))
    of_a = of_a + adjoint(xp, of_a)
    of_factor = -(xp.matmul(input2, of_a) if upper else xp.matmul(of_a, input2))
    return xp.sum_to(of_b, self_shape), xp.sum_to(of_factor, input2.shape)


cholesky_solve = general(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    raw.cholesky_solve,
    joint=_cholesky_solution_gradients,
    holomorphic=False,
    saved_as={"self_shape": None},
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, 2), lower(mk, 3, 3)), (mk(3, 2), lower(mk, 2, 3, 3)),
        (mk(3, 2), lower(mk, 3, 3).mT.contiguous(), True),
    ],
    doc="X with A X = B, given the Cholesky factor of A.",
)  # fmt: skip


def _cholesky_inverse_gradient(
    xp: ModuleType, g: TensorLike, self: TensorLike, out: TensorLike, upper: bool
) -> TensorLike:
    """That of the inverse of L L^H: minus A⁻¹ (g + g^H) A⁻¹ times the factor."""
    of_a = -xp.matmul(out, xp.matmul(g + adjoint(xp, g), out))
    return xp.matmul(self, of_a) if upper else xp.matmul(of_a, self)


cholesky_inverse = general(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    raw.cholesky_inverse,
    self=_cholesky_inverse_gradient,
    holomorphic=False,
    refuses_values="any",
    samples=lambda mk: [
        (cholesky_factor(mk, 3, 3),),
        (cholesky_factor(mk, 2, 3, 3),),
        (cholesky_factor(mk, 3, 3).mT.contiguous(), True),
    ],
    doc="The inverse of A, given its Cholesky factor.",
)


# ---- exponentials and powers ------------------------------------------------------------------
def _exponential_gradient(xp: ModuleType, g: TensorLike, A: TensorLike) -> TensorLike:
    """The upper right block of exp [[Aᵀ, g], [0, Aᵀ]].

    Source: R. Mathias, A chain rule for matrix functions and applications (1996), theorem 2.1.
    """
    n = A.shape[-1]
    turned = xp.matrix_transpose(A)
    upper = xp.cat([turned, g], -1)
    under = xp.cat([xp.zeros_like(g), turned], -1)
    return xp.matrix_exp(xp.cat([upper, under], -2))[..., :n, n:]


matrix_exp = general(
    "linalg_matrix_exp(Tensor A) -> Tensor",
    raw.matrix_exp,
    A=_exponential_gradient,
    namespace="linalg",
    out=False,
    saved_as={"A": "self"},
    refuses_values="any",
    samples=lambda mk: [(mk(3, 3),), (mk(2, 2, 2) * 4,), (mk(0, 0),)],
    doc="The exponential of each square matrix.",
)


@composite("", method=True, name="matrix_exp")
def matrix_exponential(input: Tensor) -> Tensor:
    """The exponential of each square matrix."""
    return apply_n(matrix_exp.op, [input])


@composite("", "linalg", method=True)
def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Tensor:
    """Each square matrix to the power `n`; that of its inverse where `n` is negative.

    Raises:
        LinAlgError: for a negative power of a singular matrix.
        RuntimeError: for matrices that aren't square.
    """
    x = input._raw
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raw.check(x, "linalg.matrix_power")
    if n in (0, 1):
        result = _power(input, n)
        return give_copied("one_power", result if n or out is None else result.detach(), out)
    named = "linalg_inv_ex" if n < 0 else "matmul"
    return give("matrix_power", _power(input, n), out, named=named)


def _power(x: Tensor, n: int) -> Any:
    if n == 0:
        eye = table("eye")(x._raw.shape[-1], dtype=x.dtype)
        return x.clone().copy_(eye.expand(x.shape))
    if n < 0:
        x, n = table("inv")(x), -n
    if n == 1:
        return x.clone()
    if n == 3:
        return (x @ x) @ x
    result = None
    while True:
        if n & 1:
            result = x if result is None else result @ x
        n >>= 1
        if not n:
            return result
        x = x @ x


@composite("private")
def same_phase(x: Tensor, text: str) -> Tensor:
    """`x`: the check is made on arrays alone."""
    if isinstance(x, TensorBase):
        raw.same_phase(x._raw, text)
    return x
