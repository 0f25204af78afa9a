"""`torch.backends.mha`: whether attention layers may take a shortcut when nothing is recorded."""

from __future__ import annotations

import sys
from typing import Any

_own: Any = sys.modules[__name__]
_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """What `set_fastpath_enabled` has set; layers here compute the same either way."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Remembers the switch."""
    _own._is_fastpath_enabled = value
