"""What a node tells of its outputs: `grad_fn._input_metadata`, and what roots are checked against.

A node with several outputs knows their shapes; one with a single output doesn't keep its shape,
which would cost every recorded operation. It is noted when somebody looks at the node through its
tensor (`grad_fn`, `get_gradient_edge`; `_core.node.note_output`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._base.device import CPU
from .._core.node import OUTPUT, Node as CoreNode, Vertex
from .._core.op import ARG, SHAPE
from .._core.storage import TensorBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._array.annotations import RawType
    from .._base.annotations import Shape


#: Under which a node notes the size (None where it has none) and type of a nested output.
NESTED: Final = object()


class _InputMetadata:
    """Shape, type and device of the gradient that a node expects for one of its outputs."""

    __slots__ = ("device", "dtype", "is_cpp_nested_tensor", "is_nested_tensor", "shape")
    __module__ = "torch._C._autograd"  # what its repr says in PyTorch

    def __init__(self, shape: Shape, raw_type: RawType) -> None:
        self.shape = list(shape)
        self.dtype = T.from_raw(raw_type)
        self.device = CPU
        self.is_nested_tensor = False
        self.is_cpp_nested_tensor = False


def _of_nested(shape: Shape | None, raw_type: RawType) -> _InputMetadata:
    found = _InputMetadata(() if shape is None else shape, raw_type)
    found.is_nested_tensor, found.is_cpp_nested_tensor = True, shape is None
    return found


def outputs_of(vertex: Vertex) -> tuple[Any, ...] | None:
    """(shape, NumPy type) of each output of a vertex; None where that isn't known."""
    if isinstance(vertex, TensorBase):
        return ((vertex._raw.shape, vertex._raw.dtype),)
    assert isinstance(vertex, CoreNode)
    if vertex.out_meta is not None:
        return vertex.out_meta
    if vertex.meta is not None and OUTPUT in vertex.meta:
        return (vertex.meta[OUTPUT],)
    for k in range(len(vertex.op.entries)):
        if k >= vertex.op.n_args and type(vertex.saved[k]) is T.ndarray:
            return ((vertex.saved[k].shape, vertex.saved[k].dtype),)
    return None


def note_inputs(node: CoreNode) -> None:
    """Notes the shapes of the outputs that a node reads, as far as it knows them.

    From what it has saved of them, from the sizes that their gradients are brought to, or, where
    it works element by element, from its own output.
    """
    own = outputs_of(node)
    if own is None or len(own) != 1:
        return
    shape, kind = own[0]
    op = node.op
    for i, child in enumerate(node.next):
        if not isinstance(child, CoreNode) or child.out_meta is not None:
            continue
        found = None
        if op.lists < 0 and i < len(op.tensors):
            found = _saved_shape(node, op.tensors[i])
        fix = None if node.fix is None else node.fix[i]
        if fix is not None and fix[0] is not None:
            found = fix[0]
        elif found is None and op.broadcasts:
            found = shape
        if found is not None:
            if child.meta is None:
                child.meta = {}
            raw_type = kind if fix is None or fix[1] is None else fix[1]
            child.meta.setdefault(OUTPUT, (tuple(found), raw_type))


def _saved_shape(node: CoreNode, pos: int) -> Shape | None:
    for k, (kind, where, _) in enumerate(node.op.entries):
        value = node.saved[k]
        if where == pos and kind == SHAPE:
            return value
        if where == pos and kind == ARG and isinstance(value, TensorBase):
            return value._raw.shape
    return None


def input_metadata(vertex: Vertex) -> tuple[_InputMetadata, ...]:
    """The metadata of all outputs of a vertex; empty where it isn't known."""
    known = outputs_of(vertex) or ()
    flags = takes_gradients(vertex)
    if isinstance(vertex, CoreNode) and vertex.meta is not None and NESTED in vertex.meta:
        return (_of_nested(*vertex.meta[NESTED]),)
    return tuple(_InputMetadata(*found) for found, flag in zip(known, flags) if flag)


def takes_gradients(vertex: Vertex) -> Sequence[bool]:
    """Whether each output of a vertex takes a gradient; PyTorch's nodes know of no others."""
    if not isinstance(vertex, CoreNode) or vertex.out_meta is None:
        return (True,)
    if vertex.op.kind == "custom":
        return (True,) * len(vertex.out_meta)
    if vertex.op.differentiable_out:
        return vertex.op.differentiable_out
    return [not T.is_discrete(raw_type) for _, raw_type in vertex.out_meta]


__all__ = ["NESTED", "input_metadata", "note_inputs", "outputs_of", "takes_gradients"]
