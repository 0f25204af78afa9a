"""Batches in pinned memory: containers are kept, what can be pinned in them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .collate import _of_same_kind

__all__ = ["pin_memory"]


def pin_memory(data: Any, device: object = None) -> Any:
    """`data` with what has a method `pin_memory` replaced by what that gives."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        items: Any = {key: pin_memory(value, device) for key, value in data.items()}
    elif isinstance(data, Sequence):
        items = [pin_memory(value, device) for value in data]
    else:
        return data
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*items)
    try:
        return _of_same_kind(data, items)
    except TypeError:
        return items
