"""`torch.distributed.elastic.multiprocessing`: how errors of started processes are told."""

from __future__ import annotations

from . import errors

__all__ = ["errors"]
