"""Integers of more than 64 bits, which a call that is planned by types doesn't tell from others."""

from __future__ import annotations


def refuse_long(args: tuple[object, ...]) -> None:
    """Refuses integers of more than 64 bits.

    Raises:
        ValueError: in PyTorch's words.
    """
    for arg in args:
        if type(arg) is int and not -(1 << 63) <= arg < 1 << 63:
            raise ValueError("Overflow when unpacking long long") from None
