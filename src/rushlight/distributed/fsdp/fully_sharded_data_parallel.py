"""Parameters spread over processes: programs ask whether a module is of this class."""

from __future__ import annotations

from typing import Any

from ..._base.error_notes import advised
from ...nn.modules.module import Module
from .api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictType,
)

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig",
    "FullyShardedDataParallel", "LocalStateDictConfig", "MixedPrecision", "OptimStateKeyType",
    "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy", "StateDictType",
]  # fmt: skip


class FullyShardedDataParallel(Module):
    """Raises: there is one process, so nothing to spread parameters over.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, *args: Any, **kwargs: object) -> None:
        raise advised(
            RuntimeError("FullyShardedDataParallel spreads parameters over several processes"),
            "Rushlight runs in one process: use the module itself",
        )
