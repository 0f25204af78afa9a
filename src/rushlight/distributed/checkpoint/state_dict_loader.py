"""`torch.distributed.checkpoint.state_dict_loader`: what reads checkpoints."""

from __future__ import annotations

from .files import load

__all__ = ["load", "load_state_dict"]

load_state_dict = load
