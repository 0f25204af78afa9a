"""Norms and distances of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.lazy import later
from ..._core.storage import TensorBase
from ..calls import dtype_checks as _checks
from ..rows.composite import composite
from ..rows.out_rules import OutRules
from ..rows.row import general
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import Arguments, Shape, TensorLike
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor

raw = later("_array.reduce.norm")

_INF = float("inf")


def _norm_gradient(
    xp: ModuleType,
    g: TensorLike,
    x: TensorLike,
    out: TensorLike,
    p: float,
    dim: int | Shape | None,
    keepdim: bool,
    dtype: dtype,
) -> TensorLike:
    """sgn(x) |x|^(p-1) / norm^(p-1), with its limits; 0 wherever the norm is 0.

    At p = ±inf the elements of the largest (smallest) magnitude share the gradient.
    """
    shape = x.shape
    apart = dim is not None and not keepdim  # else it broadcasts as it is
    if apart:
        g = xp.expand_reduced(g, shape, dim, keepdim)
    if p == 0:
        return xp.zeros_like(x)
    if p == 1:
        return g * xp.sign(x)
    norm = xp.expand_reduced(out, shape, dim, keepdim) if apart else out
    if p == 2:
        return xp.scale_unit(g, x, norm)
    size = xp.abs(x)
    if p in (_INF, -_INF):
        same = xp.logical_or(xp.equal(size, norm), xp.isnan(size))
        weight = xp.astype(same, dtype)
        if not shape:
            return g * xp.sign(x)
        dims = tuple(range(len(shape))) if dim is None or dim == () else dim
        return xp.sign(x) * (g * weight / xp.sum(weight, dims, True))
    if p < 1:
        scaled = xp.sign(x) * xp.where(xp.equal(x, 0), 0, size ** (p - 1))
        return g * scaled * norm ** (1 - p)
    scaled = xp.sign(x) * size ** (p - 1) if p < 2 else x * size ** (p - 2)
    return scaled * xp.where(xp.equal(norm, 0), 0, g / norm ** (p - 1))


def _vector_norm_gradient(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    out: TensorLike,
    ord: float,
    dim: Shape | None,
    keepdim: bool,
    self_dtype: dtype,
) -> TensorLike:
    """See `_norm_gradient`."""
    return _norm_gradient(xp, g, self, out, ord, dim, keepdim, self_dtype.to_real())


vector_norm = general(
    "vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    raw.vector_norm,
    self=_vector_norm_gradient,
    holomorphic=False,
    namespace="linalg",
    node="LinalgVectorNormBackward0",
    out_rules=OutRules("linalg_vector_norm"),
    lowering="vector_norm",
    samples=lambda mk: [
        (mk(3, 4),), (mk(3, 4), 3, (1,)), (mk(3, 4), 1, (0, 1), True), (mk(3, 4), 0.5),
        (mk(3, 4), _INF, (1,)), (mk(3, 4), 1.5), (mk(3, 4), -2),
    ],
    doc="The norm of order `ord` over the dimensions `dim`, of the elements as one vector.",
    narrow="complex32", kernel="norm_cpu", without_data="fewer",
)  # fmt: skip


@composite(method=True)
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False,
         out: Tensor | None = None,
         dtype: Any = None) -> Tensor:  # fmt: skip
    """The norm of a vector or matrix: of order `p`, "fro" (the default) or "nuc".

    Raises:
        RuntimeError: for other texts, and for integers.
    """
    if not isinstance(input, TensorBase):
        raise AttributeError(f"'{type(input).__name__}' object has no attribute 'layout'")
    if isinstance(dim, int):
        dim = (dim,)
    if p is None or (p == "fro" and (dim is None or len(dim) <= 2)):
        p = 2
    extra = {} if out is None else {"out": out}
    if not isinstance(p, str):
        if dtype is not None:
            extra["dtype"] = dtype
        return table("vector_norm")(input, p, dim, keepdim, **extra)
    dim = list(range(input._raw.ndim)) if dim is None else dim
    return table("matrix_norm")(input, p, dim, keepdim, dtype=dtype, **extra)


def _dist_gradient(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    other: TensorLike,
    p: int,
    out: TensorLike,
    dtype: dtype,
) -> TensorLike:
    """That of the norm at self - other."""
    return _norm_gradient(xp, g, self - other, out, p, None, False, dtype)


def _dist_self(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    other: TensorLike,
    p: int,
    out: TensorLike,
    self_dtype: dtype,
) -> TensorLike:
    """The gradient of the norm of self - other, summed to the shape of `self`."""
    return xp.sum_to(_dist_gradient(xp, g, self, other, p, out, self_dtype.to_real()), self.shape)


def _dist_other(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    other: TensorLike,
    p: int,
    out: TensorLike,
    self_dtype: dtype,
) -> TensorLike:
    """The gradient of the norm of self - other, summed to the shape of `other`, negated."""
    return xp.sum_to(-_dist_gradient(xp, g, self, other, p, out, self_dtype.to_real()), other.shape)


def _refuse_bools(args: Arguments, raws: Arguments) -> None:
    first, second = args[0]._raw.dtype.kind == "b", args[1]._raw.dtype.kind == "b"
    if first or second:
        raise RuntimeError(_checks.TWO_BOOLS if first and second else _checks.ONE_BOOL)


dist = general(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    raw.dist,
    promote="same",
    promote_at=("self", "other"),
    self=_dist_self,
    other=_dist_other,
    holomorphic=False,
    check=_refuse_bools,
    samples=lambda mk: [(mk(3, 4), mk(3, 4)), (mk(3, 4), mk(4), 3), (mk(3), mk(3), 1)],
    doc="The norm of order `p` of the difference.",
    narrow="complex32",
    kernel="add_stub",
)


def _renorm_gradient(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    p: int,
    dim: int,
    maxnorm: float,
    self_dtype: dtype,
) -> TensorLike:
    """Where a slice was scaled by m / n: m (g / n - (g · x) / n² times the gradient of n)."""
    own = dim % self.ndim
    dims = tuple([d for d in range(self.ndim) if d != own])
    real = self_dtype.to_real()
    norm = xp.vector_norm(self, p, dims, True)
    inner = xp.real(xp.sum(xp.conj(self) * g, dims, True))
    of_norm = _norm_gradient(xp, inner, self, norm, p, dims, True, real)
    inverse = 1 / (norm + 1e-7)
    scaled = maxnorm * inverse * (g - inverse * of_norm)
    return xp.where(xp.greater(norm, xp.zeros_like(norm) + maxnorm), scaled, g)


renorm = general(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    raw.renorm,
    self=_renorm_gradient,
    holomorphic=False,
    inplace=True,
    refuses_values="any",
    samples=lambda mk: [(mk(3, 4), 2, 0, 1.0), (mk(3, 4), 1, 1, 1.5), (mk(2, 3, 2), 3, -1, 1)],
    doc="The tensor with slices across `dim` scaled down to norm `maxnorm` where theirs is larger.",
)
