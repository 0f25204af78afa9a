"""Saving and loading: PyTorch's file formats, read without ever executing what a file names."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any, TypeAlias

from .._base.device import device
from .._base.lazy import list_names as _listed
from .budget import load_limits
from .inspection import get_unsafe_globals_in_checkpoint, peek
from .load import load
from .names import (
    add_safe_globals,
    clear_safe_globals,
    get_layout as _get_layout,  # noqa: F401 -- pickles of PyTorch's name it
    get_safe_globals,
    safe_globals,
)
from .safetensors import load_safetensors, save_safetensors
from .save import save
from .settings import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)

# The protocol of pickle in which files are written unless another is asked for.
DEFAULT_PROTOCOL = 2
# The types of `torch.load`'s arguments, by the names that annotations in programs use.
FILE_LIKE: TypeAlias = str | os.PathLike[str] | IO[bytes]
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | device | str | dict[str, str] | None

__all__ = [
    "DEFAULT_PROTOCOL",
    "FILE_LIKE",
    "LoadEndianness",
    "MAP_LOCATION",
    "add_safe_globals",
    "clear_safe_globals",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "load_limits",
    "load_safetensors",
    "peek",
    "safe_globals",
    "save",
    "save_safetensors",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]

__dir__ = _listed(globals())
