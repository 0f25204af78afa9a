"""The named tuples that operations with several results return: `return_types.max` and so on."""

from __future__ import annotations

from typing import Any

from .._table.rows.return_type_classes import all_types

globals().update(all_types())
all_return_types: list[Any] = list(all_types().values())
__all__ = ["all_return_types"]
__all__ += list(all_types())
