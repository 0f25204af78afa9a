"""The named tuples that operations with several results return: `return_types.max` and so on."""

from __future__ import annotations

from typing import Any

from .ops._return_types import RETURN_TYPES

globals().update(RETURN_TYPES)
all_return_types: list[Any] = list(RETURN_TYPES.values())
__all__ = ["all_return_types"]
__all__ += list(RETURN_TYPES)
