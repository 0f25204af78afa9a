"""Marks of what stays as it is between versions: decorators that give the function back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["compatibility"]


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """A decorator that gives the function back."""
    return lambda fn: fn
