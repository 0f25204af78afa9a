"""`torch.backends.opt_einsum`: paths of einsum by an outside package; Rushlight has its own."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

_own: Any = sys.modules[__name__]
enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False: the package isn't used."""
    return False


def get_opt_einsum() -> Any:
    """None: the package isn't used."""
    return None


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[Any, Any]:
    """Sets what is given; what both were before."""
    before = (enabled, strategy)
    if _enabled is not None:
        _own.enabled = _enabled
    if _strategy is not None:
        _own.strategy = _strategy
    return before


@contextlib.contextmanager
def flags(enabled: bool | None = None, strategy: str | None = None) -> Iterator[None]:
    """A context in which the switches have other values."""
    before = (_own.enabled, _own.strategy)
    set_flags(enabled, strategy)
    try:
        yield
    finally:
        _own.enabled, _own.strategy = before
