"""How containers were built, as text: under which names classes are written, and how contexts."""

from __future__ import annotations

import importlib
import json
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

NO_SERIALIZED_TYPE_NAME_FOUND: Final = "NO_SERIALIZED_TYPE_NAME_FOUND"
DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL: Final = 1


class Written(NamedTuple):
    """How a class of containers is written down."""

    type: Any
    name: str
    to_dumpable: Any
    from_dumpable: Any


SUPPORTED_SERIALIZED_TYPES: dict[Any, Written] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}


def note(
    cls: type,
    name: str | None,
    to_dumpable: Callable[..., object] | None = None,
    from_dumpable: Callable[..., object] | None = None,
) -> None:
    """Notes how a class is written down.

    Raises: ValueError where only one of the two functions is given.
    """
    if (to_dumpable is None) is not (from_dumpable is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or "
            "registered."
        )
    known = NO_SERIALIZED_TYPE_NAME_FOUND if name is None else name
    SUPPORTED_SERIALIZED_TYPES[cls] = Written(cls, known, to_dumpable, from_dumpable)
    SERIALIZED_TYPE_TO_PYTHON_TYPE[known] = cls


def _default_to(context: Any) -> object:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _default_from(written: Any) -> object:
    module = importlib.import_module(written["default_factory_module"])
    return [getattr(module, written["default_factory_name"]), written["dict_context"]]


def note_own(namedtuple: type, size: type) -> None:
    """Notes the containers that are there from the start."""
    for cls in (tuple, list, dict):
        note(cls, f"builtins.{cls.__name__}")
    for kind in (OrderedDict, deque):
        note(kind, f"collections.{kind.__name__}")
    note(defaultdict, "collections.defaultdict", _default_to, _default_from)
    note(namedtuple, "collections.namedtuple", _name_to, _name_from)
    note(size, "torch.Size")


_NAMED: dict[Any, str] = {}


def note_named(cls: type, name: str) -> None:
    """Notes the name under which a class of named tuples is written."""
    _NAMED[cls] = name


def _name_to(context: object) -> object:
    if context not in _NAMED:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a "
            "serializated_type_name. Please register using `_register_namedtuple`."
        )
    return _NAMED[context]


def _name_from(written: object) -> object:
    for cls, name in _NAMED.items():
        if name == written:
            return cls
    raise NotImplementedError(f"Deserializing {written} in pytree is not registered.")


def _plain(value: object) -> object:
    """What JSON doesn't know of itself: enumerations stand as their names."""
    if hasattr(value, "name") and hasattr(type(value), "__members__"):
        return {"__enum__": True, "fqn": f"{type(value).__module__}:{type(value).__qualname__}",
                "name": value.name}  # fmt: skip
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _whole(found: dict[str, Any]) -> object:
    if not found.get("__enum__"):
        return found
    module, _, name = found["fqn"].partition(":")
    value: Any = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value[found["name"]]


def _as_plain(spec: Any) -> dict[str, object]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    written = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if written is None or written.name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    if written.to_dumpable is not None:
        context = written.to_dumpable(spec.context)
    else:
        try:
            context = json.dumps(spec.context, default=_plain)
        except TypeError as error:
            raise TypeError(
                "Unable to serialize context. Please make the context json dump-able, or register "
                "a custom serializer using _register_pytree_node."
            ) from error
    children = [_as_plain(child) for child in spec.children_specs]
    return {"type": written.name, "context": context, "children_spec": children}


def _as_spec(
    plain: Any, leaf: Callable[[], object], node: Callable[[object, object, object], object]
) -> object:
    if plain["type"] is None and plain["context"] is None and not plain["children_spec"]:
        return leaf()
    if plain["type"] not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {plain['type']} in pytree is not registered.")
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE[plain["type"]]
    read = SUPPORTED_SERIALIZED_TYPES[cls].from_dumpable
    given = plain["context"]
    context = json.loads(given, object_hook=_whole) if read is None else read(given)
    return node(cls, context, [_as_spec(child, leaf, node) for child in plain["children_spec"]])


def _protocol_known(protocol: int) -> None:
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(
            f"Unknown protocol {protocol}. Available protocols: "
            f"{[DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL]}"
        )


def dump_spec(spec: object, protocol: int | None) -> str:
    """The spec as text. Raises: NotImplementedError for a class that has no name in files."""
    number = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _protocol_known(number)
    return json.dumps((number, _as_plain(spec)), default=_plain)


def load_spec(text: str, leaf: Callable[[], object], node: Callable[[Any, Any, Any], Any]) -> Any:
    """The spec that a text tells. Raises: NotImplementedError for a class that isn't known."""
    protocol, plain = json.loads(text)
    _protocol_known(protocol)
    return _as_spec(plain, leaf, node)
