"""`torch.distributed._tensor.experimental`: the older place of its newer names."""

from __future__ import annotations

from ..tensor.experimental import implicit_replication

__all__ = ["implicit_replication"]
