"""The graph: vertices that gradients flow into, and nodes that compute them.

A `Vertex` is anything a gradient can be sent to: a `Node` (an operation that was recorded) or a
leaf tensor, which accumulates it. There is no separate object per leaf: PyTorch's `AccumulateGrad`
is made only when someone looks at it.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Final

from .._base.mypyc_words import mypyc_attr

if TYPE_CHECKING:
    from .._array.annotations import Array
    from .op import Op

# Bits of `Node.special`: what the engine's fast loop must take care of. Above FIX: the general way.
FIX: Final = 1  # a gradient's shape or dtype differs from its input's: see `Node.fix`
GENERAL: Final = 2  # several outputs, a joint formula, packed values, complex numbers, custom
PACKED: Final = 4  # hooks have packed some of what it saved (GENERAL too)
CHECKED: Final = 8  # an input was given other data since: gradients may not fit (GENERAL too)

# Numbers go up in steps: a node that is taken apart into several makes room for them below itself.
STEP: Final = 16
sequence: Final = count(0, 16)


@mypyc_attr(allow_interpreted_subclasses=True)
class Vertex:
    """Where a gradient can go, with the engine's scratch for one run over the graph.

    Note [Scratch in the vertices]
    A run of the engine keeps its notes in slots of the vertices:
    - `acc`, the gradient summed so far; a list of them where a node has several outputs;
    - `owned`, whether `acc` is an array that nobody else can see;
    - `run`, the number of the run that has marked this vertex;
    - `pending`, how many contributions a leaf still waits for.

    One run at a time may use them. A run that starts while another is active (in another thread, or
    by a hook that calls backward) keeps `Vertex` objects of its own in a dictionary instead.
    """

    __slots__ = ("acc", "owned", "run", "pending", "hooks")

    acc: Any
    owned: bool
    run: int
    pending: int
    hooks: Any


@mypyc_attr(allow_interpreted_subclasses=True)
class Node(Vertex):
    """A recorded operation: what it saved, and where its gradients go.

    `next[i]` is the vertex that the gradient of the i-th input goes to (None: nowhere); `nrs[i]` is
    0, or one plus the number of that vertex's output where it has several (`nrs` is None: all 0).
    `saved` are the values that formulas read, laid out as `op.entries` says; `versions` the version
    of each when it was saved (None: all 0).
    """

    __slots__ = ("op", "next", "nrs", "saved", "versions", "special", "fix", "seq", "out_cells",
                 "out_meta", "meta", "conj")  # fmt: skip

    op: Op
    next: tuple[Vertex | None, ...]
    nrs: tuple[int, ...] | None
    saved: tuple[Any, ...]
    versions: tuple[int, ...] | None
    special: int
    fix: tuple[Any, ...] | None
    seq: int
    out_cells: dict[int, Any] | None
    out_meta: tuple[Any, ...] | None
    meta: dict[Any, Any] | None
    conj: bool

    #: "torch::autograd::" for the classes that PyTorch has written by hand, whose names show it.
    _namespace: ClassVar[str] = ""
    #: How many of its inputs users see, in edges and hooks (None: all).
    _inputs_shown: ClassVar[int | None] = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"

    def shown(self) -> Any:
        """What `grad_fn` gives: this node, or the context object of a custom function."""
        return self

    def call(self, grads: list[Any], need: list[bool], traced: bool) -> Any:
        """The gradients of the inputs, for nodes that bring code of their own (kind "custom")."""
        raise NotImplementedError(f"{type(self).__name__} has no code of its own")

    def release(self) -> None:
        """Lets go of what such a node saved."""


def new_node(op: Op, targets: tuple[Vertex | None, ...], saved: tuple[Any, ...]) -> Node:
    """A node for `op` with nothing special about it."""
    node: Node = Node.__new__(op.node_class)
    fill_node(node, op, targets, saved)
    return node


def fill_node(
    node: Node, op: Op, targets: tuple[Vertex | None, ...], saved: tuple[Any, ...]
) -> None:
    """Initialises a bare node; compiled subclasses must be made by their own `__new__`."""
    node.acc = None
    node.owned = False
    node.run = 0
    node.pending = 0
    node.hooks = None
    node.op = op
    node.next = targets
    node.nrs = None
    node.saved = saved
    node.versions = None
    node.special = op.special
    node.fix = None
    node.seq = next(sequence)
    node.out_cells = None
    node.out_meta = None
    node.meta = None
    node.conj = False


def operation_name(node: Node) -> str:
    """The operation of a node as messages call it: `Add` for an AddBackward0, `Max1` for a
    MaxBackward1.
    """
    name = type(node).__name__
    cls: Any = type(node)
    if cls._namespace:
        return str(cls._namespace) + name
    stem, _, number = name.rpartition("Backward")
    if not stem or (number and not number.isdigit()):
        return name
    return stem if number == "0" else stem + number


# The key in a node's `meta` for the shape and NumPy type of its only output.
OUTPUT: Final = "output"
# The key for the tensors, by name, of which the node has saved the values only.
OPERANDS: Final = "operands"


def note_output(node: Node, array: Array) -> None:
    """Notes the shape of a node's only output, for those who look at the node later.

    Nodes don't keep it: that would cost every recorded operation.
    """
    if node.out_meta is None:
        if node.meta is None:
            node.meta = {}
        if OUTPUT not in node.meta:
            node.meta[OUTPUT] = (array.shape, array.dtype)
