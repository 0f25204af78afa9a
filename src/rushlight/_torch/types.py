"""Names for annotations: what counts as a number, a device, a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from .._base.device import device as _device
from .._base.dtypes import dtype as _dtype  # noqa: F401  (as annotations in packages say it)
from .._base.memory_format import layout as _layout  # noqa: F401

# The names by which annotations in packages mean the plain kinds.
_int: TypeAlias = int
_float: TypeAlias = float
_bool: TypeAlias = bool
_complex: TypeAlias = complex
_size: TypeAlias = Sequence[int]
_TensorOrTensors: TypeAlias = Any

Number: TypeAlias = int | float | bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage: TypeAlias = Any

__all__ = ["Number", "Device", "FileLike", "Storage"]
