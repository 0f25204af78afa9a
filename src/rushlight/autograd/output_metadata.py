"""What a node tells of its outputs: `grad_fn._input_metadata`, and what roots are checked against.

A node with several outputs knows their shapes; one with a single output doesn't keep its shape,
which would cost every recorded operation. It is noted when somebody looks at the node through its
tensor (`grad_fn`, `get_gradient_edge`; `_core.node.note_output`).
"""

from __future__ import annotations

from typing import Any

from .._array import types as T
from .._core.node import OUTPUT
from .._core.node import Node as CoreNode
from .._core.node import Vertex
from .._core.storage import TensorBase
from ..device import CPU
from ..size import Size

class _InputMetadata:
    """Shape, type and device of the gradient that a node expects for one of its outputs."""

    __slots__ = ("device", "dtype", "is_cpp_nested_tensor", "is_nested_tensor", "shape")
    __module__ = "torch._C._autograd"  # what its repr says in PyTorch

    def __init__(self, shape: Any, raw_type: Any) -> None:
        self.shape = list(shape)
        self.dtype = T.from_raw(raw_type)
        self.device = CPU
        self.is_nested_tensor = False
        self.is_cpp_nested_tensor = False


def outputs_of(vertex: Vertex) -> tuple[Any, ...] | None:
    """(shape, NumPy type) of each output of a vertex; None where that isn't known."""
    if isinstance(vertex, TensorBase):
        return ((vertex._raw.shape, vertex._raw.dtype),)
    assert isinstance(vertex, CoreNode)
    if vertex.out_meta is not None:
        return vertex.out_meta
    if vertex.meta is not None and OUTPUT in vertex.meta:
        return (vertex.meta[OUTPUT],)
    for k, entry in enumerate(vertex.op.entries):
        if k >= vertex.op.n_args and type(vertex.saved[k]) is T.ndarray:
            return ((vertex.saved[k].shape, vertex.saved[k].dtype),)
    return None


def input_metadata(vertex: Vertex) -> tuple[_InputMetadata, ...]:
    """The metadata of all outputs of a vertex; empty where it isn't known."""
    return tuple(_InputMetadata(shape, kind) for shape, kind in outputs_of(vertex) or ())


__all__ = ["input_metadata", "outputs_of"]
