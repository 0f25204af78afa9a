"""Warnings that are given once, or every time after `set_warn_always(True)`."""

from __future__ import annotations

import warnings
from typing import Any, Final

from .._array import types as T
from .._core.storage import TensorBase

_said: Final[set[str]] = set()


class Always:
    """Whether such warnings are given every time; `settings` sets it."""

    on = False


def say_once(name: str, text: str) -> None:
    """Warns, unless it was done before under this name."""
    if name not in _said or Always.on:
        _said.add(name)
        warnings.warn(text, UserWarning, stacklevel=4)


DEEPEST: Final = 128  # sequences within sequences that are looked at


def warn_of_items(data: Any) -> None:
    """Warns, once, of a list of arrays, which NumPy would have joined faster, and of one of tensors
    whose gradients end in it.
    """
    for item in (data[0], data[-1]) if data else ():
        for _ in range(DEEPEST):  # a list may hold itself
            if not isinstance(item, (list, tuple)) or not item:
                break
            item = item[0]
        if isinstance(item, TensorBase):
            _warn_of_tensors(data)
            break
        if isinstance(item, T.ndarray):
            say_once(
                "list of arrays",
                "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
                "consider converting the list to a single numpy.ndarray with numpy.array() before "
                "converting to a tensor.",
            )


def _warn_of_tensors(data: Any) -> bool:
    """Warns of each tensor with history in a list; False from one on that is no number."""
    for item in data:
        if isinstance(item, TensorBase):
            if item._requires_grad:
                warn_of_lost_history()
            if item._raw.size != 1:
                return False
        elif isinstance(item, (list, tuple)) and not _warn_of_tensors(item):
            return False
    return True


def warn_of_lost_history() -> None:
    """Warns, once, of a number made of a tensor that requires gradients: they end there."""
    say_once(
        "number of a tensor with history",
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.",
    )
