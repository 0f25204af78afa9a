"""`TensorBase`: an array with its place in the graph, its version and its view metadata.

Note [Versions are shared by views]
A write to a tensor is seen through every view of it, so they share one `Version` cell: a view looks
up its base's. Cells are made at the first write (or detach): a tensor without one has version 0. A
node that saved an output keeps the raw array, not the tensor (that would be a reference cycle); so
when a cell is made for the output of such a node it is also given to the node (`Node.out_cells`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array.types import ndarray as _ndarray
from .._base.mypyc_words import mypyc_attr
from .node import Node, Vertex

if TYPE_CHECKING:
    from .._array.annotations import Array

ndarray: Final = _ndarray


class Version:
    """How many times some memory has been written."""

    __slots__ = ("n",)

    n: int

    def __init__(self) -> None:
        self.n = 0


# Why a view may not be written in place while gradients are recorded: `View.creation`.
DEFAULT: Final = 0
IN_NO_GRAD: Final = 1
MULTI_OUTPUT: Final = 2
IN_CUSTOM_FUNCTION: Final = 3
IN_INFERENCE: Final = 4


class View:
    """What a view knows: its base, how to take the same view of another array, and its node's age.

    `replay` maps an array (or Tensor) shaped like the base to the view's part of it; `exact` says
    that nothing else does: the strides in memory don't, where the element type changed on the way.
    `stamp` is the version of the base at which the view's own node was made: after a later write
    through some other view, the node is made anew when asked for.
    """

    __slots__ = ("base", "replay", "creation", "stamp", "tracked", "exact", "forward")

    base: TensorBase
    replay: Any
    creation: int
    stamp: int
    tracked: bool  # False: the view isn't differentiable (made by detach); it only shares memory
    exact: bool
    forward: Any  # inside forward mode: which tensor's tangent it is a view of (see `duals.py`)

    def __init__(self, base: TensorBase, replay: Any, creation: int, stamp: int) -> None:
        self.base = base
        self.replay = replay
        self.creation = creation
        self.stamp = stamp
        self.tracked = True
        self.forward = None
        self.exact = False


@mypyc_attr(allow_interpreted_subclasses=True)
class TensorBase(Vertex):
    """A tensor: an array, and what autograd knows of it. A leaf's gradient goes to itself."""

    __slots__ = ("_raw", "_node", "_nr", "_requires_grad", "_grad", "_cell", "_view", "_plain",
                 "_inference", "_tangent", "_layered")  # fmt: skip

    _raw: Any
    _node: Node | None
    _nr: int  # 0, or one plus the output's number where the node has several
    _requires_grad: bool
    _grad: Any
    _cell: Version | None
    _view: View | None
    _plain: (
        bool  # the fast path may take it: no subclass with rules of its own, no layer, no tangent
    )
    _inference: bool
    _tangent: Any
    _layered: bool  # a subclass with rules of its own, or a transform's wrapper

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            "Cannot directly construct TensorBase; subclass it and then construct that"
        )

    def __init_subclass__(cls, **kwargs: object) -> None:
        if TensorBase in cls.__bases__ and CLASSES.tensor is not TensorBase:
            raise RuntimeError("Cannot subclass _TensorBase directly")
        super().__init_subclass__(**kwargs)


class Classes:
    """The Python classes that the core instantiates, handed in by the layers above."""

    __slots__ = ("tensor",)

    tensor: Any

    def __init__(self) -> None:
        self.tensor = TensorBase


CLASSES: Final = Classes()


def init_tensor(t: TensorBase, array: Array) -> None:
    """Makes `t` a fresh leaf over `array`."""
    t.acc = None
    t.owned = False
    t.run = 0
    t.pending = 0
    t.hooks = None
    t._raw = array
    t._node = None
    t._nr = 0
    t._requires_grad = False
    t._grad = None
    t._cell = None
    t._view = None
    t._plain = True
    t._inference = False
    t._tangent = None
    t._layered = False


def new_tensor(array: Array) -> TensorBase:
    """A fresh leaf tensor over `array`, which must be an ndarray."""
    t: TensorBase = TensorBase.__new__(CLASSES.tensor)
    # `init_tensor` written out: this runs for every result, and a call costs a tenth of it.
    t.acc = None
    t.owned = False
    t.run = 0
    t.pending = 0
    t.hooks = None
    t._raw = array
    t._node = None
    t._nr = 0
    t._requires_grad = False
    t._grad = None
    t._cell = None
    t._view = None
    t._plain = True
    t._inference = False
    t._tangent = None
    t._layered = False
    return t


def version_cell(t: TensorBase) -> Version:
    """The version cell of `t`'s memory, made now if there is none yet."""
    if t._view is not None:
        t = t._view.base
    cell = t._cell
    if cell is None:
        node = t._node
        if node is None or not node.op.saves_out:
            cell = Version()
        else:
            if node.out_cells is None:
                node.out_cells = {}
            number = t._nr - 1 if t._nr else 0
            cell = node.out_cells.get(number)
            if cell is None:  # the node has given nobody the output that it saved
                cell = Version()
                node.out_cells[number] = cell
        t._cell = cell
    return cell


def version_of(t: TensorBase) -> int:
    """How many times `t`'s memory has been written."""
    if t._view is not None:
        t = t._view.base
    cell = t._cell
    return 0 if cell is None else cell.n


def bump(t: TensorBase) -> None:
    """Notes that `t`'s memory has been written."""
    version_cell(t).n += 1


def count_writes(t: Any, writes: int) -> Any:
    """Gives a new result the version that it has in PyTorch, where it is made by writes in place.

    What it was cut from is known to nobody else: it is no view of that.
    """
    if t._node is None:
        t._view = None
    if not t._inference:
        version_cell(t).n += writes
    return t


def target(t: TensorBase) -> Vertex | None:
    """Where a gradient of `t` goes: its node, itself if it is a leaf, or nowhere."""
    if not t._requires_grad:
        return None
    node = t._node
    return t if node is None else node
