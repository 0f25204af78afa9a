"""The types of what a backward pass starts and ends at: for annotations only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .._core.storage import TensorBase
from .edges import GradientEdge

__all__ = ["Gradients", "TensorsOrEdges"]

#: Tensors, or the places of their gradients in the graph: one or several.
TensorsOrEdges: TypeAlias = TensorBase | GradientEdge | Sequence[TensorBase | GradientEdge]
#: The gradients that a backward pass starts with; None for those of single numbers.
Gradients: TypeAlias = TensorBase | Sequence[TensorBase | None] | None
