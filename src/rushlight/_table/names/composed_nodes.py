"""What nodes that stand for several come apart to: linear layers, products, cross-entropies.

See Note [Taken apart when looked at].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..linalg.matmul import (
    _linear_1d_plain,
    _linear_2d,
    _linear_2d_plain,
    _linear_nd,
    _linear_nd_plain,
    _stack_product,
)
from ..nn.class_loss import _cross_entropy, _nll
from ..rows.node_decompositions import comes_apart
from ..rows.tensor_namespace import table
from ..shape.shape import unsafe_view

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, TensorLike
    from ..._tensor.tensor import Tensor


def _rows(x: Tensor) -> Tensor:
    """A stack of matrices as one."""
    return table("reshape")(x, (-1, x._raw.shape[-1]))


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    shape = x._raw.shape
    if not shape:
        return None  # which is refused
    turned = table("t")(weight)
    if len(shape) == 1 and bias is None:
        return table("mm")(table("unsqueeze")(x, 0), turned).squeeze_(0)
    flat = x if len(shape) == 2 else _rows(x)
    if bias is not None:
        made = table("addmm")(bias, flat, turned)
        return made if flat is x else table("view")(made, (*shape[:-1], weight._raw.shape[0]))
    made = table("mm")(flat, turned)
    return made if flat is x else unsafe_view(made, (*shape[:-1], weight._raw.shape[0]))


def _stack(a: Any, b: Any) -> Any:
    left, right = a._raw.shape, b._raw.shape
    if len(left) >= 3 and len(right) == 1:
        return unsafe_view(table("mv")(_rows(a), b), left[:-1])
    if len(left) >= 3 and len(right) == 2:
        return unsafe_view(table("mm")(_rows(a), b), (*left[:-1], right[-1]))
    if len(left) < 3 or len(right) < 3:
        return None  # other steps, with another node at the end: it stays whole
    batch = T.broadcast_shape(left[:-2], right[:-2])
    expand, reshape = table("expand"), table("reshape")
    one = reshape(expand(a, (*batch, *left[-2:])), (-1, *left[-2:]))
    two = reshape(expand(b, (*batch, *right[-2:])), (-1, *right[-2:]))
    return unsafe_view(table("bmm")(one, two), (*batch, left[-2], right[-1]))


def _classes(x: Tensor, target: Tensor, reduction: int, ignore_index: int) -> TensorLike:
    return _nll(table("log_softmax")(x, 1), target, None, reduction, ignore_index)


def _linear_shapes(ndim: int) -> AnyCallable:
    """Without its input, a layer on matrices does with one row; how a stack was shaped is lost."""

    def shapes(known: dict[str, Any], freed: bool) -> dict[str, Any] | None:
        if "input" not in known and ndim != 2 and not freed:
            return None
        features = known["input"][-1] if "input" in known else 1
        weight = known.get("weight", (1, features))
        return {"input": (1,) * (ndim - 1) + weight[1:], "weight": weight}

    return shapes


def _biased_shapes(ndim: int) -> AnyCallable:
    bare = _linear_shapes(ndim)

    def shapes(known: dict[str, Any], freed: bool) -> dict[str, Any] | None:
        found: dict[str, Any] | None = bare(known, freed)
        if found is not None:
            if "weight" not in known and "bias" in known:
                found["weight"] = (*known["bias"], found["weight"][1])
            found["bias"] = (found["weight"][0],)
        return found

    return shapes


def _both(known: Mapping[str, object], freed: bool) -> dict[str, Any] | None:
    if "self" in known and "other" in known:
        return {}
    return {"self": (1, 1, 1), "other": (1, 1, 1)} if freed and not known else None


def _logits(known: dict[str, Any], freed: bool) -> dict[str, Any] | None:
    n, classes = known.get("self", (1, 1))
    return {"self": (n, classes), "target": (n,)}


comes_apart(_linear_2d, _linear, _biased_shapes(2))
comes_apart(_linear_nd, _linear, _biased_shapes(3))
comes_apart(_linear_2d_plain, _linear, _linear_shapes(2))
comes_apart(_linear_nd_plain, _linear, _linear_shapes(3))
comes_apart(_linear_1d_plain, _linear, _linear_shapes(1))
comes_apart(_stack_product, _stack, _both)
comes_apart(_cross_entropy, _classes, _logits)
