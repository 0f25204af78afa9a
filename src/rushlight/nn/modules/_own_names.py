"""Methods that a class has from a private base, under the class's own name.

Python names the function in what it says about missing and unknown arguments; a user should read
there the name of the layer that was called.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

Kind = TypeVar("Kind", bound=type)


def own(*names: str) -> Callable[[Kind], Kind]:
    """A decorator that gives a class the methods `names` of its bases as its own.

    `super()` in them still means what it means in the base.
    """

    def give(cls: Kind) -> Kind:
        for name in names:
            setattr(cls, name, _under(getattr(cls, name), f"{cls.__name__}.{name}"))
        return cls

    return give


def _under(function: Callable[..., object], name: str) -> Callable[..., object]:
    twin = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__annotations__ = function.__annotations__
    twin.__doc__ = function.__doc__
    twin.__module__ = function.__module__
    twin.__qualname__ = name
    return twin
