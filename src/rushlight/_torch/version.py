"""Which version this is, and which accelerators it was built for: none."""

from __future__ import annotations

from typing import Any

from .._version import __version__ as _own

cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug: bool = False
#: The commit that PyTorch tells: none.
git_version: str = "Unknown"

__all__ = ["cuda", "debug", "git_version", "hip", "rocm", "xpu"]


def __getattr__(name: str) -> Any:
    """The version that the package tells: as `torch`, that of PyTorch."""
    if name == "__version__":
        import sys

        package: Any = sys.modules[__name__.partition(".")[0]]
        return str(getattr(package, "__version__", _own))
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
