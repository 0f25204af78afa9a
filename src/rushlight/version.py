"""Which version this is, and which accelerators it was built for: none."""

from __future__ import annotations

from ._version import __version__

cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug: bool = False

__all__ = ["__version__", "cuda", "debug", "hip", "xpu"]
