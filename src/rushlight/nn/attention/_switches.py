"""Which kernels of attention a program allows: remembered, and read by nobody.

There is one kernel, exact in all cases. `torch.backends.cuda` shows the same switches.
"""

from __future__ import annotations

import sys
from typing import Any, Final

__all__ = [
    "cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp",
    "enable_mem_efficient_sdp", "flash_sdp_enabled", "math_sdp_enabled",
    "mem_efficient_sdp_enabled",
]  # fmt: skip

_own: Final[Any] = sys.modules[__name__]
_flash = _math = _mem_efficient = _cudnn = True


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` has set."""
    return _flash


def enable_flash_sdp(enabled: bool) -> None:
    """Allows a kernel of attention."""
    _own._flash = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` has set."""
    return _mem_efficient


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allows a kernel of attention."""
    _own._mem_efficient = bool(enabled)


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` has set."""
    return _math


def enable_math_sdp(enabled: bool) -> None:
    """Allows a kernel of attention."""
    _own._math = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` has set."""
    return _cudnn


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allows a kernel of attention."""
    _own._cudnn = bool(enabled)
