"""Views: making them, replaying them, and finding their node after their base has been written.

Note [Replaying a view]
A view remembers the operation that made it and the view (if any) that it was made from. Running
that chain on another array of the base's shape gives the matching part of it. This is how a
gradient of a base is cut to a view's part (`copyslices.py`), and how a view gets a new node when
the memory it shows has been rewritten through some other view.
"""

from __future__ import annotations

from typing import Any, Final

from .. import errors
from .hooks import carry_retained
from .mode import current
from .node import Node, Vertex
from .op import Op
from .saved import operation_name
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


class Step:
    """One step of a replay: an operation, its further arguments, and which output it is."""

    __slots__ = ("op", "args", "index", "before")

    op: Op
    args: tuple[Any, ...]
    index: int
    before: Step | None

    def __init__(self, op: Op, args: tuple[Any, ...], index: int, before: Step | None) -> None:
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


def attach_view(
    out: TensorBase, source: TensorBase, op: Op, args: tuple[Any, ...], index: int
) -> None:
    """Makes `out` (whose array shares `source`'s memory) a view of it."""
    mode = current()
    parent = source._view
    if parent is not None and parent.tracked:
        step = Step(op, args, index, parent.replay)
        base = parent.base
        creation = parent.creation
    else:
        step = Step(op, args, index, None)
        base = source
        creation = DEFAULT
    if mode.inference:
        creation = IN_INFERENCE
    elif not mode.grad:
        creation = IN_NO_GRAD
    elif index >= 0 and creation == DEFAULT:
        creation = MULTI_OUTPUT
    out._view = View(base, step, creation, version_of(base))


def current_node(t: TensorBase) -> Node | None:
    """The node of `t`; for a view whose base has been written since, the node is made anew."""
    view = t._view
    if view is None or not view.tracked:
        return t._node
    base = view.base
    now = version_of(base)
    if view.stamp != now and base._requires_grad:
        if view.creation != DEFAULT:
            refuse_view(t, True)
        else:
            old = t._node
            old_nr = t._nr - 1 if t._nr else 0
            t._node = REGENERATE.make(t)
            t._nr = 0
            t._requires_grad = True
            if old is not None and t._node is not None:
                carry_retained(t, old, old_nr, t._node, 0)
        view.stamp = now
    return t._node


def follows(t: TensorBase) -> bool:
    """Whether a view that was made without history has got one since: its base has."""
    view = t._view
    if view is None or not view.tracked or not view.base._requires_grad:
        return False
    current_node(t)
    return t._requires_grad


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
    """Makes the new node of a view whose base has been written; handed in by `copyslices`."""

    __slots__ = ("make",)

    make: Any

    def __init__(self) -> None:
        self.make = None


REGENERATE: Final = Regenerate()


def view_target(t: TensorBase) -> Vertex | None:
    """Like `target`, for a tensor that may be a view with an outdated node."""
    current_node(t)
    return target(t)
