"""Processes with uneven numbers of batches: with one process, none waits for another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a process does that has run out of batches."""

    def main_hook(self) -> None:
        """Called while other processes still have batches."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when all have run out."""


class Joinable:
    """What can take part in `Join`."""

    def join_hook(self, **kwargs: object) -> JoinHook:
        """What to do without batches."""
        return JoinHook()


class Join:
    """A context in which processes may run out of batches at different times."""

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: object,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables] if enable else []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *exc: object) -> None:
        if kind is None:
            for hook in self._hooks:
                hook.post_hook(True)

    @staticmethod
    def notify_join_context(joinable: object) -> None:
        """Does nothing: no process waits."""
