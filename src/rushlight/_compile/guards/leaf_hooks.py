"""Hooks of leaves: which of them a program can live with, and whether they are as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .records import Attribute, Call, Condition, Held, Is, Local

if TYPE_CHECKING:
    from ..._core.hooks import Hooks
    from ..._core.storage import TensorBase
    from ..ir.program import Program

__all__ = ["hooks_as_before", "only_after", "runs_hooks"]


def _alone(hooks: Hooks) -> bool:
    return not (hooks.tensor or hooks.retain or hooks.pre or hooks.post or hooks.extra)


def only_after(leaf: TensorBase) -> bool:
    """Whether a leaf has no hooks but those that run when its gradient has been accumulated."""
    return leaf.hooks is None or _alone(leaf.hooks)


def runs_hooks(leaf: TensorBase, program: Program) -> bool:
    """Whether hooks of a leaf would run within the step, and the program doesn't run them."""
    if leaf.hooks is None or (_alone(leaf.hooks) and not leaf.hooks.accumulated):
        return False
    if not only_after(leaf):
        return True
    if id(leaf) in program.answered:
        return len(leaf.hooks.accumulated) > 1
    return any(leaf is x for x in program.receivers())


class _AsBefore:
    """Whether the hooks of a leaf are those that it had."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.known = tuple(hooks.accumulated.items())

    def __call__(self) -> bool:
        hooks = self.hooks
        return _alone(hooks) and tuple(hooks.accumulated.items()) == self.known


def hooks_as_before(source: Held | Local, t: TensorBase) -> tuple[Condition, ...]:
    """The conditions under which a tensor has the hooks that it has now, if any."""
    hooks = t.hooks
    if hooks is None or not hooks.accumulated:
        return (Is(Attribute(source, "hooks"), hooks),)
    return (Is(Attribute(source, "hooks"), hooks), Call(_AsBefore(hooks)))
