"""Where an ndarray's elements lie: read from Python, and in machine code."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from ..llvm.emit import PTR, Function, Value
from .object_layout import NDARRAY

if TYPE_CHECKING:
    from ..._array.annotations import Array

_OFFSET = NDARRAY["data"]
_pointer = ctypes.c_void_p.from_address


def elements_at(x: Array) -> int:
    """Where an ndarray's first element lies; for layouts that are known (see `contract`)."""
    return _pointer(id(x) + _OFFSET).value or 0


def load_elements(f: Function, holder: Value) -> Value:
    """The same as code, of an ndarray's address."""
    return f.load(f.at_bytes(holder, _OFFSET), PTR)
