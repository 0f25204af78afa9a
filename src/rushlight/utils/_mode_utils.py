"""`no_dispatch`: a context in which no mode below autograd sees operations."""

from __future__ import annotations

from typing import Any

from ._python_dispatch import _disable_current_modes


def no_dispatch() -> object:
    """A context in which no dispatch mode is on."""
    return _disable_current_modes()


def all_same_mode(modes: Any) -> bool:
    """Whether all modes are the same object."""
    first, *others = modes
    return all(mode is first for mode in others)


__all__ = ["all_same_mode", "no_dispatch"]
