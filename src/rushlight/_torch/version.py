"""Which version this is, and which accelerators it was built for: none."""

from __future__ import annotations

import sys

from .._base.lazy import lazy
from .._base.version import __version__ as _own

cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug: bool = False
#: The commit that PyTorch tells: none.
git_version: str = "Unknown"

__all__ = ["cuda", "debug", "git_version", "hip", "rocm", "xpu"]


def _find(name: str) -> str:
    if name != "__version__":
        raise KeyError(name)
    # That of the package: as `torch`, that of PyTorch.
    return str(getattr(sys.modules[__name__.partition(".")[0]], "__version__", _own))


__getattr__ = lazy(__name__, find=_find)
