"""The means of parameters over ranks nearby often, and over all seldom."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ...process_group import get_world_size
from ...subgroups import new_subgroups
from .averagers import NO_USE, ModelAverager
from .utils import average_parameters_or_parameter_groups

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...annotations import Given
    from ...process_group import ProcessGroup

__all__ = ["HierarchicalModelAverager"]


class HierarchicalModelAverager(ModelAverager):
    """Takes means over groups of several sizes, each every so many steps.

    Where several periods divide the step the longest counts.

    Parameters:
        period_group_size_dict: by period, shortest first, how many neighbouring ranks are a group;
            the last is the number of all.
        warmup_steps: how many steps are made before the first means.
        process_group: the ranks; None means all.
    Raises: ValueError: without periods, for a period below 1, a last group that isn't of all
        ranks, and a negative number of steps.
    """

    def __init__(
        self,
        period_group_size_dict: dict[int, int] | None = None,
        warmup_steps: int = 0,
        process_group: ProcessGroup | None = None,
    ) -> None:
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("Arg ``period_group_size_dict`` must not be empty.")
        periods = self._periods = list(period_group_size_dict)
        if periods[0] <= 0:
            raise ValueError(
                "The minimum period in arg ``period_group_size_dict`` must be a positive value."
            )
        if periods[-1] == 1:
            warnings.warn(
                f"When the maximum period in arg ``period_group_size_dict`` is 1, {NO_USE}",
                stacklevel=2,
            )
        size, last = get_world_size(self.process_group), period_group_size_dict[periods[-1]]
        if last != size:
            raise ValueError(
                f"The last value in arg ``period_group_size_dict`` {last} must be equal to the "
                f"size of arg ``process_group`` {size}."
            )
        self.period_process_group_dict: dict[int, Given] = {}
        for period, count in period_group_size_dict.items():
            near: Given = self.process_group
            if count != size:
                near, _ = new_subgroups(count, self.process_group)
            self.period_process_group_dict[period] = near
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps

    def _find_process_group(self) -> Given:
        due = [period for period in self._periods if self.step % period == 0]
        return self.period_process_group_dict[due[-1]] if due else None

    def average_parameters(self, params: Iterable[Given]) -> None:
        """Takes the means over the largest group whose time it is, and counts."""
        if self.step >= self.warmup_steps:
            group = self._find_process_group()
            if group is not None:
                average_parameters_or_parameter_groups(params, group)
        self.step += 1
