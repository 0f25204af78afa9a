"""What makes tensors without being an operation of a row, for those who watch operations."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Final

from .._core.mode import ALERTED, current

#: Functions and methods of no row: their overload.
FACTORIES: Final = {
    "zeros": "zeros.default", "ones": "ones.default", "empty": "empty.memory_format",
    "full": "full.default", "arange": "arange.default", "randn": "randn.default",
    "rand": "rand.default", "eye": "eye.default", "linspace": "linspace.default",
    "randint": "randint.default", "randperm": "randperm.default",
    "zeros_like": "zeros_like.default", "ones_like": "ones_like.default",
    "empty_like": "empty_like.default", "full_like": "full_like.default",
    "tensor": "lift_fresh.default", "rand_like": "rand_like.default",
    "randn_like": "randn_like.default",
}  # fmt: skip
#: The same of methods.
FACTORY_METHODS: Final = {"detach": "detach.default", "item": "_local_scalar_dense.default"}

#: What makes tensors where the class of an argument dispatches, once there is such a class.
BY_CLASS: Final[list[Any]] = []


def shown(function: Any, name: str) -> Any:
    """A function that makes tensors, which shows dispatch modes and the profiler its calls.

    `name` is the overload that they see.
    """

    @functools.wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        if not ALERTED:
            return function(*args, **kwargs)
        mode = current()
        if mode.recorder is not None:
            return mode.recorder.factory(function, name, args, kwargs)
        if mode.profiler is None and not mode.dispatch:
            if BY_CLASS and args and getattr(type(args[0]), "_dispatches", False):
                return BY_CLASS[0](function, name, args, kwargs)
            return function(*args, **kwargs)
        return _watching().watch_factory(mode, function, name, args, kwargs)

    return made


def _watching() -> Any:
    return importlib.import_module(f"{__package__}.dispatch_modes")
