"""Grad mode and inference mode, as contexts and as decorators."""

from __future__ import annotations

import functools
import inspect
from contextvars import Token
from typing import Any, Callable, TypeVar

from .._core.mode import CURRENT, Mode, is_grad_enabled, ready, replaced, set_grad, set_mode

F = TypeVar("F", bound=Callable[..., Any])


class _ModeContext:
    """A context that puts a mode in force; also a decorator of functions, generators and classes."""

    def __init__(self) -> None:
        self._tokens: list[Token[Mode]] = []

    def _mode(self, before: Mode) -> Mode:
        raise NotImplementedError

    def clone(self) -> _ModeContext:
        """A context like this one, not entered."""
        return type(self)()

    def __enter__(self) -> None:
        before = ready()
        self._tokens.append(set_mode(self._mode(before)))

    def __exit__(self, *exc: object) -> None:
        CURRENT.reset(self._tokens.pop())

    def __call__(self, function: F) -> F:
        return decorated(self, function)


def decorated(context: _ModeContext, function: Any) -> Any:
    """`function` made to run inside a fresh copy of `context`; generators at each step."""
    if inspect.isclass(function):
        import warnings

        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should "
            "only decorate functions or methods. To preserve the current behavior of class "
            "decoration, you can directly decorate the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        function.__init__ = decorated(context, function.__init__)
        return function
    if inspect.isgeneratorfunction(function):
        return _decorated_generator(context, function)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            with context.clone():
                return await function(*args, **kwargs)

        return run_async

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with context.clone():
            return function(*args, **kwargs)

    return run


def _decorated_generator(context: _ModeContext, function: Any) -> Any:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with context.clone():
                value = generator.send(None)
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    with context.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    with context.clone():
                        value = generator.throw(error)
                else:
                    with context.clone():
                        value = generator.send(sent)
        except StopIteration as stop:
            return stop.value

    return run


class no_grad(_ModeContext):  # noqa: N801
    """A context (or decorator) in which operations are not recorded."""

    def __new__(cls, function: Any = None) -> Any:
        made = object.__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return decorated(made, function)

    def __init__(self, function: Any = None) -> None:
        super().__init__()

    def _mode(self, before: Mode) -> Mode:
        return before if not before.grad else replaced(before, grad=False)


class enable_grad(_ModeContext):  # noqa: N801
    """A context (or decorator) in which operations are recorded."""

    def __new__(cls, function: Any = None) -> Any:
        made = object.__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return decorated(made, function)

    def __init__(self, function: Any = None) -> None:
        super().__init__()

    def _mode(self, before: Mode) -> Mode:
        return before if before.grad else replaced(before, grad=True)


class set_grad_enabled(_ModeContext):  # noqa: N801
    """Switches recording on or off: at once as a function, until the end as a context."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.prev = is_grad_enabled()
        self.mode = mode
        set_grad(bool(mode))

    def __call__(self, function: F) -> F:
        set_grad(self.prev)
        return decorated(self, function)

    def __enter__(self) -> None:
        set_grad(bool(self.mode))

    def __exit__(self, *exc: object) -> None:
        set_grad(self.prev)

    def clone(self) -> set_grad_enabled:
        """A context like this one."""
        return set_grad_enabled(self.mode)


class inference_mode(_ModeContext):  # noqa: N801
    """A context (or decorator) in which nothing is recorded, and new tensors stay out of graphs."""

    def __new__(cls, mode: Any = True) -> Any:
        made = object.__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__(True)  # type: ignore[misc]
        return decorated(made, mode)

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self.mode = bool(mode) if isinstance(mode, bool) else True

    def clone(self) -> inference_mode:
        """A context like this one."""
        made: inference_mode = inference_mode(self.mode)
        return made

    def _mode(self, before: Mode) -> Mode:
        if self.mode:
            return replaced(before, grad=False, inference=True)
        return replaced(before, grad=True, inference=False) if before.inference else before


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on."""
    return ready().inference


__all__ = ["enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
           "no_grad", "set_grad_enabled"]  # fmt: skip
