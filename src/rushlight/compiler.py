"""`torch.compiler`: what programs ask of it, where everything runs as it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .settings import compile

__all__ = ["allow_in_graph", "compile", "disable", "is_compiling", "is_dynamo_compiling", "reset"]


def is_compiling() -> bool:
    """False: nothing is being compiled."""
    return False


def is_dynamo_compiling() -> bool:
    """False: nothing is being compiled."""
    return False


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, **options: Any) -> Any:
    """The function itself; usable as a decorator."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function itself."""
    return fn


def reset() -> None:
    """Does nothing: there are no compiled functions to forget."""
