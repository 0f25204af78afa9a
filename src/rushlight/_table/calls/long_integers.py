"""Integers of more than 64 bits, which a call that is planned by types doesn't tell from others."""

from __future__ import annotations

from .argument_parser import complaint


def refuse_long(args: tuple[object, ...]) -> None:
    """Refuses integers of more than 64 bits.

    Raises:
        ValueError: in PyTorch's words.
    """
    for arg in args:
        if type(arg) is int and not -(1 << 63) <= arg < 1 << 63:
            raise ValueError("Overflow when unpacking long long") from None


def refuse_misuse(kind: str, name: str, args: tuple[object, ...]) -> None:
    """Refuses arguments that no signature takes, as integers of more than 64 bits, once they have
    been misused.

    Raises:
        TypeError: in PyTorch's words.
        ValueError: for an integer that is too long.
    """
    problem = complaint(kind, name, args, {})
    if problem is not None:
        raise problem from None
