"""Nested containers under the names of `torch.utils._pytree`: taken apart, mapped, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..func._tree import Spec, flatten, leaf_count, tree_map, unflatten


class TreeSpec:
    """How a nested container was built."""

    __slots__ = ("_spec",)

    def __init__(self, spec: Spec | None) -> None:
        self._spec = spec

    @property
    def num_leaves(self) -> int:
        """How many leaves a container of this build has."""
        return leaf_count(self._spec)

    @property
    def type(self) -> Any:
        """The container's class; None for a leaf."""
        return None if self._spec is None else self._spec.kind

    @property
    def num_children(self) -> int:
        """How many things the container holds itself."""
        return 0 if self._spec is None else len(self._spec.children)

    def is_leaf(self) -> bool:
        """Whether this is a leaf, not a container."""
        return self._spec is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and self._spec == other._spec

    __hash__ = None  # type: ignore[assignment]


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves of a nested container, and how to build it again."""
    leaves, spec = flatten(tree)
    return leaves, TreeSpec(spec)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """The container of `treespec` with these leaves.

    Raises:
        ValueError: for another number of leaves.
    """
    group = list(leaves)
    if len(group) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(group)} but the spec refers to "
            f"a pytree that holds {treespec.num_leaves} items."
        )
    return unflatten(group, treespec._spec)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of a nested container."""
    return flatten(tree)[0]


def tree_structure(tree: Any) -> TreeSpec:
    """How a nested container is built."""
    return TreeSpec(flatten(tree)[1])


def tree_map_(function: Callable[[Any], Any], tree: Any) -> Any:
    """The container itself, after `function` has been called with every leaf."""
    for leaf in tree_leaves(tree):
        function(leaf)
    return tree


def tree_map_only(kind: Any, function: Callable[[Any], Any], tree: Any) -> Any:
    """The container with `function` applied to the leaves of some class (or that pass a test)."""
    chosen = kind if callable(kind) and not isinstance(kind, type) else None
    return tree_map(
        lambda x: function(x) if (chosen(x) if chosen else isinstance(x, kind)) else x, tree
    )


def tree_all(test: Callable[[Any], bool], tree: Any) -> bool:
    """Whether all leaves pass a test."""
    return all(map(test, tree_leaves(tree)))


def tree_any(test: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a leaf passes a test."""
    return any(map(test, tree_leaves(tree)))


def tree_all_only(kind: Any, test: Callable[[Any], bool], tree: Any) -> bool:
    """Whether all leaves of some class pass a test."""
    return all(test(x) for x in tree_leaves(tree) if isinstance(x, kind))


def tree_any_only(kind: Any, test: Callable[[Any], bool], tree: Any) -> bool:
    """Whether a leaf of some class passes a test."""
    return any(test(x) for x in tree_leaves(tree) if isinstance(x, kind))


__all__ = [
    "TreeSpec", "tree_all", "tree_all_only", "tree_any", "tree_any_only", "tree_flatten",
    "tree_leaves", "tree_map", "tree_map_", "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip
