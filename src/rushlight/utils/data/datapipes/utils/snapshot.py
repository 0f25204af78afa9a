"""Winds pipes forward to where a run was left."""

from __future__ import annotations

from ...graph_settings import apply_random_seed
from .._hook_iterator import _SnapshotState
from ..annotations import Item

__all__: list[str] = []


def _simple_graph_snapshot_restoration(datapipe: Item, n_iterations: int, rng: Item = None) -> None:
    """Reads and drops items, so that the next iterator goes on after them.

    Args:
        datapipe: the last pipe of a chain.
        n_iterations: how many; `_number_of_samples_yielded` of the pipe that was left.
        rng: the generator that shuffled then, in its first state.

    Raises:
        RuntimeError: for a pipe that was wound forward and not read since, or has fewer items.
    """
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError(
            "Snapshot restoration cannot be applied. You can only restore simple snapshot to the "
            "graph if your graph has not been restored."
        )
    datapipe.reset()
    apply_random_seed(datapipe, rng)
    items = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(items)
        except StopIteration as end:
            raise RuntimeError(
                f"Fast-forward {datapipe} by {n_iterations} iterations exceeds the number of "
                "samples available."
            ) from end
    datapipe._fast_forward_iterator = items
    datapipe._snapshot_state = _SnapshotState.Restored
