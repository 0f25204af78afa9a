"""When the means of parameters are taken: every so many steps."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ...process_group import choose
from .utils import average_parameters_or_parameter_groups

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...annotations import Given
    from ...process_group import ProcessGroup

__all__ = ["ModelAverager", "PeriodicModelAverager"]

NO_USE = (
    "no need to use model averaging because the communication cost of all-reducing parameters will "
    "be no less than the cost of all-reducing gradients by DistributedDataParallel in the backward "
    "pass. Therefore, only DistributedDataParallel should be used for this case."
)


class ModelAverager(ABC):
    """What takes the means of parameters; `step` counts the calls.

    Parameters:
        process_group: the ranks; None means all.
    Raises: ValueError: before `init_process_group`.
    """

    def __init__(self, process_group: ProcessGroup | None = None) -> None:
        self.process_group = choose(process_group)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Given]) -> None:
        """Takes the means where it is time, and counts."""


class PeriodicModelAverager(ModelAverager):
    """Takes the means of parameters over all ranks every so many steps.

    Parameters:
        period: every how many steps.
        warmup_steps: how many steps are made before the first means: gradients' means are taken
            by `DistributedDataParallel` during these.
        process_group: the ranks; None means all.
    Raises: ValueError: for a negative number of steps, and a period below 1.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> from rushlight.distributed.algorithms.model_averaging import averagers
        >>> averager = averagers.PeriodicModelAverager(period=2)
        >>> model = nn.Linear(2, 1)
        >>> model(torch.ones(1, 2)).sum().backward()
        >>> averager.average_parameters(model.parameters())
        >>> averager.step
        1
    """

    def __init__(
        self, period: int, warmup_steps: int = 0, process_group: ProcessGroup | None = None
    ) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(f"When period is 1, {NO_USE}", stacklevel=2)
        self.warmup_steps = warmup_steps
        self.period = period

    def average_parameters(self, params: Iterable[Given]) -> None:
        """Takes the means where it is time, and counts."""
        since = self.step - self.warmup_steps
        if since >= 0 and since % self.period == 0:
            average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
