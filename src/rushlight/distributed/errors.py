"""The errors of groups, stores and what carries their messages."""

from __future__ import annotations

__all__ = [
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError",
]  # fmt: skip


class DistError(RuntimeError):
    """An error between processes."""

    __module__ = "torch.distributed"


class DistBackendError(DistError):
    """An error of what carries the messages."""

    __module__ = "torch.distributed"


class DistNetworkError(DistError):
    """An error of the network."""

    __module__ = "torch.distributed"


class DistStoreError(DistError):
    """An error of a store."""

    __module__ = "torch.distributed"


class QueueEmptyError(DistStoreError):
    """A queue of a store holds nothing."""

    __module__ = "torch.distributed"
