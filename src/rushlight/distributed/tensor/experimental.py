"""`torch.distributed.tensor.experimental`: what programs import of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["implicit_replication"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Plain tensors stand for tensors that every process has: with one process they do anyway."""
    yield
