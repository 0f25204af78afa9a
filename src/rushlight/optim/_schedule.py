"""`LRScheduler`: what all schedules of the learning rate share."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._ground import Tensor
from .optimizer import Optimizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._tensor.tensor import Tensor
    from .annotations import ParamGroup, StateDict


_ORDER = (
    "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being "
    "deprecated where possible. Please use `scheduler.step()` to step the "
    "scheduler. During the deprecation, if epoch is different from None, the "
    "closed form is used instead of the new chainable form, where available. "
    "Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)


def per_group(optimizer: Optimizer, name: str, value: Any) -> list[float | Tensor]:
    """`value` once per parameter group; a list must have that length already."""
    count = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has "
                f"{len(value)} values, param_groups has {count}."
            )
        return list(value)
    return [value] * count


def assign(group: ParamGroup, key: str, value: float | Tensor) -> None:
    """Sets an option; a tensor option keeps its identity and takes the value."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def _watch_steps(optimizer: Any) -> None:
    """Makes `optimizer.step` note that it was called, for the warning about the order."""
    step = optimizer.step
    if hasattr(step, "_wrapped_by_lr_sched"):
        return
    inner: Callable[..., Any] = step.__func__

    def count_step(self: Tensor, *args: object, **kwargs: object) -> object:
        self._opt_called = True
        return inner(self, *args, **kwargs)

    count_step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    count_step.__name__ = "step"
    count_step.__doc__ = inner.__doc__
    optimizer.step = types.MethodType(count_step, optimizer)


class LRScheduler:
    """Changes the learning rates of an optimizer's groups at each `step`.

    Subclasses define `get_lr`, which computes the rates of `last_epoch` from the current ones, and
    maybe `_get_closed_form_lr`, which computes them from `base_lrs`.
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    optimizer: Optimizer
    base_lrs: list[float | Tensor]
    last_epoch: int
    _last_lr: list[float | Tensor]
    _step_count: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if isinstance(rate, Tensor) else rate)
        else:
            for place, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{place}] when "
                        "resuming scheduler with last_epoch >= 0.\n"
                        "This typically happens when:\n"
                        "1. You're trying to resume training from a checkpoint but haven't "
                        "properly loaded the optimizer state\n"
                        "2. You're using last_epoch >= 0 for a fresh training run "
                        "(not recommended)"
                    )
        self.base_lrs = [
            rate.clone() if isinstance(rate, Tensor) else rate
            for rate in (group["initial_lr"] for group in optimizer.param_groups)
        ]
        self.last_epoch = last_epoch
        _watch_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Puts the first rates in place."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> StateDict:
        """Everything but the optimizer, as a dictionary."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Takes what `state_dict` gave; the optimizer's rates are in its own state."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float | Tensor]:
        """The rates that the last step set, one per group."""
        return self._last_lr

    def get_lr(self) -> list[float | Tensor]:
        """The rates of `last_epoch`, one per group."""
        raise NotImplementedError

    def _rates(self) -> list[float | Tensor]:
        """The groups' current rates."""
        return [group["lr"] for group in self.optimizer.param_groups]

    @contextmanager
    def _within_step(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, "
                "please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _warn_of_order(self) -> None:
        if self._step_count != 1:
            return
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate "
                "scheduler initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. {_ORDER}",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. "
                "In PyTorch 1.1.0 and later, you should call them in the opposite order: "
                "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
                "result in PyTorch skipping the first value of the learning rate schedule. "
                f"{_ORDER}",
                UserWarning,
                stacklevel=3,
            )

    def step(self, epoch: int | None = None) -> None:
        """Moves to the next epoch (or to `epoch`, deprecated) and sets its rates."""
        self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None) -> None:
        """Sets the rates of the next epoch, or of `epoch`."""
        with self._within_step():
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", None)
                rates = self.get_lr() if closed is None else closed()
        self._set(rates)

    def _set(self, rates: Sequence[float | Tensor]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            assign(group, "lr", rate)
        self._last_lr = [
            rate.clone() if isinstance(rate, Tensor) else rate for rate in self._rates()
        ]
