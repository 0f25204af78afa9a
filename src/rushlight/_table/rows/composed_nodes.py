"""What nodes that stand for several come apart to: linear layers, products, cross-entropies.

See Note [Taken apart when looked at]. Functions `…_shapes` give the shapes of stand-ins for tensors
that a node hasn't saved, see `node_decompositions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._array import types as T
from .row import ROWS
from .tensor_namespace import table

if TYPE_CHECKING:
    from ..._base.annotations import TensorLike
    from ..._tensor.tensor import Tensor


Shapes = dict[str, tuple[int, ...]]


def _unsafe_view(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return ROWS["_unsafe_view"][0](x, shape)


def _rows(x: Tensor) -> Tensor:
    """A stack of matrices as one."""
    return table("reshape")(x, (-1, x._raw.shape[-1]))


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor | None:
    """The steps of a linear layer; None where it is refused."""
    shape = x._raw.shape
    if not shape:
        return None
    turned = table("t")(weight)
    if len(shape) == 1 and bias is None:
        return table("mm")(table("unsqueeze")(x, 0), turned).squeeze_(0)
    flat = x if len(shape) == 2 else _rows(x)
    if bias is not None:
        made = table("addmm")(bias, flat, turned)
        return made if flat is x else table("view")(made, (*shape[:-1], weight._raw.shape[0]))
    made = table("mm")(flat, turned)
    return made if flat is x else _unsafe_view(made, (*shape[:-1], weight._raw.shape[0]))


def stack(a: Tensor, b: Tensor) -> Tensor | None:
    """The steps of a product of stacks of matrices; None where the node stays whole."""
    left, right = a._raw.shape, b._raw.shape
    if len(left) >= 3 and len(right) == 1:
        return _unsafe_view(table("mv")(_rows(a), b), left[:-1])
    if len(left) >= 3 and len(right) == 2:
        return _unsafe_view(table("mm")(_rows(a), b), (*left[:-1], right[-1]))
    if len(left) < 3 or len(right) < 3:
        return None  # other steps, with another node at the end
    batch = T.broadcast_shape(left[:-2], right[:-2])
    expand, reshape = table("expand"), table("reshape")
    one = reshape(expand(a, (*batch, *left[-2:])), (-1, *left[-2:]))
    two = reshape(expand(b, (*batch, *right[-2:])), (-1, *right[-2:]))
    return _unsafe_view(table("bmm")(one, two), (*batch, left[-2], right[-1]))


def classes(x: Tensor, target: Tensor, reduction: int, ignore_index: int) -> TensorLike:
    """The steps of a cross-entropy of logits and classes."""
    return ROWS["nll_loss"][0](table("log_softmax")(x, 1), target, None, reduction, ignore_index)


def linear_shapes(ndim: int, known: Shapes, freed: bool) -> Shapes | None:
    """Without its input, a layer on matrices does with one row; how a stack was shaped is lost."""
    if "input" not in known and ndim != 2 and not freed:
        return None
    features = known["input"][-1] if "input" in known else 1
    weight = known.get("weight", (1, features))
    return {"input": (1,) * (ndim - 1) + weight[1:], "weight": weight}


def biased_shapes(ndim: int, known: Shapes, freed: bool) -> Shapes | None:
    """The same with a bias, which may be the only one that tells the number of features."""
    found = linear_shapes(ndim, known, freed)
    if found is not None:
        if "weight" not in known and "bias" in known:
            found["weight"] = (*known["bias"], found["weight"][1])
        found["bias"] = (found["weight"][0],)
    return found


def both_shapes(known: Shapes, freed: bool) -> Shapes | None:
    """The factors of a product have to be there, or both to be gone."""
    if "self" in known and "other" in known:
        return {}
    return {"self": (1, 1, 1), "other": (1, 1, 1)} if freed and not known else None


def logit_shapes(known: Shapes, freed: bool) -> Shapes | None:
    """Of logits that aren't there one is enough."""
    n, classes = known.get("self", (1, 1))
    return {"self": (n, classes), "target": (n,)}
