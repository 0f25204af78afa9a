"""Warnings: those given once (or every time after `set_warn_always(True)`), and for whom."""

from __future__ import annotations

from ..._base.caller import (
    Always as Always,
    say_once as say_once,
    warn_the_caller as warn_the_caller,
)


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
