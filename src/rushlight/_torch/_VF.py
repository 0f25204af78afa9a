"""`torch._VF`: the functions of `torch`, without what Python adds to them in PyTorch."""

from __future__ import annotations

from typing import Any, Final

from .._table import namespace

_TABLE: Final = namespace("").module("the functions of torch")


def __getattr__(name: str) -> Any:
    """Gives the function of this name."""
    try:
        return getattr(_TABLE, name)
    except AttributeError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None


__all__: list[str] = []
