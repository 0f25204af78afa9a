"""`torch.distributed.tensor.experimental`: plain tensors beside those that lie over ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._dispatch import Replicating

__all__ = ["implicit_replication"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Plain tensors stand for tensors that every rank has."""
    before = Replicating.on
    Replicating.on = True
    try:
        yield
    finally:
        Replicating.on = before
