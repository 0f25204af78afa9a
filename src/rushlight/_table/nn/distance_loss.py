"""Similarities and distances of vectors, and the losses built on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..._base import errors
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.inplace import count_write
from ..._core.mode import current
from ..._core.storage import new_tensor
from ..elementwise.number import minus, plus
from ..reduce.norm import _norm_gradient
from ..rows import reduction_argument as R, tensor_namespace as _traced
from ..rows.composite import composite
from ..rows.row import general

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import Shape, TensorLike
    from ..._base.dtypes import dtype
    from ..._tensor.tensor import Tensor

norms = later("_array.reduce.norm")
raw = later("_array.nn.element_losses")

EPSILON = 1e-12


@composite("", "nn.functional", numpy_words=True)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`; lengths count as at least `eps`.

    Shapes: x1 and x2 broadcast; the result without `dim`.
    Raises: IndexError for a dimension that isn't there, RuntimeError for integers.
    """
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    dtype = x1.dtype
    if x2.dtype is not dtype:
        dtype = _traced.table("promote_types")(dtype, x2.dtype)
    if not dtype.is_floating_point:
        from ..._base import dtypes as D

        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is "
            f"{D.scalar_name(dtype)}"
        )
    if x1.dtype is not x2.dtype:
        x1, x2 = x1.to(dtype), x2.to(dtype)
    shape = raw.broadcast_shape(x1._raw.shape, x2._raw.shape)
    if x1._raw.shape != shape or x2._raw.shape != shape:
        # The gradient of x1 comes first.
        x2, x1 = _expand_along(x2, dim, shape), _expand_along(x1, dim, shape)
    norm1, norm2 = _lengths(x1, dim, eps), _lengths(x2, dim, eps)
    direction2 = x2 / norm2
    return (x1 / norm1 * direction2).sum(dim)


def _expand_along(x: Tensor, dim: int, shape: Sequence[int]) -> Tensor:
    """`x` with as many dimensions as `shape`, and its size along `dim`: each vector is there once,
    however many others it meets."""
    own = list((1,) * (len(shape) - x.dim()) + tuple(x.shape))
    if -len(shape) <= dim < len(shape):
        own[dim] = shape[dim]
    return x.expand(own)


def _number(value: float, like: Tensor) -> Any:
    """A number as a tensor without dimensions, of the type of `like`."""
    return new_tensor(raw.make_filled(value, like._raw.dtype))


def _memory_of(t: Any) -> Any:
    """The array behind a tensor: under vmap that of the whole batch."""
    while hasattr(t, "_value"):
        t = t._value
    return t._raw


def _lengths(x: Tensor, dim: int, eps: float) -> Tensor:
    norm = _traced.table("vector_norm")(x, 2, (dim,), True)
    mode = current()
    # The floor changes the value only: the gradient is that of the norm.
    if mode.slow or not norm._plain or norm._requires_grad:
        norm = norm.clone()
    raw.floor_at(_memory_of(norm), eps)
    if mode.recorder is not None:
        mode.recorder.note_refill(norm, partial(raw.floor_at, low=eps), draws=0)
        count_write(norm, mode)
    return norm


@composite("", "nn.functional")
def pairwise_distance(
    x1: Tensor, x2: Tensor | float, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension.

    Shapes: x1 and x2 broadcast; the result without the last dimension, or with 1 there.
    """
    moved = apply_n(plus.op, [x1 - x2, eps])
    return norm_over(moved, p, max(moved.dim() - 1, 0), keepdim)


def norm_over(x: Tensor, p: float, dim: Any, keepdim: bool = False) -> Tensor:
    """The p-norm over dimensions, by the node that PyTorch's composites record."""
    return apply_n(_norm.op, [x, p, (dim,) if isinstance(dim, int) else tuple(dim), keepdim])


def _norm_formula(
    xp: ModuleType,
    g: TensorLike,
    self: TensorLike,
    out: TensorLike,
    p: float,
    dim: Shape,
    keepdim: bool,
    self_dtype: dtype,
) -> TensorLike:
    return _norm_gradient(xp, g, self, out, p, dim, keepdim, self_dtype)


# What PyTorch's composites call instead of `linalg.vector_norm`; its nodes have another name.
_norm = general(
    "_norm(Tensor self, Scalar p, int[] dim, bool keepdim=False) -> Tensor",
    norms.vector_norm,
    self=_norm_formula,
    holomorphic=False,
    node="NormBackward1",
    public=False,
    out=False,
    lowering="vector_norm",
    samples=lambda mk: [(mk(3, 4), 2, (1,)), (mk(3, 4), 3, (1,), True)],
    doc="The p-norm over the dimensions `dim`.",
    narrow="complex32",
    kernel="norm_cpu",
)


@composite("nn.functional")
def cosine_embedding_loss(
    input1: object,
    input2: object,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos for pairs with target 1, max(0, cos - margin) for pairs with target -1, reduced.

    Shapes: inputs (N, D) and target (N,), or (D,) and ().
    Raises: RuntimeError for other shapes, ValueError for a `reduction` that is none.
    """
    number = R.number(reduction, size_average, reduce)
    return cosine_embedding_operator(input1, input2, target, margin, number)


@composite("", name="cosine_embedding_loss")
def cosine_embedding_operator(
    input1: Any, input2: Any, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """The cosine embedding loss; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    count = target.dim()
    if count > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != count + 1 or input2.dim() != count + 1:
        raise RuntimeError(
            f"{count}D target tensor expects {count + 1}D input tensors, but found inputs with "
            "sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    product = (input1 * input2).sum(count)
    length1 = apply_n(plus.op, [(input1 * input1).sum(count), EPSILON])
    length2 = apply_n(plus.op, [(input2 * input2).sum(count), EPSILON])
    cosine = product / (length1 * length2).sqrt()
    where = _traced.table("where")
    zeros = cosine.detach() * 0
    alike = where(target == 1, _number(1, cosine) - cosine, zeros)
    apart = where(target == -1, apply_n(minus.op, [cosine, margin]).clamp_min(0), zeros)
    return R.apply(alike + apart, reduction)


@composite("nn.functional")
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target (input1 - input2) + margin), reduced.

    Raises: RuntimeError where the three have different numbers of dimensions.
    """
    number = R.number(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        sizes = [errors.size_text(x.shape) for x in (input1, input2, target)]
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {sizes[0]}, input2: {sizes[1]}, target: {sizes[2]} "
        )
    return margin_ranking_operator(input1, input2, target, float(margin), number)


@composite("", name="margin_ranking_loss")
def margin_ranking_operator(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """The margin ranking loss; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    apart = input1 - input2
    return R.apply(apply_n(plus.op, [-target * apart, float(margin)]).clamp_min_(0), reduction)


@composite("nn.functional")
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1, reduced."""
    number = R.number(reduction, size_average, reduce)
    return hinge_embedding_operator(input, target, margin, number)


@composite("", name="hinge_embedding_loss")
def hinge_embedding_operator(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0
) -> Any:
    """The hinge embedding loss; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    where = _traced.table("where")
    zeros = input.detach() * 0
    apart = where(target != 1, (_number(margin, input) - input).clamp_min(0), zeros)
    alike = where(target != -1, input, zeros)
    return R.apply(apart + alike, reduction)


@composite("nn.functional")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor | float,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) for p-norm distances, reduced.

    `swap` takes d(positive, negative) where it is smaller than d(anchor, negative).
    Raises: ValueError for a margin that isn't positive; RuntimeError for unlike shapes.
    """
    number = R.number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return triplet_margin_operator(anchor, positive, negative, margin, p, eps, swap, number)


@composite("", name="triplet_margin_loss")
def triplet_margin_operator(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor | float,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Any:
    """The triplet margin loss; `reduction` is 0 (none), 1 (mean) or 2 (sum)."""
    _require_like_dimensions(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return R.apply((apply_n(plus.op, [near, margin]) - far).clamp_min(0), reduction)


def _require_like_dimensions(anchor: Any, positive: Tensor, negative: Any) -> None:
    a, b, c = anchor.dim(), positive.dim(), negative.dim()
    if not a == b == c:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {a}D, positive {b}D, and negative {c}D inputs"
        )


@composite("nn.functional")
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` for distances of one's own.

    Raises: ValueError for a margin that isn't positive, RuntimeError for unlike shapes.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and "
            f"negative {negative.ndim}D inputs"
        )
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return R.apply((margin + near - far).clamp_min(0), R.number(reduction))


@composite("nn.functional")
def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """The input divided by its p-norm along `dim`, which counts as at least `eps`.

    Raises: IndexError for a dimension that isn't there, RuntimeError for integers.
    """
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps)
    norm = norm.expand(input.shape)
    if out is None:
        return input / norm
    return _traced.table("div")(input, norm, out=out)
