"""`torch._functorch.vmap`: `vmap` itself."""

from __future__ import annotations

from ..func import vmap

__all__ = ["vmap"]
