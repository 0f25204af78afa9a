"""Saving and loading: PyTorch's zip file format, read without ever executing what a file names."""

from __future__ import annotations

from .load import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals
from .save import save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]
