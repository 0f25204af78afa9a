"""`torch.distributed._tensor.api`: the older place of `DTensor`."""

from __future__ import annotations

from ..tensor import DTensor, distribute_module, distribute_tensor

__all__ = ["DTensor", "distribute_module", "distribute_tensor"]
