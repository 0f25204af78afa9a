"""DLPack capsules: memory handed from one array library to another."""

from __future__ import annotations

from .._base.dlpack_devices import DLDeviceType
from .._table import PUBLIC

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]

from_dlpack = PUBLIC["", "from_dlpack"]
to_dlpack = PUBLIC["", "to_dlpack"]
