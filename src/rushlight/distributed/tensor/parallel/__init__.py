"""Modules whose parameters are spread over ranks: by columns, by rows, by position."""

from __future__ import annotations

from .api import parallelize_module
from .style import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
)

__all__ = [
    "ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleOutput",
    "RowwiseParallel", "SequenceParallel", "parallelize_module",
]  # fmt: skip
