"""Decompositions: QR, eigenvalues, singular values, LU; pseudo-inverses, least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ..._array.types import is_half
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import current
from ..._core.storage import TensorBase, count_writes
from ..calls import dtype_checks as _checks
from ..calls.deprecated_orders import say_better
from ..rows import return_type_classes as _return_types
from ..rows.composite import composite
from ..rows.out_argument import give
from ..rows.out_rules import OutRules
from ..rows.reduction_argument import refuse_gradient
from ..rows.row import general
from ..rows.tensor_namespace import table
from .limits import check_ranks
from .linalg import adjoint
from .sample_matrices import hermitian, regular

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from ..._array.annotations import Array
    from ..._base.annotations import Shape, TensorLike
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor

checks = later("_array.linalg.linalg")
householder = later("_array.linalg.householder")
raw = later("_array.linalg.eigen_svd")
steps = later("_table.linalg.pinv_in_steps")
triangular = later("_array.linalg.triangular")


def _diagonal(xp: ModuleType, x: TensorLike) -> TensorLike:
    return xp.diagonal(x, 0, -2, -1)


def _gaps(xp: ModuleType, values: TensorLike) -> TensorLike:
    """values[j] - values[i] at (i, j), and 1 on the diagonal."""
    ones = xp.diag_embed(xp.zeros_like(values) + 1)
    return xp.expand_dims(values, -2) - xp.expand_dims(values, -1) + ones


# ---- QR ---------------------------------------------------------------------------------------
def _qr_gradient(xp: ModuleType, gs: Sequence[TensorLike | None], Q: TensorLike, R: TensorLike,
                 mode: str, A_shape: Shape) -> TensorLike:  # fmt: skip
    """(gQ + Q copyltu(gR R^H - Q^H gQ)) R^-H; of a wide matrix, for its first columns.

    The other columns are Q times those of R, which adds to the gradient of Q.
    Source: S. Walter et al., Algorithmic differentiation of the QR decomposition (2018).
    """
    rows, columns = A_shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    of_q = xp.zeros_like(Q) if gs[0] is None else gs[0]
    of_r = xp.zeros_like(R) if gs[1] is None else gs[1]
    if rows >= columns:
        return _tall_qr_gradient(xp, of_q, of_r, Q, R)
    rest = of_r[..., rows:]
    of_q = of_q + Q @ (R[..., rows:] @ adjoint(xp, rest))
    first = _tall_qr_gradient(xp, of_q, of_r[..., :rows], Q, R[..., :rows])
    return xp.cat([first, Q @ rest], -1)


def _tall_qr_gradient(xp: ModuleType, of_q: TensorLike, of_r: TensorLike, q: TensorLike,
                      r: TensorLike) -> TensorLike:  # fmt: skip
    upper = xp.triu(of_r @ adjoint(xp, r) - adjoint(xp, q) @ of_q)
    both = upper + adjoint(xp, upper) - xp.diag_embed(xp.real(_diagonal(xp, upper)))
    return xp.solve_triangular(adjoint(xp, r), of_q + q @ both, upper=False, left=False)


def _qr_checked(x: Array, mode: str = "reduced") -> tuple[Array, Array]:
    if mode in ("reduced", "complete", "r") or not is_half(x.dtype) or x.ndim < 2:
        checks.check(x, "linalg.qr", "geqrf_cpu", False)
    return householder.qr(x, mode)


linalg_qr = general(
    "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    _qr_checked,
    A=_qr_gradient,
    holomorphic=False,
    namespace="linalg",
    saved_as={"A_shape": None},
    refuses_values="any",
    samples=lambda mk: [
        (regular(mk, 3, 3),),
        (mk(4, 3),),
        (mk(2, 4),),
        (mk(2, 3, 2),),
        (mk(2, 3), "complete"),
    ],
    doc="Q with orthonormal columns and R upper triangular with A = Q R.",
    kernel="geqrf_cpu",
)


@composite(method=True, out=True)
def qr(input: Tensor, some: bool = True) -> Any:
    """Q and R with A = Q R; complete ones where `some` is False."""
    say_better("qr")
    made = _return_types.make_result_class("qr")
    return made(apply_n(linalg_qr.op, [input, "reduced" if some else "complete"]))


def _no_geqrf(xp: ModuleType, gs: Sequence[TensorLike | None]) -> NoReturn:
    raise RuntimeError("derivative for aten::geqrf is not implemented")


geqrf = general(
    "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    householder.geqrf,
    self=_no_geqrf,
    real_only=True,
    refuses_values="any",
    samples=lambda mk: [(mk(4, 3),), (mk(2, 3, 3),)],
    doc="The Householder reflectors whose product is the Q of `qr`, and R.",
)


def _vector(xp: ModuleType, a: TensorLike, k: int) -> TensorLike:
    """The k-th reflector's vector, a column: zeros, a one, and what is below the diagonal."""
    under = a[..., k + 1 :, k : k + 1]
    one = xp.zeros_like(a[..., k : k + 1, k : k + 1]) + 1
    if not k:
        return xp.cat([one, under], -2)
    return xp.cat([xp.zeros_like(a[..., :k, k : k + 1]), one, under], -2)


def _product_gradients(xp: ModuleType, g: TensorLike, a: TensorLike, tau: TensorLike,
                       other: TensorLike, forwards: bool,
                       conjugate: bool) -> tuple[TensorLike, TensorLike, TensorLike]:  # fmt: skip
    """Those of H₁ H₂ … Hₖ times `other` (`forwards`), or of the product in the other order.

    With the factors before H collected in K = (…)ᴴ g and those behind it in R, a small change of
    H = I - t v vᴴ makes Re tr((K Rᴴ)ᴴ dH).
    """
    count = tau.shape[-1]
    order = list(range(count)) if forwards else list(range(count))[::-1]
    vectors = [_vector(xp, a, k) for k in range(count)]
    factors = [xp.expand_dims(xp.expand_dims(tau[..., k], -1), -1) for k in range(count)]
    if conjugate:
        factors = [xp.conj(t) for t in factors]
    behind: list[Any] = [None] * count
    for k in reversed(order):
        behind[k] = other
        other = other - (factors[k] * vectors[k]) @ (adjoint(xp, vectors[k]) @ other)
    of_vectors: list[Any] = [None] * count
    of_factors: list[Any] = [None] * count
    for k in order:
        v, t, rest = vectors[k], factors[k], behind[k]
        along = g @ (adjoint(xp, rest) @ v)
        back = rest @ (adjoint(xp, g) @ v)
        of_t = -(adjoint(xp, v) @ along)
        of_factors[k] = (xp.conj(of_t) if conjugate else of_t)[..., 0]
        of_v = -(xp.conj(t) * along) - t * back
        top = xp.zeros_like(of_v[..., : k + 1, :])
        of_vectors[k] = xp.cat([top, of_v[..., k + 1 :, :]], -2)
        g = g - (xp.conj(t) * v) @ (adjoint(xp, v) @ g)
    if count < a.shape[-1]:
        of_vectors.append(xp.zeros_like(a[..., count:]))
    of_a = xp.cat(of_vectors, -1) if of_vectors else xp.zeros_like(a)
    of_tau = xp.cat(of_factors, -1) if of_factors else xp.zeros_like(tau)
    return of_a, of_tau, g


def _householder_gradients(xp: ModuleType, g: TensorLike, input: TensorLike,
                           tau: TensorLike) -> tuple[TensorLike, TensorLike]:  # fmt: skip
    eye = xp.broadcast_to(xp.eye_like(input), input.shape)
    of_a, of_tau, _ = _product_gradients(xp, g, input, tau, eye, True, False)
    return of_a, of_tau


def _householder(name: str, namespace: str) -> Any:
    return general(
        f"{name}(Tensor input, Tensor tau) -> Tensor",
        householder.householder_product,
        joint=_householder_gradients,
        holomorphic=False,
        node="LinalgHouseholderProductBackward0",
        namespace=namespace,
        method=not namespace,
        dtypes="float",
        samples=lambda mk: [(mk(4, 3), mk(3)), (mk(2, 3, 3), mk(2, 2))],
        refuses_values="any",
        kernel="orgqr_cpu",
        doc="The first columns of the product of Householder reflectors.",
    )


householder_product = _householder("linalg_householder_product", "linalg")
orgqr = _householder("orgqr", "")


def _ormqr_gradients(xp: ModuleType, g: TensorLike, self: TensorLike, input2: TensorLike,
                     input3: TensorLike, left: bool,
                     transpose: bool) -> tuple[TensorLike, TensorLike, TensorLike]:  # fmt: skip
    """Those of the product with reflectors; from the right as the adjoint of one from the left."""
    if left:
        return _product_gradients(xp, g, self, input2, input3, not transpose, transpose)
    of_a, of_tau, of_other = _product_gradients(
        xp, adjoint(xp, g), self, input2, adjoint(xp, input3), transpose, not transpose
    )
    return of_a, of_tau, adjoint(xp, of_other)


ormqr = general(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> "
    "Tensor",
    householder.ormqr,
    joint=_ormqr_gradients,
    holomorphic=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [
        (mk(4, 3), mk(3), mk(4, 2)),
        (mk(4, 3), mk(3), mk(2, 4), False),
        (mk(2, 3, 3), mk(2, 3), mk(2, 3, 2), True, True),
        (mk(3, 3), mk(3), mk(2, 3), False, True),
    ],
    doc="The Q of Householder reflectors (or its adjoint) times a matrix, or a matrix times it.",
)


# ---- eigenvalues ------------------------------------------------------------------------------
_PHASE = (
    "{}: The {} vectors in the complex case are specified up to multiplication by e^{{i phi}}. The "
    "specified loss function depends on this {}."
)
_EIGH_PHASE = (
    "{}: The eigenvectors in the complex case are specified up to multiplication by e^{{i "
    "phi}}. The specified loss function depends on this quantity, so it is ill-defined."
)
_SVD_PHASE = (
    "svd_backward: The singular vectors in the complex case are specified up to multiplication by "
    "e^{i phi}. The specified loss function depends on this phase term, making it ill-defined."
)


def _eigh_gradient(xp: ModuleType, gs: Sequence[TensorLike | None], eigenvalues: TensorLike,
                   eigenvectors: TensorLike, A_dtype: dtype) -> TensorLike:  # fmt: skip
    """V (diag(gL) + (V^H gV) / (λⱼ - λᵢ)) V^H, its Hermitian part."""
    of_values, of_vectors = gs
    v, vh = eigenvectors, adjoint(xp, eigenvectors)
    if of_vectors is None:
        return (v * xp.expand_dims(of_values, -2)) @ vh
    inner = vh @ of_vectors
    diagonal = _diagonal(xp, inner)
    if A_dtype.is_complex:
        diagonal = xp.same_phase(diagonal, _EIGH_PHASE.format("linalg_eigh_backward"))
    inner = (inner - xp.diag_embed(diagonal)) / _gaps(xp, eigenvalues)
    if of_values is not None:
        inner = inner + xp.diag_embed(of_values)
    whole = v @ (inner @ vh)
    return (whole + adjoint(xp, whole)) / 2


def _eigh_tangents(xp: ModuleType, A: Tensor, A_t: Tensor, UPLO: str) -> tuple[Tensor, Tensor]:
    """The real diagonal of P = V^H dA V, and V (P / (λⱼ - λᵢ)); as in PyTorch all of dA is read."""
    values, vectors = xp.eigh(A, UPLO)
    inner = adjoint(xp, vectors) @ (A_t @ vectors)
    diagonal = _diagonal(xp, inner)
    turned = (inner - xp.diag_embed(diagonal)) / _gaps(xp, values)
    return xp.real(diagonal), vectors @ turned


eigh = general(
    "linalg_eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    raw.eigh,
    jvp=_eigh_tangents,
    A=_eigh_gradient,
    holomorphic=False,
    namespace="linalg",
    dtypes="float",
    refuses_values="any",
    out_rules=OutRules(named="_linalg_eigh"),
    samples=lambda mk: [
        (hermitian(mk, 3, 3),),
        (hermitian(mk, 2, 3, 3),),
        (hermitian(mk, 3, 3), "U"),
    ],
    doc="The eigenvalues, ascending, and the eigenvectors of each Hermitian matrix.",
)
eigvalsh = general(
    "linalg_eigvalsh(Tensor A, str UPLO='L') -> Tensor",
    raw.eigvalsh,
    A=lambda xp, g, A, UPLO: _values_gradient(xp, g, xp.eigh(A, UPLO)[1]),
    holomorphic=False,
    node="LinalgEighBackward0",
    namespace="linalg",
    refuses_values="any",
    out_rules=OutRules(named="_linalg_eigh"),
    samples=lambda mk: [(hermitian(mk, 3, 3),), (hermitian(mk, 2, 3, 3), "U"), (mk(0, 0),)],
    doc="The eigenvalues of each Hermitian matrix, ascending.",
    kernel="linalg_eigh_cpu",
)


def _values_gradient(xp: ModuleType, g: TensorLike, vectors: TensorLike) -> TensorLike:
    return (vectors * xp.expand_dims(g, -2)) @ adjoint(xp, vectors)


def _eig_gradient(xp: ModuleType, gs: Sequence[TensorLike | None], eigenvalues: TensorLike,
                  eigenvectors: TensorLike, A_dtype: dtype) -> TensorLike:  # fmt: skip
    """V^-H (diag(gL) + (V^H gV - V^H V diag(Re V^H gV)) / conj(λⱼ - λᵢ)) V^H.

    Source: C. Boeddeker et al., On the computation of complex-valued gradients (2017), eq. 4.77.
    """
    of_values, of_vectors = gs
    v, vh = eigenvectors, adjoint(xp, eigenvectors)
    if of_vectors is None:
        return xp.astype(xp.solve(vh, xp.expand_dims(of_values, -1) * vh), A_dtype)
    inner = vh @ of_vectors
    diagonal = _diagonal(xp, inner)
    diagonal = xp.same_phase(diagonal, _EIGH_PHASE.format("linalg_eig_backward"))
    inner = inner - (vh @ v) * xp.expand_dims(xp.real(diagonal), -2)
    inner = inner / xp.conj(_gaps(xp, eigenvalues))
    inner = inner - xp.diag_embed(_diagonal(xp, inner))
    if of_values is not None:
        inner = inner + xp.diag_embed(of_values)
    return xp.astype(xp.solve(vh, inner @ vh), A_dtype)


eig = general(
    "linalg_eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)",
    raw.eig,
    A=_eig_gradient,
    holomorphic=False,
    namespace="linalg",
    dtypes="float",
    # Any other cotangent than one that no phase changes is refused: see tests/compare.
    refuses_values="any",
    samples=lambda mk: [(mk(0, 0),), (mk(2, 0, 0),)],
    doc="The eigenvalues and eigenvectors of each square matrix, complex.",
    kernel="linalg_eig_out_cpu",
)
eigvals = general(
    "linalg_eigvals(Tensor A) -> Tensor",
    raw.eigvals,
    A=lambda xp, g, A, A_dtype: _eig_gradient(xp, (g, None), *(*xp.eig(A), A_dtype)),
    holomorphic=False,
    node="LinalgEigBackward0",
    namespace="linalg",
    refuses_values="any",
    out_rules=OutRules(named="aten::linalg_eigvals"),
    samples=lambda mk: [(hermitian(mk, 3, 3) + mk(3, 3) * 0.02,), (mk(3, 3),), (mk(0, 0),)],
    doc="The eigenvalues of each square matrix, complex.",
    kernel="linalg_eig_out_cpu",
)


# ---- singular values --------------------------------------------------------------------------
def _svd_gradient(xp: Any, gs: Sequence[TensorLike | None], U: TensorLike, S: TensorLike,
                  Vh: TensorLike,
                  A_dtype: Any) -> TensorLike:  # fmt: skip
    """U ((skew(U^H gU) / E) S + S (skew(V^H gV) / E) + diag(gS)) V^H, and what leaves both spaces.

    Here E is sⱼ² - sᵢ² off the diagonal and skew(X) = X - X^H.
    Source: J. Townsend, Differentiating the singular value decomposition (2016).
    """
    of_u, of_s, of_vh = gs
    count = S.shape[-1]
    u, vh = U[..., :count], Vh[..., :count, :]
    if of_u is None and of_vh is None:
        return (u * xp.expand_dims(of_s, -2)) @ vh
    uh, v = adjoint(xp, u), adjoint(xp, vh)
    gaps = _gaps(xp, S * S)
    row, column = xp.expand_dims(S, -2), xp.expand_dims(S, -1)
    inner = xp.diag_embed(xp.zeros_like(S) if of_s is None else of_s)
    outside = None
    phase: Any = 0
    if of_u is not None:
        of_u = of_u[..., :count]
        along = uh @ of_u
        phase = phase + _diagonal(xp, along)
        turn = along - adjoint(xp, along)
        inner = inner + turn / gaps * row
        if A_dtype.is_complex:
            inner = inner + xp.diag_embed(_diagonal(xp, turn) / (2 * S))
        if u.shape[-2] > count:
            outside = ((of_u - u @ along) / row) @ vh
    if of_vh is not None:
        of_vh = of_vh[..., :count, :]
        along = vh @ adjoint(xp, of_vh)
        phase = phase + _diagonal(xp, along)
        inner = inner + column * ((along - adjoint(xp, along)) / gaps)
        if vh.shape[-1] > count:
            more = (u / row) @ (of_vh - (of_vh @ v) @ vh)
            outside = more if outside is None else outside + more
    if A_dtype.is_complex:
        xp.same_phase(phase, _SVD_PHASE)
    result = u @ (inner @ vh)
    return result if outside is None else result + outside


linalg_svd = general(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> "
    "(Tensor U, Tensor S, Tensor Vh)",
    raw.svd,
    A=_svd_gradient,
    holomorphic=False,
    namespace="linalg",
    dtypes="float",
    refuses_values="any",
    out_rules=OutRules(named="_linalg_svd"),
    samples=lambda mk: [
        (hermitian(mk, 3, 3) + mk(3, 3) * 0.02,),
        (mk(3, 4), False),
        (mk(2, 3, 4), False),
    ],
    doc="U, S (descending) and V^H with A = U S V^H.",
    narrow="complex32",
)
svdvals = general(
    "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    raw.svdvals,
    A=lambda xp, g, A: _svd_gradient(xp, (None, g, None), *(*xp.thin_svd(A), None)),
    holomorphic=False,
    node="LinalgSvdBackward0",
    namespace="linalg",
    out_rules=OutRules(named="_linalg_svd"),
    refuses_values="any",
    samples=lambda mk: [(mk(3, 3),), (mk(4, 3),), (mk(2, 3, 4),), (mk(0, 3),)],
    doc="The singular values of each matrix, descending.",
    kernel="linalg_svd_cpu",
)


@composite("private")
def thin_svd(x: Tensor) -> Any:
    """U, S and V^H, without what is outside the matrix's own spaces."""
    return apply_n(linalg_svd.op, [x, False, None])


def _eigen(x: Tensor) -> tuple[Tensor, ...]:
    return apply_n(eigh.op, [x, "L"])


@composite(method=True, out=True)
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V with A = U S V^H; thin ones where `some` is True."""
    if input._raw.ndim < 2:
        raise RuntimeError(
            "linalg.svd: input should have at least 2 dimensions, but has "
            f"{input._raw.ndim} dimensions instead"
        )
    made = _return_types.make_result_class("svd")
    if not compute_uv:
        rows, columns = input.shape[-2:]
        batch = tuple(input.shape[:-2])
        zeros = table("zeros")
        u, v = (zeros((*batch, n, n), dtype=input.dtype) for n in (rows, columns))
        return made((count_writes(u, 1), table("svdvals")(input), count_writes(v, 1).mT))
    u, s, vh = apply_n(linalg_svd.op, [input, not some, None])
    return made((u, s, vh.mH))


# ---- pseudo-inverse and least squares ---------------------------------------------------------
def _pinv_gradient(xp: ModuleType, g: TensorLike, out: TensorLike, self: TensorLike) -> TensorLike:
    """-P^H g P^H + (I - A P) g^H P P^H + P^H P g^H (I - P A).

    Source: G. Golub, V. Pereyra, The differentiation of pseudo-inverses (1973), eq. 4.12.
    """
    ph, gh = adjoint(xp, out), adjoint(xp, g)
    first = gh @ (out @ ph)
    second = (ph @ out) @ gh
    return -(ph @ (g @ ph)) + first - self @ (out @ first) + second - (second @ out) @ self


_pinv = general(
    "_pinv(Tensor self, Limit? atol=None, Limit? rtol=None, bool hermitian=False) -> Tensor",
    raw.pinv,
    self=_pinv_gradient,
    holomorphic=False,
    node="LinalgPinvBackward0",
    public=False,
    out=False,
    refuses_values="any",
    samples=lambda mk: [
        (mk(3, 4),),
        (mk(2, 4, 3),),
        (hermitian(mk, 3, 3), None, None, True),
        (mk(0, 3),),
    ],
    doc="The pseudo-inverse of each matrix.",
)


def _limit(value: object) -> Any:
    return value._raw if isinstance(value, TensorBase) else value


@composite("linalg")
def pinv(A: Tensor, rcond: object = None, hermitian: bool = False, *, atol: object = None,
         rtol: object = None, out: Tensor | None = None) -> Tensor:  # fmt: skip
    """The pseudo-inverse of each matrix; singular values up to max(atol, rtol σ₁) count as zero."""
    if rtol is None:
        rtol = rcond
    refuse_gradient("linalg_pinv", atol=atol, rtol=rtol)
    limits = _limit(atol), _limit(rtol)
    if current().autocast is not None and out is None and A._raw.size:
        result = steps.pinv_in_steps(A, *limits, _eigen if hermitian else thin_svd)
    else:
        result = apply_n(_pinv.op, [A, *limits, hermitian])
    return give("pinv", result, out, named="linalg_pinv")


@composite(method=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse of each matrix; see `linalg.pinv`."""
    return pinv(input, rcond)


@composite("linalg")
def matrix_rank(A: Tensor, tol: object = None, hermitian: bool = False, *, atol: object = None,
                rtol: object = None, out: Tensor | None = None) -> Tensor:  # fmt: skip
    """How many singular values of each matrix are above max(atol, rtol σ₁)."""
    if atol is None and tol is not None:
        atol, rtol = tol, 0.0
    result = table("_matrix_rank")(A.detach(), _limit(atol), _limit(rtol), hermitian)
    if out is None:
        count_writes(result, 1)
    return give("matrix_rank", check_ranks(A, atol, rtol, result, out), out)


_rank = general(
    "_matrix_rank(Tensor self, Limit? atol=None, Limit? rtol=None, bool hermitian=False) -> Tensor",
    raw.matrix_rank,
    namespace="private",
    out=False,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4),), (hermitian(mk, 3, 3), None, None, True)],
    doc="How many singular values of each matrix are above a tolerance.",
)


def _lstsq_gradients(xp: ModuleType, gs: Sequence[TensorLike | None], self: TensorLike,
                     b: TensorLike, solution: TensorLike) -> tuple[TensorLike,
                     TensorLike]:  # fmt: skip
    """Those of pinv(A) B and of the sums of squares of A X - B."""
    of_x, of_residuals = gs[0], gs[1]
    vector = b.ndim == 1 or (self.ndim - 1 == b.ndim and b.shape == self.shape[:-1])
    b_shape = b.shape
    if vector:
        b, solution = xp.expand_dims(b, -1), xp.expand_dims(solution, -1)
    of_a, of_b = xp.zeros_like(self), xp.zeros_like(b)
    if of_x is not None:
        of_x = xp.expand_dims(of_x, -1) if vector else of_x
        p = xp.pinv(self)
        of_b = of_b + xp.sum_to(adjoint(xp, p) @ of_x, b.shape)
        of_a = of_a + xp.sum_to(_pinv_gradient(xp, of_x @ adjoint(xp, b), p, self), self.shape)
    if (
        of_residuals is not None
        and of_residuals.shape[:-1] == solution.shape[:-2]
        and of_residuals.shape[-1] == solution.shape[-1]
    ):
        off = 2 * (self @ solution - b) * xp.expand_dims(of_residuals, -2)
        of_a = of_a + xp.sum_to(off @ adjoint(xp, solution), self.shape)
        of_b = of_b - xp.sum_to(off, b.shape)
    return of_a, (of_b[..., 0] if vector else of_b).reshape(b_shape)


lstsq = general(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    raw.lstsq,
    # Where the rank is found to be smaller there are no residuals.
    shaped_by_values=lambda args: args[3] not in (None, "gels"),
    joint=_lstsq_gradients,
    holomorphic=False,
    differentiable_out=(True, True, False, False),
    namespace="linalg",
    refuses_values="any",
    samples=lambda mk: [
        (mk(4, 3), mk(4, 2)), (mk(3, 4), mk(3, 2)), (mk(2, 4, 3), mk(2, 4)),
        (mk(4, 3), mk(4, 2), None, "gelsd"), (mk(2, 4, 2), mk(2, 4, 3), None, "gels"),
    ],
    doc="The X of least norm for which |A X - B| is least.",
)  # fmt: skip

_ = (_checks, triangular, _PHASE)
