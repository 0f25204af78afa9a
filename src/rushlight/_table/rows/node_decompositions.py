"""Nodes that stand for several of PyTorch's, and how they come apart when somebody looks.

Note [Taken apart when looked at]
A linear layer, a product of stacks of matrices and a cross-entropy are recorded as one node each:
a training step would be slower by a node or two for each. PyTorch records several (a linear layer
is an `AddmmBackward0` over the input, the bias and the `TBackward0` of the weight). So when
somebody asks such a node for its neighbours, its saved values, or to run a hook, it is replaced by
what PyTorch would have recorded: the operations are done once more, one by one, on the inputs that
the node has saved (in place of an input that it hasn't, on zeros), and the node takes over the last
of the nodes that this makes. It stays the same object. Sequence numbers go up in steps (see
`sequence`), so that the others find room below it.

A node stays whole during a backward, and where the shapes of its inputs aren't known any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import dtypes as D
from ..._core.interposers import NOT_HANDLED, Interposer, interpose
from ..._core.mode import CURRENT, READY, Mode
from ..._core.node import Node, Vertex
from ..._core.op import ARG, FREED, Op
from ..._core.run import RUNNING
from ..._core.saved import free, unpack
from ..._core.slots import slots
from ..._core.storage import TensorBase, new_tensor
from .row import Row, when_settled

if TYPE_CHECKING:
    from ..._array.annotations import Array
    from ..._base.annotations import AnyCallable, Arguments

# An op that is recorded as one node: what does the same step by step, and the shapes that stand-ins
# for its tensors get (None where they aren't known) from those of the tensors that are there.
PARTS: Final[dict[Op, tuple[Callable[..., Any], Callable[..., Any]]]] = {}


def comes_apart(row: Row, parts: AnyCallable, shapes: AnyCallable) -> None:
    """Has the nodes of a row replaced by those of `parts(*arguments)` when somebody looks.

    `shapes(known)` gives a shape for each tensor argument by name from those known, or None.
    """
    when_settled(row, lambda settled: _have_parts(settled.op, parts, shapes))


def _have_parts(op: Op, parts: AnyCallable, shapes: AnyCallable) -> None:
    PARTS[op] = (parts, shapes)
    node_class = op.node_class
    for name in list(vars(node_class)):
        if name.startswith(("_saved_", "_raw_saved_")):
            delattr(node_class, name)
    node_class.__getattr__ = _attribute
    node_class.__dir__ = _names
    node_class.next_functions = property(_next_functions)
    for name in ("register_hook", "register_prehook", "__call__"):
        setattr(node_class, name, _method(name))


def _attribute(node: object, name: str) -> Any:
    if name.startswith(("_saved_", "_raw_saved_")) and take_apart(node):
        return getattr(node, name)
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


def _names(node: object) -> list[str]:
    take_apart(node)
    return list(object.__dir__(node))


def _next_functions(node: object) -> Any:
    take_apart(node)
    return Node.next_functions.fget(node)  # type: ignore[attr-defined]


def _method(name: str) -> AnyCallable:
    def method(node: object, *args: object) -> Any:
        take_apart(node)
        return getattr(Node, name)(node, *args)

    method.__name__ = name
    return method


def take_apart(node: Any) -> bool:
    """Replaces a node by those of its parts; False where it is none of these, or has to stay whole.

    See Note [Taken apart when looked at].
    """
    op = node.op
    if op not in PARTS or RUNNING.get() is not None or slots.locked():
        return False
    parts, shapes = PARTS[op]
    found = _arguments(node, shapes)
    if found is None:
        return False
    args, freed = found
    before = CURRENT.get()
    try:
        CURRENT.set(READY)
        whole = parts(*args)
        made = None if whole is None else whole._node
    except RuntimeError:  # an input's data has another form now
        return False
    finally:
        CURRENT.set(before)
    if made is None or type(made).__name__ != type(node).__name__:
        return False
    _place(node, made, freed)
    return True


def _arguments(node: Any, shapes: AnyCallable) -> tuple[list[Any], bool] | None:
    """The arguments of the operation once more, and whether the node has been freed."""
    op = node.op
    params = op.row.schema.params
    args: list[Any] = [p.default for p in params]
    known: dict[str, Any] = {}
    freed = False
    for k, (kind, pos, _) in enumerate(op.entries):
        value = node.saved[k]
        if kind != ARG or value is None:
            continue
        if value is FREED:
            freed = True
        elif isinstance(value, TensorBase):
            try:
                args[pos] = unpack(node, k, True)
            except RuntimeError:  # written since: nothing can be done once more
                return None
            known[params[pos].name] = value._raw.shape
        else:
            args[pos] = value
    edges: dict[int, tuple[Vertex, int]] = {}
    for i, pos in enumerate(op.tensors):
        child = node.next[i]
        if child is None:
            continue
        edges[pos] = (child, 0 if node.nrs is None else node.nrs[i])
        if isinstance(child, TensorBase):
            if not child._requires_grad:
                return None
            args[pos] = child
            known[params[pos].name] = child._raw.shape
    dtype = next((t._raw.dtype for t in args if isinstance(t, TensorBase)
                  and not T.is_discrete(t._raw.dtype)), T.FLOAT32)  # fmt: skip
    wanted = shapes(known, freed)
    if wanted is None:
        return None
    for pos, p in enumerate(params):
        if p.name in wanted and not isinstance(args[pos], TensorBase):
            stand_in = new_tensor(_zeros(wanted[p.name], p.name == "target", dtype))
            if pos in edges:
                stand_in._node, stand_in._nr = edges[pos]  # type: ignore[assignment]
                stand_in._requires_grad = True
            args[pos] = stand_in
    return args, freed


def _zeros(shape: tuple[int, ...], integer: bool, raw_type: object) -> Array:
    return T.zeros_like(T.empty(shape, T.to_raw(D.int64) if integer else raw_type))


def _place(node: Any, made: Any, freed: bool) -> None:
    """Puts a new node in the place of an old one, and those below it right below."""
    below: list[Node] = []
    stack = [made]
    seen = {made}
    while stack:
        for child in stack.pop().next:
            if isinstance(child, Node) and child.seq > node.seq and child not in seen:
                seen.add(child)
                stack.append(child)
                below.append(child)
    below.sort(key=lambda n: n.seq, reverse=True)
    for k, n in enumerate(below):
        n.seq = node.seq - 1 - k
        if freed:
            free(n)
    node.__class__ = type(made)
    node.op, node.next, node.nrs, node.saved = made.op, made.next, made.nrs, made.saved
    node.versions, node.special, node.fix = made.versions, made.special, made.fix
    node.out_cells, node.conj = made.out_cells, made.conj
    if made.meta:
        node.meta = {**made.meta, **(node.meta or {})}
    if freed:
        free(node)


class _Parts(Interposer):
    """Records operations by their parts where programs watch what is saved."""

    def call(self, op: Op, args: Arguments, mode: Mode, layered: bool) -> Any:
        """The result of an operation by its parts."""
        found = PARTS.get(op) if mode.saved_hooks else None
        made = None if found is None else found[0](*args)
        return NOT_HANDLED if made is None else made


interpose("parts", _Parts())
