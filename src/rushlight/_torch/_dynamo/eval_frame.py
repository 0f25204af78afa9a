"""The class of compiled modules: programs ask whether a module is of it."""

from __future__ import annotations

from ..._compile import OptimizedModule

__all__ = ["OptimizedModule"]
