"""How a batch is split and put together: under the module where PyTorch has it."""

from typing import Any

from .data_parallel import gather, scatter

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter_kwargs(
    inputs: tuple[object, ...], kwargs: dict[str, object] | None, target_gpus: Any, dim: int = 0
) -> tuple[tuple[object, ...], tuple[dict[str, object], ...]]:
    """The arguments of a call once per chunk, by position and by name."""
    given = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(given), len(named))
    given = [*given, *([()] * (count - len(given)))]
    named = [*named, *({} for _ in range(count - len(named)))]
    return tuple(given), tuple(named)
