"""The cross-entropy of a linear map of the input, a part of the batch at a time if wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base import dtypes as D
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..linalg.matmul import linear
from ..rows import reduction_argument as R
from ..rows.composite import composite
from ..rows.gradient_kernels import record_gradient
from ..rows.row import general
from ..rows.tensor_namespace import table
from ..rows.warn_once import warn_the_caller
from .class_loss import cross_entropy
from .embed import one_hot as one_hot_row

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor

raw = later("_array.nn.linear_loss")


def _check(
    input: Tensor, weight: Tensor, target: Tensor, bias: Tensor | None, ignore_index: object
) -> None:
    """Refuses shapes that don't fit, and an index to leave out among probabilities.

    Raises: RuntimeError in PyTorch's words.
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.dim()}"
        )
    shape, wide = tuple(input.shape), tuple(weight.shape)
    if shape[-1] != wide[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{shape[-1]} and {wide[-1]}, respectively"
        )
    if len(shape) == 1 and len(wide) > 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {wide} requires batched input, "
            f"(N, {wide[-1]}), got unbatched input with shape {shape}"
        )
    if bias is not None and tuple(bias.shape) != wide[:-1]:
        raise RuntimeError(f"expected linear_bias shape {wide[:-1]}, got {tuple(bias.shape)}")
    logits = (*shape[:-1], *wide[:-1])
    probabilities = tuple(target.shape) == logits and target.is_floating_point()
    if probabilities and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")


def _logits(input: TensorLike, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The linear map, with the classes in dimension 1."""
    if weight.dim() == 2:
        return linear(input, weight, bias)
    flat = weight.reshape(-1, weight.shape[-1])
    found = linear(input, flat, None if bias is None else bias.reshape(-1))
    return found.reshape(*input.shape[:-1], *weight.shape[:-1])


# ---- a part of the batch at a time --------------------------------------------------------------
def _gradients(
    g: Tensor,
    input: Tensor,
    linear_weight: Tensor,
    linear_bias: Tensor,
    target: Tensor,
    reduction: int,
    ignore_index: int,
    batch_chunk_size: int,
) -> tuple[Any, Any, Any]:
    """The gradients in operations that are recorded."""
    x, w, bias = input, linear_weight, linear_bias
    p = table("softmax")(linear(x, w, bias), 1)
    kept = target != ignore_index
    counted = kept.to(x.dtype)
    one_hot = apply_n(one_hot_row.op, [target * kept, w.shape[0]]).to(x.dtype)
    if reduction == R.MEAN:
        g = g / counted.sum()
    scale = (g * counted).unsqueeze(1)
    d = (p - one_hot) * scale
    return d @ w, d.mT @ x, None if bias is None else d.sum(0)


_chunked = general(
    "_linear_cross_entropy_batch_chunked(Tensor input, Tensor linear_weight, "
    "Tensor? linear_bias, Tensor target, int reduction, int ignore_index, "
    "int batch_chunk_size) -> Tensor",
    raw.linear_cross_entropy,
    joint=record_gradient(_gradients, override=raw.linear_cross_entropy_backward),
    target=None,
    namespace="private",
    out=False,
    dtypes="float",
    refuses_values="any",
    samples=lambda mk: [
        (mk(4, 3), mk(5, 3), mk(5), mk(4, high=5, integer=True), reduction, -100, 3)
        for reduction in (0, 1, 2)
    ],
    doc="The cross-entropy of a linear map, a part of the batch at a time.",
)


def _say_ignored(
    weight: Tensor, target: Tensor, bias: Tensor | None, reduction: object, smoothing: object
) -> None:
    """Warns that the batch isn't cut into parts."""
    warn_the_caller(
        "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
        "{'mean','sum','none'}, label_smoothing == 0, target.dtype == int64, out_features == (). "
        f"Got reduction={reduction!r}, label_smoothing={smoothing!r}, "
        f"target.dtype={target.dtype}, out_features={tuple(weight.shape[1:-1])}, tracing=False, "
        f"linear_bias.shape={None if bias is None else tuple(bias.shape)}."
    )


@composite("nn.functional")
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`.

    With `options` (of which `batch_chunk_size` counts) the logits of a part of the batch exist at a
    time, and are computed anew in the backward pass; all derivatives work there too. It warns where
    they are ignored: with smoothed labels, probabilities, or several outputs a class.

    Shapes: input (N, I) or (I,), linear_weight (C, I) or (C, d1, …, I), target (N, d1, …) of
    classes or (N, C, d1, …) of probabilities.
    Raises: RuntimeError for shapes that don't fit, in PyTorch's words.
    """
    _check(input, linear_weight, target, linear_bias, ignore_index)
    ignored = -100 if ignore_index is None else ignore_index

    def whole(x: Tensor, y: Tensor, how: str) -> Tensor:
        return cross_entropy(
            _logits(x, linear_weight, linear_bias), y, weight, ignore_index=ignored, reduction=how,
            label_smoothing=label_smoothing,
        )  # fmt: skip

    if options is None:
        return whole(input, target, reduction)
    if not (
        reduction in ("none", "mean", "sum")
        and label_smoothing == 0
        and target.dtype is D.int64
        and linear_weight.dim() == 2
    ):
        _say_ignored(linear_weight, target, linear_bias, reduction, label_smoothing)
        return whole(input, target, reduction)
    options._adjust  # noqa: B018  (anything else is no set of options: AttributeError)
    chunks = not (
        weight is not None
        or input.dim() == 1
        or target.dim() != 1
        or target.shape[0] != input.shape[0]
        or not input.shape[0]
        or not input.is_floating_point()
    )
    if not chunks:
        return whole(input, target, reduction)
    size = options.batch_chunk_size or max(1, input.shape[0] // 4)
    return apply_n(
        _chunked.op,
        [input, linear_weight, linear_bias, target, R.number(reduction), ignored, int(size)],
    )
