"""Node classes: `MulBackward0` and the like, with `_saved_*` and `_raw_saved_*`, from schemas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..._array import types as T
from ..._array.memory.places import element_strides
from ..._base import errors
from ..._base.schema import REQUIRED, Schema
from ..._core.node import OPERANDS, Node
from ..._core.op import ARG, DTYPE, FREED, OUT, SHAPE, Op
from ..._core.saved import Packed, output_number, pack_entry, unpack
from ..._core.storage import TensorBase, new_tensor

if TYPE_CHECKING:
    from ..._base.annotations import Shape

NODE_CLASSES: dict[str, Any] = {}
#: How many names begin so. All are in one module, so that it doesn't matter which is loaded first.
NUMBERS: Final[dict[str, int]] = {}
_WHOLE_NAMES: Final = ("NotImplemented", "Identity", "CopyBackwards")


def node_name(name: str, given: str | None) -> str:
    """The name of the next node class of an operation: numbered in order of declaration."""
    if given is not None and (
        given[-1].isdigit() or given in _WHOLE_NAMES or given.endswith("_copy")
    ):
        return given
    stem = given or "".join(part[:1].upper() + part[1:] for part in name.split("_") if part)
    stem = stem.replace(".", "") + "Backward"
    number = NUMBERS.get(stem, 0)
    NUMBERS[stem] = number + 1
    return f"{stem}{number}"


Shows = Callable[[Op, Schema], dict[str, Any]]


def node_class(
    name: str, op: Op, schema: Schema, saved_as: dict[str, str | None], shows: Shows | None
) -> type[Any]:
    """The class of an operation's nodes, called `name`.

    `saved_as` has the names under which saved values are shown where these are others, None for
    those that PyTorch's nodes don't show; `shows` gives what a node shows beside.
    """
    body: dict[str, Any] = {"__slots__": (), "__module__": "builtins", "__new__": _refuse}
    for k, entry in enumerate(op.entries):
        if not op.masks[k] or _is_hidden(entry, op, saved_as):
            continue
        shown = _public_name(entry, schema, saved_as)
        whole = entry[0] == ARG and schema.params[entry[1]].type == "int"
        get = _make_reader(_getter(k, whole), entry[2])
        if entry[0] == ARG and schema.params[entry[1]].default not in (None, REQUIRED):
            get = _read_or_default(get, op, schema.params[entry[1]].default)
        body[f"_saved_{shown}"] = property(get)
        kind = schema.params[entry[1]].type if entry[0] == ARG else "Tensor"
        if entry[0] in (ARG, OUT) and kind.startswith(("Tensor", "Indices")):
            body[f"_raw_saved_{shown}"] = property(_raw_getter(k))
    if name in ("CopyBackwards", "NotImplemented"):
        body["_namespace"] = "torch::autograd::"
    if shows is None and name == "NotImplemented":
        shows = live_edges
    if shows is not None:
        body.update(shows(op, schema))
    made = type(name, (Node,), body)
    NODE_CLASSES[name] = made
    return made


def _is_hidden(entry: tuple[int, int, str], op: Op, saved_as: dict[str, str | None]) -> bool:
    """Dtypes, the shapes of lists and some others aren't shown, as in PyTorch."""
    if entry[0] == SHAPE and entry[1] == op.lists:
        return True
    return entry[0] == DTYPE or saved_as.get(entry[2], "") is None


def first_edge(op: Op, schema: Schema) -> dict[str, Any]:
    """What `2 - x` shows of its inputs: recorded with an edge for the 2, PyTorch's node without."""
    return {"_inputs_shown": 1}


def live_edges(op: Op, schema: Schema) -> dict[str, Any]:
    """The neighbours that a gradient would go to: PyTorch's stand-in node has no others."""
    return {
        "next_functions": property(
            lambda node: tuple(edge for edge in _edges(node) if edge[0] is not None)
        )
    }


def all_edges(op: Op, schema: Schema) -> dict[str, Any]:
    """All neighbours."""
    return {}


def _edges(node: object) -> Any:
    return Node.next_functions.fget(node)  # type: ignore[attr-defined]


def element_count(op: Op, schema: Schema) -> dict[str, Any]:
    """The number of elements of the shape that a node has saved."""
    return {"_saved_self_sym_numel": property(lambda node: math.prod(node._saved_self_sym_sizes))}


def matrix_sizes(op: Op, schema: Schema) -> dict[str, Any]:
    """The sizes and strides of a matrix product's operands, as far as they are known."""

    def sizes(edge: int, name: str) -> Callable[[Any], Any]:
        def get(node: Any) -> Shape | None:
            array = _operand(node, edge, name)
            return None if array is None else tuple(array.shape)

        return get

    def strides(edge: int, name: str) -> Callable[[Any], Any]:
        def get(node: Any) -> Shape:
            array = None if node.next[edge] is None else _operand(node, edge, name)
            return () if array is None else element_strides(array)

        return get

    body: dict[str, Any] = {}
    for name in [p.name for p in schema.params if p.is_tensor][-2:]:
        edge = op.tensors.index(schema.positions[name])
        body[f"_saved_{name}_sym_sizes"] = property(sizes(edge, name))
        body[f"_saved_{name}_sym_strides"] = property(strides(edge, name))
    return body


def _operand(node: Any, edge: int, name: str) -> Any:
    """The array of an operand: where it has been saved, or is a leaf."""
    child = node.next[edge]
    if isinstance(child, TensorBase):
        return child._raw
    for k, entry in enumerate(node.op.entries):
        if entry[2] == name and isinstance(node.saved[k], TensorBase):
            return node.saved[k]._raw
    return None


def _refuse(cls: type, *args: object, **kwargs: object) -> NoReturn:
    """Nodes are made by the core, which goes around this."""
    raise TypeError(f"cannot create '{cls.__name__}' instances")


def _public_name(
    entry: tuple[int, int, str], schema: Schema, saved_as: dict[str, str | None]
) -> str:
    kind, pos, name = entry
    shown = saved_as.get(name)
    if shown is not None:
        return shown
    if kind == SHAPE:
        return f"{schema.params[pos].name}_sym_sizes"
    if kind == DTYPE:
        return f"{schema.params[pos].name}_scalar_type"
    return name


def _getter(k: int, whole: bool) -> Callable[[Node], Any]:
    def get(node: Node) -> Any:
        value = node.saved[k]
        if value is FREED or type(value) is Packed or isinstance(value, TensorBase):
            return unpack(node, k, True)
        kind, pos, _ = node.op.entries[k]
        if whole:
            return _make_unsigned(value)
        if kind == OUT:
            return unpack(node, k, True)
        if kind == SHAPE:
            return tuple(value) if value is not None else None
        if kind == ARG and pos in node.op.tensors and isinstance(value, (int, float, complex)):
            return new_tensor(T.number_array(value))
        return unpack(node, k, True)

    return get


def _make_reader(get: Callable[[Node], Any], name: str) -> Callable[[Node], Any]:
    """What reads a saved value: the tensor itself where only its values have been saved."""

    def read(node: Node) -> Any:
        value = get(node)
        operands = None if node.meta is None else node.meta.get(OPERANDS)
        return value if operands is None else operands.get(name, value)

    return read


def _read_or_default(get: Callable[[Node], Any], op: Op, default: object) -> Callable[[Node], Any]:
    """What reads a saved number, which the short form of an operation doesn't have."""
    return lambda node: get(node) if node.op is op else default


def _make_unsigned(value: Shape | int) -> Any:
    """Dimensions as PyTorch shows them: negative ones as unsigned 64-bit numbers."""
    if isinstance(value, (tuple, list)):
        return tuple(_make_unsigned(v) for v in value)
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
    __module__ = "torch._C._autograd"  # what its repr says in PyTorch

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
            given = ", ".join(map(repr, (self, *hooks)))
            raise TypeError(errors.REGISTER_HOOKS + given)
        pack_hook, unpack_hook = hooks
        value = self._value()
        if value is FREED:
            raise RuntimeError(errors.HOOKS_FREED)
        if value is None:
            raise RuntimeError(errors.HOOKS_NONE)
        if type(value) is Packed:
            raise RuntimeError(errors.HOOKS_TWICE)
        self._pack((pack_hook, unpack_hook))

    def _pack(self, hooks: tuple[Any, ...]) -> None:
        pack_entry(self._node, self._entry, self._item, hooks)

    @property
    def data(self) -> Any:
        """What is held: the tensor, or what a pack hook made of it."""
        value = self._value()
        if type(value) is Packed:
            return value.value
        if isinstance(value, TensorBase) or output_number(self._node, self._entry) < 0:
            return value
        return new_tensor(value)

    @property
    def unpack_hook(self) -> Any:
        """The hook that makes the tensor of what is held; None without hooks."""
        value = self._value()
        return value.unpack if type(value) is Packed else None
