"""The step that leaves a worker its share."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from .._decorator import functional_datapipe
from ..annotations import Item, Source
from ..columns import length_of
from ..datapipe import IterDataPipe

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Among whom items are shared, in the order in which that is done."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe[Item]):
    """Every n-th item, once it has been told n and where to begin."""

    def __init__(self, source_datapipe: Source, sharding_group_filter: Item = None) -> None:
        self.source_datapipe = source_datapipe
        self.sharding_group_filter = sharding_group_filter
        self.groups: dict[int, tuple[int, int]] = {}
        self.num_of_instances = 1
        self.instance_id = 0

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: Item = 1
    ) -> None:
        """Says how many share the items, and which of them this is."""
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than "
                f"num_of_instances({num_of_instances})"
            )
        group = SHARDING_PRIORITIES(sharding_group)
        if group == SHARDING_PRIORITIES.DEFAULT:
            if self.groups and SHARDING_PRIORITIES.DEFAULT not in self.groups:
                raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        elif SHARDING_PRIORITIES.DEFAULT in self.groups:
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[group] = num_of_instances, instance_id
        self.num_of_instances, self.instance_id = 1, 0
        for key in sorted(self.groups, reverse=True):
            if self.sharding_group_filter is None or key == self.sharding_group_filter:
                count, number = self.groups[key]
                self.instance_id += self.num_of_instances * number
                self.num_of_instances *= count

    def is_shardable(self) -> bool:
        """Whether it can be told so: yes."""
        return True

    def __iter__(self) -> Iterator[Item]:
        for i, item in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield item

    def __len__(self) -> int:
        whole = length_of(self, self.source_datapipe)
        return whole // self.num_of_instances + (self.instance_id < whole % self.num_of_instances)
