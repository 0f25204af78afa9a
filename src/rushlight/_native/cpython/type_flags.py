"""Bits of a class's `__flags__`, the same in all versions of CPython (part of its stable ABI)."""

from __future__ import annotations

from typing import Any

_INLINE, _MANAGED_DICT, _IMMUTABLE, _HEAP = 1 << 2, 1 << 4, 1 << 8, 1 << 9  # Py_TPFLAGS_...


def is_heap_type(kind: type) -> bool:
    """Whether a class was made by a class statement, or like one: objects may get another class."""
    return bool(kind.__flags__ & _HEAP)


def is_immutable(kind: type) -> bool:
    """Whether nobody can change the attributes of a class."""
    return bool(kind.__flags__ & _IMMUTABLE)


def keeps_attributes_before(kind: type) -> bool:
    """Whether the interpreter keeps the attributes of a class's objects before these."""
    return bool(kind is not None and kind.__flags__ & _MANAGED_DICT)


def keeps_attributes_inside(kind: type) -> bool:
    """Whether the attributes of a class's objects lie behind their fields (from 3.13 on)."""
    return bool(kind.__flags__ & _INLINE)


def grows_by(kind: Any) -> int:
    """How many bytes the objects of a class have beyond those of its base."""
    return int(kind.__basicsize__ - kind.__base__.__basicsize__)
