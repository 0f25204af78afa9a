"""Names for annotations: what counts as a number, a device, a file."""

from __future__ import annotations

import os
from typing import IO, Any, TypeAlias

from .device import device as _device

Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage: TypeAlias = Any

__all__ = ["Number", "Device", "FileLike", "Storage"]
