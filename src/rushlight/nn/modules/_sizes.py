"""One number that stands for each of several dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def _each(value: Any, dims: int) -> tuple[Any, ...]:
    """A value for each dimension; one stands for all."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims
