"""Hooks on vertices, and the order in which the engine runs them.

Before a node runs: the hooks of its output tensors, in the order in which they were registered; then
`retain_grad`; then the node's pre-hooks. After it: the node's post-hooks. A leaf: its tensor hooks,
then the accumulation, then its post-accumulate hooks. `Vertex.hooks` is None until a hook is there.
"""

from __future__ import annotations

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
        self.tensor = {}
        self.retain = {}
        self.pre = {}
        self.post = {}
        self.accumulated = {}
        self.extra = {}


def hooks_of(vertex: Vertex) -> Hooks:
    """The hooks of a vertex, made now if it had none."""
    if vertex.hooks is None:
        vertex.hooks = Hooks()
    hooks: Hooks = vertex.hooks
    return hooks
