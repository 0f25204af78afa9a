"""`torch.distributed._tensor.placement_types`: the older place of how tensors lie."""

from __future__ import annotations

from ..tensor._layout import DTensorSpec, TensorMeta
from ..tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensorSpec", "Partial", "Placement", "Replicate", "Shard", "TensorMeta"]
