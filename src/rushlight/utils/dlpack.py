"""DLPack capsules: memory handed from one array library to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.dlpack_devices import DLDeviceType
from .._table import PUBLIC

if TYPE_CHECKING:
    from .._table.shape.exchange import from_dlpack, to_dlpack
else:
    from_dlpack = PUBLIC["", "from_dlpack"]
    to_dlpack = PUBLIC["", "to_dlpack"]

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
