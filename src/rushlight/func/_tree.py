"""Nested containers: tuples, lists and dictionaries taken apart and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from .._base.size import Size

#: The classes that programs have registered as containers (`utils._pytree` hands its table over).
REGISTERED: list[dict[Any, Any]] = []
#: Containers that need no table.
PLAIN = (tuple, list, deque, Size)


class Spec:
    """How a nested container was built; None stands for a leaf."""

    __slots__ = ("kind", "keys", "children")

    def __init__(self, kind: type, keys: Any, children: list[Spec | None]) -> None:
        self.kind = kind
        self.keys = keys
        self.children = children

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Spec)
            and self.kind is other.kind
            and self.keys == other.keys
            and self.children == other.children
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return format_spec(self)


def format_spec(spec: Spec | None, indent: int = 0) -> str:
    """A spec as PyTorch prints it in messages."""
    if spec is None:
        return "*"
    indent += 2
    parts = [format_spec(child, indent) for child in spec.children]
    inside = (",\n" + " " * indent).join(parts)
    context = None if spec.kind in (tuple, list) else spec.keys
    return f"TreeSpec({spec.kind.__name__}, {context}, [{inside}])"


class _Star:
    def __repr__(self) -> str:
        return "*"


def picture(spec: Spec | None) -> str:
    """The containers of a spec with stars for leaves."""
    return repr(unflatten([_Star()] * leaf_count(spec), spec))


def leaf_count(spec: Spec | None) -> int:
    """How many leaves a container of this build has."""
    return 1 if spec is None else sum(leaf_count(child) for child in spec.children)


def flatten(tree: object) -> tuple[list[Any], Spec | None]:
    """The leaves of a nested container, and how to build it again."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[object]) -> Spec | None:
    kind = type(tree)
    if kind in (dict, OrderedDict, defaultdict):
        keys = list(tree)
        children = [_flatten(tree[k], leaves) for k in keys]
        return Spec(kind, [tree.default_factory, keys] if kind is defaultdict else keys, children)
    if kind is tuple or kind is list or kind is deque or kind is Size:
        return Spec(kind, None, [_flatten(item, leaves) for item in tree])
    if isinstance(tree, tuple) and kind is not Size and hasattr(kind, "_fields"):
        return Spec(kind, kind, [_flatten(item, leaves) for item in tree])
    if isinstance(tree, tuple) and kind is not Size and hasattr(kind, "n_fields"):
        return Spec(kind, None, [_flatten(item, leaves) for item in tree])
    if REGISTERED and kind in REGISTERED[0]:
        parts, context = REGISTERED[0][kind].flatten_fn(tree)
        return Spec(kind, context, [_flatten(part, leaves) for part in parts])
    leaves.append(tree)
    return None


def unflatten(leaves: list[Any], spec: Spec | None) -> Any:
    """The container of `spec` with these leaves."""
    return _unflatten(iter(leaves), spec)


def _unflatten(leaves: Any, spec: Spec | None) -> object:
    if spec is None:
        return next(leaves)
    items = [_unflatten(leaves, child) for child in spec.children]
    if spec.kind is defaultdict:
        return defaultdict(spec.keys[0], zip(spec.keys[1], items))
    if spec.kind in (dict, OrderedDict):
        return spec.kind(zip(spec.keys, items))
    if REGISTERED and spec.kind in REGISTERED[0] and spec.kind not in PLAIN:
        return REGISTERED[0][spec.kind].unflatten_fn(items, spec.keys)
    if hasattr(spec.kind, "_fields") and not hasattr(spec.kind, "n_fields"):
        return spec.kind(*items)
    return spec.kind(items)


def tree_map(function: Callable[[Any], Any], tree: object) -> Any:
    """The container with `function` applied to every leaf."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


def broadcast_prefix(prefix: object, spec: Spec | None) -> list[object] | None:
    """A value for each leaf of `spec`, from a container that matches it down to some depth.

    None where the two don't match.
    """
    leaves, own = flatten(prefix)
    return _broadcast_children(iter(leaves), own, spec)


def _broadcast_children(leaves: Any, own: Spec | None, spec: Spec | None) -> list[object] | None:
    if own is None:
        return [next(leaves)] * leaf_count(spec)
    if spec is None or own.kind is not spec.kind or len(own.children) != len(spec.children):
        return None
    if own.keys != spec.keys:
        return None
    found: list[Any] = []
    for mine, theirs in zip(own.children, spec.children):
        part = _broadcast_children(leaves, mine, theirs)
        if part is None:
            return None
        found.extend(part)
    return found
