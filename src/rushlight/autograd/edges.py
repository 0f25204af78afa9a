"""Nodes and edges of the graph as users see them.

Note [What users see of a vertex]
A recorded operation is shown as itself. A leaf has no node of its own in the core; whoever looks at
an edge to it gets an `AccumulateGrad` made on the spot, the same object as long as somebody holds
it. A custom function's node is shown as the context object of that call (see Note [The context] in
`function.py`). `vertex_of` goes the other way.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base import errors
from .._base.handles import RemovableHandle, register
from .._core.arrivals import RENUMBERED
from .._core.copyslices import custom_op
from .._core.formulas import input_gradients
from .._core.hooks import hooks_of, show_to_collector, wrap_gradient
from .._core.leaf import receive
from .._core.mode import current, ready
from .._core.node import STEP, Node as CoreNode, Vertex, new_node, note_output
from .._core.saved import IDENTITY
from .._core.storage import TensorBase
from .hooks import vertex_of_tensor
from .output_metadata import input_metadata, note_inputs, takes_gradients

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .._base.annotations import AnyCallable
    from .._tensor.tensor import Tensor


# Keys in a leaf's `Hooks.extra` beside `GRAD_DTYPE`: its AccumulateGrad, and notes about that.
_ACCUMULATE = 0
_METADATA = 2


def core_of(seen: Any) -> Vertex:
    """The vertex behind what users see: a node, an `AccumulateGrad`, a function's context."""
    if isinstance(seen, CoreNode):
        return seen
    return seen._vertex()


def public_form(vertex: Vertex) -> object:
    """What users see of a vertex. See Note [What users see of a vertex]."""
    if isinstance(vertex, CoreNode):
        shown = vertex.shown()
        if shown is not None:
            return shown
        leaf = vertex.next[0]
        assert leaf is not None
        vertex = leaf
    hooks = hooks_of(vertex)
    reference = hooks.extra.get(_ACCUMULATE)
    found = None if reference is None else reference()
    if found is None:
        found = AccumulateGrad(vertex)
        hooks.extra[_ACCUMULATE] = weakref.ref(found)
    return found


# ---- what every node can do: functions of what users see -----------------------------------------


def _name(self: Any) -> str:
    """The name of the operation: `MulBackward0`."""
    return f"{type(self)._namespace}{type(self).__name__}"


def _next_functions(self: Any) -> tuple[tuple[object, int], ...]:
    """Where the gradients of the inputs go: (node or None, number of its output)."""
    node = core_of(self)
    assert isinstance(node, CoreNode)
    note_inputs(node)
    nrs = node.nrs or (0,) * len(node.next)
    return tuple(
        (None, 0) if child is None else (public_form(child), nr - 1 if nr else 0)
        for child, nr in zip(node.next[: type(node)._inputs_shown], nrs)
    )


def _metadata(self: Any) -> dict[object, object]:
    """A dictionary for whatever one wants to note about this node."""
    node = core_of(self)
    assert isinstance(node, CoreNode)
    show_to_collector(node)
    if node.meta is None:
        node.meta = {}
    meta: dict[Any, Any] = node.meta
    found: dict[Any, Any] = meta.setdefault("metadata", {})
    place = meta.pop("place", None)  # noted by anomaly mode, made into text only here
    if place is not None:
        found["traceback_"] = place.lines()
    return found


def _register_hook(self: Any, fn: Callable[..., object]) -> RemovableHandle:
    """Has `fn(grad_inputs, grad_outputs)` called after the node; a tuple replaces the former."""
    return register(hooks_of(core_of(self)).post, fn)


def _register_prehook(self: Any, fn: Callable[..., object]) -> RemovableHandle:
    """Has `fn(grad_outputs)` called before the node runs; a tuple that it returns replaces them."""
    return register(hooks_of(core_of(self)).pre, fn)


def _sequence_nr(self: Any) -> int:
    """The node's age: nodes made later have greater numbers."""
    node = core_of(self)
    assert isinstance(node, CoreNode)
    return node.seq // STEP


def _set_sequence_nr(self: Any, sequence_nr: int) -> None:
    """Gives the node another age: of those that are ready, the one with the greatest runs first.

    Raises:
        TypeError: where it isn't an int.
        OverflowError: for one below zero, or of more than 64 bits.
    """
    if type(sequence_nr) is not int:
        raise TypeError("an integer is required")
    if sequence_nr < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if sequence_nr >= 2**64:
        raise OverflowError("int too big to convert")
    node = core_of(self)
    assert isinstance(node, CoreNode)
    node.seq = sequence_nr * STEP
    RENUMBERED.any = True


def _call(self: Any, *grads: Any) -> Any:
    """The gradients of the inputs for gradients of the outputs, without running the rest of the
    graph; a tensor where there is one input.

    Raises:
        TypeError: for another number of gradients than the node has outputs.
    """
    node = core_of(self)
    assert isinstance(node, CoreNode)
    flags = takes_gradients(node)
    wanted = sum(flags)
    if len(grads) != wanted:
        raise TypeError(f"expected {wanted} arguments, got {len(grads)} instead")
    for i, g in enumerate(grads):
        if g is not None and not isinstance(g, TensorBase):
            raise TypeError(f"argument {i} is not a Variable")
    traced = ready().grad
    given = iter(g if traced or g is None else g._raw for g in grads)
    values = [next(given) if flag else None for flag in flags]
    need = [child is not None for child in node.next]
    if node.op.lists >= 0 and node.op.joint is not None:
        for i in range(len(need) - len(node.op.tensors)):
            need[i] = True  # PyTorch's formulas of lists give all or nothing
    found = input_gradients(
        node, values[0] if node.out_meta is None else values, need, traced, False
    )
    shown = tuple(wrap_gradient(g, traced) for g in found)
    return shown[0] if len(shown) == 1 else shown


def _requires_grad(self: object) -> bool:
    """True: what requires no gradient has no node."""
    return True


def _register_hook_dict(self: Any, tensor: Tensor) -> None:
    """Lets the hooks of a tensor run before the node, which they do anyway.

    Raises:
        TypeError: where it isn't a tensor.
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError("_register_hook_dict expected a variable")


def _input_metadata(self: Any) -> tuple[object, ...]:
    """Shape, type and device of each output; empty where the node doesn't know them."""
    return input_metadata(core_of(self))


class _NodeFace:
    """What contexts and `AccumulateGrad` share with recorded nodes."""

    __slots__ = ()
    _namespace = CoreNode._namespace

    def _vertex(self) -> Vertex:
        raise NotImplementedError

    name = _name
    next_functions = property(_next_functions)
    metadata = property(_metadata)
    register_hook = _register_hook
    register_prehook = _register_prehook
    _sequence_nr = _sequence_nr
    _set_sequence_nr = _set_sequence_nr
    _register_hook_dict = _register_hook_dict
    _input_metadata = property(_input_metadata)
    requires_grad = property(_requires_grad)
    __call__ = _call


for _attribute in ("name", "next_functions", "metadata", "register_hook", "register_prehook",
                   "_sequence_nr", "_set_sequence_nr", "_register_hook_dict", "_input_metadata",
                   "requires_grad", "__call__"):  # fmt: skip
    setattr(CoreNode, _attribute, _NodeFace.__dict__[_attribute])


class AccumulateGrad(_NodeFace):
    """The end of an edge to a leaf: what arrives is added to `variable.grad`."""

    __slots__ = ("__weakref__", "variable")
    _namespace = "torch::autograd::"

    variable: Any

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def _vertex(self) -> Vertex:
        return self.variable

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Nothing follows a leaf."""
        return ()

    @property
    def metadata(self) -> dict[object, object]:
        """A dictionary for whatever one wants to note about this leaf's end of the graph."""
        return hooks_of(self.variable).extra.setdefault(_METADATA, {})

    def _sequence_nr(self) -> int:
        """A leaf accumulates before anything else that is ready runs: no node is younger."""
        return 2**64 - 1

    def __call__(self, grad: Any) -> tuple[object, ...]:
        """Accumulates `grad`."""
        traced = ready().grad
        receive(self.variable, grad if traced else grad._raw, False, traced)
        return ()

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {hex(id(self))}>"


class MakesNodes:
    """A base of classes that stand for the nodes they make, which `Node` takes for its own."""

    __slots__ = ()


class Node(ABC):
    """The class of all nodes of the graph, for `isinstance`: it has no instances of its own.

    Example:
        >>> y = torch.ones(1, requires_grad=True).exp()
        >>> isinstance(y.grad_fn, torch.autograd.graph.Node), y.grad_fn.name()
        (True, 'ExpBackward0')
    """

    @abstractmethod
    def name(self) -> str:
        """The name of the operation."""

    @property
    @abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where the gradients of the inputs go."""

    @abstractmethod
    def metadata(self) -> dict[object, object]:
        """A dictionary for whatever one wants to note about the node."""

    @property
    @abstractmethod
    def _input_metadata(self) -> list[object]:
        """Shape, type and device of each output."""

    @abstractmethod
    def _register_hook_dict(self, tensor: Tensor) -> None:
        """Lets the hooks of a tensor run before the node."""

    @abstractmethod
    def register_hook(self, fn: AnyCallable) -> RemovableHandle:
        """Has `fn` called after the node."""

    @abstractmethod
    def register_prehook(self, fn: Callable[..., object]) -> RemovableHandle:
        """Has `fn` called before the node."""

    @abstractmethod
    def _sequence_nr(self) -> int:
        """The node's age."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        if cls is not Node:
            return False
        return other is Node or issubclass(other, (CoreNode, _NodeFace, MakesNodes))


class GradientEdge(NamedTuple):
    """A place in the graph that a gradient flows through: an output of a node.

    Parameters:
        node: the node.
        output_nr: which of its outputs, from 0.
        ownership_token: what keeps the node alive, where something has to.
    Raises: TypeError: where one of the first two is missing.
    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> y = x * 2
        >>> edge = torch.autograd.graph.GradientEdge(y.grad_fn, 0)
        >>> torch.autograd.grad(edge, x, torch.ones(1))
        (tensor([2.]),)
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


def refuse_leaf_in_inference() -> None:
    """Refuses to look for the vertex of a leaf in inference mode.

    Raises:
        AttributeError: as PyTorch, which takes a view and asks for its node.
    """
    if current().inference:
        raise AttributeError("'NoneType' object has no attribute 'next_functions'")


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The edge through which the gradient of `tensor` flows; it doesn't keep the tensor alive.

    Raises:
        RuntimeError: where the tensor doesn't require grad.

    Parameters:
        tensor: one that requires gradients, a leaf or not.
    Returns: GradientEdge.
    Example:
        >>> y = torch.ones(1, requires_grad=True).exp()
        >>> torch.autograd.graph.get_gradient_edge(y).output_nr
        0
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    vertex, nr = vertex_of_tensor(tensor)
    if isinstance(vertex, CoreNode):
        note_output(vertex, tensor._raw)
    else:
        refuse_leaf_in_inference()
    node: Any = public_form(vertex)
    return GradientEdge(node, nr)


def place_of(x: Tensor | GradientEdge) -> tuple[Vertex, int]:
    """The vertex and the output number of an input that a gradient is wanted for.

    Raises:
        RuntimeError: for a tensor that doesn't require grad.
    """
    if isinstance(x, GradientEdge):
        return core_of(x.node), x.output_nr
    if not isinstance(x, TensorBase):
        raise RuntimeError(
            f"all inputs have to be Tensors or GradientEdges, but got {errors.type_name(x)}"
        )
    if not x.requires_grad:
        raise RuntimeError(errors.INPUT_NO_GRAD)
    return vertex_of_tensor(x)


class AliasBackward0(CoreNode):
    """The node of an unpacked copy of a leaf: its gradient goes to the leaf.

    Users don't see it: such a copy looks like a leaf, and edges to it like edges to the leaf.
    """

    __slots__ = ()

    def shown(self) -> None:
        """Nothing."""
        return

    def call(self, grads: list[Array], need: list[bool], traced: bool) -> list[Array]:
        """The gradient as it is."""
        return [grads[0]]


_ALIAS = custom_op("alias", AliasBackward0)
IDENTITY.make = lambda leaf: new_node(_ALIAS, (leaf,), ())


__all__ = [
    "AccumulateGrad",
    "GradientEdge",
    "Node",
    "core_of",
    "get_gradient_edge",
    "place_of",
    "public_form",
]
