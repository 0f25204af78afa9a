"""The parts of a loader: how items become batches, and the processes that read them."""

from . import collate, worker

__all__ = ["collate", "worker"]
