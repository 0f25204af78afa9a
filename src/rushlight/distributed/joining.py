"""`DistributedDataParallel.join`: what a rank answers that has run out of batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .algorithms.join import Join, JoinHook

if TYPE_CHECKING:
    from .data_parallel import DistributedDataParallel

__all__ = ["answering_hook", "tell_the_joined"]


def tell_the_joined(parallel: DistributedDataParallel) -> None:
    """Says that this rank has a batch, and learns how many ranks have one."""
    work = Join.notify_join_context(parallel)
    reducer = parallel.reducer
    if work is None or reducer is None:
        return
    if parallel._divide_by_initial_world_size:
        reducer.divisor = reducer.group.size()
    else:
        reducer.divisor = int(work.result()[0].item())


def answering_hook(
    parallel: DistributedDataParallel, divide_by_initial_world_size: bool
) -> JoinHook:
    """What answers the iterations of ranks that still have batches."""
    parallel._divide_by_initial_world_size = divide_by_initial_world_size
    return _Answers(parallel)


class _Answers(JoinHook):
    def __init__(self, parallel: DistributedDataParallel) -> None:
        self.parallel = parallel

    def main_hook(self) -> None:
        """Answers one iteration: its buffers, and zeros for its gradients."""
        parallel = self.parallel
        reducer = parallel.reducer
        if reducer is None:
            return
        if parallel.shares_buffers():
            root = parallel._source_of_buffers(True, False)
            parallel._broadcast(parallel._shared_buffers(), root)
        synchronizes = parallel._any_synchronizes(False)
        parallel.require_forward_param_sync = synchronizes
        if synchronizes:
            reducer.answer(parallel.find_unused_parameters or parallel.static_graph)

    def post_hook(self, is_last_joiner: bool) -> None:
        """Gives all ranks the parameters and buffers of the last that had batches."""
        parallel = self.parallel
        if parallel.reducer is None:
            return
        root = parallel._last_rank(is_last_joiner)
        named = parallel._keep(parallel.module.named_parameters())
        parallel._broadcast([*named.values(), *parallel._shared_buffers()], root)
