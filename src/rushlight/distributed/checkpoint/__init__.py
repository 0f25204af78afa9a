"""`torch.distributed.checkpoint`: checkpoints in folders, of one process or of several."""

from __future__ import annotations

from .files import FileSystemReader, FileSystemWriter, load, save
from .pieces import CheckpointException

__all__ = [
    "CheckpointException", "FileSystemReader", "FileSystemWriter", "load", "load_state_dict",
    "save", "save_state_dict",
]  # fmt: skip

load_state_dict, save_state_dict = load, save
