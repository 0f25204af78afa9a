"""The steps from a nested container to its parts: `[0]`, `['name']`, `.name`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = ["GetAttrKey", "MappingKey", "SequenceKey", "key_get", "keystr", "keys_of"]


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A place in a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[object]) -> Any:
        """The part there."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A key of a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[object, object]) -> Any:
        """The part there."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A field of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: object) -> Any:
        """The part there."""
        return getattr(obj, self.name)


def keystr(kp: Any) -> str:
    """A path as it is written in Python."""
    return "".join([str(k) for k in kp])


def key_get(obj: object, kp: Any) -> Any:
    """The part of a container at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def keys_of(tree: object, count: int) -> list[Any]:
    """The step to each child of a container of `count` children."""
    if isinstance(tree, tuple) and hasattr(type(tree), "_fields"):
        return [GetAttrKey(name) for name in getattr(type(tree), "_fields")]  # noqa: B009
    if isinstance(tree, dict):
        return [MappingKey(key) for key in tree]
    if dataclasses.is_dataclass(tree):
        return [GetAttrKey(field.name) for field in dataclasses.fields(tree)][:count]
    return [SequenceKey(k) for k in range(count)]
