"""Decorators of classes of pipes and their methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .annotations import Item
from .datapipe import IterDataPipe, MapDataPipe

__all__ = [
    "argument_validation", "functional_datapipe", "guaranteed_datapipes_determinism",
    "non_deterministic", "runtime_validation", "runtime_validation_disabled",
]  # fmt: skip

_T = TypeVar("_T")
_wanted = {"determinism": False, "validation": True}


class functional_datapipe:
    """Lets pipes make one of the class by calling its name: `pipe.map(f)`.

    Example:
        >>> @torch.utils.data.functional_datapipe("doubled_once")
        ... class Doubled(torch.utils.data.IterDataPipe):
        ...     def __init__(self, source):
        ...         self.source = source
        ...     def __iter__(self):
        ...         return (2 * x for x in self.source)
        >>> from rushlight.utils.data.datapipes.iter import IterableWrapper
        >>> list(IterableWrapper([1, 2]).doubled_once())
        [2, 4]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls: type[_T]) -> type[_T]:
        if not isinstance(cls, type):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe")
        for kind in (IterDataPipe, MapDataPipe):
            if issubclass(cls, kind):
                kind.register_datapipe_as_function(
                    self.name, cls, enable_df_api_tracing=self.enable_df_api_tracing
                )
        return cls


class guaranteed_datapipes_determinism:
    """A context in which pipes that may give items in any order are refused.

    Example:
        >>> with torch.utils.data.guaranteed_datapipes_determinism():
        ...     pass
    """

    def __init__(self) -> None:
        self.prev = _wanted["determinism"]
        _wanted["determinism"] = True

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        _wanted["determinism"] = self.prev


class non_deterministic:
    """Marks a class of pipes whose order may differ from run to run, or does so for some arguments.

    Raises:
        TypeError: when such a pipe is made where order is guaranteed.

    Example:
        >>> @torch.utils.data.non_deterministic
        ... class Any(torch.utils.data.IterDataPipe):
        ...     def __iter__(self):
        ...         return iter({1})
        >>> list(Any())
        [1]
    """

    def __init__(self, arg: type | Callable[..., bool]) -> None:
        self._cls: Item = None
        self._asks: Item = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    "Only `IterDataPipe` can be decorated with `non_deterministic`, but "
                    f"{arg.__name__} is found"
                )
            self._cls = arg
        elif callable(arg):
            self._asks = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Item, **kwargs: Item) -> Item:
        if self._cls is not None:
            if _wanted["determinism"]:
                raise TypeError(
                    f"{self._cls.__name__} is non-deterministic, but you set "
                    "'guaranteed_datapipes_determinism'. You can turn off determinism for this "
                    "DataPipe if that is acceptable for your application"
                )
            return self._cls(*args, **kwargs)
        cls, asks = args[0], self._asks

        def make(*given: Item, **options: Item) -> Item:
            if _wanted["determinism"] and asks(*given, **options):
                raise TypeError(
                    f"{cls.__name__} is non-deterministic with the inputs, but you set "
                    "'guaranteed_datapipes_determinism'. You can turn off determinism for this "
                    "DataPipe if that is acceptable for your application"
                )
            return cls(*given, **options)

        return make


def argument_validation(f: _T) -> _T:
    """The function itself: types of arguments aren't checked here.

    Parameters:
        f: a method of a pipe.
    Returns: the same.
    Raises: nothing.
    Example:
        >>> torch.utils.data.argument_validation(len) is len
        True
    """
    return f


def runtime_validation(f: _T) -> _T:
    """The function itself: types of items aren't checked here.

    Parameters:
        f: a method of a pipe.
    Returns: the same.
    Raises: nothing.
    Example:
        >>> torch.utils.data.runtime_validation(len) is len
        True
    """
    return f


@contextmanager
def runtime_validation_disabled() -> Iterator[None]:
    """A context without checks of items' types, which there aren't here.

    Returns: a context manager.
    Example:
        >>> with torch.utils.data.runtime_validation_disabled():
        ...     pass
    """
    yield
