"""Means over all ranks at first, and over the ranks nearby later on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...process_group import ProcessGroup
from ...subgroups import new_subgroups
from .debugging_hooks import noop_hook
from .default_hooks import mean_over_ranks

if TYPE_CHECKING:
    from ...._tensor.tensor import Tensor
    from ....utils._futures import Future
    from ...buckets import GradBucket

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """When means over the subgroup begin, and whether there are any."""

    def __init__(
        self,
        process_group: ProcessGroup | None,
        subgroup: ProcessGroup | None,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group = process_group
        self.subgroup = subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Counts an iteration when its last bucket is sent."""
        self.iter += bucket.is_last()


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean over all ranks; after some iterations that over the subgroup."""
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean_over_ranks(state.process_group, bucket.buffer())
    if not state.post_local_gradient_allreduce:
        return noop_hook(state, bucket)
    if state.subgroup is None:
        near, _ = new_subgroups()
        state.subgroup = near if isinstance(near, ProcessGroup) else None
    return mean_over_ranks(state.subgroup, bucket.buffer())
