"""`scan`: a loop along a dimension that carries a state and collects results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _table as ops
from ...utils._pytree import tree_flatten, tree_unflatten

__all__ = ["scan"]

_stack: Any = ops.PUBLIC[("", "stack")]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """The last state of `state, y = combine_fn(state, slice of xs)`, and every `y`, stacked.

    The slices are taken along `dim`, from its end where `reverse`, and the results are stacked
    along it, each where its slice was.

    Raises:
        ValueError: for a function that can't be called, and for a `dim` that is no number.
        RuntimeError: where there is nothing to go along.
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise ValueError(f"Reverse must be a bool, but got {type(reverse)}")
    leaves, spec = tree_flatten(xs)
    if not leaves:
        return init, []
    if len({leaf.shape[dim] for leaf in leaves}) > 1:
        raise RuntimeError("All xs tensors must have the same size along the scanned dimension")
    length = leaves[0].shape[dim]
    if length == 0:
        raise RuntimeError("All xs leaves must at least have dim number of dimensions and")
    slices = [leaf.unbind(dim) for leaf in leaves]
    carry, collected, shape = init, [], None
    for i in reversed(range(length)) if reverse else range(length):
        carry, y = combine_fn(carry, tree_unflatten([column[i] for column in slices], spec))
        flat, shape = tree_flatten(y)
        collected.append(flat)
    if reverse:
        collected.reverse()
    place = dim % leaves[0].dim()
    stacked = [_stack(list(column), min(place, column[0].dim())) for column in zip(*collected)]
    assert shape is not None
    return carry, tree_unflatten(stacked, shape)
