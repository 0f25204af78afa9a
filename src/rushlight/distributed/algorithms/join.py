"""Ranks with uneven numbers of batches: who has run out answers those who haven't.

Each rank tells the others, before the messages of an iteration, that it takes part in one. A rank
that has run out listens for that, and answers an iteration's messages with what changes nothing
(its hooks know them), until nobody takes part any more.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, NamedTuple

from .._ground import f
from ..collectives import all_reduce

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..annotations import Given
    from ..work import Work


__all__ = ["Join", "JoinHook", "Joinable"]

_UNEVEN = 1000  # iterations that a rank may be behind before it is said


class JoinHook:
    """What a rank does that has run out of batches.

    Example:
        >>> class Answers(torch.distributed.algorithms.JoinHook):
        ...     def post_hook(self, is_last_joiner):
        ...         print("all are done")
        >>> Answers().post_hook(True)
        all are done
    """

    def main_hook(self) -> None:
        """Called for each iteration of other ranks: answers its messages."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when all have run out; `is_last_joiner`: no rank had more batches."""


class _JoinConfig(NamedTuple):
    enable: bool = False
    throw_on_early_termination: bool = False
    is_first_joinable: bool = False

    @staticmethod
    def construct_disabled_join_config() -> _JoinConfig:
        return _JoinConfig()


class Joinable(ABC):
    """What can take part in `Join`: it has `join_hook`, `join_device` and `join_process_group`.

    Example:
        >>> Joinable = torch.distributed.algorithms.Joinable
        >>> issubclass(dist.optim.ZeroRedundancyOptimizer, Joinable)
        True
    """

    @classmethod
    def __subclasshook__(cls, kind: type) -> bool:
        # DistributedDataParallel loads this file only when a `join` begins.
        needed = ("join_hook", "join_device", "join_process_group")
        found = cls is Joinable and all(hasattr(kind, name) for name in needed)
        return found or NotImplemented

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig()

    @abstractmethod
    def join_hook(self, **kwargs: object) -> JoinHook:
        """What to do without batches."""

    @property
    @abstractmethod
    def join_device(self) -> Given:
        """Where the messages' tensors lie."""

    @property
    @abstractmethod
    def join_process_group(self) -> Given:
        """The group whose ranks may run out of batches."""


class Join:
    """A context in which ranks may run out of batches at different times.

    Parameters:
        joinables: what answers the messages of other ranks: modules in DistributedDataParallel,
            ZeroRedundancyOptimizer, or others of class `Joinable`.
        enable: whether anything is done; False where all ranks have as many batches.
        throw_on_early_termination: whether all ranks raise where the first has run out.
        **kwargs: what their `join_hook` is given, as `divide_by_initial_world_size`.
    Raises:
        ValueError: for nothing to take part, and for several groups.
        AttributeError: for what isn't `Joinable`.
        RuntimeError: at the end of the context, with `throw_on_early_termination`, where others go
            on.
    Example:
        >>> dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
        >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> with torch.distributed.algorithms.Join([model]):
        ...     for batch in torch.ones(3, 4, 2):  # as many as this rank has
        ...         model(batch).sum().backward()
    """

    NOT_JOINING: Final = _JoinConfig()

    def __init__(
        self,
        joinables: Sequence[Given],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: object,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable = enable
        self._throws = throw_on_early_termination
        for place, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, place == 0)
        groups = [joinable.join_process_group for joinable in joinables]
        if any(group is not groups[0] for group in groups):
            raise ValueError("Using join context manager with multiple process groups")
        self._group = groups[0]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *exc: object) -> None:
        if not self._enable or kind is not None:
            return
        last, behind = True, 0
        while self._others_that_go_on():
            if self._throws:
                all_reduce(f.ones(1), group=self._group)
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            if behind == _UNEVEN:
                self._warn()
            for hook in self._hooks:
                hook.main_hook()
            last = False
            behind += 1
        for hook in self._hooks:
            hook.post_hook(last)

    def _others_that_go_on(self) -> int:
        count = f.zeros(1)
        all_reduce(count, group=self._group)
        return int(count.item())

    def _warn(self) -> None:
        warnings.warn(
            f"Detected uneven input skew of greater than {_UNEVEN}. This means that rank "
            f"{self._group.rank()} has at least {_UNEVEN} fewer inputs than other "
            "currently-active ranks. This level of skew could lead to performance degradation "
            "during training.",
            stacklevel=3,
        )

    @staticmethod
    def notify_join_context(joinable: Given) -> Work | None:
        """Tells ranks that have run out of batches that this one hasn't.

        Raises:
            RuntimeError: where one has, and the context was to end then.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(
                f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor"
            )
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        group = joinable.join_process_group
        work = all_reduce(f.ones(1), group=group, async_op=True)
        if config.throw_on_early_termination:
            ended = f.zeros(1)
            all_reduce(ended, group=group)
            if ended.item():
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. Throwing across all ranks."
                )
        return work
