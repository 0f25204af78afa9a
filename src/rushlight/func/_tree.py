"""Nested containers: tuples, lists and dictionaries taken apart and put together again."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any


class Spec:
    """How a nested container was built; None stands for a leaf."""

    __slots__ = ("kind", "keys", "children")

    def __init__(self, kind: Any, keys: Any, children: list[Spec | None]) -> None:
        self.kind = kind
        self.keys = keys
        self.children = children


def flatten(tree: Any) -> tuple[list[Any], Spec | None]:
    """The leaves of a nested container, and how to build it again."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[Any]) -> Spec | None:
    if isinstance(tree, (dict, OrderedDict)):
        keys = list(tree)
        return Spec(type(tree), keys, [_flatten(tree[k], leaves) for k in keys])
    if isinstance(tree, (tuple, list)) and type(tree).__name__ != "Size":
        return Spec(type(tree), None, [_flatten(item, leaves) for item in tree])
    leaves.append(tree)
    return None


def unflatten(leaves: list[Any], spec: Spec | None) -> Any:
    """The container of `spec` with these leaves."""
    return _unflatten(iter(leaves), spec)


def _unflatten(leaves: Any, spec: Spec | None) -> Any:
    if spec is None:
        return next(leaves)
    items = [_unflatten(leaves, child) for child in spec.children]
    if spec.keys is not None:
        return spec.kind(zip(spec.keys, items))
    if hasattr(spec.kind, "_fields"):
        return spec.kind(*items)
    return spec.kind(items)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The container with `function` applied to every leaf."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


def broadcast_to(prefix: Any, tree: Any, what: str) -> list[Any]:
    """A value for every leaf of `tree`, from a container that matches it down to some depth.

    Raises:
        ValueError: where the two don't match.
    """
    if not isinstance(prefix, (tuple, list, dict)):
        return [prefix] * len(flatten(tree)[0])
    if isinstance(prefix, dict):
        if not isinstance(tree, dict) or set(prefix) != set(tree):
            raise ValueError(f"{what} is not compatible with the structure of the inputs")
        return [x for k in tree for x in broadcast_to(prefix[k], tree[k], what)]
    if not isinstance(tree, (tuple, list)) or len(prefix) != len(tree):
        raise ValueError(f"{what} is not compatible with the structure of the inputs")
    return [x for p, t in zip(prefix, tree) for x in broadcast_to(p, t, what)]


_ = namedtuple
