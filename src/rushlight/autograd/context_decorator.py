"""Functions that run inside a context.

Note [Functions that pickle by value]
A decorated function says that it is from where its original is, so that `dill` and `cloudpickle`
don't find it by its name: they take it apart and pickle all globals of the file that it is written
in. Those of this file can be pickled, and must stay so.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .._base.annotations import AnyCallable


class Clonable(Protocol):
    """What makes the context that is entered at each call."""

    def clone(self) -> AbstractContextManager[Any]:
        """A context that isn't entered."""


def context_decorator(context: Clonable, function: AnyCallable) -> Any:
    """`function` made to run inside a fresh copy of `context`; generators at each step.

    A coroutine function is called inside the context, but what it awaits runs outside of it, as in
    PyTorch: put `with` into its body instead.
    """
    if inspect.isclass(function):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should "
            "only decorate functions or methods. To preserve the current behavior of class "
            "decoration, you can directly decorate the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        function.__init__ = context_decorator(context, function.__init__)  # type: ignore[method-assign]
        return function
    if inspect.isgeneratorfunction(function):
        return _decorate_generator(context, function)

    @functools.wraps(function)
    def decorate_context(*args: object, **kwargs: object) -> Any:
        with context.clone():
            return function(*args, **kwargs)

    return decorate_context


def _decorate_generator(context: Clonable, function: AnyCallable) -> object:
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
