"""Views: making them, replaying them, and finding their node after their base has been written.

Note [Replaying a view]
A view remembers the operation that made it and the view (if any) that it was made from. Running
that chain on another array of the base's shape gives the matching part of it. This is how a
gradient of a base is cut to a view's part (`copyslices.py`), and how a view gets a new node when
the memory it shows has been rewritten through some other view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.shape import strided as S
from .._base import errors
from .hooks import carry_retained
from .mode import current
from .node import Node, Vertex, operation_name
from .op import Op
from .storage import (
    DEFAULT,
    IN_CUSTOM_FUNCTION,
    IN_INFERENCE,
    IN_NO_GRAD,
    MULTI_OUTPUT,
    TensorBase,
    View,
    target,
    version_of,
)

if TYPE_CHECKING:
    from .._base.annotations import Positional


class Step:
    """One step of a replay: an operation, its further arguments, and which output it is."""

    __slots__ = ("op", "args", "index", "before")

    op: Op
    args: tuple[Any, ...]
    index: int
    before: Step | None

    def __init__(self, op: Op, args: Positional, index: int, before: Step | None) -> None:
        self.op = op
        self.args = args
        self.index = index
        self.before = before


def replay(last: Step | None, whole: Any, traced: bool) -> Any:
    """The part of `whole` (shaped like the base) that a view shows, given its last step."""
    steps: list[Step] = []
    step: Step | None = last
    while step is not None:
        steps.append(step)
        step = step.before
    steps.reverse()
    part = whole
    for s in steps:
        part = s.op.function(part, *s.args) if traced else s.op.raw(part, *s.args)
        if s.index >= 0:
            part = part[s.index]
    return part


def attach_view(out: TensorBase, source: TensorBase, op: Op, args: Positional, index: int) -> None:
    """Makes `out` (whose array shares `source`'s memory) a view of it.

    What is taken of an inference tensor is no view: nothing is tracked there.
    """
    if source._inference:
        return
    mode = current()
    if mode.inference:
        creation = IN_INFERENCE
    elif not mode.grad:
        creation = IN_NO_GRAD
    else:
        creation = DEFAULT if index < 0 else MULTI_OUTPUT
    parent = source._view
    base = source
    before: Step | None = None
    if parent is not None and parent.tracked:
        base = parent.base
        before = parent.replay
        if creation == DEFAULT or parent.creation == IN_INFERENCE:
            creation = parent.creation
    view = View(base, Step(op, args, index, before), creation, version_of(base))
    if (
        mode.view_replay
        or out._raw.dtype != source._raw.dtype
        or (parent is not None and parent.exact)
    ):
        make_exact(view, out, source, mode.view_replay)
    out._view = view


def make_exact(view: View, out: TensorBase, source: TensorBase, original: bool) -> None:
    """Notes that a view must be replayed, from windows and changes of type as far as possible.

    With `original`, from the operations that made it, which then give the names of its nodes.
    """
    view.exact = True
    parent = source._view
    if original or parent is None or not parent.tracked or S.storage_offset(view.base._raw):
        return
    step: Step = view.replay
    before = step.before
    if not parent.exact:
        before = window_step(source, view.base, None)
    if out._raw.dtype == source._raw.dtype:
        view.replay = window_step(out, source, before)
    else:
        view.replay = Step(step.op, step.args, step.index, before)


def window_step(t: TensorBase, of: TensorBase, before: Step | None) -> Step:
    """The step that takes what `t` shows from the memory of `of`."""
    args = (
        t._raw.shape,
        T.byte_strides(t._raw),
        S.storage_offset(t._raw),
        T.byte_strides(of._raw),
        S.storage_offset(of._raw),
    )
    return Step(REGENERATE.row.op, args, -1, before)


def current_node(t: TensorBase) -> Node | None:
    """The node of `t`; for a view whose base has been written since, the node is made anew."""
    view = t._view
    if view is None or not view.tracked:
        return t._node
    base = view.base
    if not base._requires_grad and t._node is None:
        return None
    now = version_of(base)
    if view.stamp != now:
        if view.creation != DEFAULT:
            refuse_view(t, True)
        else:
            old = t._node
            old_nr = t._nr - 1 if t._nr else 0
            REGENERATE.renew(t)
            if old is not None and t._node is not None:
                carry_retained(t, old, old_nr, t._node, 0)
        view.stamp = now
    return t._node


def follows(t: TensorBase) -> bool:
    """Whether what is computed from a view is recorded because its base requires grad.

    A view that was made without history may have got one since; one that hasn't still makes its
    results require grad, with an edge to nowhere, as in PyTorch.
    """
    view = t._view
    if view is None or not view.tracked or not view.base._requires_grad:
        return False
    current_node(t)
    return True


def refuse_view(t: TensorBase, indirect: bool) -> None:
    """Refuses a view written, or (`indirect`) whose base was, where its history can't follow.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    view = t._view
    if view is None:
        return
    problem = VIEW_PROBLEMS.get(view.creation)
    if problem is not None:
        name = "" if t._node is None else operation_name(t._node)
        number = t._nr - 1 if t._nr else 0
        raise RuntimeError(errors.view_inplace(problem, number, name, indirect))


VIEW_PROBLEMS: Final[dict[int, str]] = {
    IN_NO_GRAD: "no_grad",
    MULTI_OUTPUT: "multi",
    IN_CUSTOM_FUNCTION: "custom",
    IN_INFERENCE: "inference",
}


class Regenerate:
    """Gives a view a new node when its base has been written.

    `renew` is handed in by `copyslices`, `row` (of the operation that takes windows over memory) by
    the table.
    """

    __slots__ = ("renew", "row")

    row: Any
    renew: Any

    def __init__(self) -> None:
        self.row = None
        self.renew = None


REGENERATE: Final = Regenerate()


def view_target(t: TensorBase) -> Vertex | None:
    """Like `target`, for a tensor that may be a view with an outdated node."""
    current_node(t)
    return target(t)
