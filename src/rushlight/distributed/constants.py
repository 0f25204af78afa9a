"""`torch.distributed.constants`: how long a group waits before it gives up."""

from __future__ import annotations

from .distributed_c10d import default_pg_timeout

__all__ = ["default_pg_timeout"]
