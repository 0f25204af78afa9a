"""`torch.multiprocessing.queue`: the standard queues, through which tensors are shared."""

from __future__ import annotations

from multiprocessing.queues import Queue, SimpleQueue

__all__ = ["Queue", "SimpleQueue"]
