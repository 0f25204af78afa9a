"""Integers of more than 64 bits, which a call that is planned by types doesn't tell from others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .argument_parser import complaint

if TYPE_CHECKING:
    from ..._base.annotations import Keywords, Positional


def refuse_long(kind: str, name: str, args: Positional, kwargs: Keywords) -> None:
    """Refuses integers of more than 64 bits, once they have been misused.

    Raises:
        ValueError, TypeError: in PyTorch's words.
    """
    if any(map(_is_long, (*args, *kwargs.values()))):
        problem = complaint(kind, name, args[1:] if kind == "method" else args, kwargs)
        if problem is not None:
            raise problem from None


def _is_long(value: object) -> bool:
    if type(value) is int:
        return not -(1 << 63) <= value < 1 << 63
    return isinstance(value, (tuple, list)) and any(map(_is_long, value))


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
