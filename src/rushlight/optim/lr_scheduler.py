"""Schedules of the learning rate, by a formula in the number of epochs.

Each exists in two forms: `get_lr` goes from one epoch to the next, so that schedules can be
chained, and `_get_closed_form_lr` jumps to any epoch. The order of the operations is PyTorch's.
"""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._base.lazy import list_names as _listed
from .._tensor.help_texts import describe_classes as _describe_classes
from ._composite import ChainedScheduler, SequentialLR
from ._cycle import CyclicLR, OneCycleLR
from ._plateau import ReduceLROnPlateau
from ._schedule import EPOCH_DEPRECATION_WARNING, LRScheduler
from .optimizer import Optimizer

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor
    from .annotations import StateDict


__all__ = [
    "EPOCH_DEPRECATION_WARNING",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_LRScheduler = LRScheduler
_Factor = Callable[[int], float]


class _ByFunction(LRScheduler):
    """A schedule by one function of the epoch for all groups, or one for each."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: _Factor | list[_Factor], last_epoch: int = -1
    ) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas: list[_Factor] = [lr_lambda] * count
        else:
            if len(lr_lambda) != count:
                raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> StateDict:
        """Everything but optimizer and functions; of callable objects, their attributes."""
        state = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("optimizer", "lr_lambdas")
        }
        state["lr_lambdas"] = [
            None if isinstance(function, types.FunctionType) else vars(function).copy()
            for function in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Takes what `state_dict` gave; functions stay the ones that are here."""
        rest = {key: value for key, value in state_dict.items() if key != "lr_lambdas"}
        self.__dict__.update(rest)
        for function, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=False):
            if kept is not None:
                vars(function).update(kept)


class LambdaLR(_ByFunction):
    """The initial rate times a function of the epoch."""

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        return [
            base * function(self.last_epoch)
            for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(_ByFunction):
    """The rate before times a function of the epoch."""

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        if self.last_epoch <= 0:
            return self._rates()
        return [
            rate * function(self.last_epoch)
            for function, rate in zip(self.lr_lambdas, self._rates(), strict=True)
        ]


class StepLR(LRScheduler):
    """Times `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        times = self.last_epoch // self.step_size
        return [base * self.gamma**times for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times `gamma` at each milestone."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._rates()
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [rate * factor for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times `factor` for the first `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [rate * (1.0 / self.factor) for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Times a factor that goes evenly from `start_factor` to `end_factor`."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or "
                "equal to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if self.last_epoch > self.total_iters:
            return self._rates()
        span = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * span
        return [rate * (1.0 + span / before) for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        span = self.end_factor - self.start_factor
        done = min(self.total_iters, self.last_epoch)
        return [
            base * (self.start_factor + span * done / self.total_iters) for base in self.base_lrs
        ]


class ExponentialLR(LRScheduler):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero in `total_iters` epochs, as (1 - epoch/total)^power."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        total = self.total_iters
        if self.last_epoch == 0 or self.last_epoch > total:
            return self._rates()
        left = (1.0 - self.last_epoch / total) / (1.0 - (self.last_epoch - 1) / total)
        return [rate * left**self.power for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        done = min(self.total_iters, self.last_epoch)
        return [base * (1.0 - done / self.total_iters) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Along a cosine from the initial rate to `eta_min` in `T_max` epochs, and back.

    Source: Loshchilov and Hutter 2017, equation 5, without restarts.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        epoch, half, low = self.last_epoch, self.T_max, self.eta_min
        if epoch == 0:
            return self._rates()
        if self._step_count == 1 and epoch > 0:
            return [
                low + (base - low) * (1 + math.cos(epoch * math.pi / half)) / 2
                for base in self.base_lrs
            ]
        if (epoch - 1 - half) % (2 * half) == 0:
            # The rate was at its lowest: the ratio below would divide by zero.
            return [
                rate + (base - low) * (1 - math.cos(math.pi / half)) / 2
                for base, rate in zip(self.base_lrs, self._rates(), strict=True)
            ]
        now = 1 + math.cos(math.pi * epoch / half)
        before = 1 + math.cos(math.pi * (epoch - 1) / half)
        return [now / before * (rate - low) + low for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[float | Tensor]:
        low = self.eta_min
        return [
            low + (base - low) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
            for base in self.base_lrs
        ]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along a cosine from the initial rate to `eta_min`, again and again.

    The first run takes `T_0` epochs, each later one `T_mult` times as many.

    Source: Loshchilov and Hutter 2017, equation 5.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        low = self.eta_min
        return [
            low + (base - low) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
            for base in self.base_lrs
        ]

    def step(self, epoch: Any = None) -> None:
        """Moves to the next epoch, or to `epoch`, which may be a fraction within a run."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        with self._within_step():
            self._set(self.get_lr())

    def _place(self, epoch: float) -> None:
        """Finds the run that `epoch` is in, and how far."""
        if epoch < self.T_0:
            self.T_i = self.T_0
            self.T_cur = epoch
        elif self.T_mult == 1:
            self.T_i = self.T_0
            self.T_cur = epoch % self.T_0
        else:
            run = int(math.log((epoch / self.T_0 * (self.T_mult - 1) + 1), self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**run - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**run


_describe_classes(globals(), "optim.lr_scheduler")
__dir__ = _listed(globals())
