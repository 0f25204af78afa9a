"""`torch.distributed.elastic.multiprocessing`: where started processes' output and errors go."""

from __future__ import annotations

from . import errors
from .logs_specs import DefaultLogsSpecs, Std

__all__ = ["DefaultLogsSpecs", "Std", "errors"]
