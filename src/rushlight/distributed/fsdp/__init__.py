"""Parameters spread over processes: programs ask whether a module is of this class."""

from __future__ import annotations

from .fully_sharded_data_parallel import FullyShardedDataParallel
from .policies import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    OffloadPolicy,
    fully_shard,
)

__all__ = [
    "CPUOffloadPolicy", "FSDPModule", "FullyShardedDataParallel", "MixedPrecisionPolicy",
    "OffloadPolicy", "fully_shard",
]  # fmt: skip
