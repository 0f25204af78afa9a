"""`torch.distributed.checkpoint`: checkpoints in folders, here of one process."""

from __future__ import annotations

from .files import FileSystemReader, FileSystemWriter, load, save

__all__ = ["FileSystemReader", "FileSystemWriter", "load", "load_state_dict", "save",
           "save_state_dict"]  # fmt: skip

load_state_dict, save_state_dict = load, save
