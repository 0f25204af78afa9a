"""Saving and loading: PyTorch's file formats, read without ever executing what a file names."""

from __future__ import annotations

from .load import load
from .names import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .save import save

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]
