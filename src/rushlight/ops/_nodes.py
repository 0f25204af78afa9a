"""Node classes: `MulBackward0` and the like, with `_saved_*` and `_raw_saved_*`, from schemas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import errors
from .._array import types as T
from .._core.node import Node
from .._core.op import ARG, DTYPE, FREED, OUT, SHAPE, Op
from .._core.saved import Packed, output_number, pack_entry, unpack
from .._core.storage import TensorBase, new_tensor
from ..schema import REQUIRED, Schema

NODE_CLASSES: dict[str, Any] = {}


def node_class(name: str, op: Op, schema: Schema, saved_as: dict[str, str]) -> Any:
    """The class of an operation's nodes, called `name`."""
    body: dict[str, Any] = {"__slots__": (), "__module__": "builtins", "__new__": _refused}
    for k, entry in enumerate(op.entries):
        if not op.masks[k] or _hidden(entry, op):
            continue
        shown = _shown_name(entry, schema, saved_as)
        get = _getter(k)
        if entry[0] == ARG and schema.params[entry[1]].default not in (None, REQUIRED):
            get = _defaulted(get, op, schema.params[entry[1]].default)
        body[f"_saved_{shown}"] = property(get)
        if entry[0] == OUT or (entry[0] == ARG and schema.params[entry[1]].type == "Tensor"):
            body[f"_raw_saved_{shown}"] = property(_raw_getter(k))
    if name.startswith("MeanBackward"):
        body["_saved_self_sym_numel"] = property(_count)
    made = type(name, (Node,), body)
    NODE_CLASSES[name] = made
    return made


def _hidden(entry: tuple[int, int, str], op: Op) -> bool:
    """Dtypes and the shapes of lists aren't shown, as in PyTorch."""
    return entry[0] == DTYPE or (entry[0] == SHAPE and entry[1] == op.lists)


def _count(node: Any) -> int:
    """The number of elements of the shape that a node has saved."""
    return math.prod(node._saved_self_sym_sizes)


def _refused(cls: type, *args: Any, **kwargs: Any) -> Any:
    """Nodes are made by the core, which goes around this."""
    raise TypeError(f"cannot create '{cls.__name__}' instances")


def _shown_name(entry: tuple[int, int, str], schema: Schema, saved_as: dict[str, str]) -> str:
    kind, pos, name = entry
    if name in saved_as:
        return saved_as[name]
    if kind == SHAPE:
        return f"{schema.params[pos].name}_sym_sizes"
    if kind == DTYPE:
        return f"{schema.params[pos].name}_scalar_type"
    return name


def _getter(k: int) -> Callable[[Node], Any]:
    def get(node: Node) -> Any:
        value = node.saved[k]
        if value is FREED or type(value) is Packed or isinstance(value, TensorBase):
            return unpack(node, k, True)
        kind, pos, name = node.op.entries[k]
        if kind == ARG and (name.startswith("dim") or name == "index"):
            return _unsigned(value)
        if kind == OUT:
            return unpack(node, k, True)
        if kind == SHAPE:
            return tuple(value) if value is not None else None
        if kind == ARG and pos in node.op.tensors and isinstance(value, (int, float, complex)):
            return new_tensor(T.number_array(value))
        return unpack(node, k, True)

    return get


def _defaulted(get: Callable[[Node], Any], op: Op, default: Any) -> Callable[[Node], Any]:
    """What reads a saved number, which the short form of an operation doesn't have."""
    return lambda node: get(node) if node.op is op else default


def _unsigned(value: Any) -> Any:
    """Dimensions as PyTorch shows them: negative ones as unsigned 64-bit numbers."""
    if isinstance(value, (tuple, list)):
        return tuple(_unsigned(v) for v in value)
    return value + (1 << 64) if isinstance(value, int) and value < 0 else value


def _raw_getter(k: int) -> Callable[[Node], Any]:
    def get(node: Node) -> Any:
        value = node.saved[k]
        if type(value) is tuple:
            return tuple(SavedTensor(node, k, i) for i in range(len(value)))
        return SavedTensor(node, k, -1)

    return get


class SavedTensor:
    """A saved value of a node, as `grad_fn._raw_saved_<name>` shows it."""

    __slots__ = ("_node", "_entry", "_item")

    def __init__(self, *place: Any) -> None:
        if len(place) != 3:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._node, self._entry, self._item = place

    def _value(self) -> Any:
        value = self._node.saved[self._entry]
        return value[self._item] if self._item >= 0 and type(value) is tuple else value

    def register_hooks(self, *hooks: Callable[[Any], Any]) -> None:
        """Takes `(pack_hook, unpack_hook)`: packs the saved tensor now, unpacks it at each use.

        Raises:
            TypeError: where the arguments aren't two callables.
            RuntimeError: where the value has been freed, is None, or has hooks already; or where
                the pack hook writes to its input.
        """
        if len(hooks) != 2 or not all(callable(hook) for hook in hooks):
            raise TypeError("register_hooks(): incompatible function arguments.")
        pack_hook, unpack_hook = hooks
        value = self._value()
        if value is FREED:
            raise RuntimeError(errors.HOOKS_FREED)
        if value is None:
            raise RuntimeError(errors.HOOKS_NONE)
        if type(value) is Packed:
            raise RuntimeError(errors.HOOKS_TWICE)
        pack_entry(self._node, self._entry, (pack_hook, unpack_hook))

    @property
    def data(self) -> Any:
        """What is held: the tensor, or what a pack hook made of it."""
        value = self._value()
        if type(value) is Packed:
            return value.value
        if isinstance(value, TensorBase) or output_number(self._node, self._entry) < 0:
            return value
        return new_tensor(value)
