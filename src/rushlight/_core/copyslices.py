"""In-place writes on views: the base's history is rebased, as PyTorch's CopySlices does.

Note [Rebasing a base]
`v = base[0]; v.mul_(w)` changes part of `base`. Its new node is a `CopySlices`: backward, it takes
the gradient of the whole base, lets the in-place operation's own node turn the view's part of it
into the gradient of the part's former value, and sends the patched whole to the base's former
history (other inputs of the operation get theirs as usual). Every view of the base then gets a new
node when it is next asked for one.
"""

from __future__ import annotations

from typing import Any

from .._array import types as T
from .engine import WORLDS, input_gradients
from .node import GENERAL, Node, fill_node
from .op import Op
from .saved import free
from .storage import TensorBase, new_tensor, target, version_of
from .views import REGENERATE, replay


class CopySlices(Node):
    """The node of a base that was written through a view."""

    steps: Any  # how to take the view; not the View itself, which holds the base: a cycle
    inner: Node
    like: Any

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> Any:
        """The patched gradient for the base's former history, then those of the other inputs."""
        g = grads[0]
        whole = WORLDS.traced.clone(g) if traced else T.copy_like(g, self.like)
        part = replay(self.steps, whole, traced)
        inner_g = WORLDS.traced.clone(part) if traced else T.copy(part)
        inner = self.inner
        inner_need = list(need)
        inner_need[0] = inner.next[0] is not None
        results = input_gradients(inner, inner_g, inner_need, traced)
        first = results[0]
        if traced:
            if first is None:
                part.zero_()
            else:
                part.copy_(first)
        elif first is None:
            part[...] = 0
        else:
            part[...] = first
        return [whole if need[0] else None] + results[1:]

    def release(self) -> None:
        """Lets go of what the in-place operation saved."""
        free(self.inner)


class AsStridedBackward0(Node):
    """The node of a view, made anew after its base was written."""

    steps: Any
    like: Any

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> Any:
        """The gradient of the view put into its place in zeros shaped like the base."""
        g = grads[0]
        if traced:
            whole = WORLDS.traced.zeros(self.like.shape, T.dtype_of(g))
            replay(self.steps, whole, True).copy_(g)
        else:
            whole = WORLDS.raw.zeros(self.like.shape, g.dtype)
            replay(self.steps, whole, False)[...] = g
        return [whole]


def custom_op(name: str, node_class: Any) -> Op:
    """The `Op` of a node class that brings code of its own."""
    op = Op()
    op.name = name
    op.kind = "custom"
    op.node_class = node_class
    op.raw = None
    op.tensors = ()
    op.lists = -1
    op.entries = ()
    op.n_args = 0
    op.masks = ()
    op.simple = False
    op.freed = ()
    op.formulas = ()
    op.forms = ()
    op.picks = ()
    op.joint = None
    op.joint_picks = ()
    op.special = GENERAL
    op.n_out = 1
    op.promote = 0
    op.is_view = False
    op.holomorphic = False
    op.saves_out = False
    op.row = None
    op.defaults = ()
    op.promote_at = ()
    op.broadcasts = False
    op.differentiable_out = ()
    op.out_raw = False
    op.runs_on_none = False
    op.function = None
    op.lone = False
    op.returns = None
    op.direct = False
    op.diff_mask = 0
    return op


COPY_SLICES = custom_op("CopySlices", CopySlices)
AS_STRIDED = custom_op("as_strided", AsStridedBackward0)


def rebase(written: TensorBase, inner: Node) -> None:
    """Gives the history of an in-place operation on the view `written` to its base."""
    view = written._view
    assert view is not None
    base = view.base
    others = inner.next[1:]
    made: CopySlices = CopySlices.__new__(COPY_SLICES.node_class)
    fill_node(made, COPY_SLICES, (target(base),) + others, ())
    if base._nr or (inner.nrs is not None):
        made.nrs = (base._nr,) + (inner.nrs[1:] if inner.nrs is not None else (0,) * len(others))
    made.steps = view.replay
    made.inner = inner
    made.like = T.layout(base._raw)
    base._node = made
    base._nr = 0
    base._requires_grad = True
    written._node = regenerated(written)
    written._nr = 0
    written._requires_grad = True
    view.stamp = version_of(base)


def regenerated(t: TensorBase) -> Node:
    """A new node for a view: its gradient goes to its place in the base."""
    view = t._view
    assert view is not None
    base = view.base
    made: AsStridedBackward0 = AsStridedBackward0.__new__(AS_STRIDED.node_class)
    fill_node(made, AS_STRIDED, (target(base),), ())
    if base._nr:
        made.nrs = (base._nr,)
    made.steps = view.replay
    made.like = T.layout(base._raw)
    return made


REGENERATE.make = regenerated


def plain_copy(t: TensorBase) -> TensorBase:
    """A copy of `t` with the same history: the value before an in-place write, for saving."""
    again = new_tensor(T.copy_like(t._raw, t._raw))
    again._node = t._node
    again._nr = t._nr
    again._requires_grad = t._requires_grad
    return again
