"""Batches in pinned memory: containers are kept, what can be pinned in them is."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from .collate import _of_same_kind

__all__ = ["pin_memory"]

T = TypeVar("T")


def pin_memory(data: T, device: object = None) -> T:
    """`data` with what has a method `pin_memory` replaced by what that gives."""
    batch: Any = data
    items: Any
    if hasattr(batch, "pin_memory"):
        pinned: T = batch.pin_memory()
        return pinned
    if isinstance(batch, (str, bytes)):
        return data
    if isinstance(batch, Mapping):
        items = {key: pin_memory(value, device) for key, value in batch.items()}
    elif isinstance(batch, Sequence):
        items = [pin_memory(value, device) for value in batch]
    else:
        return data
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        items = type(batch)(*items)
    else:
        with contextlib.suppress(TypeError):  # a class that isn't made of its elements alone
            items = _of_same_kind(batch, items)
    return items
