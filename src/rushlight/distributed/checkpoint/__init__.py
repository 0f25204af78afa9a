"""`torch.distributed.checkpoint`: checkpoints in folders, of one process or of several."""

from __future__ import annotations

from .async_saving import async_save
from .default_planner import DefaultLoadPlanner, DefaultSavePlanner
from .files import FileSystemReader, FileSystemWriter, load, save
from .pieces import CheckpointException

__all__ = [
    "CheckpointException", "DefaultLoadPlanner", "DefaultSavePlanner", "FileSystemReader",
    "FileSystemWriter", "async_save", "load", "load_state_dict", "save", "save_state_dict",
]  # fmt: skip

load_state_dict, save_state_dict = load, save
