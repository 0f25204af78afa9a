"""The named tuples that operations with several results return: `return_types.max` and so on."""

from __future__ import annotations

from typing import Any

from .._table import ROWS
from .._table.rows.return_type_classes import all_types

_TYPES = all_types(row for rows in ROWS.values() for row in rows)
globals().update(_TYPES)
all_return_types: list[Any] = list(_TYPES.values())
__all__ = ["all_return_types"]
__all__ += list(_TYPES)
