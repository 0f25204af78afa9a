"""Schedules that go up and down, with the momentum going the other way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._schedule import LRScheduler, assign, per_group
from .optimizer import Optimizer

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .annotations import ParamGroup, StateDict


class _WithMomentum(LRScheduler):
    """A schedule that also sets `momentum`, or the first of `betas`."""

    cycle_momentum: bool
    use_beta1: bool

    def _find_momentum(self) -> None:
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in defaults

    def _set_momentum(self, group: ParamGroup, value: float | Tensor) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class OneCycleLR(_WithMomentum):
    """Up from max_lr/`div_factor` to `max_lr`, then down to a `final_div_factor`th of the start.

    Source: Smith and Topin 2018; two phases as fastai has them, or with `three_phase` the paper's.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        rise = float(pct_start * self.total_steps)
        ends: list[tuple[float, str, str]]
        if three_phase:
            ends = [
                (rise - 1, "initial_lr", "max_lr"),
                (2 * rise - 2, "max_lr", "initial_lr"),
                (self.total_steps - 1, "initial_lr", "min_lr"),
            ]
            momenta = [("max", "base"), ("base", "max"), ("max", "max")]
        else:
            ends = [
                (rise - 1, "initial_lr", "max_lr"),
                (self.total_steps - 1, "max_lr", "min_lr"),
            ]
            momenta = [("max", "base"), ("base", "max")]
        self._schedule_phases: list[dict[str, Any]] = [
            {
                "end_step": end,
                "start_lr": start_lr,
                "end_lr": end_lr,
                "start_momentum": f"{first}_momentum",
                "end_momentum": f"{last}_momentum",
            }
            for (end, start_lr, end_lr), (first, last) in zip(ends, momenta, strict=True)
        ]
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        peaks = per_group(optimizer, "max_lr", max_lr)
        if last_epoch == -1:
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["initial_lr"] = peak / div_factor
                group["max_lr"] = peak
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            highs = per_group(optimizer, "max_momentum", max_momentum)
            lows = per_group(optimizer, "base_momentum", base_momentum)
            if last_epoch == -1:
                for group, high, low in zip(optimizer.param_groups, highs, lows, strict=True):
                    self._set_momentum(group, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        part = (step - start) / (end - start)
        rates: list[float | Tensor] = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                first, last = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(first, last, part))
        return rates


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        return _positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)


def _positive(name: str, value: int) -> int:
    if value <= 0 or not isinstance(value, int):
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


class CyclicLR(_WithMomentum):
    """Up and down between `base_lr` and `max_lr`, in cycles whose height `mode` changes.

    Source: Smith 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        lows = per_group(optimizer, "base_lr", base_lr)
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups, strict=True):
                assign(group, "lr", low)
        self.max_lrs = per_group(optimizer, "max_lr", max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        if scale_fn is not None:
            self.scale_mode = scale_mode
        else:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            self.base_momentums = per_group(optimizer, "base_momentum", base_momentum)
            self.max_momentums = per_group(optimizer, "max_momentum", max_momentum)
            if last_epoch == -1:
                for high, low, group in zip(
                    self.max_momentums, self.base_momentums, optimizer.param_groups, strict=True
                ):
                    self._set_momentum(group, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    @property
    def _scale_fn_ref(self) -> Callable[[float], float] | None:
        """The scale function of the mode; None where there is one of the caller's."""
        return self.scale_fn if self._scale_fn_custom is None else None

    def scale_fn(self, x: float) -> float:
        """The height of a cycle (or at an iteration), as a part of the first one's."""
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return float(1 / (2.0 ** (x - 1)))
        return float(self.gamma**x)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        rates = [
            low + (high - low) * height * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]
        if self.cycle_momentum:
            for low, high, group in zip(
                self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True
            ):
                self._set_momentum(group, high - (high - low) * height * scale)
        return rates

    def state_dict(self) -> StateDict:
        """Everything but optimizer and scale function; of a callable object, its attributes."""
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        plain = custom is None or not hasattr(custom, "__dict__") or callable_is_function(custom)
        state["_scale_fn_custom"] = None if plain else vars(custom).copy()
        return state

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Takes what `state_dict` gave; the scale function stays the one that is here."""
        rest = dict(state_dict)
        kept = rest.pop("_scale_fn_custom", None)
        self.__dict__.update(rest)
        if kept is not None and self._scale_fn_custom is not None:
            vars(self._scale_fn_custom).update(kept)


def callable_is_function(value: object) -> bool:
    """Whether a callable is a plain function, which has no state to keep."""
    return hasattr(value, "__code__")
