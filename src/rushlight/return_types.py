"""The named tuples in which operations with several results return them: `return_types.max` and so on."""

from __future__ import annotations

from .ops._return_types import RETURN_TYPES

globals().update(RETURN_TYPES)
all_return_types = list(RETURN_TYPES.values())

__all__ = sorted(RETURN_TYPES)  # pyright: ignore[reportUnsupportedDunderAll]
