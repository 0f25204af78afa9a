"""Tangents: which tensor has one, and how it is given one.

Note [Tangents and views]
A differentiable view of a dual tensor has a tangent that is the same view of the dual's: writing to
one writes to the other. So a view that gets a tangent by an in-place write gives its base one too,
zeros elsewhere; and a view of a tensor that got its tangent later takes its part when it is asked.
`make_dual` and `unpack_dual` begin anew: what they return shares memory with its base, but not its
tangent. So a view made inside forward mode notes in `View.forward` whose tangent it is part of (a
weak reference: the views of a dual tensor that has gone share its tangent's memory anyway) and the
steps from there, as in Note [Replaying a view] of `views.py`.

Note [Layout of tangents]
A tangent is laid out like its primal, so that every view of the one is a view of the other. One
that isn't is copied when it is set.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final, cast

from .._array import types as T
from .._array.shape import strided as S
from .._core import slow
from .._core.mode import CURRENT, derive, ready
from .._core.saved import TANGENTS
from .._core.storage import TensorBase, new_tensor
from .._core.views import Step, replay

if TYPE_CHECKING:
    from .._base.annotations import Positional
    from .._tensor.tensor import Tensor


class Level:
    """The extent of a forward-mode computation; tangents die with it."""

    __slots__ = ("alive", "nodes")

    def __init__(self) -> None:
        self.alive = True
        self.nodes: list[Any] = []  # nodes that hold tangents of their saved outputs


class Tangent:
    """A tangent, and the level that it belongs to."""

    __slots__ = ("level", "value")

    def __init__(self, level: Level, value: TensorBase) -> None:
        self.level = level
        self.value = value


LEVELS: Final[list[Level]] = []


def level_is_open() -> bool:
    """Whether there can be tangents at all."""
    return bool(LEVELS)


ANEW: Final = object()  # a `View.forward`: no part of another tensor's tangent


def forward_base(t: TensorBase) -> tuple[Any, Step] | None:
    """The tensor that `t` is a differentiable view of in forward mode, and the last step to it."""
    view = t._view
    if view is None or not view.tracked or view.forward is ANEW:
        return None
    if view.forward is None:
        return None if view.replay is None else (view.base, view.replay)
    reference, step = view.forward
    source = reference()
    return None if source is None else (source, step)


def note_view(out: TensorBase, source: TensorBase, op: Any, args: Positional, index: int) -> None:
    """Notes of a new view whose tangent its own will be part of."""
    view, parent = out._view, source._view
    if view is None:
        return
    before: Step | None = None
    reference = None
    if parent is not None and parent.tracked and parent.forward is not ANEW:
        if parent.forward is None:
            reference, before = weakref.ref(parent.base), parent.replay
        else:
            reference, before = parent.forward
    view.forward = (reference or weakref.ref(source), Step(op, args, index, before))


def begin_anew(dual: Tensor) -> None:
    """Makes the view `dual` one without a part in its base's tangent."""
    if dual._view is not None:  # what is taken of an inference tensor is no view
        dual._view.forward = ANEW


def tangent_of(t: TensorBase) -> Any:
    """The tangent of `t`, a Tensor; None where it has none."""
    found = t._tangent
    if found is not None and found.level.alive:
        return found.value
    if t._view is None or not LEVELS:
        return None
    source = forward_base(t)
    if source is None:
        return None
    whole = tangent_of(source[0])
    if whole is None:
        return None
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), forward_grad=False))
        value = replay(source[1], whole, True)
    finally:
        CURRENT.set(former_mode)
    t._tangent = Tangent(LEVELS[-1], value)
    t._plain = False
    return value


def set_tangent(t: TensorBase, value: Any) -> None:
    """Gives `t` a tangent at the current level; see Note [Tangents and views].

    Raises:
        RuntimeError: for a tangent of another size, or one that has a tangent itself.
    """
    if value._raw.shape != t._raw.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(t._raw.shape)} while the "
            f"given forward gradient is of size {list(value._raw.shape)}."
        )
    if value._tangent is not None and tangent_of(value) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not "
            "supported."
        )
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), forward_grad=False))
        source = forward_base(t)
        if source is not None and tangent_of(source[0]) is None:
            base = source[0]
            if _all_alike(value, t, base):
                part = whole = value
            else:
                own = base._raw.dtype == t._raw.dtype  # a view of another type: so is the tangent's
                whole = _zeros_in_place_of(base, value, None if own else base._raw.dtype)
                part = replay(source[1], whole, True)
                part.copy_(value)
            base._tangent = Tangent(LEVELS[-1], whole)
            base._plain = False
            value = part
        if not T.same_layout(value._raw, t._raw) and not getattr(type(value), "_dispatches", False):
            fresh = _zeros_in_place_of(t, value)
            fresh.copy_(value)
            value = fresh
    finally:
        CURRENT.set(former_mode)
    t._tangent = Tangent(LEVELS[-1], value)
    t._plain = False


def _all_alike(value: TensorBase, t: TensorBase, base: TensorBase) -> bool:
    """Whether a tangent of a view can be that of its base, too: nothing else lies in the memory."""
    shape = value._raw.shape
    return (
        shape == t._raw.shape == base._raw.shape
        and value._raw.dtype == base._raw.dtype
        and not any(x._view is not None and T.is_part(x._raw) for x in (value, t))
        and T.same_layout(value._raw, t._raw)
        and T.same_layout(value._raw, base._raw)
    )


def _zeros_in_place_of(t: TensorBase, value: Tensor, raw: object = None) -> Tensor:
    """Zeros laid out like `t`, for the examples that `value` is a batch of."""
    raw = value._raw.dtype if raw is None else raw
    if not value._layered:
        return cast("Tensor", new_tensor(T.zeros_laid_out(t._raw, raw)))
    if t._raw.flags.c_contiguous:
        return value.new_zeros(tuple(t._raw.shape), dtype=T.from_raw(raw))
    size = t._raw.itemsize
    steps = tuple([s // size for s in t._raw.strides])
    memory = value.new_zeros((S.extent(t._raw.shape, steps),), dtype=T.from_raw(raw))
    return memory.as_strided(tuple(t._raw.shape), steps, 0)


def write_tangent(t: TensorBase, value: Tensor | None) -> None:
    """Gives `t`, which was just written in place, its new tangent (None: zeros).

    A tangent that is there already is written in place too: others share it.
    """
    old = tangent_of(t)
    if old is None:
        if value is not None:
            set_tangent(t, value)
    elif value is None:
        old.zero_()
    elif value is not old:
        old.copy_(value)


def copy_tangent(again: TensorBase, t: TensorBase) -> None:
    """Gives a copy of `t` a copy of its tangent: `t` is about to be written in place."""
    old = tangent_of(t)
    if old is None:
        return
    before = CURRENT.get()
    try:
        CURRENT.set(derive(ready(), forward_grad=False))
        again._tangent = Tangent(LEVELS[-1], old.clone())
    finally:
        CURRENT.set(before)
    again._plain = False


def note_saved(node: Any, number: int, tangent: object) -> None:
    """Lets a node that saved an output know the output's tangent: it makes the tensor anew."""
    if node.meta is None:
        node.meta = {}
    node.meta.setdefault(TANGENTS, {})[number] = tangent
    LEVELS[-1].nodes.append(node)


slow.TANGENTS.find = tangent_of
slow.TANGENTS.copy = copy_tangent
slow.TANGENTS.note_view = note_view

__all__ = [
    "LEVELS",
    "Level",
    "Tangent",
    "begin_anew",
    "level_is_open",
    "set_tangent",
    "tangent_of",
    "write_tangent",
]
