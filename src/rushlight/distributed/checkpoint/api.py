"""`torch.distributed.checkpoint.api`: what goes wrong with a checkpoint."""

from __future__ import annotations

from .pieces import CheckpointException

__all__ = ["CheckpointException"]
