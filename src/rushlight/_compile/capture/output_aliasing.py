"""Results that are views, or that were detached: what they share with other tensors.

Note [Views that a program returns]
A view knows its base and shares its count of writes: a backward finds by that count that a value
which it saved has been overwritten. So where a step returns a view, its program returns a view too:
of an argument, of a captured tensor or of another result. A tensor made by `detach` shares the
count only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._core.storage import DEFAULT, Version, View, version_cell, version_of
from ..._core.views import Step, make_exact
from ..ir.program import same
from ..refusal import Refusal

if TYPE_CHECKING:
    from ..._base.annotations import Arguments
    from ..._tensor.tensor import Tensor
    from .output_structure import ExistingTensor, FreshTensor
    from .recorder import Recorder

_PLAIN: Final = (int, float, bool, str, type(None))


class Shared:
    """What a result shares with another tensor."""

    __slots__ = ("source", "steps", "creation")

    def __init__(
        self, source: FreshTensor | ExistingTensor, steps: tuple[Any, ...] | None, creation: int
    ) -> None:
        self.source = source  # how the other tensor is made or found
        self.steps = steps  # (operation, arguments, index) of each view; None: the count alone
        self.creation = creation

    def same_as(self, other: Shared) -> bool:
        """Whether the other is the same view of the same tensor."""
        return (
            same(self.source, other.source)
            and same(self.steps, other.steps)
            and self.creation == other.creation
        )


def sources(t: Any, arguments: Arguments, recorder: Recorder) -> tuple[Any, Any]:
    """The tensor whose view `t` is (one from outside, or made by the step), and the way there.

    Raises:
        Refusal: for a view that can't be taken again.
    """
    view = t._view
    if view.exact:
        raise Refusal("the step returns a view of another element type")
    chain: list[Any] = []
    step = view.replay
    outside = [*arguments, *recorder.known.values()]
    while True:
        for other in outside:
            theirs = None if other._view is None else other._view.replay
            if other is not t and theirs is step and owner(other) is view.base:
                return other, _steps(chain)
        if step is None:
            break
        chain.append(step)
        step = step.before
    return view.base, _steps(chain)


def owner(t: Tensor) -> Any:
    """The tensor that counts the writes to the memory of `t`."""
    return t if t._view is None else t._view.base


def _steps(chain: list[Any]) -> tuple[Any, ...]:
    for step in chain:
        if not _plain(step.args):
            raise Refusal("the step returns a view whose place depends on numbers that change")
    return tuple((s.op, s.args, s.index) for s in reversed(chain))


def _plain(x: Any) -> bool:
    if type(x) in (tuple, list):
        return all(map(_plain, x))
    return type(x) in _PLAIN or type(x).__name__ in ("dtype", "slice", "ellipsis")


def sharing(t: Any, source: Any, steps: Any, creation: int) -> Tensor:
    """A result, made to share with a tensor what an eager step's would."""
    if steps is None:
        t._cell = version_cell(source)
        return t
    parent = source._view
    base, before = source, None
    if parent is not None and parent.tracked:
        base, before = parent.base, parent.replay
        if creation == DEFAULT:
            creation = parent.creation
    for op, args, index in steps:
        before = Step(op, args, index, before)
    t._view = view = View(base, before, creation, version_of(base))
    if parent is not None and parent.exact:
        make_exact(view, t, source, False)
    return t


def aged(t: Tensor, writes: int) -> Tensor:
    """A result that the step has written so many times."""
    t._cell = cell = Version()
    cell.n = writes
    return t
