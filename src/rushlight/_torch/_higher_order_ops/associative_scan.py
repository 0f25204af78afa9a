"""`associative_scan`: running results of an associative function along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _table as ops, func
from ..._tensor.tensor import Tensor
from ...utils._pytree import tree_flatten, tree_unflatten

__all__ = ["associative_scan"]

_cat: Any = ops.PUBLIC[("", "cat")]
_stack: Any = ops.PUBLIC[("", "stack")]


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """`x0`, `f(x0, x1)`, `f(f(x0, x1), x2)`, … along `dim`; from its end where `reverse`.

    `combine_fn` takes and gives containers of tensors like `xs`, without the dimension, and must be
    associative: neighbours are combined in pairs, all at once, then the pairs, so that the number
    of calls grows with the logarithm of the length.

    Raises:
        ValueError: for a function that can't be called, for an unknown `combine_mode`, and for
            "pointwise", which PyTorch has on CUDA and XPU only.
        IndexError: for a dimension that the tensors don't have.
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}"
        )
    leaves, spec = tree_flatten(xs)
    if combine_mode == "pointwise":
        raise ValueError(
            "For combine_mode='pointwise', all input tensors need to be on CUDA or XPU"
        )
    rank = leaves[0].dim()
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], "
            f"but got {dim})"
        )
    place = dim % rank

    def each(left: list[Tensor], right: list[Tensor]) -> list[Tensor]:
        found = combine_fn(tree_unflatten(left, spec), tree_unflatten(right, spec))
        return list(tree_flatten(found)[0])

    moved = [leaf.movedim(place, 0) for leaf in leaves]
    if reverse:
        moved = [leaf.flip(0) for leaf in moved]
    found = _scan(func.vmap(each), moved)
    if reverse:
        found = [leaf.flip(0) for leaf in found]
    return tree_unflatten([leaf.movedim(0, place) for leaf in found], spec)


def _scan(combine: Callable[..., Any], parts: list[Any]) -> list[Any]:
    """The running results along dimension 0: those of pairs, then the ones between."""
    length = parts[0].shape[0]
    if length < 2:
        return parts
    pairs = combine([p[: length - 1 : 2] for p in parts], [p[1::2] for p in parts])
    odd = _scan(combine, pairs)
    held = [p[:-1] for p in odd] if length % 2 == 0 else odd
    even = [p[:1] for p in parts]
    if length > 2:
        between = combine(held, [p[2::2] for p in parts])
        even = [_cat([first, rest]) for first, rest in zip(even, between)]
    return [_interleave(a, b) for a, b in zip(even, odd)]


def _interleave(even: Tensor, odd: Tensor) -> Any:
    """One from each in turn; there may be one more of the first."""
    count = odd.shape[0]
    woven = _stack([even[:count], odd], 1).flatten(0, 1)
    return woven if even.shape[0] == count else _cat([woven, even[count:]])
