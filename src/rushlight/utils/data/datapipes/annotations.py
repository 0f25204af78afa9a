"""The types that steps over data speak of."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Item", "Source"]

#: What a pipe carries, is asked for or is given by a function of the program's.
Item: TypeAlias = Any
#: A pipe, or what else gives items.
Source: TypeAlias = Any
