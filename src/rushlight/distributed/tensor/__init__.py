"""Tensors spread over processes: programs import these names; with one process there are none."""

from __future__ import annotations

from ._api import DTensor, distribute_module, distribute_tensor
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
    "distribute_tensor",
]  # fmt: skip
