"""How `linear_cross_entropy` divides a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["LinearCrossEntropyOptions"]


@dataclass
class LinearCrossEntropyOptions:
    """Asks `linear_cross_entropy` for a part of the batch at a time.

    `batch_chunk_size` samples have logits at a time (a quarter of the batch by default). The other
    fields are PyTorch's choices between its kernels; there is one here, with all derivatives.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def _adjust(self) -> LinearCrossEntropyOptions:
        """The options themselves: nothing depends on the operands."""
        return self
