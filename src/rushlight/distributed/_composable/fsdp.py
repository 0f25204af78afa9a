"""`torch.distributed._composable.fsdp`: the older place of `fully_shard`."""

from __future__ import annotations

from ..fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "fully_shard"]
