"""Settings for all steps of a pipe of data: shares, orders, seeds."""

from __future__ import annotations

import inspect
import warnings

from ...random import Generator
from .datapipes.annotations import Item
from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph import DataPipe, DataPipeGraph, traverse_dps
from .sampler import draw_seed

__all__ = [
    "apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings",
    "get_all_graph_pipes",
]  # fmt: skip


def get_all_graph_pipes(graph: DataPipeGraph) -> list[DataPipe]:
    """The steps of a graph, each once."""
    found: dict[int, DataPipe] = {}

    def note(part: DataPipeGraph) -> None:
        for key, (step, below) in part.items():
            if key not in found:
                found[key] = step
                note(below)

    note(graph)
    return list(found.values())


def apply_sharding(
    datapipe: DataPipe, num_of_instances: int, instance_id: int,
    sharding_group: Item = SHARDING_PRIORITIES.DEFAULT,
) -> DataPipe:  # fmt: skip
    """Tells the steps that share how many share, and which of them this is.

    Raises:
        RuntimeError: where one such step reads another.
    """

    def share(graph: DataPipeGraph, above: Item) -> None:
        for step, below in graph.values():
            own: Item = step
            now = above
            if hasattr(own, "is_shardable") and own.is_shardable() and (
                hasattr(own, "apply_sharding")
            ):  # fmt: skip
                if above is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause "
                        f"data loss. Sharding already applied to {above} while trying to apply to "
                        f"{own}"
                    )
                if len(inspect.signature(own.apply_sharding).parameters) < 3:
                    own.apply_sharding(num_of_instances, instance_id)
                else:
                    own.apply_sharding(num_of_instances, instance_id, sharding_group=sharding_group)
                now = own
            share(below, now)

    share(traverse_dps(datapipe), None)
    return datapipe


def _shuffles(step: Item) -> bool:
    return (
        hasattr(step, "set_shuffle") and hasattr(step, "set_seed")
        and callable(step.set_shuffle) and callable(step.set_seed)
    )  # fmt: skip


def apply_shuffle_settings(datapipe: DataPipe, shuffle: bool | None = None) -> DataPipe:
    """Switches the steps that draw an order; with True there is one in any case."""
    if shuffle is None:
        return datapipe
    steps: list[Item] = [s for s in get_all_graph_pipes(traverse_dps(datapipe)) if _shuffles(s)]
    if shuffle and not steps:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at "
            "the end. Be aware that the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        made: Item = datapipe
        datapipe = made.shuffle()
        steps = [datapipe]
    for step in steps:
        step.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe: DataPipe, rng: Generator) -> DataPipe:
    """`apply_random_seed` under its former name. Deprecated."""
    warnings.warn(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases."
        "\nPlease use `apply_random_seed` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return apply_random_seed(datapipe, rng)


def apply_random_seed(datapipe: DataPipe, rng: Generator) -> DataPipe:
    """Gives each step that draws a seed from a generator."""
    for step in get_all_graph_pipes(traverse_dps(datapipe)):
        own: Item = step
        if hasattr(own, "set_seed") and callable(own.set_seed):
            own.set_seed(draw_seed(rng))
    return datapipe
