"""Warnings: those given once (or every time after `set_warn_always(True)`), and for whom."""

from __future__ import annotations

import warnings
from typing import Final

from ..._base.caller import warn_the_caller as warn_the_caller

_said: Final[set[str]] = set()


class Always:
    """Whether such warnings are given every time; `settings` sets it."""

    on = False


def say_once(name: str, text: str) -> None:
    """Warns, unless it was done before under this name."""
    if name not in _said or Always.on:
        _said.add(name)
        warnings.warn(text, UserWarning, stacklevel=4)


def warn_of_array() -> None:
    """Warns, once, of a list of arrays, which NumPy would have joined faster."""
    say_once(
        "list of arrays",
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
        "converting the list to a single numpy.ndarray with numpy.array() before converting to a "
        "tensor.",
    )


def warn_of_lost_history() -> None:
    """Warns, once, of a number made of a tensor that requires gradients: they end there."""
    say_once(
        "number of a tensor with history",
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.",
    )
