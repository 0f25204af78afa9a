"""Batches under vmap: what a function sees of them, and how operations reach their rules."""

from __future__ import annotations

from . import calls
from .wrapper import (
    BatchedTensor,
    Batching,
    Layer,
    expand_over,
    gather_layers,
    innermost,
    layers_of,
    unwrap,
    wrap,
)

__all__ = [
    "BatchedTensor",
    "Batching",
    "Layer",
    "gather_layers",
    "innermost",
    "layers_of",
    "expand_over",
    "unwrap",
    "wrap",
]
_ = calls
