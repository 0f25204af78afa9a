"""`torch._vmap_internals`: `vmap` under its old name."""

from __future__ import annotations

from ..func import vmap

_vmap = vmap

__all__ = ["_vmap", "vmap"]
