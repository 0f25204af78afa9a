"""Batches under vmap: what a function sees of them, and how operations reach their rules."""

from __future__ import annotations

from . import calls
from .wrapper import (
    BatchedTensor,
    Batching,
    Layer,
    expand_over,
    gathered,
    innermost,
    layers_of,
    unwrapped,
    wrap,
)

__all__ = [
    "BatchedTensor",
    "Batching",
    "Layer",
    "gathered",
    "innermost",
    "layers_of",
    "expand_over",
    "unwrapped",
    "wrap",
]
_ = calls
