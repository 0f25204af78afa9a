"""Composite operations: plain functions over rows, registered beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

COMPOSITES: Final[dict[tuple[str, str], Any]] = {}  # (namespace, name) -> function
METHODS: Final[dict[str, Any]] = {}  # name -> function, attached to Tensor


def composite(*namespaces: str, method: bool = False, name: str = "") -> Callable[[F], F]:
    """Registers a function under the given namespaces ("" is the top level), and as a method."""

    def register(function: F) -> F:
        shown = name or function.__name__
        for namespace in namespaces or ("",):
            COMPOSITES[(namespace, shown)] = function
        if method:
            METHODS[shown] = function
        return function

    return register
