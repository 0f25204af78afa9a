"""Schedules made of schedules: one after the other, and all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._plateau import ReduceLROnPlateau
from ._schedule import LRScheduler
from .optimizer import Optimizer

if TYPE_CHECKING:
    from .annotations import StateDict


class _Composite(LRScheduler):
    """A schedule that keeps others in `_schedulers`, and their states in its own."""

    _schedulers: list[Any]

    def state_dict(self) -> StateDict:
        """Everything but the optimizer, with the state of each schedule."""
        state = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("optimizer", "_schedulers")
        }
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Takes what `state_dict` gave, here and in each schedule."""
        rest = {key: value for key, value in state_dict.items() if key != "_schedulers"}
        self.__dict__.update(rest)
        for scheduler, kept in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(kept)


def _check_optimizer(owner: str, place: int, scheduler: object, optimizer: Optimizer) -> None:
    if not hasattr(scheduler, "optimizer"):
        raise TypeError(f"{owner} at index {place} should have `optimizer` as its attribute.")
    if isinstance(scheduler, ReduceLROnPlateau):
        raise ValueError(
            f"{owner} does not support `ReduceLROnPlateau` scheduler as it requires additional "
            "kwargs to be specified when calling `step`, but got one at index "
            f"{place} in the given schedulers sequence."
        )
    if optimizer is not scheduler.optimizer:
        raise ValueError(
            f"{owner} expects all schedulers to belong to the same optimizer, but "
            f"got scheduler {type(scheduler).__name__} at index {place} has "
            f"{scheduler.optimizer}, which is different from {type(optimizer).__name__}."
        )


class SequentialLR(_Composite):
    """One schedule after the other, changing at the milestones."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        for place, scheduler in enumerate(schedulers):
            _check_optimizer("SequentialLR", place, scheduler, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more "
                "than the number of milestone points, but got number of schedulers "
                f"{len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each schedule made its first step when it was built: undo them, then redo the first's.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:
            _undo(scheduler)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Moves the schedule whose turn it is; at a milestone, the next begins at its start."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            if type(scheduler).step is not LRScheduler.step and not isinstance(
                scheduler, _Composite
            ):
                scheduler.step(0)
            else:
                scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _undo(scheduler: Any) -> None:
    for inner in getattr(scheduler, "_schedulers", ()):
        _undo(inner)
    if not hasattr(scheduler, "_schedulers"):
        scheduler.last_epoch -= 1


class ChainedScheduler(_Composite):
    """All schedules at once: each changes what the one before left."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        chosen = optimizer or schedulers[0].optimizer
        for place, scheduler in enumerate(schedulers):
            _check_optimizer("ChainedScheduler", place, scheduler, chosen)
        self._schedulers = list(schedulers)
        self.optimizer = chosen
        self._last_lr = self._rates()

    def step(self) -> None:  # type: ignore[override]
        """Moves every schedule by one epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()
