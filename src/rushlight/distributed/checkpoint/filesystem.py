"""`torch.distributed.checkpoint.filesystem`: folders that hold checkpoints."""

from __future__ import annotations

from .files import FileSystemReader, FileSystemWriter

__all__ = ["FileSystemReader", "FileSystemWriter"]
