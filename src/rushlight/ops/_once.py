"""Warnings that are given once, or every time after `set_warn_always(True)`."""

from __future__ import annotations

import warnings
from typing import Final

_said: Final[set[str]] = set()


class Always:
    """Whether such warnings are given every time; `settings` sets it."""

    on = False


def say_once(name: str, text: str) -> None:
    """Warns, unless it was done before under this name."""
    if name not in _said or Always.on:
        _said.add(name)
        warnings.warn(text, UserWarning, stacklevel=4)
