"""`torch.distributed.checkpoint.state_dict_saver`: what writes checkpoints."""

from __future__ import annotations

from .async_saving import AsyncCheckpointerType, AsyncSaveResponse, async_save
from .files import save

__all__ = [
    "AsyncCheckpointerType", "AsyncSaveResponse", "async_save", "save", "save_state_dict",
]  # fmt: skip

save_state_dict = save
