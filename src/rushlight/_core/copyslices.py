"""In-place writes on views: the base's history is rebased, as PyTorch's CopySlices does.

Note [Rebasing a base]
`v = base[0]; v.mul_(w)` changes part of `base`, whose new node is a `CopySlices`. In backward this
node gets the gradient of the whole base. It gives the view's part to the node of the in-place
operation, puts what comes back, the gradient of the part's former value, in its place, and sends
the whole to the base's former history. The operation's other inputs get their gradients as usual.
Every view of the base gets a new node when it is next asked for one.

Note [Views by geometry]
Strides and an offset say which part of the base a view shows. The operations that made it wouldn't
do: the base may have got another shape since (`base.t_()`), and a chain of ten views is one window.
So the new node of a view is that of `as_strided`. Only views of another element type
(`view_as_real`) are replayed, operation by operation.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .._array import types as T
from .._array.shape import strided as S
from .._base import errors
from .formulas import WORLDS, choose_world, input_gradients
from .mode import CURRENT, derive, ready
from .node import GENERAL, Node, fill_node, new_node
from .op import ARG, Op
from .saved import free
from .storage import TensorBase, new_tensor, target, version_of
from .views import REGENERATE, replay


class CopySlices(Node):
    """The node of a base that was written through a view."""

    steps: Any  # how to take the view, where its geometry doesn't say; not the View: a cycle
    place: Any  # the view's shape, strides and offset within the base
    shape: Any  # the base's shape and strides
    stride: Any
    dense: bool  # the base's elements lie in C order, without gaps
    inner: Node | None

    _namespace: ClassVar[str] = "torch::autograd::"

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> Any:
        """The patched gradient for the base's former history, then those of the other inputs."""
        inner = self.inner
        if inner is None:
            raise RuntimeError(errors.BACKWARD_TWICE)
        whole, part = self.parts(grads[0], traced)
        inner_g = WORLDS.traced.clone(part) if traced else T.copy(part)
        inner_need = list(need)
        inner_need[0] = inner.next[0] is not None
        results = input_gradients(inner, inner_g, inner_need, traced)
        first = results[0]
        if first is None:
            return [None] + results[1:]
        if traced:
            part.copy_(first)
            if self.steps is None and not self.dense:
                whole = WORLDS.traced.as_strided(whole, self.shape, self.stride, 0)
        else:
            T.refuse_overlap(part)
            part[...] = first
        return [whole if need[0] else None] + results[1:]

    def parts(self, g: Any, traced: bool) -> Any:
        """A copy of `g` laid out like the base, and the view's part of it."""
        size, stride, offset = self.place
        if not traced:
            whole = S.copy_with_strides(g, None if self.dense else self.stride)
            if self.steps is not None:
                return whole, replay(self.steps, whole, False)
            return whole, S.part_of(whole, size, stride, offset)
        xp = choose_world()
        if self.dense and self.steps is None:  # of its shape from the start: no window over it
            whole = g.new_zeros(self.shape) if g._layered else xp.zeros(self.shape, T.dtype_of(g))
            whole.copy_(g)
            return whole, xp.as_strided(whole, size, stride, offset)
        extent = (S.extent(self.shape, self.stride),)
        memory = g.new_zeros(extent) if g._layered else xp.zeros(extent, T.dtype_of(g))
        whole = xp.as_strided(memory, self.shape, self.stride, 0)
        whole.copy_(g)
        if self.steps is not None:
            return whole, replay(self.steps, whole, True)
        return memory, xp.as_strided(memory, size, stride, offset)

    def release(self) -> None:
        """Lets go of the in-place operation's node and of what it saved."""
        if self.inner is not None:
            free(self.inner)
            self.inner = None


def custom_op(name: str, node_class: Any) -> Op:
    """The `Op` of a node class that brings code of its own."""
    op = Op()
    op.written = None
    op.fits = None
    op.formula = None
    op.wide = False
    op.copies = False
    op.shared = 0
    op.expanded = None
    op.into = None
    op.names_c_type = False
    op.gives_bool = False
    op.real_only = ""
    op.delivers = None
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
    op.formulas = op.small_formulas = ()
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
    op.ordered = 0
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


def rebase(written: TensorBase, inner: Node) -> None:
    """Gives the history of an in-place operation on the view `written` to its base."""
    view = written._view
    assert view is not None
    base = view.base
    others = inner.next[1:]
    if type(inner).__name__ == "NotImplemented":  # it raises, and has live edges only
        others = tuple([goal for goal in others if goal is not None])
    made: CopySlices = CopySlices.__new__(COPY_SLICES.node_class)
    fill_node(made, COPY_SLICES, (target(base),) + others, ())
    if base._nr or (inner.nrs is not None):
        made.nrs = (base._nr,) + (inner.nrs[1:] if inner.nrs is not None else (0,) * len(others))
    made.steps = view.replay if view.exact else None
    array = base._raw
    place = S.place_in(written._raw, array)
    made.place = place[:3]
    made.shape = array.shape
    made.stride = place[3]
    made.dense = array.flags.c_contiguous
    made.inner = inner
    base._node = made
    base._nr = 0
    base._requires_grad = True
    renew_at(written, place)
    view.stamp = version_of(base)


def renew(t: TensorBase) -> None:
    """Gives a view a new node: its gradient goes to its place in the base."""
    assert t._view is not None
    renew_at(t, S.place_in(t._raw, t._view.base._raw))


def renew_at(t: TensorBase, place: Any) -> None:
    """Like `renew`, for a view whose place is known."""
    view = t._view
    assert view is not None
    base = view.base
    t._nr = 0
    t._requires_grad = True
    if view.exact:
        former_mode = CURRENT.get()
        try:
            CURRENT.set(derive(ready(), grad=True, inference=False, forward_grad=False))
            again = replay(view.replay, base, True)
        finally:
            CURRENT.set(former_mode)
        t._node = again._node
        t._nr = again._nr
        return
    size, stride, offset, own, start = place
    args = (size, stride, offset + start, own, start)
    op: Op = REGENERATE.row.op
    saved: list[Any] = []
    for entry in op.entries:
        saved.append(args[entry[1] - 1] if entry[0] == ARG else base._raw.shape)
    node = new_node(op, (target(base),), tuple(saved))
    if base._nr:
        node.nrs = (base._nr,)
    t._node = node


REGENERATE.renew = renew


def plain_copy(t: TensorBase) -> TensorBase:
    """A copy of `t` with the same history: the value before an in-place write, for saving."""
    again = new_tensor(T.copy_like(t._raw, t._raw))
    again._node = t._node
    again._nr = t._nr
    again._requires_grad = t._requires_grad
    return again
