"""Saved values: reading them back, with version checks, and pack/unpack hooks.

Note [Unpacking]
A saved input is the tensor itself, a saved output its raw array (see Note [Versions are shared by
views]); either may have been replaced by a `Packed` where hooks took it away. Values that aren't
tensors (numbers, shapes) are returned as they are. All are read in the order in which they were
saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .._array import types as T
from .._array.types import ndarray as _ndarray
from .._base import errors
from .mode import CURRENT, current, derive
from .node import GENERAL, PACKED, Node, operation_name as operation_name
from .op import ARG, FREED, Op
from .storage import TensorBase, new_tensor, version_cell, version_of
from .views import current_node

if TYPE_CHECKING:
    from .._array.annotations import Array

ndarray: Final = _ndarray
TANGENTS: Final = "tangents"  # where a node's `meta` notes the tangents of its saved outputs


class Packed:
    """What a pack hook made of a saved tensor, with the hook that undoes it."""

    __slots__ = ("value", "unpack", "is_output", "leaf")

    value: Any
    unpack: Any
    is_output: int  # the output's number, or -1
    leaf: Any

    def __init__(self, value: Any, unpack: Any, is_output: int, leaf: Any) -> None:
        self.value = value
        self.unpack = unpack
        self.is_output = is_output
        self.leaf = leaf


def output_number(node: Node, k: int) -> int:
    """Which output entry `k` of `saved` is; -1 for an argument."""
    op = node.op
    return op.entries[k][1] if k >= op.n_args else -1


def unpack(node: Node, k: int, traced: bool) -> Any:
    """The value of saved entry `k`: an array, or a Tensor where `traced`.

    Raises:
        RuntimeError: where the engine has freed it, or where it has been written since.
    """
    value = node.saved[k]
    if isinstance(value, TensorBase):
        holder = value if value._view is None else value._view.base
        cell = holder._cell
        if cell is not None:
            if value._node is None and not value._requires_grad and had_history(node, k):
                raise RuntimeError(errors.DETACHED_SAVED)
            versions = node.versions
            expected = 0 if versions is None else versions[k]
            if cell.n != expected:
                raise RuntimeError(_explain_write(node, k, value._raw, value, cell.n, expected))
        return value if traced else value._raw
    if k >= node.op.n_args:
        return _unpack_output(node, k, value, traced)
    if value is FREED:
        raise RuntimeError(errors.BACKWARD_TWICE)
    if type(value) is Packed:
        return _unpack_packed(node, value, traced)
    if type(value) is tuple:
        return _unpack_list(node, k, value, traced)
    return value


def had_history(node: Node, k: int) -> bool:
    """Whether the tensor at entry `k` had a node when it was saved: its edge leads to one."""
    op = node.op
    place = op.entries[k][1]
    first = len(node.next) - len(op.tensors)  # a list's edges come first
    for i, pos in enumerate(op.tensors):
        if pos == place:
            return isinstance(node.next[first + i], Node)
    return False


def _unpack_output(node: Node, k: int, value: Any, traced: bool) -> Any:
    if value is FREED:
        raise RuntimeError(errors.BACKWARD_TWICE)
    if value is None:
        return None
    if type(value) is Packed:
        return _unpack_packed(node, value, traced)
    number = node.op.entries[k][1]
    cells = node.out_cells
    if cells is not None and number in cells:
        now: int = cells[number].n
        expected = 0 if node.versions is None else node.versions[k]
        if now != expected:
            raise RuntimeError(_explain_write(node, k, value, None, now, expected))
    if not traced:
        return value
    return output_tensor(node, number, value)


def output_tensor(node: Node, number: int, array: Array) -> TensorBase:
    """A Tensor over a saved output, tied to its node like the one the user has."""
    t = new_tensor(array)
    if type(array) is not ndarray:  # one without data
        t._plain = False
        t._layered = True
    if T.is_discrete(array.dtype):
        return t
    t._node = node
    t._nr = number + 1 if node.op.n_out != 1 else 0
    t._requires_grad = True
    if node.meta is not None and TANGENTS in node.meta:
        t._tangent = node.meta[TANGENTS].get(number)
        t._plain = t._tangent is None and not t._layered
    cells = node.out_cells
    if cells is None:
        version_cell(t)
    elif number in cells:
        t._cell = cells[number]
    else:
        version_cell(t)
    return t


def _unpack_list(node: Node, k: int, value: tuple[Any, ...], traced: bool) -> Any:
    result: list[Any] = []
    for item in value:
        if isinstance(item, TensorBase):
            result.append(item if traced else item._raw)
        elif type(item) is Packed:
            result.append(_unpack_packed(node, item, traced))
        elif item is FREED:
            raise RuntimeError(errors.BACKWARD_TWICE)
        else:
            result.append(item)
    return tuple(result)


def _unpack_packed(node: Node, packed: Packed, traced: bool) -> Any:
    result = packed.unpack(packed.value)
    if not isinstance(result, TensorBase):
        raise TypeError(errors.UNPACK_TYPE + errors.type_name(result))
    if not traced:
        return result._raw
    if packed.is_output >= 0:
        return output_tensor(node, packed.is_output, result._raw)
    if packed.leaf is not None:
        edge, nr = packed.leaf
        again = new_tensor(result._raw)
        if isinstance(edge, TensorBase):
            return _rejoin(edge, again)
        again._node = edge
        again._nr = nr
        again._requires_grad = True
        return again
    return result


def _rejoin(leaf: TensorBase, value: TensorBase) -> TensorBase:
    """A tensor with `value`'s elements whose gradient goes to `leaf`."""
    value._node = IDENTITY.make(leaf)
    value._requires_grad = True
    return value


class Identity:
    """Makes nodes that pass a gradient on unchanged; handed in by the table."""

    __slots__ = ("make",)

    make: Any

    def __init__(self) -> None:
        self.make = None


IDENTITY: Final = Identity()


def pack(node: Node, hooks: tuple[Any, ...]) -> None:
    """Gives every tensor argument that a new node saves to the pack hook, in order of names."""
    saved = list(node.saved)
    changed = False
    for k in order_of_names(node.op):
        if k >= node.op.n_args:
            continue
        value = saved[k]
        if isinstance(value, TensorBase):
            saved[k] = _pack(value, hooks, -1, value)
            changed = True
        elif type(value) is tuple and node.op.entries[k][0] == ARG:
            items = [_pack(x, hooks, -1, x) if isinstance(x, TensorBase) else x for x in value]
            saved[k] = tuple(items)
            changed = True
    if changed:
        node.saved = tuple(saved)
        node.special |= GENERAL | PACKED


def pack_outputs(node: Node, outs: list[TensorBase], hooks: tuple[Any, ...]) -> None:
    """Gives the outputs that a node saves to the pack hook: after its arguments, by name too."""
    saved = list(node.saved)
    for k in order_of_names(node.op):
        if k >= node.op.n_args and type(saved[k]) is ndarray:
            number = node.op.entries[k][1]
            saved[k] = _pack(outs[number], hooks, number, None)
            node.special |= GENERAL | PACKED
    node.saved = tuple(saved)


def order_of_names(op: Op) -> list[int]:
    """The entries of a node in the order in which PyTorch saves and unpacks them.

    That is: the arguments, then the outputs, each by name.
    """
    return sorted(range(len(op.entries)), key=lambda k: (k >= op.n_args, op.entries[k][2]))


def unpack_all(node: Node, traced: bool) -> list[Any]:
    """All saved values of a node that hooks have packed: each is unpacked once for a run."""
    values: list[Any] = list(node.saved)
    for k in order_of_names(node.op):
        values[k] = unpack(node, k, traced)
    return values


def pack_entry(node: Node, k: int, item: int, hooks: tuple[Any, ...]) -> None:
    """Gives one saved tensor to a pair of hooks (`_raw_saved_x.register_hooks`).

    `item` is its place in a saved list, or -1.
    """
    value = node.saved[k]
    saved = list(node.saved)
    if type(value) is tuple:
        items = list(value)
        items[item] = _pack(items[item], hooks, -1, items[item])
        saved[k] = tuple(items)
    elif isinstance(value, TensorBase):
        saved[k] = _pack(value, hooks, -1, value)
    elif k >= node.op.n_args:
        number = node.op.entries[k][1]
        saved[k] = _pack(output_tensor(node, number, value), hooks, number, None)
    else:
        saved[k] = _pack(new_tensor(T.number_array(value)), hooks, -1, None)
    node.saved = tuple(saved)
    node.special |= GENERAL | PACKED


def _pack(value: TensorBase, hooks: tuple[Any, ...], is_output: int, source: Any) -> Packed:
    before = version_of(value)
    former_mode = CURRENT.get()
    try:
        CURRENT.set(derive(current(), grad=False, saved_hooks=(), saved_hooks_off=""))
        result = hooks[0](value)
    finally:
        CURRENT.set(former_mode)
    if version_of(value) != before:
        raise RuntimeError(errors.PACK_HOOK_INPLACE)
    leaf: Any = None
    if source is not None and source._requires_grad:
        leaf = (source if source._node is None else source._node, source._nr)
    return Packed(result, hooks[1], is_output, leaf)


def free(node: Node) -> None:
    """Lets go of what a node saved: its formulas have run."""
    op = node.op
    if op.simple:
        node.saved = op.freed
        return
    if op.kind == "custom":
        node.release()
        return
    if not op.entries:
        return
    saved = list(node.saved)
    for k, value in enumerate(saved):
        if isinstance(value, TensorBase) or type(value) is Packed or type(value) is ndarray:
            saved[k] = FREED
        elif type(value) is tuple and op.entries[k][0] == 0 and _holds_tensors(value):
            saved[k] = tuple([FREED if isinstance(x, (TensorBase, Packed)) else x for x in value])
    node.saved = tuple(saved)


def _holds_tensors(items: tuple[Any, ...]) -> bool:
    for item in items:
        if isinstance(item, (TensorBase, Packed)):
            return True
    return False


def _explain_write(
    node: Node, k: int, array: Array, t: TensorBase | None, now: int, expected: int
) -> str:
    producer = ""
    if t is None:
        number = node.op.entries[k][1]
        # Where a view was written, PyTorch names its own node, as long as that is there.
        operation = operation_name(node)
        if node.meta is not None and "view" in node.meta:
            name, alive = node.meta["view"]
            if alive() is not None:
                operation = name
        if not T.is_discrete(array.dtype):
            producer = f"{number} of {operation}"
    else:
        own = current_node(t)  # may refuse: a view that can't follow what was done to its base
        if own is not None:
            producer = f"{t._nr - 1 if t._nr else 0} of {operation_name(own)}"
    name = T.internal_type_name(array.dtype)
    return errors.describe_modified(name, array.shape, producer, now, expected, current().anomaly)
