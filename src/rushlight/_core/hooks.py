"""Hooks on vertices, and the order in which the engine runs them.

Before a node runs: the hooks of its output tensors, in the order in which they were registered; then
`retain_grad`; then the node's pre-hooks. After it: the node's post-hooks. A leaf: its tensor hooks,
the pre-hooks of its `AccumulateGrad`, the accumulation, its post-accumulate hooks, the post-hooks of
its `AccumulateGrad`. `Vertex.hooks` is None until a hook is there.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .node import Vertex


class Hooks:
    """The hooks of one vertex; dictionaries by handle id, which run in the order of registration."""

    __slots__ = ("tensor", "retain", "pre", "post", "accumulated", "extra")

    tensor: dict[int, dict[int, Any]]  # by output number: {handle id: function of the gradient}
    retain: dict[int, Any]  # by output number: a weak reference to the tensor that keeps its gradient
    pre: dict[int, Any]
    post: dict[int, Any]
    accumulated: dict[int, Any]
    extra: dict[int, Any]

    def __init__(self) -> None:
        # OrderedDict: handles hold these weakly, which plain dictionaries don't allow.
        self.tensor = {}
        self.retain = {}
        self.pre = OrderedDict()
        self.post = OrderedDict()
        self.accumulated = OrderedDict()
        self.extra = {}


def hooks_of(vertex: Vertex) -> Hooks:
    """The hooks of a vertex, made now if it had none."""
    if vertex.hooks is None:
        vertex.hooks = Hooks()
    hooks: Hooks = vertex.hooks
    return hooks


def carry_retained(t: Any, old: Vertex | None, old_nr: int, new: Vertex, new_nr: int) -> None:
    """Lets a tensor that retains its gradient do so at its new node; other hooks stay behind."""
    if old is None or old.hooks is None:
        return
    ref = old.hooks.retain.get(old_nr)
    if ref is not None and ref() is t:
        del old.hooks.retain[old_nr]
        hooks_of(new).retain[new_nr] = ref
