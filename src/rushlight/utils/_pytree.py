"""Nested containers taken apart into leaves and put together again, under PyTorch's names."""

from __future__ import annotations

import dataclasses
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.size import Size
from .._table.rows.return_type_classes import NamedResults
from . import _pytree_text
from ._pytree_keys import GetAttrKey, MappingKey, SequenceKey, key_get, keys_of, keystr
from ._pytree_text import (
    DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL,
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PyTree = Any
IsLeaf = Callable[[Any], bool] | None


class NodeDef(NamedTuple):
    """How containers of a class are taken apart and put together."""

    type: Any
    flatten_fn: Any
    unflatten_fn: Any


SUPPORTED_NODES: dict[Any, NodeDef] = {}
# The classes that are containers from the start, once they all stand in the table.
_OWN: set[Any] = set()


def _share() -> None:
    """Has the transforms of `torch.func` take registered classes apart too."""
    from ..func import _tree

    _tree.REGISTERED[:] = [SUPPORTED_NODES]


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[..., object],
    unflatten_fn: Callable[..., object],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[..., object] | None = None,
    from_dumpable_context: Callable[..., object] | None = None,
    flatten_with_keys_fn: object = None,
    **extra: object,
) -> None:
    """Makes a class a container: `flatten_fn(x)` gives (children, context), the other undoes it.

    Raises: ValueError for a class that is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _pytree_text.note(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)
    if _OWN:
        _share()
    if flatten_with_keys_fn is not None:
        KEYS[cls] = flatten_with_keys_fn


_register_pytree_node = register_pytree_node


class TreeSpec:
    """How a nested container was built."""

    __slots__ = ("type", "context", "children_specs", "num_nodes", "num_leaves", "num_children")

    def __init__(self, type: Any, context: object, children_specs: list[TreeSpec]) -> None:
        self.type = type
        self.context = context
        self.children_specs = children_specs
        self.num_children = len(children_specs)
        self.num_nodes: int = 1 + sum(child.num_nodes for child in children_specs)
        self.num_leaves: int = sum(child.num_leaves for child in children_specs)

    def is_leaf(self) -> bool:
        """Whether it is the spec of a leaf."""
        return False

    def unflatten(self, leaves: Iterable[object]) -> Any:
        """The container of this build with these leaves.

        Raises: ValueError for another number of leaves.
        """
        found = list(leaves)
        if len(found) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(found)} but the spec refers "
                f"to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(found))

    def _build(self, leaves: Iterator[object]) -> object:
        children = [child._build(leaves) for child in self.children_specs]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of `tree` that stand where this spec has leaves."""
        found: list[Any] = []
        self._part(tree, found)
        return found

    def _part(self, tree: Sequence[int], found: list[object]) -> None:
        kind = _kind(tree)
        if kind is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        children, _ = SUPPORTED_NODES[kind].flatten_fn(tree)
        children = list(children)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        for child, spec in zip(children, self.children_specs):
            spec._part(child, found)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and isinstance(other, TreeSpec)
            and self.type is other.type
            and bool(self.context == other.context)
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, str(self.context), tuple(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        inside = (",\n" + " " * (indent + 2)).join(
            child.__repr__(indent + 2) for child in self.children_specs
        )
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inside}])"


class LeafSpec(TreeSpec):
    """The spec of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])
        self.num_leaves = 1

    def is_leaf(self) -> bool:
        return True

    def _build(self, leaves: Iterator[object]) -> Any:
        return next(leaves)

    def _part(self, tree: object, found: list[object]) -> None:
        found.append(tree)

    def __repr__(self, indent: int = 0) -> str:
        return "*"


def is_namedtuple_instance(obj: object) -> bool:
    """Whether it is a tuple with named fields."""
    return isinstance(obj, tuple) and hasattr(type(obj), "_fields")


def is_structseq_instance(obj: object) -> bool:
    """Whether it is a tuple of results with names, such as `torch.max(x, 0)` gives."""
    return isinstance(obj, tuple) and hasattr(type(obj), "n_sequence_fields")


def _kind(tree: Any) -> type[object]:
    kind = type(tree)
    if kind not in SUPPORTED_NODES:
        if is_namedtuple_instance(tree):
            return namedtuple
        if isinstance(tree, NamedResults):
            SUPPORTED_NODES[kind] = NodeDef(kind, lambda t: (list(t), None), lambda v, c: kind(v))
    return kind


class namedtuple:
    """Stands for all classes of named tuples in the table of containers."""


def _default(values: Any, context: Any) -> object:
    return defaultdict(context[0], zip(context[1], values))


def _list_flatten(t: list[object]) -> tuple[list[object], object]:
    """The parts of a list."""
    return t, None


def _list_unflatten(values: Iterable[object], context: object) -> list[object]:
    """A list of these parts."""
    return list(values)


def _tuple_flatten(t: tuple[object, ...]) -> tuple[list[object], object]:
    """The parts of a tuple."""
    return list(t), None


def _tuple_unflatten(values: Iterable[object], context: object) -> tuple[object, ...]:
    """A tuple of these parts."""
    return tuple(values)


def _dict_flatten(d: Mapping[object, object]) -> tuple[list[object], object]:
    """The values of a dictionary, and its keys."""
    return list(d.values()), list(d.keys())


def _dict_unflatten(values: Iterable[object], context: Iterable[object]) -> dict[object, object]:
    """A dictionary of these values."""
    return dict(zip(context, values))


def _namedtuple_flatten(t: tuple[object, ...]) -> tuple[list[object], object]:
    """The parts of a tuple with named fields, and its class."""
    return list(t), type(t)


def _namedtuple_unflatten(values: Iterable[object], context: type[object]) -> object:
    """A tuple with named fields of these parts."""
    return context(*values)


def _ordereddict_unflatten(values: Iterable[object], context: Iterable[object]) -> object:
    """An ordered dictionary of these values."""
    return OrderedDict(zip(context, values))


_odict_flatten = _ordereddict_flatten = _dict_flatten
_odict_unflatten = _ordereddict_unflatten
register_pytree_node(tuple, _tuple_flatten, _tuple_unflatten)
register_pytree_node(Size, _tuple_flatten, lambda v, c: Size(v))
register_pytree_node(list, _list_flatten, _list_unflatten)
register_pytree_node(dict, _dict_flatten, _dict_unflatten)
register_pytree_node(OrderedDict, _ordereddict_flatten, _ordereddict_unflatten)
register_pytree_node(
    defaultdict, lambda t: (list(t.values()), [t.default_factory, list(t.keys())]), _default
)
register_pytree_node(deque, lambda t: (list(t), t.maxlen), lambda v, c: deque(v, maxlen=c))
register_pytree_node(namedtuple, _namedtuple_flatten, _namedtuple_unflatten)
_OWN.update(SUPPORTED_NODES)
_pytree_text.note_own(namedtuple, Size)
BUILTIN_TYPES = frozenset(_OWN - {Size})
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})
#: The classes whose instances are containers without parts.
CONSTANT_NODES: set[Any] = set()


def tree_is_leaf(tree: object, is_leaf: IsLeaf = None) -> bool:
    """Whether it is no container, or `is_leaf` says that it counts as a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or _kind(tree) not in SUPPORTED_NODES


def _flatten(tree: object, leaves: list[object], is_leaf: IsLeaf) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return LeafSpec()
    kind = _kind(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def _dict_flatten_with_keys(
    d: Mapping[object, object],
) -> tuple[list[tuple[object, object]], list[object]]:
    """The parts of a dictionary with their keys, and the keys."""
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _list_flatten_with_keys(d: Sequence[object]) -> tuple[list[tuple[object, object]], object]:
    """The parts of a list with their places."""
    return [(SequenceKey(place), value) for place, value in enumerate(d)], None


_tuple_flatten_with_keys = _list_flatten_with_keys


def _get_node_type(tree: object) -> object:
    """The kind of container that `tree` is."""
    return _kind(tree)


def tree_flatten(tree: object, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves, and how to put them together again."""
    leaves: list[Any] = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[object], treespec: TreeSpec) -> Any:
    """The container of that build with these leaves."""
    return treespec.unflatten(leaves)


def tree_iter(tree: object, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """An iterator over the leaves."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: object, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: object, is_leaf: IsLeaf = None) -> TreeSpec:
    """How the container is built."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., object], tree: object, *rests: object, is_leaf: IsLeaf = None
) -> Any:
    """The container with `func` applied to each leaf, and to what stands there in `rests`."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(func(*row) for row in zip(*columns))


def tree_map_(
    func: Callable[..., object], tree: object, *rests: object, is_leaf: IsLeaf = None
) -> Any:
    """The container itself, after `func` has been called with each leaf."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _choose(what: object) -> Callable[[object], bool]:
    if isinstance(what, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, what)
    if callable(what):
        return lambda x: bool(what(x))
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(what: object) -> Any:
    """A decorator: the function for values of these types, others as they are."""
    chosen = _choose(what)
    return lambda func: lambda x: func(x) if chosen(x) else x


def tree_map_only(what: object, /, func: object, tree: object, is_leaf: IsLeaf = None) -> Any:
    """The container with `func` applied to the leaves of these types."""
    return tree_map(map_only(what)(func), tree, is_leaf=is_leaf)


def tree_map_only_(what: object, /, func: object, tree: object, is_leaf: IsLeaf = None) -> Any:
    """The container itself, after `func` has been called with the leaves of these types."""
    return tree_map_(map_only(what)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[..., bool], tree: object, is_leaf: IsLeaf = None) -> bool:
    """Whether the predicate holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[..., bool], tree: object, is_leaf: IsLeaf = None) -> bool:
    """Whether the predicate holds for any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    what: Any, /, pred: Callable[..., bool], tree: object, is_leaf: IsLeaf = None
) -> bool:
    """Whether the predicate holds for all leaves of these types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, what))


def tree_any_only(
    what: Any, /, pred: Callable[..., bool], tree: object, is_leaf: IsLeaf = None
) -> bool:
    """Whether the predicate holds for any leaf of these types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, what))


def treespec_pprint(treespec: TreeSpec) -> str:
    """A text that shows how the container is built."""
    return repr(treespec)


# ---- paths ---------------------------------------------------------------------------------------
KeyEntry = Any
KeyPath = tuple[Any, ...]
Context = Any
KEYS: dict[Any, Any] = {}  # of classes that tell the steps to their children themselves


def _walk(tree: object, path: KeyPath, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, object]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _kind(tree)
    if kind in KEYS:
        steps, _ = KEYS[kind](tree)
        pairs = list(steps)
    else:
        children, _ = SUPPORTED_NODES[kind].flatten_fn(tree)
        children = list(children)
        pairs = list(zip(keys_of(tree, len(children)), children))
    for key, child in pairs:
        yield from _walk(child, (*path, key), is_leaf)


def tree_leaves_with_path(tree: object, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with the steps that lead to it."""
    return list(_walk(tree, (), is_leaf))


def tree_flatten_with_path(
    tree: object, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves, each with the steps that lead to it, and how to put them together again."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., object], tree: object, *rests: object, is_leaf: IsLeaf = None
) -> Any:
    """The container with `func(path, leaf, …)` in place of each leaf."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    found = [func(path, leaf, *more) for (path, leaf), *more in zip(pairs, *others)]
    return spec.unflatten(found)


def _broadcast_to_and_flatten(
    tree: object, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[object] | None:
    """A value for each leaf of `treespec`, from a container that matches it down to some depth.

    None where the two don't match.
    """
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _kind(tree) is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    children = list(children)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    found: list[Any] = []
    for child, spec in zip(children, treespec.children_specs):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        found.extend(part)
    return found


def arg_tree_leaves(*args: object, **kwargs: object) -> list[Any]:
    """The leaves of all arguments of a call."""
    found: list[Any] = []
    for value in (*args, *kwargs.values()):
        found.extend(tree_leaves(value))
    return found


def register_dataclass(
    cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:  # fmt: skip
    """Makes a dataclass a container of its fields."""
    names = field_names or [f.name for f in dataclasses.fields(cls) if f.init]
    names = [name for name in names if name not in (drop_field_names or ())]
    register_pytree_node(
        cls,
        lambda t: ([getattr(t, n) for n in names], names),
        lambda v, c: cls(**dict(zip(c, v))),
        serialized_type_name=serialized_type_name,
    )
    KEYS[cls] = lambda t: ([(GetAttrKey(n), getattr(t, n)) for n in names], names)


def register_constant(cls: type) -> None:
    """Makes instances of a class containers without parts."""
    register_pytree_node(cls, lambda t: ([], t), lambda v, c: c)
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type) -> bool:
    """Whether instances of the class count as containers without parts."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Notes under which name a class of named tuples is written down."""
    _pytree_text.note_named(cls, serialized_type_name)


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The spec as text, for `treespec_loads`.

    Raises: NotImplementedError where a class of containers has no name for files.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return _pytree_text.dump_spec(treespec, protocol)


def treespec_loads(serialized: str) -> TreeSpec:
    """The spec that `treespec_dumps` has written.

    Raises: NotImplementedError for a class of containers that isn't registered.
    """
    return _pytree_text.load_spec(serialized, LeafSpec, TreeSpec)


pytree_to_str, str_to_pytree = treespec_dumps, treespec_loads


def is_namedtuple(obj: object) -> bool:
    """Whether it is a tuple with named fields, or a class of such."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls: type) -> bool:
    """Whether it is a class of tuples with named fields."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def treespec_leaf() -> TreeSpec:
    """The spec of a leaf."""
    return LeafSpec()


def treespec_tuple(iterable: Iterable[TreeSpec] = ()) -> TreeSpec:
    """The spec of a tuple of parts of these specs."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The spec of a dictionary of parts of these specs."""
    parts = dict(mapping, **kwargs)
    return TreeSpec(dict, list(parts), list(parts.values()))


PyTreeSpec = TreeSpec
_SHOWN: tuple[Any, ...] = (
    DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL, NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE, SUPPORTED_SERIALIZED_TYPES,
)  # fmt: skip
_ = (MappingKey, SequenceKey, key_get, keystr)
