"""`map`: a function of each slice of tensors along their first dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _table as ops
from ...utils._pytree import tree_flatten, tree_unflatten

__all__ = ["map"]

_stack: Any = ops.PUBLIC[("", "stack")]


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """What `f(slice of xs, *args)` gives for each slice along dimension 0, stacked.

    `xs` and what `f` gives may be containers of tensors.

    Raises:
        RuntimeError: for tensors without a first dimension, or with first dimensions that differ.
    """
    leaves, spec = tree_flatten(xs)
    if not leaves or any(leaf.dim() == 0 for leaf in leaves):
        raise RuntimeError("map() takes tensors with a first dimension to go along")
    length = leaves[0].shape[0]
    if any(leaf.shape[0] != length for leaf in leaves):
        raise RuntimeError(
            f"Leading dimensions of mapped xs must be consistent. Got shapes "
            f"{[leaf.shape for leaf in leaves]}."
        )
    if length == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    found = [f(tree_unflatten([leaf[i] for leaf in leaves], spec), *args) for i in range(length)]
    parts = [tree_flatten(one)[0] for one in found]
    stacked = [_stack(list(column)) for column in zip(*parts)]
    return tree_unflatten(stacked, tree_flatten(found[0])[1])
