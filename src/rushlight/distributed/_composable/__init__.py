"""`torch.distributed._composable`: parallel training that leaves a module what it is."""

from __future__ import annotations

from .replicate import replicate

__all__ = ["replicate"]
