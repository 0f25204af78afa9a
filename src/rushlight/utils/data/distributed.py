"""`DistributedSampler`: the part of a dataset that one of several processes reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..._base.ranks import RANKS
from ...nn._ground import f
from ...random import Generator
from .sampler import Sampler

if TYPE_CHECKING:
    from collections.abc import Sized


__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th key from `rank` on, of an order that all processes agree on.

    With `shuffle` the order follows from `seed` and the epoch: call `set_epoch` before each one.
    Keys are repeated (or with `drop_last` left out) so that all processes get equally many.

    Raises:
        ValueError: where number or rank of the processes isn't given and there is no process group.
        ValueError: for a rank outside the group.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            num_replicas = RANKS.count() if num_replicas is None else num_replicas
            rank = RANKS.rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        if drop_last and count % num_replicas != 0:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = f.randperm(count, generator=generator).tolist()
        else:
            order = list(range(count))
        if not self.drop_last:
            lacking = self.total_size - len(order)
            order += (order * math.ceil(lacking / max(count, 1)))[:lacking]
        return iter(order[: self.total_size][self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch comes, so that each has another order."""
        self.epoch = epoch
