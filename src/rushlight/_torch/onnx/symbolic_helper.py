"""What writers of exporters use to describe an operator: decorators that give it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["parse_args"]


def parse_args(*arg_descriptors: str) -> Callable[[Any], Any]:
    """A decorator that gives the function back."""
    return lambda fn: fn
