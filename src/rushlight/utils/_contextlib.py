"""Contexts that are decorators, too: the base that packages derive theirs from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from ..autograd.context_decorator import context_decorator as _decorated

if TYPE_CHECKING:
    from types import TracebackType


__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager", "context_decorator"]


class _DecoratorContextManager:
    """A context manager; as a decorator, it is entered anew at each call."""

    def __call__(self, orig_func: object) -> object:
        return _decorated(self, orig_func)  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> object:
        raise NotImplementedError

    def clone(self) -> object:
        """A context like this one, not entered; override it where the context has parameters."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same for contexts without parameters, which `@name` decorates with, too."""

    def __new__(cls, orig_func: object = None) -> Any:
        made = super().__new__(cls)
        return made if orig_func is None else made(orig_func)


class _Made:
    """A context that is made anew by a function."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.clone = make


def context_decorator(ctx: Any, func: Callable[..., object]) -> Any:
    """A function run within a context: an object, or a function that makes one for each call."""
    make = ctx if callable(ctx) and not hasattr(ctx, "__enter__") else lambda: ctx
    return _decorated(_Made(make), func)  # type: ignore[arg-type]
