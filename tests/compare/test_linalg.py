"""Linear algebra does what it does on torch.

Values, dtypes, shapes, first and second gradients; the types and texts of errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import rushlight  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
rng = np.random.default_rng(7)

SQUARE = rng.normal(size=(3, 3)) * 0.4 + np.diag([1.0, 2.0, 3.5])
STACK = rng.normal(size=(2, 3, 3)) * 0.3 + np.eye(3)
TALL, WIDE = rng.normal(size=(4, 3)), rng.normal(size=(2, 4))
VECTOR, OTHER = rng.normal(size=3), rng.normal(size=(3, 2))
COMPLEX = SQUARE + 1j * rng.normal(size=(3, 3)) * 0.3
DEFINITE = SQUARE @ SQUARE.T
HERMITIAN = COMPLEX @ COMPLEX.conj().T
LOWER = np.tril(SQUARE)


def outer_products(left: Any, right: Any) -> Any:
    """Projections: what the phase of singular and eigenvectors doesn't change."""
    return left @ right.mH


#: name -> (function of the module and tensors, arrays)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "inv": (lambda m, a: m.linalg.inv(a), (STACK,)),
    "inv_complex": (lambda m, a: m.inverse(a), (COMPLEX,)),
    "solve": (lambda m, a, b: m.linalg.solve(a, b), (STACK, OTHER)),
    "solve_vector": (lambda m, a, b: m.linalg.solve(a, b), (SQUARE, VECTOR)),
    "solve_right": (lambda m, a, b: m.linalg.solve(a, b.mT, left=False), (SQUARE, OTHER)),
    "solve_complex": (lambda m, a, b: m.linalg.solve(a, b), (COMPLEX, OTHER + 0j)),
    "det": (lambda m, a: m.det(a), (STACK,)),
    "det_complex": (lambda m, a: m.linalg.det(a), (COMPLEX,)),
    "slogdet": (lambda m, a: m.slogdet(a)[1], (STACK,)),
    "slogdet_complex": (lambda m, a: m.linalg.slogdet(a), (COMPLEX,)),
    "logdet": (lambda m, a: m.logdet(a), (DEFINITE,)),
    "logdet_negative": (lambda m, a: m.logdet(-a), (DEFINITE,)),
    "cholesky": (lambda m, a: m.linalg.cholesky(a), (DEFINITE,)),
    "cholesky_upper": (lambda m, a: m.linalg.cholesky(a, upper=True), (HERMITIAN,)),
    "cholesky_solve": (lambda m, b, a: m.cholesky_solve(b, a), (OTHER, LOWER)),
    "cholesky_inverse": (lambda m, a: m.cholesky_inverse(a), (LOWER,)),
    "qr": (lambda m, a: m.linalg.qr(a), (TALL,)),
    "qr_wide": (lambda m, a: m.linalg.qr(a), (WIDE,)),
    "qr_square": (lambda m, a: m.qr(a), (SQUARE,)),
    "eigh": (lambda m, a: outer_products(*[m.linalg.eigh(a)[1][..., :2]] * 2), (DEFINITE,)),
    "eigh_complex": (
        lambda m, a: outer_products(*[m.linalg.eigh(a)[1][..., :1]] * 2), (HERMITIAN,)
    ),
    "eigvalsh": (lambda m, a: m.linalg.eigvalsh(a), (HERMITIAN,)),
    "eigvalsh_upper": (lambda m, a: m.linalg.eigvalsh(a, UPLO="U"), (DEFINITE,)),
    "eigvals": (lambda m, a: (m.linalg.eigvals(a) ** 3).sum(), (SQUARE,)),
    "svd": (lambda m, a: (lambda u, s, v: (u @ v, s))(*m.linalg.svd(a, False)), (TALL,)),
    "svd_wide": (lambda m, a: (lambda u, s, v: (u @ v, s))(*m.linalg.svd(a, False)), (WIDE,)),
    "svd_complex": (lambda m, a: (lambda u, s, v: u @ v)(*m.linalg.svd(a)), (COMPLEX,)),
    "svd_older": (lambda m, a: (lambda u, s, v: u @ v.mH)(*m.svd(a)), (TALL,)),
    "svdvals": (lambda m, a: m.linalg.svdvals(a), (TALL,)),
    "pinv": (lambda m, a: m.linalg.pinv(a), (TALL,)),
    "pinv_wide": (lambda m, a: m.pinverse(a), (WIDE,)),
    "pinv_complex": (lambda m, a: m.linalg.pinv(a), (COMPLEX[:2],)),
    "pinv_hermitian": (lambda m, a: m.linalg.pinv(a, hermitian=True), (DEFINITE,)),
    "matrix_rank": (lambda m, a: m.linalg.matrix_rank(a), (TALL,)),
    "power": (lambda m, a: m.matrix_power(a, 5), (SQUARE,)),
    "power_negative": (lambda m, a: m.linalg.matrix_power(a, -2), (STACK,)),
    "power_zero": (lambda m, a: m.linalg.matrix_power(a, 0), (STACK,)),
    "exp": (lambda m, a: m.matrix_exp(a), (STACK,)),
    "exp_large": (lambda m, a: m.linalg.matrix_exp(a), (1.5 * SQUARE,)),
    "lstsq": (lambda m, a, b: m.linalg.lstsq(a, b)[0], (TALL, TALL[:, :2] + 1)),
    "lstsq_wide": (lambda m, a, b: m.linalg.lstsq(a, b)[0], (WIDE, OTHER[:2])),
    "lstsq_gelsd": (
        lambda m, a, b: m.linalg.lstsq(a, b, driver="gelsd")[1], (TALL, TALL[:, :2] + 1)
    ),
    "triangular": (lambda m, a, b: m.linalg.solve_triangular(a, b, upper=True), (STACK, OTHER)),
    "triangular_unit": (
        lambda m, a, b: m.linalg.solve_triangular(
            a, b.mT, upper=False, left=False, unitriangular=True
        ),
        (SQUARE, OTHER),
    ),
    "triangular_older": (
        lambda m, a, b: m.triangular_solve(b, a, transpose=True)[0], (SQUARE, OTHER)
    ),
    "lu": (lambda m, a: m.linalg.lu(a), (TALL,)),
    "lu_wide": (lambda m, a: m.linalg.lu(a), (WIDE,)),
    "lu_factor": (lambda m, a: m.linalg.lu_factor(a)[0], (STACK,)),
    "lu_pivots": (lambda m, a: m.linalg.lu_factor(a)[1], (STACK,)),
    "lu_solve": (lambda m, a, b: m.linalg.lu_solve(*m.linalg.lu_factor(a), b), (SQUARE, OTHER)),
    "lu_solve_adjoint": (
        lambda m, a, b: m.linalg.lu_solve(*m.linalg.lu_factor(a), b, adjoint=True),
        (COMPLEX, OTHER + 0j),
    ),
    "lu_unpack": (lambda m, a: m.lu_unpack(*m.lu(a)), (STACK,)),
    "householder": (lambda m, a, t: m.linalg.householder_product(a, t), (TALL, VECTOR)),
    "geqrf": (lambda m, a: [x.detach() for x in m.geqrf(a)], (TALL,)),
    "ormqr": (lambda m, a, t, b: m.ormqr(a, t, b), (SQUARE, VECTOR, OTHER)),
    "norm_nuclear": (lambda m, a: m.linalg.matrix_norm(a, "nuc"), (TALL,)),
    "norm_spectral": (lambda m, a: m.linalg.norm(a, 2), (TALL,)),
    "norm_least": (lambda m, a: m.linalg.matrix_norm(a, -2, keepdim=True), (STACK,)),
    "norm_columns": (lambda m, a: m.linalg.matrix_norm(a, 1, dim=(0, 2)), (STACK,)),
    "norm_rows": (lambda m, a: m.linalg.norm(a, float("inf")), (TALL,)),
    "norm_frobenius": (lambda m, a: m.linalg.norm(a, "fro", dim=(1, 2), keepdim=True), (STACK,)),
    "norm_vector": (lambda m, a: m.linalg.norm(a, 3, dim=1), (TALL,)),
    "norm_all": (lambda m, a: m.linalg.norm(a), (STACK,)),
    "cond": (lambda m, a: m.linalg.cond(a), (STACK,)),
    "cond_one": (lambda m, a: m.linalg.cond(a.detach(), 1), (SQUARE,)),
    "multi_dot": (lambda m, a, b, c: m.linalg.multi_dot([a, b, c]), (TALL, SQUARE, VECTOR)),
    "cross": (lambda m, a, b: m.linalg.cross(a, b), (TALL, TALL[::-1].copy())),
    "cross_older": (lambda m, a, b: m.cross(a, b), (OTHER, OTHER[::-1].copy())),
    "vecdot": (lambda m, a, b: m.linalg.vecdot(a, b), (COMPLEX, COMPLEX.T.copy())),
    "vander": (lambda m, a: m.linalg.vander(a, N=4), (TALL,)),
    "vander_older": (lambda m, a: m.vander(a.detach()), (VECTOR,)),
    "tensorinv": (lambda m, a: m.linalg.tensorinv(a.reshape(3, 3, 1), ind=1), (SQUARE,)),
    "tensorsolve": (
        lambda m, a, b: m.linalg.tensorsolve(a.reshape(3, 1, 3), b[:, None]), (SQUARE, VECTOR)
    ),
    "kron": (lambda m, a, b: m.kron(a, b), (STACK, OTHER)),
    "cdist": (lambda m, a, b: m.cdist(a, b), (TALL, SQUARE)),
    "cdist_one": (lambda m, a, b: m.cdist(a, b, p=1.0), (TALL, STACK)),
    "cdist_large": (lambda m, a, b: m.cdist(a, b), (rng.normal(size=(30, 3)), SQUARE)),
    "cov": (lambda m, a: m.cov(a), (TALL,)),
    "cov_complex": (lambda m, a: m.cov(a), (COMPLEX,)),
    "cov_vector": (lambda m, a: m.cov(a, correction=0), (VECTOR,)),
    "cov_weighted": (
        lambda m, a: m.cov(
            a, fweights=m.tensor([1, 2, 3]), aweights=m.tensor([0.5, 1.0, 2.0]).double()
        ),
        (TALL,),
    ),
    "corrcoef": (lambda m, a: m.corrcoef(a), (TALL,)),
    "trace": (lambda m, a: m.trace(a), (TALL,)),
    "diagonal": (lambda m, a: m.linalg.diagonal(a, offset=1), (STACK,)),
    "renorm": (lambda m, a: m.renorm(a, 2, 0, 0.5), (TALL,)),
    "block_diag": (lambda m, a, b: m.block_diag(a, b), (TALL, VECTOR)),
}  # fmt: skip

#: torch has no derivative of the gradient, or of the function.
NO_SECOND = ("cdist", "cdist_one", "cdist_large", "ormqr")


def outputs(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def observed(module: Any, name: str, dtype: str) -> list[Any]:
    """The results, the gradients of a weighted sum of them, and the gradients of their squares."""
    function, arrays = CASES[name]
    inputs = []
    for a in arrays:
        kind = (
            {"float64": "complex128", "float32": "complex64"}[dtype]
            if a.dtype.kind == "c"
            else dtype
        )
        inputs.append(module.tensor(a.astype(kind)).requires_grad_())
    results = outputs(function(module, *inputs))
    seen = [r.detach() for r in results]
    total: Any = 0.0
    for r in results:
        if r.requires_grad and r.numel():
            weights = np.cos(np.arange(r.numel())).reshape(tuple(r.shape)) + 0.3
            w = module.tensor(weights.astype(dtype))
            part = r.abs() ** 2 * w + r.real * w if r.is_complex() else (r + r * r) * w
            total = total + part.sum()
    if isinstance(total, float):
        return seen
    second = name not in NO_SECOND and dtype == "float64"
    first = module.autograd.grad(total, inputs, create_graph=second, allow_unused=True)
    seen += [g.detach() for g in first if g is not None]
    if second:
        energy: Any = sum((g.abs() ** 2).sum() for g in first if g is not None and g.requires_grad)
        if not isinstance(energy, int):
            found = module.autograd.grad(energy, inputs, allow_unused=True)
            seen += [g for g in found if g is not None]
    return seen


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_torch(name: str, dtype: str) -> None:
    theirs, ours = observed(torch, name, dtype), observed(rushlight, name, dtype)
    assert len(theirs) == len(ours)
    tolerance = 1e-8 if dtype == "float64" else 3e-3
    for k, (want, got) in enumerate(zip(theirs, ours)):
        assert str(got.dtype) == str(want.dtype), f"item {k}"
        assert tuple(got.shape) == tuple(want.shape), f"item {k}"
        a, b = got.resolve_conj().numpy(), want.resolve_conj().numpy()
        scale = 1 + np.max(np.abs(b[np.isfinite(b)]), initial=0)
        assert np.allclose(a / scale, b / scale, tolerance, tolerance, equal_nan=True), (
            f"item {k}:\n{a}\nnot\n{b}"
        )


NARROW = np.ones((2, 3))
SINGULAR = np.diag([1.0, 0.0, 0.0])
INDEFINITE = np.diag([1.0, -1.0, 1.0])
HALVES = np.ones((3, 3), np.float16)
WHOLE = np.ones((3, 3), np.int64)

ERRORS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{
        f"{name}_{kind}": (lambda m, a, name=name: getattr(m.linalg, name)(a), (array,))
        for name in ("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals",
                     "matrix_exp", "cond", "svd", "qr", "pinv", "lu", "lu_factor", "matrix_rank")
        for kind, array in (("vector", VECTOR), ("whole", WHOLE), ("halves", HALVES))
        if (name, kind) != ("matrix_exp", "halves")
    },
    **{
        f"{name}_narrow": (lambda m, a, name=name: getattr(m.linalg, name)(a), (NARROW,))
        for name in ("inv", "det", "slogdet", "cholesky", "eigh", "eig", "matrix_exp", "lu_factor")
    },
    "inv_singular": (lambda m, a: m.linalg.inv(a), (SINGULAR,)),
    "inv_second": (lambda m, a: m.linalg.inv(m.stack([m.eye(3).double(), a])), (SINGULAR,)),
    "solve_singular": (lambda m, a, b: m.linalg.solve(a, b), (SINGULAR, VECTOR)),
    "solve_shapes": (lambda m, a, b: m.linalg.solve(a, b), (SQUARE, TALL)),
    "solve_types": (lambda m, a, b: m.linalg.solve(a, b.float()), (SQUARE, VECTOR)),
    "cholesky_indefinite": (lambda m, a: m.linalg.cholesky(a), (INDEFINITE,)),
    "cholesky_older": (lambda m, a: m.cholesky(a), (INDEFINITE,)),
    "power_singular": (lambda m, a: m.matrix_power(a, -1), (SINGULAR,)),
    "qr_mode": (lambda m, a: m.linalg.qr(a, "foo"), (TALL,)),
    "qr_complete": (
        lambda m, a: m.linalg.qr(a.requires_grad_(), "complete")[0].sum().backward(), (TALL,)
    ),
    "qr_without_q": (
        lambda m, a: m.linalg.qr(a.requires_grad_(), "r")[1].sum().backward(), (TALL,)
    ),
    "eigh_phase": (
        lambda m, a: m.linalg.eigh(a.requires_grad_())[1].sum().abs().backward(), (HERMITIAN,)
    ),
    "svd_phase": (
        lambda m, a: m.linalg.svd(a.requires_grad_())[0].sum().abs().backward(), (COMPLEX,)
    ),
    "eigh_triangle": (lambda m, a: m.linalg.eigh(a, "X"), (SQUARE,)),
    "norm_order": (lambda m, a: m.linalg.matrix_norm(a, 3), (TALL,)),
    "norm_dims": (lambda m, a: m.linalg.matrix_norm(a, dim=(0, 0)), (TALL,)),
    "norm_three": (lambda m, a: m.linalg.norm(a, 2), (STACK,)),
    "multi_dot_one": (lambda m, a: m.linalg.multi_dot([a]), (TALL,)),
    "multi_dot_shapes": (lambda m, a: m.linalg.multi_dot([a, a]), (TALL,)),
    "cross_size": (lambda m, a: m.linalg.cross(a, a), (WIDE,)),
    "cross_none": (lambda m, a: m.cross(a, a), (WIDE,)),
    "tensorinv": (lambda m, a: m.linalg.tensorinv(a), (NARROW,)),
    "lstsq_shapes": (lambda m, a, b: m.linalg.lstsq(a, b), (TALL, OTHER)),
    "lstsq_driver": (lambda m, a: m.linalg.lstsq(a, a, driver="foo"), (TALL,)),
    "lu_factor_singular": (lambda m, a: m.linalg.lu_factor(a), (SINGULAR,)),
    "vecdot_sizes": (lambda m, a: m.linalg.vecdot(a, m.ones(4).double()), (VECTOR,)),
    "cdist_columns": (lambda m, a, b: m.cdist(a, b), (TALL, WIDE)),
    "trace_vector": (lambda m, a: m.trace(a), (VECTOR,)),
    "logdet_narrow": (lambda m, a: m.logdet(a), (NARROW,)),
    "not_a_tensor": (lambda m: m.linalg.inv(3), ()),
    "no_argument": (lambda m: m.linalg.qr(), ()),
    "upper_missing": (lambda m, a: m.linalg.solve_triangular(a, a), (SQUARE,)),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_torch(name: str) -> None:
    function, arrays = ERRORS[name]
    with pytest.raises(Exception) as theirs:
        function(torch, *[torch.tensor(a) for a in arrays])
    with pytest.raises(Exception) as ours:
        function(rushlight, *[rushlight.tensor(a) for a in arrays])
    assert ours.type.__name__ == theirs.type.__name__
    assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]


@pytest.mark.parametrize("name", ["qr", "svd", "eigh", "slogdet", "inv_ex", "lu", "lu_factor"])
def test_named_results_print_under_torch_names(name: str) -> None:
    theirs = getattr(torch.linalg, name)(torch.eye(2))
    ours = getattr(rushlight.linalg, name)(rushlight.eye(2))
    assert repr(ours).split("(")[0] == repr(theirs).split("(")[0]
    assert [part.split("=")[0] for part in repr(ours).splitlines()[1:]] == [
        part.split("=")[0] for part in repr(theirs).splitlines()[1:]
    ]


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "eigh", "svd", "qr", "pinv"])
def test_empty_matrices_give_the_shapes_of_torch(name: str, shape: tuple[int, ...]) -> None:
    theirs = outputs(getattr(torch.linalg, name)(torch.zeros(shape)))
    ours = outputs(getattr(rushlight.linalg, name)(rushlight.zeros(shape)))
    assert [tuple(t.shape) for t in ours] == [tuple(t.shape) for t in theirs]
    assert [t.tolist() for t in ours] == [t.tolist() for t in theirs]


def strides(t: Any) -> tuple[int, ...]:
    """The steps of the dimensions that have several elements: the others mean nothing."""
    return tuple(s for s, n in zip(t.stride(), t.shape) if n > 1)


#: name -> (function, arrays): their results, column-major or not, lie in memory as torch's do.
LAYOUTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    name: CASES[name]
    for name in (
        "inv", "solve", "solve_vector", "solve_right", "solve_complex", "cholesky",
        "cholesky_upper", "cholesky_solve", "cholesky_inverse", "qr", "qr_wide", "triangular",
        "triangular_unit", "triangular_older", "lu", "lu_wide", "lu_factor", "lu_solve",
        "lu_solve_adjoint", "lu_unpack", "householder", "geqrf", "ormqr", "power_negative", "exp",
        "lstsq", "lstsq_wide", "pinv", "cross",
    )
}  # fmt: skip
LAYOUTS |= {
    "svd_full": (lambda m, a: m.linalg.svd(a), (TALL,)),
    "svd_thin": (lambda m, a: m.linalg.svd(a, False), (WIDE,)),
    "svd_older": (lambda m, a: m.svd(a), (TALL,)),
    "eig": (lambda m, a: m.linalg.eig(a), (STACK,)),
    "eigh": (lambda m, a: m.linalg.eigh(a), (DEFINITE,)),
    "qr_complete": (lambda m, a: m.linalg.qr(a, "complete"), (TALL,)),
    "solve_vectors": (lambda m, a: m.linalg.solve(a, a[..., 0]), (STACK,)),
    "tensorinv": (lambda m, a: m.linalg.tensorinv(a.reshape(1, 3, 3), 2), (SQUARE,)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_results_lie_in_memory_as_those_of_torch(name: str) -> None:
    function, arrays = LAYOUTS[name]
    theirs = outputs(function(torch, *[torch.tensor(a) for a in arrays]))
    ours = outputs(function(rushlight, *[rushlight.tensor(a) for a in arrays]))
    assert [strides(t) for t in ours] == [strides(t) for t in theirs]


@pytest.mark.parametrize("missing", ["scipy", "gufuncs", "both"])
@pytest.mark.parametrize("name", [n for n in CASES if n != "ormqr"])
def test_values_are_the_same_by_every_way_to_lapack(
    name: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushlight._array.linalg import lapack

    function, arrays = CASES[name]
    usual = outputs(function(rushlight, *[rushlight.tensor(a) for a in arrays]))
    if missing != "gufuncs":
        monkeypatch.setattr(lapack, "_routines", {})
        monkeypatch.setattr(lapack, "_modules", [None])
    if missing != "scipy":
        monkeypatch.setattr(lapack, "_gufuncs", None)
    other = outputs(function(rushlight, *[rushlight.tensor(a) for a in arrays]))
    for one, two in zip(usual, other, strict=True):
        assert strides(one) == strides(two)
        np.testing.assert_allclose(one.detach().numpy(), two.detach().numpy(), 1e-9, 1e-9)


BROKEN = {
    "nan": np.stack([np.eye(3), np.full((3, 3), np.nan)]),
    "zero": np.stack([np.eye(3), np.zeros((3, 3))]),
    "ones": np.stack([np.eye(3), np.ones((3, 3))]),
}


@pytest.mark.parametrize("missing", ["nothing", "scipy"])
@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize(
    "name", ["inv", "inv_ex", "cholesky", "cholesky_ex", "lu_factor", "lu_factor_ex", "svdvals"]
)
def test_the_first_matrix_that_fails_is_the_one_that_torch_names(
    name: str, kind: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushlight._array.linalg import lapack

    if missing == "scipy":
        monkeypatch.setattr(lapack, "_routines", {})
        monkeypatch.setattr(lapack, "_modules", [None])

    def told(module: Any) -> Any:
        try:
            results = getattr(module.linalg, name)(module.tensor(BROKEN[kind]))
        except RuntimeError as error:
            return str(error).splitlines()[0]
        return [t.tolist() for t in outputs(results) if str(t.dtype).endswith("int32")]

    assert told(rushlight) == told(torch)
